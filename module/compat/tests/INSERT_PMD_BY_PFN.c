// SPDX-License-Identifier: GPL-2.0-only
/* 6.17: pfn_t is gone, vmf_insert_pfn_pmd() takes a plain pfn. */
#include <linux/mm.h>

vm_fault_t tide_try(struct vm_fault *vmf);
vm_fault_t tide_try(struct vm_fault *vmf)
{
	return vmf_insert_pfn_pmd(vmf, 512UL, true);
}
