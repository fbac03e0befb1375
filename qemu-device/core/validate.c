// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a descriptor may be acted on. */
#include <unistd.h>

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

/*
 * A host huge page that an extent does not cover whole would be split. In
 * anonymous memory huge pages lie by address; in files by offset, and where the
 * two differ they are mapped by small pages.
 */
static bool covers_huge_pages(const TideTarget *target)
{
    if (target->fd < 0) {
        return (uintptr_t)target->host % TIDE_EXTENT_SIZE == 0;
    }
    return target->fd_offset % TIDE_EXTENT_SIZE == 0 &&
        (uintptr_t)target->host % (uintptr_t)sysconf(_SC_PAGESIZE) == 0;
}

static uint16_t validate_target(const TideRequest *req)
{
    if (!tide_backing_supported(req->target.backing, req->intent)) {
        return TIDE_PCI_ST_UNSUPPORTED;
    }
    return covers_huge_pages(&req->target) ? TIDE_PCI_ST_OK : TIDE_PCI_ST_RANGE;
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
    core->ops.release(core->opaque, &req->target);
    req->len = len;
    return validate_target(req);
}
