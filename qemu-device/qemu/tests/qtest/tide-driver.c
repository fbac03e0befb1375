/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "libqos/pci-pc.h"
#include "hw/pci/pci_regs.h"
#include "tide-driver.h"

#define SLOT 4

uint32_t tide_reg(Tide *t, unsigned offset)
{
    return qpci_io_readl(t->dev, t->regs, offset);
}

void tide_set_reg(Tide *t, unsigned offset, uint32_t value)
{
    qpci_io_writel(t->dev, t->regs, offset, value);
}

uint32_t tide_index(Tide *t, unsigned offset)
{
    return qpci_io_readl(t->dev, t->rings, offset);
}

void tide_set_index(Tide *t, unsigned offset, uint32_t value)
{
    qpci_io_writel(t->dev, t->rings, offset, value);
}

uint64_t tide_counter(Tide *t, const char *name)
{
    QDict *rsp = qtest_qmp(t->qts, "{ 'execute': 'qom-get', "
        "'arguments': { 'path': '/machine/peripheral/tide0', "
        "'property': %s } }", name);
    QNum *num = qobject_to(QNum, qdict_get(rsp, "return"));
    uint64_t value;

    g_assert_true(num && qnum_get_try_uint(num, &value));
    qobject_unref(rsp);
    return value;
}

void tide_probe(Tide *t)
{
    g_free(t->dev);
    if (t->bus) {
        qpci_free_pc(t->bus);
    }
    t->bus = qpci_new_pc(t->qts, NULL);
    t->dev = qpci_device_find(t->bus, QPCI_DEVFN(SLOT, 0));
    g_assert_nonnull(t->dev);
    qpci_device_enable(t->dev);
    t->regs = qpci_iomap(t->dev, TIDE_PCI_BAR_REGS, NULL);
    t->rings = qpci_iomap(t->dev, TIDE_PCI_BAR_RINGS, NULL);
    t->queue_size = tide_reg(t, TIDE_PCI_REG_QUEUE_SIZE);
    t->sq_offset = tide_reg(t, TIDE_PCI_REG_SQ_OFFSET);
    t->cq_offset = tide_reg(t, TIDE_PCI_REG_CQ_OFFSET);
    t->sq_tail = t->cq_head = 0;
}

void tide_reset(Tide *t)
{
    tide_set_reg(t, TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_RESET);
    WAIT_FOR(!(tide_reg(t, TIDE_PCI_REG_STATUS) & TIDE_PCI_STATUS_RESETTING));
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_STATUS), ==, 0);
    t->sq_tail = t->cq_head = 0;
}

void tide_enable(Tide *t, uint32_t features)
{
    tide_set_reg(t, TIDE_PCI_REG_DRIVER_FEATURES, features);
    tide_set_reg(t, TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_ENABLE);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_STATUS), ==,
                    TIDE_PCI_STATUS_ENABLED);
}

Tide *tide_start(const char *args, const char *props)
{
    Tide *t = g_new0(Tide, 1);

    t->qts = qtest_initf("-machine q35 -nodefaults %s "
                         "-device tide,id=tide0,addr=%d%s", args, SLOT, props);
    t->pid = qtest_pid(t->qts);
    tide_probe(t);
    tide_enable(t, 0);
    return t;
}

Tide *tide_start_incoming(const char *args, const char *props, const char *uri)
{
    Tide *t = g_new0(Tide, 1);

    t->qts = qtest_initf("-machine q35 -nodefaults %s -incoming '%s' "
                         "-device tide,id=tide0,addr=%d%s", args, uri, SLOT, props);
    t->pid = qtest_pid(t->qts);
    return t;
}

void tide_adopt(Tide *t, const Tide *from)
{
    uint32_t sq_tail = from->sq_tail, cq_head = from->cq_head;

    tide_probe(t);
    t->sq_tail = sq_tail;
    t->cq_head = cq_head;
}

void tide_migrate(Tide *t, const char *uri)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate', 'arguments': "
                             "{ 'uri': %s } }", uri);
}

void tide_migrate_wait(Tide *t, const char *status)
{
    static const char *const ends[] = { "completed", "failed", "cancelled", NULL };
    g_autofree char *now = NULL;

    do {
        QDict *rsp = qtest_qmp_assert_success_ref(t->qts,
                                                  "{ 'execute': 'query-migrate' }");

        g_free(now);
        now = g_strdup(qdict_get_try_str(rsp, "status"));
        qobject_unref(rsp);
        g_usleep(1000);
    } while (!now || !g_strv_contains(ends, now));
    g_assert_cmpstr(now, ==, status);
}

void tide_stop(Tide *t)
{
    g_free(t->dev);
    qpci_free_pc(t->bus);
    qtest_quit(t->qts);
    g_free(t);
}

void tide_push_raw(Tide *t, struct tide_pci_desc desc)
{
    uint32_t slot = t->sq_tail & (t->queue_size - 1);

    desc.cookie = cpu_to_le64(t->sq_tail);
    qpci_memwrite(t->dev, t->rings, t->sq_offset + slot * sizeof(desc),
                  &desc, sizeof(desc));
    tide_set_index(t, TIDE_PCI_INDEX_SQ_TAIL, ++t->sq_tail);
}

void tide_push(Tide *t, uint64_t gpa, uint32_t count, uint16_t intent)
{
    tide_push_raw(t, (struct tide_pci_desc) {
        .gpa = cpu_to_le64(gpa),
        .count = cpu_to_le32(count),
        .intent = cpu_to_le16(intent),
    });
}

void tide_ring_doorbell(Tide *t)
{
    tide_set_reg(t, TIDE_PCI_REG_DOORBELL, 1);
}

Answer tide_pop(Tide *t)
{
    uint32_t slot = t->cq_head & (t->queue_size - 1);
    struct tide_pci_cpl cpl;

    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL) != t->cq_head);
    qpci_memread(t->dev, t->rings, t->cq_offset + slot * sizeof(cpl),
                 &cpl, sizeof(cpl));
    tide_set_index(t, TIDE_PCI_INDEX_CQ_HEAD, ++t->cq_head);
    g_assert_cmpuint(cpl.reserved0, ==, 0);
    g_assert_cmpuint(cpl.reserved1, ==, 0);
    return (Answer) {
        .cookie = le64_to_cpu(cpl.cookie),
        .done = le32_to_cpu(cpl.done),
        .status = le16_to_cpu(cpl.status),
        .flags = le16_to_cpu(cpl.flags),
        .action = le32_to_cpu(cpl.action),
    };
}

Answer tide_ask(Tide *t, uint64_t gpa, uint32_t count, uint16_t intent)
{
    uint32_t cookie = t->sq_tail;
    Answer a;

    tide_push(t, gpa, count, intent);
    tide_ring_doorbell(t);
    a = tide_pop(t);
    g_assert_cmpuint(a.cookie, ==, cookie);
    return a;
}

void tide_discard(Tide *t, uint64_t gpa, uint32_t count)
{
    Answer a = tide_ask(t, gpa, count, TIDE_PCI_INTENT_DISCARD);

    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.done, ==, count);
    g_assert_cmphex(a.flags, ==, TIDE_PCI_CPL_ZEROED);
}

void tide_settle(void)
{
    g_usleep(100 * 1000);
}

void ram_fill(Tide *t, uint64_t gpa, uint32_t extents, uint8_t byte)
{
    qtest_memset(t->qts, gpa, byte, extents * EXTENT);
}

/* Through a file: much faster than the test's own protocol. */
static GMappedFile *ram_read(Tide *t, uint64_t gpa, uint64_t len)
{
    g_autofree char *path = NULL;
    GMappedFile *map;
    int fd = g_file_open_tmp("tide-ram-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'pmemsave', 'arguments': "
                             "{ 'val': %" PRIu64 ", 'size': %" PRIu64
                             ", 'filename': %s } }", gpa, len, path);
    map = g_mapped_file_new_from_fd(fd, false, NULL);
    g_assert_nonnull(map);
    g_assert_cmpuint(g_mapped_file_get_length(map), ==, len);
    close(fd);
    unlink(path);
    return map;
}

GMappedFile *ram_copy(Tide *t)
{
    return ram_read(t, MiB, (RAM_MB - 1) * MiB);
}

bool ram_same(GMappedFile *a, GMappedFile *b)
{
    return !memcmp(g_mapped_file_get_contents(a), g_mapped_file_get_contents(b),
                   (RAM_MB - 1) * MiB);
}

bool ram_is(Tide *t, uint64_t gpa, uint32_t extents, uint8_t byte)
{
    uint64_t len = extents * EXTENT;
    g_autoptr(GMappedFile) map = ram_read(t, gpa, len);
    const char *have = g_mapped_file_get_contents(map);

    return (uint8_t)have[0] == byte && !memcmp(have, have + 1, len - 1);
}

/* Reads smaps up to and including the header line of the mapping of that size. */
static FILE *open_smaps(Tide *t, unsigned mb, uint64_t *start)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/smaps", t->pid);
    FILE *file = fopen(path, "r");
    uint64_t end;
    char line[512];

    g_assert_nonnull(file);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", start, &end) == 2 &&
            end - *start == mb * UINT64_C(1024) * 1024) {
            return file;
        }
    }
    g_error("no mapping of %u MiB in %s", mb, path);
}

uint64_t ram_smaps(Tide *t, const char *field)
{
    uint64_t start, kib;
    FILE *file = open_smaps(t, RAM_MB, &start);
    size_t n = strlen(field);
    char line[512];

    while (fgets(line, sizeof(line), file)) {
        if (!strncmp(line, field, n) &&
            sscanf(line + n, ": %" SCNu64 " kB", &kib) == 1) {
            fclose(file);
            return kib * 1024;
        }
    }
    g_error("no %s in smaps", field);
}

uint64_t mapping_present(Tide *t, unsigned mb, uint64_t offset, uint32_t extents)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/pagemap", t->pid);
    size_t page = qemu_real_host_page_size();
    size_t count = extents * EXTENT / page;
    g_autofree uint64_t *map = g_new(uint64_t, count);
    uint64_t start, present = 0;
    int fd = open(path, O_RDONLY);

    fclose(open_smaps(t, mb, &start));
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(pread(fd, map, count * sizeof(*map),
                          (start + offset) / page * sizeof(*map)),
                    ==, count * sizeof(*map));
    close(fd);
    for (size_t i = 0; i < count; i++) {
        present += map[i] >> 63 ? page : 0;
    }
    return present;
}

uint64_t ram_present(Tide *t, uint64_t gpa, uint32_t extents)
{
    return mapping_present(t, RAM_MB, gpa, extents);
}
