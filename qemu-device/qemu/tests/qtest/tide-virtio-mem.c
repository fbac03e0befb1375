/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "libqos/malloc-pc.h"
#include "standard-headers/linux/virtio_config.h"
#include "standard-headers/linux/virtio_ids.h"
#include "tide-virtio-mem.h"

#define RESPONSE_OFFSET 64
#define BUFFER_SIZE 128

static void negotiate(QVirtioDevice *vdev)
{
    uint64_t features = qvirtio_get_features(vdev);

    features &= ~(QVIRTIO_F_BAD_FEATURE | 1ull << VIRTIO_RING_F_INDIRECT_DESC |
                  1ull << VIRTIO_RING_F_EVENT_IDX);
    qvirtio_set_features(vdev, features);
}

static uint64_t config(VMem *v, uint64_t offset)
{
    return qvirtio_config_readq(&v->dev->vdev, offset);
}

VMem *vmem_probe(Tide *t)
{
    VMem *v = g_new0(VMem, 1);
    QPCIAddress addr = { .devfn = QPCI_DEVFN(VMEM_SLOT, 0) };
    QVirtioDevice *vdev;

    v->t = t;
    pc_alloc_init(&v->alloc, t->qts, ALLOC_NO_FLAGS);
    v->dev = virtio_pci_new(t->bus, &addr);
    g_assert_nonnull(v->dev);
    vdev = &v->dev->vdev;
    g_assert_cmpuint(vdev->device_type, ==, VIRTIO_ID_MEM);
    qvirtio_pci_device_enable(v->dev);
    qvirtio_start_device(vdev);
    negotiate(vdev);
    v->queue = qvirtqueue_setup(vdev, &v->alloc, 0);
    qvirtio_set_driver_ok(vdev);
    v->buffer = guest_alloc(&v->alloc, BUFFER_SIZE);
    v->base = config(v, offsetof(struct virtio_mem_config, addr));
    v->block_size = config(v, offsetof(struct virtio_mem_config, block_size));
    return v;
}

void vmem_free(VMem *v)
{
    qvirtqueue_cleanup(v->dev->vdev.bus, v->queue, &v->alloc);
    guest_free(&v->alloc, v->buffer);
    alloc_destroy(&v->alloc);
    g_free(v->dev->pdev);
    g_free(v->dev);
    g_free(v);
}

/* One request at a time: each starts with the first descriptor. */
uint16_t vmem_request(VMem *v, uint16_t type, uint64_t addr, uint64_t size)
{
    QTestState *qts = v->t->qts;
    uint64_t response = v->buffer + RESPONSE_OFFSET;
    struct virtio_mem_req req = {
        .type = cpu_to_le16(type),
        .u.plug.addr = cpu_to_le64(addr),
        .u.plug.nb_blocks = cpu_to_le16(size / v->block_size),
    };
    struct virtio_mem_resp resp;

    qtest_memwrite(qts, v->buffer, &req, sizeof(req));
    v->queue->free_head = 0;
    v->queue->num_free = v->queue->size;
    qvirtqueue_add(qts, v->queue, v->buffer, sizeof(req), false, true);
    qvirtqueue_add(qts, v->queue, response, sizeof(resp), true, false);
    qvirtqueue_kick(qts, &v->dev->vdev, v->queue, 0);
    WAIT_FOR(qvirtqueue_get_buf(qts, v->queue, NULL, NULL));
    qtest_memread(qts, response, &resp, sizeof(resp));
    return le16_to_cpu(resp.type);
}

static void granted(VMem *v, uint16_t type, uint32_t first, uint32_t extents)
{
    g_assert_cmpuint(vmem_request(v, type, v->base + first * EXTENT,
                                  extents * EXTENT), ==, VIRTIO_MEM_RESP_ACK);
}

void vmem_plug(VMem *v, uint32_t first, uint32_t extents)
{
    granted(v, VIRTIO_MEM_REQ_PLUG, first, extents);
}

void vmem_unplug(VMem *v, uint32_t first, uint32_t extents)
{
    granted(v, VIRTIO_MEM_REQ_UNPLUG, first, extents);
}

void vmem_unplug_all(VMem *v)
{
    granted(v, VIRTIO_MEM_REQ_UNPLUG_ALL, 0, 0);
}

uint64_t vmem_present(VMem *v, uint32_t first, uint32_t extents)
{
    return mapping_present(v->t, VMEM_MB, first * EXTENT, extents);
}
