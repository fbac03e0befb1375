// SPDX-License-Identifier: GPL-2.0-or-later
/* The register file. */
#include "internal.h"

uint32_t tide_core_status(TideCore *core)
{
    uint32_t status = __atomic_load_n(&core->regs.status, __ATOMIC_ACQUIRE);

    if (__atomic_load_n(&core->inhibited, __ATOMIC_ACQUIRE)) {
        status |= TIDE_PCI_STATUS_INHIBITED;
    }
    return status;
}

bool tide_core_set_inhibited(TideCore *core, bool on)
{
    return __atomic_exchange_n(&core->inhibited, on, __ATOMIC_ACQ_REL) != on;
}

static bool configurable(TideCore *core)
{
    return !(tide_core_status(core) &
             (TIDE_PCI_STATUS_ENABLED | TIDE_PCI_STATUS_RESETTING));
}

static uint32_t sq_bytes(TideCore *core)
{
    return core->config.queue_size * (uint32_t)sizeof(struct tide_pci_desc);
}

uint32_t tide_core_reg_read(TideCore *core, uint64_t offset, unsigned size)
{
    if (size != 4 || offset % 4) {
        return 0;
    }
    switch (offset) {
    case TIDE_PCI_REG_MAGIC:
        return TIDE_PCI_MAGIC;
    case TIDE_PCI_REG_VERSION:
        return TIDE_PCI_VERSION;
    case TIDE_PCI_REG_FEATURES:
        return TIDE_PCI_FEATURE_EVENT_IDX;
    case TIDE_PCI_REG_DRIVER_FEATURES:
        return core->regs.features;
    case TIDE_PCI_REG_STATUS:
        return tide_core_status(core);
    case TIDE_PCI_REG_EXTENT_SHIFT:
        return TIDE_PCI_EXTENT_SHIFT;
    case TIDE_PCI_REG_QUEUE_SIZE:
        return core->config.queue_size;
    case TIDE_PCI_REG_INDEX_OFFSET:
        return 0;
    case TIDE_PCI_REG_SQ_OFFSET:
        return TIDE_PCI_INDEX_SIZE;
    case TIDE_PCI_REG_CQ_OFFSET:
        return TIDE_PCI_INDEX_SIZE + sq_bytes(core);
    case TIDE_PCI_REG_MAX_EXTENTS:
        return core->config.max_extents;
    case TIDE_PCI_REG_INTENTS:
        return core->config.intents;
    case TIDE_PCI_REG_RECLAIM:
        return tide_core_reclaim(core);
    case TIDE_PCI_REG_POOL_BASE_LO:
        return (uint32_t)core->regs.pool_base;
    case TIDE_PCI_REG_POOL_BASE_HI:
        return (uint32_t)(core->regs.pool_base >> 32);
    case TIDE_PCI_REG_POOL_SIZE_LO:
        return (uint32_t)core->regs.pool_size;
    case TIDE_PCI_REG_POOL_SIZE_HI:
        return (uint32_t)(core->regs.pool_size >> 32);
    default:
        return 0;
    }
}

static TideRegEvent write_control(TideCore *core, uint32_t value)
{
    switch (value) {
    case TIDE_PCI_CONTROL_RESET:
        __atomic_fetch_or(&core->regs.status, TIDE_PCI_STATUS_RESETTING,
                          __ATOMIC_ACQ_REL);
        return TIDE_REG_RESET;
    case TIDE_PCI_CONTROL_ENABLE:
        if (!configurable(core)) {
            return TIDE_REG_REFUSED;
        }
        __atomic_fetch_or(&core->regs.status, TIDE_PCI_STATUS_ENABLED,
                          __ATOMIC_ACQ_REL);
        return TIDE_REG_ENABLE;
    default:
        return TIDE_REG_REFUSED;
    }
}

static void set_half(uint64_t *reg, bool high, uint32_t value)
{
    if (high) {
        *reg = (uint32_t)*reg | (uint64_t)value << 32;
    } else {
        *reg = (*reg >> 32) << 32 | value;
    }
}

/* Fixed once enabled, so that the worker can read them without a lock. */
static TideRegEvent write_setting(TideCore *core, uint64_t offset, uint32_t value)
{
    TideRegs *regs = &core->regs;

    if (!configurable(core)) {
        return TIDE_REG_REFUSED;
    }
    switch (offset) {
    case TIDE_PCI_REG_DRIVER_FEATURES:
        regs->features = value & TIDE_PCI_FEATURE_EVENT_IDX;
        break;
    case TIDE_PCI_REG_POOL_BASE_LO:
    case TIDE_PCI_REG_POOL_BASE_HI:
        set_half(&regs->pool_base, offset == TIDE_PCI_REG_POOL_BASE_HI, value);
        break;
    default:
        set_half(&regs->pool_size, offset == TIDE_PCI_REG_POOL_SIZE_HI, value);
        break;
    }
    return TIDE_REG_NONE;
}

TideRegEvent tide_core_reg_write(TideCore *core, uint64_t offset,
                                 uint32_t value, unsigned size)
{
    if (size != 4 || offset % 4) {
        return TIDE_REG_REFUSED;
    }
    switch (offset) {
    case TIDE_PCI_REG_CONTROL:
        return write_control(core, value);
    case TIDE_PCI_REG_DOORBELL:
        return TIDE_REG_DOORBELL;
    case TIDE_PCI_REG_DRIVER_FEATURES:
    case TIDE_PCI_REG_POOL_BASE_LO:
    case TIDE_PCI_REG_POOL_BASE_HI:
    case TIDE_PCI_REG_POOL_SIZE_LO:
    case TIDE_PCI_REG_POOL_SIZE_HI:
        return write_setting(core, offset, value);
    default:
        return TIDE_REG_REFUSED;
    }
}
