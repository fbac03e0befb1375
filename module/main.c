// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tide: lets processes say what their memory means, and tells the host.
 */
#include <linux/module.h>

#include "tide.h"

static_assert(TIDE_INTENT_DISCARD == TIDE_PCI_INTENT_DISCARD);
static_assert(TIDE_INTENT_DISCARD_LAZY == TIDE_PCI_INTENT_DISCARD_LAZY);
static_assert(TIDE_INTENT_COLD == TIDE_PCI_INTENT_COLD);
static_assert(TIDE_INTENT_PAGEOUT == TIDE_PCI_INTENT_PAGEOUT);
static_assert(TIDE_INTENT_WILLNEED == TIDE_PCI_INTENT_WILLNEED);
static_assert(TIDE_STATUS_OK == TIDE_PCI_ST_OK);
static_assert(TIDE_STATUS_INVALID == TIDE_PCI_ST_INVALID);
static_assert(TIDE_STATUS_RANGE == TIDE_PCI_ST_RANGE);
static_assert(TIDE_STATUS_UNSUPPORTED == TIDE_PCI_ST_UNSUPPORTED);
static_assert(TIDE_STATUS_INHIBITED == TIDE_PCI_ST_INHIBITED);
static_assert(TIDE_STATUS_BUSY == TIDE_PCI_ST_BUSY);
static_assert(TIDE_STATUS_IO == TIDE_PCI_ST_IO);

module_pci_driver(tide_pci_driver);

MODULE_DESCRIPTION("Tide: memory intents from processes to the host");
MODULE_AUTHOR("The Tide authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(TIDE_VERSION);
