/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every intent on every backing, measured on the backing itself: blocks of the
 * file, pages of the mapping, what a read returns.
 */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-driver.h"
#include "tide-test.h"

#define EXTENTS 4               /* filled; the two in the middle are reported */
#define MIDDLE (BASE + EXTENT)
#define OURS 0x5a
#define FILES 0x77

typedef struct Backing {
    const char *object;         /* with %s for the file's path, if it has one */
    uint16_t zeroed;            /* what a DISCARD promises */
    uint8_t after;              /* ... and leaves */
    bool hugetlb;
    bool file;
    bool file_freed;            /* blocks of the memfd or file go as well */
    uint32_t pageout;           /* action of PAGEOUT without swap */
} Backing;

static const Backing memfd_shared = {
    .object = "memory-backend-memfd,share=on", .zeroed = TIDE_PCI_CPL_ZEROED,
    .file_freed = true, .pageout = TIDE_PCI_ACTION_COLD,
};
static const Backing memfd_private = {
    .object = "memory-backend-memfd,share=off", .zeroed = TIDE_PCI_CPL_ZEROED,
    .pageout = TIDE_PCI_ACTION_COLD,
};
static const Backing ram_shared = {
    .object = "memory-backend-ram,share=on", .zeroed = TIDE_PCI_CPL_ZEROED,
    .pageout = TIDE_PCI_ACTION_COLD,
};
static const Backing hugetlb_shared = {
    .object = "memory-backend-memfd,share=on,hugetlb=on,hugetlbsize=2M",
    .zeroed = TIDE_PCI_CPL_ZEROED, .hugetlb = true,
};
static const Backing hugetlb_private = {
    .object = "memory-backend-memfd,share=off,hugetlb=on,hugetlbsize=2M",
    .hugetlb = true,
};
static const Backing file_private = {
    .object = "memory-backend-file,share=off,mem-path=%s", .file = true,
    .after = FILES, .pageout = TIDE_PCI_ACTION_COLD,
};
static const Backing file_shared = {
    .object = "memory-backend-file,share=on,mem-path=%s", .file = true,
    .zeroed = TIDE_PCI_CPL_ZEROED, .file_freed = true,
    .pageout = TIDE_PCI_ACTION_COLD,
};

/* A snapshot: known bytes where the tests play, holes elsewhere. */
static char *make_file(void)
{
    g_autofree uint8_t *bytes = g_malloc(EXTENTS * EXTENT);
    char *path = NULL;
    int fd = g_file_open_tmp("tide-ram-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(ftruncate(fd, RAM_MB * MiB), ==, 0);
    memset(bytes, FILES, EXTENTS * EXTENT);
    g_assert_cmpint(pwrite(fd, bytes, EXTENTS * EXTENT, BASE), ==,
                    EXTENTS * EXTENT);
    close(fd);
    return path;
}

static uint64_t free_huge_pages(void)
{
    g_autofree char *text = NULL;

    g_assert_true(g_file_get_contents("/sys/kernel/mm/hugepages/hugepages-2048kB/"
                                      "free_hugepages", &text, NULL, NULL));
    return g_ascii_strtoull(text, NULL, 10);
}

static void set_huge_pages(const char *count)
{
    FILE *file = fopen("/proc/sys/vm/nr_hugepages", "w");

    if (file) {
        fputs(count, file);
        fclose(file);
    }
}

/* Bytes of storage of the file behind the RAM: a memfd's, or the file's. */
static uint64_t storage(Tide *t, const Backing *b, const char *path)
{
    g_autofree char *dir = g_strdup_printf("/proc/%d/fd", qtest_pid(t->qts));
    uint64_t bytes = 0;
    const char *name;
    struct stat st;
    GDir *fds;

    if (b->file) {
        g_assert_cmpint(stat(path, &st), ==, 0);
        return st.st_blocks * 512;
    }
    fds = g_dir_open(dir, 0, NULL);
    g_assert_nonnull(fds);
    while ((name = g_dir_read_name(fds))) {
        g_autofree char *fd = g_build_filename(dir, name, NULL);

        if (!stat(fd, &st) && S_ISREG(st.st_mode) &&
            st.st_size == RAM_MB * MiB) {
            bytes += st.st_blocks * 512;
        }
    }
    g_dir_close(fds);
    return bytes;
}

static Tide *start(const Backing *b, const char *path)
{
    g_autofree char *object = g_strdup_printf(b->object, path);
    g_autofree char *args = g_strdup_printf(RAM_ARG "-machine memory-backend=m "
                                            "-object %s,id=m,size=%dM",
                                            object, RAM_MB);

    return tide_start(args, "");
}

static void check_discard(Tide *t, const Backing *b, const char *path,
                          uint16_t intent)
{
    uint64_t before, huge;
    Answer a;

    ram_fill(t, BASE, EXTENTS, OURS);
    before = storage(t, b, path);
    huge = free_huge_pages();
    a = tide_ask(t, MIDDLE, 2, intent);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.done, ==, 2);
    g_assert_cmphex(a.flags, ==, b->zeroed);
    g_assert_cmpuint(a.action, ==, TIDE_PCI_ACTION_DISCARD);

    g_assert_cmpuint(ram_present(t, MIDDLE, 2), ==, 0);
    if (b->file_freed) {
        g_assert_cmpuint(before - storage(t, b, path), ==, 2 * EXTENT);
    }
    if (b->file && !b->file_freed) {
        g_assert_cmpuint(before, ==, storage(t, b, path));
    }
    if (b->hugetlb) {
        g_assert_cmpuint(free_huge_pages() - huge, ==, 2);
    }
    g_assert_true(ram_is(t, MIDDLE, 2, b->after));
    g_assert_true(ram_is(t, BASE, 1, OURS));
    g_assert_true(ram_is(t, MIDDLE + 2 * EXTENT, 1, OURS));
}

/* Contents stay, and the answer says what was done. */
static void check_live(Tide *t, const Backing *b)
{
    Answer a;

    ram_fill(t, BASE, EXTENTS, OURS);
    a = tide_ask(t, MIDDLE, 2, TIDE_PCI_INTENT_COLD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmphex(a.flags, ==, b->hugetlb ? TIDE_PCI_CPL_DOWNGRADED : 0);
    g_assert_cmpuint(a.action, ==, b->hugetlb ? TIDE_PCI_ACTION_NONE :
                     TIDE_PCI_ACTION_COLD);

    a = tide_ask(t, MIDDLE, 2, TIDE_PCI_INTENT_PAGEOUT);
    if (b->hugetlb) {
        g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_UNSUPPORTED);
        g_assert_cmpuint(a.done, ==, 0);
    } else {
        g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
        g_assert_true(a.action == TIDE_PCI_ACTION_PAGEOUT ||
                      (a.action == b->pageout &&
                       a.flags == TIDE_PCI_CPL_DOWNGRADED));
    }
    g_assert_true(ram_is(t, BASE, EXTENTS, OURS));
}

static void check_willneed(Tide *t)
{
    Answer a;

    tide_ask(t, MIDDLE, 2, TIDE_PCI_INTENT_DISCARD);
    g_assert_cmpuint(ram_present(t, MIDDLE, 2), ==, 0);
    a = tide_ask(t, MIDDLE, 2, TIDE_PCI_INTENT_WILLNEED);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.action, ==, TIDE_PCI_ACTION_POPULATE);
    g_assert_cmpuint(ram_present(t, MIDDLE, 2), ==, 2 * EXTENT);
}

static void check_reclaim(Tide *t)
{
    g_assert_cmpuint(tide_reg(t, TIDE_PCI_REG_RECLAIM), ==,
                     TIDE_PCI_RECLAIM_ALL);
}

static void test_backing(gconstpointer data)
{
    const Backing *b = data;
    g_autofree char *path = b->file ? make_file() : NULL;
    Tide *t;

    if (b->hugetlb) {
        set_huge_pages("160");
        if (free_huge_pages() < 150) {
            set_huge_pages("0");
            g_test_skip("this host gives no 150 huge pages of 2 MiB");
            return;
        }
    }
    t = start(b, path);
    check_reclaim(t);
    check_discard(t, b, path, TIDE_PCI_INTENT_DISCARD);
    check_discard(t, b, path, TIDE_PCI_INTENT_DISCARD_LAZY);
    check_live(t, b);
    check_willneed(t);
    tide_stop(t);
    if (b->hugetlb) {
        set_huge_pages("0");
    }
    if (path) {
        unlink(path);
    }
}

/* Memory that reading put into a private memfd goes as well. */
static void test_private_memfd_read_first(void)
{
    Tide *t = start(&memfd_private, NULL);
    uint64_t before;

    g_assert_true(ram_is(t, BASE, EXTENTS, 0));
    ram_fill(t, BASE, EXTENTS, OURS);
    before = storage(t, &memfd_private, NULL);
    g_assert_cmpuint(before, >=, EXTENTS * EXTENT);
    g_assert_cmpuint(tide_ask(t, MIDDLE, 2, TIDE_PCI_INTENT_DISCARD).flags, ==,
                     TIDE_PCI_CPL_ZEROED);
    g_assert_cmpuint(before - storage(t, &memfd_private, NULL), ==, 2 * EXTENT);
    g_assert_true(ram_is(t, MIDDLE, 2, 0));
    tide_stop(t);
}

/* Promised to stay populated: nothing is done, and it is said. */
static void test_prealloc(void)
{
    Tide *t = tide_start(RAM_ARG "-machine memory-backend=m -object "
                         "memory-backend-ram,id=m,size=272M,prealloc=on", "");

    ram_fill(t, BASE, 2, OURS);
    for (uint16_t i = TIDE_PCI_INTENT_DISCARD; i <= TIDE_PCI_INTENT_WILLNEED; i++) {
        Answer a = tide_ask(t, BASE, 2, i);

        g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_UNSUPPORTED);
        g_assert_cmpuint(a.done, ==, 0);
    }
    g_assert_cmpuint(tide_counter(t, "madvise-calls"), ==, 0);
    g_assert_true(ram_is(t, BASE, 2, OURS));
    g_assert_cmpuint(tide_reg(t, TIDE_PCI_REG_RECLAIM), ==,
                     TIDE_PCI_RECLAIM_NONE);
    tide_stop(t);
}

/* A DIMM that is plugged in is RAM from then on, and until it is not. */
static void test_dimm(void)
{
    Tide *t = tide_start("-m 272M,slots=2,maxmem=2G", "");
    uint64_t dimm = 4 * GiB;
    Answer a = tide_ask(t, dimm, 2, TIDE_PCI_INTENT_DISCARD);

    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_RANGE);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'object-add', 'arguments': "
        "{ 'qom-type': 'memory-backend-ram', 'id': 'm1', 'size': 134217728 } }");
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'device_add', 'arguments': "
        "{ 'driver': 'pc-dimm', 'id': 'd1', 'memdev': 'm1' } }");
    ram_fill(t, dimm, 2, OURS);
    a = tide_ask(t, dimm, 2, TIDE_PCI_INTENT_DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmphex(a.flags, ==, TIDE_PCI_CPL_ZEROED);
    g_assert_true(ram_is(t, dimm, 2, 0));
    a = tide_ask(t, dimm + 63 * EXTENT, 2, TIDE_PCI_INTENT_DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_RANGE);
    tide_stop(t);
}

/* What outlives the guest is not its RAM, though it is plugged the same way. */
static void test_persistent(void)
{
    Tide *t = tide_start("-machine nvdimm=on -m 272M,slots=2,maxmem=4G "
        "-object memory-backend-ram,id=m1,size=128M "
        "-device virtio-pmem-pci,id=p1,memdev=m1,memaddr=0x100000000 "
        "-object memory-backend-ram,id=m2,size=128M "
        "-device nvdimm,id=n1,memdev=m2,addr=0x140000000", "");

    for (uint64_t gpa = 4 * GiB; gpa <= 5 * GiB; gpa += GiB) {
        ram_fill(t, gpa, 2, OURS);
        g_assert_cmpuint(tide_ask(t, gpa, 2, TIDE_PCI_INTENT_DISCARD).status, ==,
                         TIDE_PCI_ST_RANGE);
        g_assert_true(ram_is(t, gpa, 2, OURS));
    }
    tide_stop(t);
}

void tide_add_backing_tests(void)
{
    static const struct {
        const char *name;
        const Backing *backing;
    } all[] = {
        { "/tide/backing/memfd", &memfd_shared },
        { "/tide/backing/private-memfd", &memfd_private },
        { "/tide/backing/shared-anonymous", &ram_shared },
        { "/tide/backing/hugetlb", &hugetlb_shared },
        { "/tide/backing/private-hugetlb", &hugetlb_private },
        { "/tide/backing/private-file", &file_private },
        { "/tide/backing/shared-file", &file_shared },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
        qtest_add_data_func(all[i].name, all[i].backing, test_backing);
    }
    qtest_add_func("/tide/backing/private-memfd-read-first",
                   test_private_memfd_read_first);
    qtest_add_func("/tide/backing/prealloc", test_prealloc);
    qtest_add_func("/tide/backing/dimm", test_dimm);
    qtest_add_func("/tide/backing/persistent", test_persistent);
}
