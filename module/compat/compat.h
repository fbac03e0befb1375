/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only place that knows of differences between kernels. The module is
 * written for the newest; what is missing below it is made up for here.
 * TIDE_HAVE_* come from Kbuild.compat.
 */
#ifndef TIDE_COMPAT_H
#define TIDE_COMPAT_H

#include <linux/gfp.h>
#include <linux/huge_mm.h>
#include <linux/mm.h>
#include <linux/shrinker.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#if KERNEL_VERSION(6, 1, 0) > LINUX_VERSION_CODE
#error "tide needs Linux 6.1 or newer"
#endif

#ifdef TIDE_HAVE_SYSTEM_DFL_WQ
#define tide_unbound_wq		system_dfl_wq
#else
#define tide_unbound_wq		system_unbound_wq
#endif

#ifndef TIDE_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

#ifdef TIDE_HAVE_HUGE_FAULT_PE_SIZE
#define TIDE_HUGE_FAULT_ARG		enum page_entry_size pe_size
#define tide_huge_fault_is_pmd()	(pe_size == PE_SIZE_PMD)
#else
#define TIDE_HUGE_FAULT_ARG		unsigned int order
#define tide_huge_fault_is_pmd()	(order == HPAGE_PMD_ORDER)
#endif

#ifndef TIDE_HAVE_INSERT_PMD_BY_PFN
#include <linux/pfn_t.h>
#endif

/*
 * get_user_pages_fast() must not take references through our mapping: the
 * pages of an extent are not compound. A special PMD (6.12) keeps it out.
 * Before that only a devmap PMD does, since no pagemap is found for it.
 */
static inline vm_fault_t tide_insert_pmd(struct vm_fault *vmf,
					 unsigned long pfn, bool write)
{
#if defined(TIDE_HAVE_INSERT_PMD_BY_PFN)
	return vmf_insert_pfn_pmd(vmf, pfn, write);
#elif defined(CONFIG_ARCH_SUPPORTS_PMD_PFNMAP)
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), write);
#else
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV | PFN_MAP),
				  write);
#endif
}

static inline int tide_alloc_contig(unsigned long pfn, unsigned long nr_pages)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;

#ifdef TIDE_HAVE_ACR_FLAGS
	return alloc_contig_range(pfn, pfn + nr_pages, ACR_FLAGS_NONE, gfp);
#else
	return alloc_contig_range(pfn, pfn + nr_pages, MIGRATE_MOVABLE, gfp);
#endif
}

#ifdef TIDE_HAVE_SHRINKER_ALLOC
static inline struct shrinker *tide_shrinker_new(void)
{
	return shrinker_alloc(0, "tide-pool");
}

static inline int tide_shrinker_register(struct shrinker *shrinker)
{
	shrinker_register(shrinker);
	return 0;
}

static inline void tide_shrinker_free(struct shrinker *shrinker)
{
	shrinker_free(shrinker);
}

static inline void *tide_shrinker_data(struct shrinker *shrinker)
{
	return shrinker->private_data;
}

static inline void tide_shrinker_set_data(struct shrinker *shrinker, void *data)
{
	shrinker->private_data = data;
}
#else
#include <linux/slab.h>

struct tide_old_shrinker {
	struct shrinker shrinker;
	void *data;
	bool registered;
};

static inline struct shrinker *tide_shrinker_new(void)
{
	struct tide_old_shrinker *old = kzalloc(sizeof(*old), GFP_KERNEL);

	return old ? &old->shrinker : NULL;
}

static inline int tide_shrinker_register(struct shrinker *shrinker)
{
	struct tide_old_shrinker *old =
		container_of(shrinker, struct tide_old_shrinker, shrinker);
	int rc = register_shrinker(shrinker, "tide-pool");

	old->registered = !rc;
	return rc;
}

static inline void tide_shrinker_free(struct shrinker *shrinker)
{
	struct tide_old_shrinker *old;

	if (!shrinker)
		return;
	old = container_of(shrinker, struct tide_old_shrinker, shrinker);
	if (old->registered)
		unregister_shrinker(shrinker);
	kfree(old);
}

static inline void *tide_shrinker_data(struct shrinker *shrinker)
{
	return container_of(shrinker, struct tide_old_shrinker, shrinker)->data;
}

static inline void tide_shrinker_set_data(struct shrinker *shrinker, void *data)
{
	container_of(shrinker, struct tide_old_shrinker, shrinker)->data = data;
}
#endif

#endif /* TIDE_COMPAT_H */
