// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI function: registers, reset, interrupt, probe and remove.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "tide.h"

#define RESET_TIMEOUT_MS	2000

static char *backend = "auto";
module_param(backend, charp, 0444);
MODULE_PARM_DESC(backend, "where the pool's memory comes from: auto, cma or contig (default auto)");

static unsigned int pool_mb;
module_param(pool_mb, uint, 0444);
MODULE_PARM_DESC(pool_mb, "most memory to carve, in MiB (default 0: the CMA area, or 3/4 of the memory)");

static unsigned int floor_mb;
module_param(floor_mb, uint, 0444);
MODULE_PARM_DESC(floor_mb, "available memory that carving leaves to the guest, in MiB (default 0: 1/32 of the memory, 32 at least)");

static unsigned int cache_mb = 64;
module_param(cache_mb, uint, 0444);
MODULE_PARM_DESC(cache_mb, "most idle memory to keep carved for the next spike, in MiB (default 64)");

static unsigned int device_timeout_ms = 10000;
module_param(device_timeout_ms, uint, 0444);
MODULE_PARM_DESC(device_timeout_ms, "silence of the device after which it is reset, in ms (default 10000)");

/* One device a guest: there is one host to report to. */
static atomic_t nr_devices;

static u32 reg_read(struct tide_dev *dev, u32 reg)
{
	return readl(dev->regs + reg);
}

static void reg_write(struct tide_dev *dev, u32 reg, u32 value)
{
	writel(value, dev->regs + reg);
}

static void kick(void *data)
{
	reg_write(data, TIDE_PCI_REG_DOORBELL, 0);
}

/* Returns 0 once nothing sent before acts any more, else -ETIMEDOUT. */
static int device_reset(struct tide_dev *dev)
{
	ktime_t end = ktime_add_ms(ktime_get(), RESET_TIMEOUT_MS);

	reg_write(dev, TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_RESET);
	while (reg_read(dev, TIDE_PCI_REG_STATUS) & TIDE_PCI_STATUS_RESETTING) {
		if (ktime_after(ktime_get(), end))
			return -ETIMEDOUT;
		usleep_range(50, 200);
	}
	return 0;
}

static void device_enable(struct tide_dev *dev)
{
	dev->features = reg_read(dev, TIDE_PCI_REG_FEATURES) &
			TIDE_PCI_FEATURE_EVENT_IDX;
	reg_write(dev, TIDE_PCI_REG_DRIVER_FEATURES, dev->features);
	reg_write(dev, TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_ENABLE);
	tide_ring_start(&dev->ring, dev->features & TIDE_PCI_FEATURE_EVENT_IDX);
}

/**
 * tide_dev_recover() - reset a device that is silent or talks nonsense
 * @dev: the device
 *
 * What is in flight is answered with TIDE_STATUS_NO_ANSWER; what was not sent
 * yet is sent afterwards. A device that does not reset is given up: the module
 * then serves memory without it.
 */
void tide_dev_recover(struct tide_dev *dev)
{
	enum tide_ring_abort why = TIDE_ABORT_RESET;
	LIST_HEAD(done);

	mutex_lock(&dev->recover_lock);
	if (dev->gone || dev->ring.dead)
		goto out;
	tide_ring_stop(&dev->ring);
	atomic64_inc(&dev->stats.device_resets);
	if (device_reset(dev)) {
		why = TIDE_ABORT_LOST;
		dev_err(&dev->pdev->dev, "device does not answer, not even to a reset: going on without it; memory stays with the guest\n");
	} else {
		dev_warn(&dev->pdev->dev, "device did not answer and was reset\n");
	}
	tide_ring_abort(&dev->ring, why, &done);
	if (why == TIDE_ABORT_RESET)
		device_enable(dev);
out:
	mutex_unlock(&dev->recover_lock);
	tide_requests_complete(&done);
}

static void watchdog(struct work_struct *work)
{
	struct tide_dev *dev = container_of(to_delayed_work(work),
					    struct tide_dev, watchdog);
	u64 answered = READ_ONCE(dev->ring.answered);
	bool stuck = answered == dev->watchdog_answered;

	dev->watchdog_answered = answered;
	if (tide_ring_idle(&dev->ring)) {
		dev->watchdog_stuck = false;
		return;
	}
	/* Seen twice, so that what has only just been sent has its time. */
	if (stuck && dev->watchdog_stuck)
		tide_dev_recover(dev);
	dev->watchdog_stuck = stuck;
	tide_dev_watch(dev);
}

/**
 * tide_dev_watch() - see to it that the device answers what was sent
 * @dev: the device
 */
void tide_dev_watch(struct tide_dev *dev)
{
	queue_delayed_work(tide_unbound_wq, &dev->watchdog,
			   msecs_to_jiffies(max(device_timeout_ms, 2U) / 2));
}

static irqreturn_t irq_thread(int irq, void *data)
{
	struct tide_dev *dev = data;
	LIST_HEAD(done);
	bool sane = tide_ring_reap(&dev->ring, &done);

	tide_requests_complete(&done);
	if (!sane)
		tide_dev_recover(dev);
	return IRQ_HANDLED;
}

/**
 * tide_dev_state() - whether reports reach the host
 * @dev: the device
 *
 * Return: TIDE_DEVICE_*.
 */
u32 tide_dev_state(struct tide_dev *dev)
{
	u32 state = TIDE_DEVICE_OK;

	mutex_lock(&dev->recover_lock);
	if (dev->gone || dev->ring.dead)
		state = TIDE_DEVICE_DEGRADED;
	else if (reg_read(dev, TIDE_PCI_REG_STATUS) &
		 TIDE_PCI_STATUS_INHIBITED)
		state = TIDE_DEVICE_INHIBITED;
	mutex_unlock(&dev->recover_lock);
	return state;
}

static void dev_last_put(struct kref *ref)
{
	struct tide_dev *dev = container_of(ref, struct tide_dev, ref);

	/* An arena may have armed it since the driver was unbound. */
	cancel_delayed_work_sync(&dev->watchdog);
	tide_pool_exit(&dev->pool);
	tide_ring_exit(&dev->ring);
	kfree(dev);
}

/**
 * tide_dev_get() - hold the device
 * @dev: the device
 */
void tide_dev_get(struct tide_dev *dev)
{
	kref_get(&dev->ref);
}

/**
 * tide_dev_put() - let go of the device
 * @dev: the device
 */
void tide_dev_put(struct tide_dev *dev)
{
	kref_put(&dev->ref, dev_last_put);
}

static int check_device(struct tide_dev *dev)
{
	u32 magic = reg_read(dev, TIDE_PCI_REG_MAGIC);
	u32 version = reg_read(dev, TIDE_PCI_REG_VERSION);
	u32 shift = reg_read(dev, TIDE_PCI_REG_EXTENT_SHIFT);

	if (magic != TIDE_PCI_MAGIC)
		return dev_err_probe(&dev->pdev->dev, -ENODEV,
				     "not a tide device (magic %#x)\n", magic);
	if (version >> 16 != TIDE_PCI_VERSION >> 16)
		return dev_err_probe(&dev->pdev->dev, -ENODEV,
				     "device speaks version %u.%u, this module %u.x: update the older one\n",
				     version >> 16, version & 0xffff,
				     TIDE_PCI_VERSION >> 16);
	if (shift != TIDE_EXTENT_SHIFT)
		return dev_err_probe(&dev->pdev->dev, -ENODEV,
				     "device uses extents of 2^%u bytes, this module 2^%u\n",
				     shift, TIDE_EXTENT_SHIFT);
	return 0;
}

static int map_device(struct tide_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int rc;

	rc = pci_enable_device(pdev);
	if (rc)
		return rc;
	rc = pci_request_regions(pdev, "tide");
	if (rc)
		goto out_disable;
	rc = -ENOMEM;
	dev->regs = pci_iomap(pdev, TIDE_PCI_BAR_REGS, TIDE_PCI_REGS_SIZE);
	if (!dev->regs)
		goto out_release;
	/* Ordinary memory behind a BAR: to be cached as such. */
	dev->rings = memremap(pci_resource_start(pdev, TIDE_PCI_BAR_RINGS),
			      pci_resource_len(pdev, TIDE_PCI_BAR_RINGS),
			      MEMREMAP_WB);
	if (!dev->rings)
		goto out_unmap_regs;
	return 0;

out_unmap_regs:
	pci_iounmap(pdev, dev->regs);
out_release:
	pci_release_regions(pdev);
out_disable:
	pci_disable_device(pdev);
	return rc;
}

static void unmap_device(struct tide_dev *dev)
{
	memunmap(dev->rings);
	pci_iounmap(dev->pdev, dev->regs);
	pci_release_regions(dev->pdev);
	pci_disable_device(dev->pdev);
}

static int init_ring(struct tide_dev *dev)
{
	struct tide_ring_layout layout = {
		.size = reg_read(dev, TIDE_PCI_REG_QUEUE_SIZE),
		.index_offset = reg_read(dev, TIDE_PCI_REG_INDEX_OFFSET),
		.sq_offset = reg_read(dev, TIDE_PCI_REG_SQ_OFFSET),
		.cq_offset = reg_read(dev, TIDE_PCI_REG_CQ_OFFSET),
		.max_extents = reg_read(dev, TIDE_PCI_REG_MAX_EXTENTS),
	};
	int rc;

	dev->intents = reg_read(dev, TIDE_PCI_REG_INTENTS);
	dev->ring.kick = kick;
	dev->ring.kick_data = dev;
	rc = tide_ring_init(&dev->ring, dev->rings,
			    pci_resource_len(dev->pdev, TIDE_PCI_BAR_RINGS),
			    &layout);
	if (rc == -EINVAL)
		dev_err(&dev->pdev->dev, "device describes rings that do not fit its BAR\n");
	return rc;
}

static int init_pool_with(struct tide_dev *dev, const struct tide_pool_ops *ops)
{
	if (strcmp(backend, "auto") && strcmp(backend, ops->name))
		return -ENODEV;
	return tide_pool_init(&dev->pool, ops, &dev->extents);
}

static int init_pool(struct tide_dev *dev)
{
	u64 ram = (u64)totalram_pages() << PAGE_SHIFT;
	int rc;

	dev->pool.size_extents = ((u64)pool_mb << 20) >> TIDE_EXTENT_SHIFT;
	dev->pool.cache_extents = ((u64)cache_mb << 20) >> TIDE_EXTENT_SHIFT;
	dev->pool.floor_bytes = (u64)floor_mb << 20 ?:
				max_t(u64, ram / 32, 32 << 20);

	rc = init_pool_with(dev, &tide_pool_cma);
	if (rc == -ENODEV)
		rc = init_pool_with(dev, &tide_pool_contig);
	if (rc == -ENODEV)
		return dev_err_probe(&dev->pdev->dev, rc,
				     "no pool with backend=%s: use contig, or cma on a kernel that exports cma_alloc() booted with cma=SIZE\n",
				     backend);
	return rc;
}

static int init_irq(struct tide_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int rc;

	pci_set_master(pdev);
	rc = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (rc < 0)
		return dev_err_probe(&pdev->dev, rc, "no MSI-X vector\n");
	dev->irq = pci_irq_vector(pdev, 0);
	rc = request_threaded_irq(dev->irq, NULL, irq_thread, IRQF_ONESHOT,
				  "tide", dev);
	if (rc)
		pci_free_irq_vectors(pdev);
	return rc;
}

static void exit_irq(struct tide_dev *dev)
{
	free_irq(dev->irq, dev);
	pci_free_irq_vectors(dev->pdev);
}

/* Ends all use of the device. What is in flight is answered. */
static void quiesce(struct tide_dev *dev)
{
	enum tide_ring_abort why = TIDE_ABORT_GONE;
	LIST_HEAD(done);

	mutex_lock(&dev->recover_lock);
	dev->gone = true;
	tide_ring_stop(&dev->ring);
	if (!dev->ring.dead && device_reset(dev))
		why = TIDE_ABORT_LOST;
	tide_ring_abort(&dev->ring, why, &done);
	mutex_unlock(&dev->recover_lock);
	tide_requests_complete(&done);
	cancel_delayed_work_sync(&dev->watchdog);
	exit_irq(dev);
}

static struct tide_dev *dev_new(struct pci_dev *pdev)
{
	struct tide_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	kref_init(&dev->ref);
	dev->pdev = pdev;
	mutex_init(&dev->recover_lock);
	INIT_DELAYED_WORK(&dev->watchdog, watchdog);
	dev->misc.minor = MISC_DYNAMIC_MINOR;
	dev->misc.name = "tide";
	dev->misc.mode = 0660;
	dev->misc.fops = &tide_dev_fops;
	dev->misc.parent = &pdev->dev;
	return dev;
}

static int tide_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tide_dev *dev;
	int rc;

	if (atomic_inc_return(&nr_devices) > 1) {
		rc = dev_err_probe(&pdev->dev, -EBUSY, "there is a tide device already\n");
		goto out_count;
	}
	dev = dev_new(pdev);
	if (!dev) {
		rc = -ENOMEM;
		goto out_count;
	}
	pci_set_drvdata(pdev, dev);

	rc = map_device(dev);
	if (rc)
		goto out_free;
	rc = check_device(dev);
	if (rc)
		goto out_unmap;
	rc = device_reset(dev);
	if (rc)
		goto out_unmap;
	rc = init_ring(dev);
	if (rc)
		goto out_unmap;
	rc = init_pool(dev);
	if (rc)
		goto out_ring;
	rc = init_irq(dev);
	if (rc)
		goto out_pool;
	device_enable(dev);
	rc = misc_register(&dev->misc);
	if (rc)
		goto out_quiesce;

	dev_info(&pdev->dev, "%s pool of up to %lu MiB\n", dev->pool.ops->name,
		 dev->pool.size_extents << TIDE_EXTENT_SHIFT >> 20);
	return 0;

out_quiesce:
	quiesce(dev);
out_pool:
	tide_pool_exit(&dev->pool);
out_ring:
	tide_ring_exit(&dev->ring);
out_unmap:
	unmap_device(dev);
out_free:
	kfree(dev);
out_count:
	atomic_dec(&nr_devices);
	return rc;
}

/* Arenas that are open keep their memory, without the device. */
static void tide_remove(struct pci_dev *pdev)
{
	struct tide_dev *dev = pci_get_drvdata(pdev);

	misc_deregister(&dev->misc);
	quiesce(dev);
	unmap_device(dev);
	tide_dev_put(dev);
	atomic_dec(&nr_devices);
}

/* The next kernel must not find a device that acts for this one. */
static void tide_shutdown(struct pci_dev *pdev)
{
	struct tide_dev *dev = pci_get_drvdata(pdev);

	mutex_lock(&dev->recover_lock);
	if (!dev->ring.dead) {
		tide_ring_stop(&dev->ring);
		device_reset(dev);
	}
	mutex_unlock(&dev->recover_lock);
}

static const struct pci_device_id tide_pci_ids[] = {
	{ PCI_DEVICE(TIDE_PCI_VENDOR_ID, TIDE_PCI_DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, tide_pci_ids);

struct pci_driver tide_pci_driver = {
	.name		= "tide",
	.id_table	= tide_pci_ids,
	.probe		= tide_probe,
	.remove		= tide_remove,
	.shutdown	= tide_shutdown,
	.dev_groups	= tide_groups,
};
