// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a descriptor may be acted on. */
#include "internal.h"

static bool fields_valid(const TideCore *core, const TideRequest *req)
{
    return req->intent >= TIDE_PCI_INTENT_DISCARD &&
        req->intent <= TIDE_PCI_INTENT_WILLNEED &&
        req->desc_flags == 0 && req->reserved == 0 &&
        req->count >= 1 && req->count <= core->config.max_extents;
}

static bool inside_pool(const TideRegs *regs, uint64_t gpa, uint64_t len)
{
    if (regs->pool_size == 0) {
        return true;
    }
    return gpa >= regs->pool_base && len <= regs->pool_size &&
        gpa - regs->pool_base <= regs->pool_size - len;
}

static bool range_valid(const TideCore *core, const TideRequest *req, uint64_t len)
{
    uint64_t end;

    return req->gpa % TIDE_EXTENT_SIZE == 0 &&
        !__builtin_add_overflow(req->gpa, len, &end) &&
        inside_pool(&core->regs, req->gpa, len);
}

uint16_t tide_validate(TideCore *core, TideRequest *req)
{
    uint64_t len = (uint64_t)req->count * TIDE_EXTENT_SIZE;

    if (!fields_valid(core, req)) {
        return TIDE_PCI_ST_INVALID;
    }
    if (!range_valid(core, req, len)) {
        return TIDE_PCI_ST_RANGE;
    }
    if (!(core->config.intents & (1u << req->intent))) {
        return TIDE_PCI_ST_UNSUPPORTED;
    }
    if (!core->ops.resolve(core->opaque, req->gpa, len, &req->target)) {
        return TIDE_PCI_ST_RANGE;
    }
    if (!tide_backing_supported(req->target.backing, req->intent)) {
        req->len = len;
        return TIDE_PCI_ST_UNSUPPORTED;
    }
    /* A host huge page that an extent does not cover whole would be split. */
    if ((uintptr_t)req->target.host % TIDE_EXTENT_SIZE) {
        return TIDE_PCI_ST_RANGE;
    }
    req->len = len;
    return TIDE_PCI_ST_OK;
}
