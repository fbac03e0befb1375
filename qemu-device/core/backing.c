// SPDX-License-Identifier: GPL-2.0-or-later
/* What guest RAM is made of, and whether giving it back was seen to work. */
#include "internal.h"

static const char *const names[TIDE_BACKINGS] = {
    [TIDE_BACKING_ANON] = "anonymous",
    [TIDE_BACKING_SHMEM] = "shmem",
    [TIDE_BACKING_PRIVATE_SHMEM] = "private-shmem",
    [TIDE_BACKING_HUGETLB] = "hugetlb",
    [TIDE_BACKING_PRIVATE_HUGETLB] = "private-hugetlb",
    [TIDE_BACKING_PRIVATE_FILE] = "private-file",
    [TIDE_BACKING_SHARED_FILE] = "shared-file",
    [TIDE_BACKING_COMMITTED] = "committed",
    [TIDE_BACKING_COARSE] = "coarse",
};

const char *tide_backing_name(TideBacking backing)
{
    return names[backing];
}

void tide_core_set_backings(TideCore *core, uint32_t mask)
{
    __atomic_store_n(&core->backings, mask, __ATOMIC_RELAXED);
}

void tide_core_set_proof(TideCore *core, TideBacking backing, TideProof proof)
{
    __atomic_store_n(&core->proofs[backing], proof, __ATOMIC_RELAXED);
}

TideProof tide_core_proof(const TideCore *core, TideBacking backing)
{
    return (TideProof)__atomic_load_n(&core->proofs[backing], __ATOMIC_RELAXED);
}

uint32_t tide_core_reclaim(const TideCore *core)
{
    uint32_t present = __atomic_load_n(&core->backings, __ATOMIC_RELAXED);
    bool some = false, all = present != 0;

    for (unsigned i = 0; i < TIDE_BACKINGS; i++) {
        if (present & (1u << i)) {
            bool ok = tide_backing_supported(i, TIDE_PCI_INTENT_DISCARD) &&
                tide_core_proof(core, i) == TIDE_PROOF_OK;

            some |= ok;
            all &= ok;
        }
    }
    return all ? TIDE_PCI_RECLAIM_ALL :
        some ? TIDE_PCI_RECLAIM_PARTLY : TIDE_PCI_RECLAIM_NONE;
}
