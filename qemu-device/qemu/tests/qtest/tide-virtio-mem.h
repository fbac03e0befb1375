/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's driver for virtio-mem: plugs and unplugs when a test says so. */
#ifndef TIDE_VIRTIO_MEM_H
#define TIDE_VIRTIO_MEM_H

#include "tide-driver.h"
#include "libqos/virtio-pci.h"
#include "standard-headers/linux/virtio_mem.h"

#define VMEM_SLOT 5
#define VMEM_MB 528             /* a size that no other mapping of QEMU's has */

typedef struct VMem {
    Tide *t;
    QVirtioPCIDevice *dev;
    QVirtQueue *queue;
    QGuestAllocator alloc;
    uint64_t buffer;            /* guest memory for request and response */
    uint64_t base;              /* where its memory begins */
    uint64_t block_size;
} VMem;

/* The virtio-mem device at VMEM_SLOT of @t's machine; again after a reset. */
VMem *vmem_probe(Tide *t);
void vmem_free(VMem *v);
/* VIRTIO_MEM_RESP_* to a VIRTIO_MEM_REQ_* for [addr, addr + size). */
uint16_t vmem_request(VMem *v, uint16_t type, uint64_t addr, uint64_t size);
/* Extents from the @first of its memory on; these must be granted. */
void vmem_plug(VMem *v, uint32_t first, uint32_t extents);
void vmem_unplug(VMem *v, uint32_t first, uint32_t extents);
void vmem_unplug_all(VMem *v);
/* Bytes of these extents that are in the host's memory; it must be VMEM_MB large. */
uint64_t vmem_present(VMem *v, uint32_t first, uint32_t extents);

#endif /* TIDE_VIRTIO_MEM_H */
