// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of arenas: whole extents where the mapping is aligned for it, single
 * pages elsewhere. Extents are mapped by pfn, without references to their
 * pages: removing the mapping is all it takes to own them alone.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "compat/compat.h"
#include "tide.h"

#define EXTENT_PGOFF_SHIFT	(TIDE_EXTENT_SHIFT - PAGE_SHIFT)

/* What lies behind a faulting address; arena->lock is held. */
static struct tide_extent *extent_of(struct tide_arena *arena, pgoff_t pgoff)
{
	unsigned long index = pgoff >> EXTENT_PGOFF_SHIFT;

	return index < arena->max_extents ? xa_load(&arena->extents, index) :
					    NULL;
}

static vm_fault_t arena_fault(struct vm_fault *vmf)
{
	struct tide_arena *arena = vmf->vma->vm_private_data;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct tide_extent *ext;

	down_read(&arena->lock);
	ext = extent_of(arena, vmf->pgoff);
	if (ext)
		ret = vmf_insert_pfn(vmf->vma, vmf->address, ext->pfn +
				     vmf->pgoff % TIDE_EXTENT_PAGES);
	up_read(&arena->lock);
	return ret;
}

/* Whether the extent around the fault lies in the mapping whole and aligned. */
static bool maps_whole(struct vm_fault *vmf)
{
	unsigned long start = vmf->address & PMD_MASK;

	return start >= vmf->vma->vm_start &&
	       start + PMD_SIZE <= vmf->vma->vm_end &&
	       linear_page_index(vmf->vma, start) % TIDE_EXTENT_PAGES == 0;
}

static vm_fault_t arena_huge_fault(struct vm_fault *vmf, TIDE_HUGE_FAULT_ARG)
{
	struct tide_arena *arena = vmf->vma->vm_private_data;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct tide_extent *ext;

	if (!tide_huge_fault_is_pmd() || !maps_whole(vmf))
		return VM_FAULT_FALLBACK;

	down_read(&arena->lock);
	ext = extent_of(arena, vmf->pgoff);
	if (ext)
		ret = tide_insert_pmd(vmf, ext->pfn,
				      vmf->flags & FAULT_FLAG_WRITE);
	up_read(&arena->lock);
	return ret;
}

static const struct vm_operations_struct arena_vm_ops = {
	.fault		= arena_fault,
	.huge_fault	= arena_huge_fault,
};

/**
 * tide_arena_mmap() - mmap of an arena
 * @file: arena
 * @vma: mapping to be
 *
 * Any offset may be mapped, committed or not. Private mappings are refused:
 * their copies would not be the arena's.
 *
 * Return: 0, -EINVAL if private, or -ERANGE if it ends beyond the arena.
 */
int tide_arena_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct tide_arena *arena = file->private_data;
	pgoff_t end = vma->vm_pgoff + vma_pages(vma);

	BUILD_BUG_ON(PMD_SIZE != TIDE_EXTENT_SIZE);

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (end < vma->vm_pgoff ||
	    end > arena->max_extents << EXTENT_PGOFF_SHIFT)
		return -ERANGE;

	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_HUGEPAGE);
	vma->vm_ops = &arena_vm_ops;
	vma->vm_private_data = arena;
	return 0;
}
