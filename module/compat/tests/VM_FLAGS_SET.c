// SPDX-License-Identifier: GPL-2.0-only
/* 6.3: vma->vm_flags is read-only, vm_flags_set() changes it. */
#include <linux/mm.h>

void tide_try(struct vm_area_struct *vma);
void tide_try(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTDUMP);
}
