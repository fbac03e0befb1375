/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real host calls on real memory, and reading /proc/swaps. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "internal.h"

#define HEAD "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

static uint64_t room(const char *text)
{
    char path[] = "/tmp/tide-swaps-XXXXXX";
    int fd = mkstemp(path);
    uint64_t bytes;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    bytes = tide_swap_room_from(path);
    unlink(path);
    return bytes;
}

static void test_swap_room(void **state)
{
    (void)state;
    assert_int_equal(tide_swap_room_from("/nonexistent"), 0);
    assert_int_equal(room(""), 0);
    assert_int_equal(room(HEAD), 0);
    assert_int_equal(room(HEAD "garbage\n\n"), 0);
    assert_int_equal(room(HEAD "/dev/zram0 partition 1000 400 5\n"), 600 * 1024);
    assert_int_equal(room(HEAD "/dev/zram0 partition 1000 1000 5\n"), 0);
    assert_int_equal(room(HEAD "/swapfile file 1000 0 -2\n"), 0);
    assert_int_equal(room(HEAD "/dev/a partition 10 0 -2\n/dev/b partition 20 1 -3\n"),
                     29 * 1024);
}

/* A file that is filled first takes the pages before the device sees one. */
static void test_swap_priorities(void **state)
{
    (void)state;
    assert_int_equal(room(HEAD "/f file 100 0 -2\n/dev/a partition 10 0 5\n"),
                     10 * 1024);
    assert_int_equal(room(HEAD "/f file 100 0 5\n/dev/a partition 10 0 -2\n"), 0);
    assert_int_equal(room(HEAD "/f file 100 0 5\n/dev/a partition 10 0 5\n"), 0);
    assert_int_equal(room(HEAD "/f file 100 100 5\n/dev/a partition 10 0 -2\n"),
                     10 * 1024);
}

static int64_t resident(void *p, size_t len)
{
    struct iovec iov = { p, len };
    int64_t bytes;

    tide_host_linux.remains(&iov, 1, TIDE_LEAVES_MEMORY, &bytes);
    return bytes;
}

static void test_discard_really_discards(void **state)
{
    const TideHost *host = &tide_host_linux;
    size_t len = 32 * 1024 * 1024;
    unsigned char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(p, MAP_FAILED);
    madvise(p, len, MADV_NOHUGEPAGE);
    memset(p, 0x5a, len);
    assert_int_equal(resident(p, len), len);
    assert_int_equal(host->advise(p, len / 2, MADV_DONTNEED), 0);
    assert_int_equal(resident(p, len), len / 2);
    assert_int_equal(p[0], 0);
    assert_int_equal(p[len / 2], 0x5a);
    assert_int_equal(resident(p, len), len / 2 + (size_t)sysconf(_SC_PAGESIZE));
    munmap(p, len);
}

static void test_errors_are_negative_errno(void **state)
{
    const TideHost *host = &tide_host_linux;
    unsigned char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_int_equal(host->advise(p, 4096, 12345), -EINVAL);
    munmap(p, 4096);
    assert_int_equal(host->advise(p, 4096, MADV_DONTNEED), -ENOMEM);
    assert_int_equal(resident(p, 4096), -ENOMEM);
}

/* Each range for itself, whatever lies between them: memory, or nothing at all. */
static void test_remains_of_many(void **state)
{
    size_t mib = 1024 * 1024;
    unsigned char *p = mmap(NULL, 256 * mib, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec iov[] = {
        { p, 2 * mib }, { p + 4 * mib, 2 * mib }, { p + 6 * mib, mib },
        { p + 9 * mib, mib }, { p + 40 * mib, 140 * mib }, { p + 200 * mib, mib },
    };
    const size_t in[] = { 2 * mib, 0, mib, 4096, 8192, 512 * 1024 };
    int64_t bytes[6];

    (void)state;
    assert_ptr_not_equal(p, MAP_FAILED);
    madvise(p, 256 * mib, MADV_NOHUGEPAGE);
    memset(p, 1, 4 * mib);
    memset(p + 6 * mib, 1, 2 * mib);
    p[9 * mib] = p[170 * mib] = p[179 * mib] = 1;
    /* More pieces than one look tells of. */
    for (size_t i = 0; i < mib; i += 8192) {
        p[200 * mib + i] = 1;
    }
    for (unsigned hole = 0; hole < 2; hole++) {
        for (TideLeaves where = TIDE_LEAVES_MEMORY; where <= TIDE_LEAVES_BOTH; where++) {
            tide_host_linux.remains(iov, 6, where, bytes);
            for (unsigned i = 0; i < 6; i++) {
                assert_int_equal(bytes[i], in[i]);
            }
        }
        tide_mapped(iov, 6, bytes);
        for (unsigned i = 0; i < 6; i++) {
            assert_int_equal(bytes[i], in[i]);
        }
        munmap(p + 8 * mib, mib);
    }
    munmap(p + 200 * mib, mib);
    tide_host_linux.remains(iov, 6, TIDE_LEAVES_MEMORY, bytes);
    assert_int_equal(bytes[4], in[4]);
    assert_int_equal(bytes[5], -ENOMEM);
    munmap(p, 256 * mib);
}

/* What others brought into RAM stays there; that our copy went is another question. */
static void test_remains_of_a_file(void **state)
{
    size_t len = 4 * 1024 * 1024;
    int fd = memfd_create("remains", 0);
    unsigned char *other, *p;
    struct iovec iov;
    int64_t bytes;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)len), 0);
    other = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    iov = (struct iovec) { p, len };
    memset(other, 1, len);
    memset(p, 2, len / 2);
    tide_host_linux.remains(&iov, 1, TIDE_LEAVES_MAPPING, &bytes);
    assert_true(bytes >= (int64_t)len / 2);
    tide_mapped(&iov, 1, &bytes);
    assert_true(bytes >= (int64_t)len / 2);
    assert_int_equal(madvise(p, len, MADV_DONTNEED), 0);
    tide_mapped(&iov, 1, &bytes);
    assert_int_equal(bytes, 0);
    tide_host_linux.remains(&iov, 1, TIDE_LEAVES_MAPPING, &bytes);
    assert_int_equal(bytes, 0);
    tide_host_linux.remains(&iov, 1, TIDE_LEAVES_MEMORY, &bytes);
    assert_int_equal(bytes, len);
    munmap(p, len);
    munmap(other, len);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_swap_room),
        cmocka_unit_test(test_swap_priorities),
        cmocka_unit_test(test_discard_really_discards),
        cmocka_unit_test(test_remains_of_many),
        cmocka_unit_test(test_remains_of_a_file),
        cmocka_unit_test(test_errors_are_negative_errno),
    };

    return RUN_TESTS(tests);
}
