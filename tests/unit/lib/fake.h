/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel with Tide in it, for tests: keeps the ABI's rules, backs arenas with
 * memfds, and does wrong when told to.
 */
#ifndef TIDE_TEST_FAKE_H
#define TIDE_TEST_FAKE_H

/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "private.h"

#define FAKE_EXTENT	(2ull << 20)
#define FAKE_MAX_CALLS	4096

/* A report as it came in. */
struct fake_call {
	uint64_t arena;
	uint64_t offset;
	uint64_t len;
	uint32_t intent;
};

/* What the fake does, set by a test; and what it saw. fake_reset() clears. */
struct fake {
	uint64_t pool_bytes;
	int open_errno;		/* what open() fails with; 0: works */
	int ioctl_errno;	/* what every ioctl fails with */
	int eintr;		/* that many ioctls are interrupted first */
	uint32_t device_state;
	uint32_t status;	/* of every answer */
	unsigned int report_delay_us;
	bool not_zeroed;	/* a discard neither zeroes nor says so */
	bool lie_zeroed;	/* a discard says zeroed and does nothing */
	bool dirty_alloc;	/* fresh memory is not zero */
	uint32_t corrupt_on;	/* an intent that flips a byte of its range */

	uint64_t owned_bytes;
	int open_fds;		/* descriptors handed out and not closed */
	struct fake_call calls[FAKE_MAX_CALLS];
	size_t nr_calls;
};

extern struct fake fake;
extern const struct tide_sys_ops fake_ops;

/* Setup and teardown for cmocka; the latter fails on a leaked descriptor. */
int fake_setup(void **state);
int fake_teardown(void **state);

/* A context on the fake. */
struct tide_ctx *fake_ctx(void);

/* The context's last message, in a static buffer. */
const char *fake_error(struct tide_ctx *ctx);

/* Fails unless @text holds @part. */
#define assert_contains(text, part)					\
	do {								\
		if (!strstr(text, part))				\
			fail_msg("\"%s\" does not hold \"%s\"", text, part); \
	} while (0)

#define TEST(f) cmocka_unit_test_setup_teardown(f, fake_setup, fake_teardown)

#endif /* TIDE_TEST_FAKE_H */
