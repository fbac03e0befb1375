// SPDX-License-Identifier: GPL-2.0-only
#include "fake.h"

static int ring_init_case(struct kunit *test)
{
	test->priv = fake_new(test);
	return 0;
}

static void ring_exit_case(struct kunit *test)
{
	if (test->priv)
		fake_free(test->priv);
}

static void tide_ring_test_layout_is_checked(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct tide_ring_layout good = fake->layout, bad;
	struct tide_ring ring = {};

#define EXPECT_BAD(_member, _value) do {				\
	bad = good;							\
	bad._member = _value;						\
	KUNIT_EXPECT_EQ(test, -EINVAL,					\
			tide_ring_init(&ring, fake->mem,		\
				       fake->mem_size, &bad));		\
} while (0)
	EXPECT_BAD(size, 0);
	EXPECT_BAD(size, 3);
	EXPECT_BAD(size, 1U << 31);
	EXPECT_BAD(size, 256);
	EXPECT_BAD(index_offset, 4);
	EXPECT_BAD(index_offset, fake->mem_size);
	EXPECT_BAD(sq_offset, 0xffffffc0);
	EXPECT_BAD(cq_offset, fake->mem_size - 64);
	EXPECT_BAD(max_extents, 0);
#undef EXPECT_BAD
}

static void tide_ring_test_one_run(struct kunit *test)
{
	static const unsigned long pfns[] = { 7, 5, 6 };
	struct fake *fake = test->priv;
	struct tide_request *req = fake_request(test, fake, pfns, 3);
	struct tide_pci_desc desc;

	fake_submit(fake, req);
	KUNIT_EXPECT_EQ(test, 1U, fake->kicks);
	KUNIT_ASSERT_TRUE(test, fake_take(fake, &desc));
	KUNIT_EXPECT_FALSE(test, fake_take(fake, &desc));
	KUNIT_EXPECT_EQ(test, 5ULL << TIDE_EXTENT_SHIFT, le64_to_cpu(desc.gpa));
	KUNIT_EXPECT_EQ(test, 3U, le32_to_cpu(desc.count));
	KUNIT_EXPECT_EQ(test, TIDE_PCI_INTENT_DISCARD,
			(int)le16_to_cpu(desc.intent));
	KUNIT_EXPECT_EQ(test, 0, (int)le16_to_cpu(desc.flags));
	KUNIT_EXPECT_EQ(test, 0ULL, le64_to_cpu(desc.reserved));
	KUNIT_EXPECT_FALSE(test, tide_ring_idle(&fake->ring));

	fake_answer_ok(fake, &desc);
	KUNIT_EXPECT_TRUE(test, fake_reap(fake));
	KUNIT_EXPECT_EQ(test, 1U, fake->completed);
	KUNIT_EXPECT_EQ(test, 3U, req->done_extents);
	KUNIT_EXPECT_TRUE(test, req->zeroed);
	KUNIT_EXPECT_EQ(test, (u32)TIDE_STATUS_OK, req->status);
	KUNIT_EXPECT_TRUE(test, tide_ring_idle(&fake->ring));
	KUNIT_EXPECT_EQ(test, 0, tide_request_wait(req));
	KUNIT_EXPECT_EQ(test, 0U, fake->released);
	tide_request_put(req);
	KUNIT_EXPECT_EQ(test, 1U, fake->released);
}

/* Neighbours merge, gaps part, and no run is longer than the device takes. */
static void tide_ring_test_runs(struct kunit *test)
{
	unsigned long pfns[FAKE_MAX_EXTENTS + 4];
	struct fake *fake = test->priv;
	struct tide_pci_desc desc;
	unsigned int i;

	for (i = 0; i < FAKE_MAX_EXTENTS + 2; i++)
		pfns[i] = 100 + i;
	pfns[i++] = 200;
	pfns[i++] = 202;
	fake_submit(fake, fake_request(test, fake, pfns, i));

	KUNIT_EXPECT_EQ(test, 4U, fake_published(fake));
	KUNIT_EXPECT_EQ(test, 1U, fake->kicks);
	fake_take(fake, &desc);
	KUNIT_EXPECT_EQ(test, (u32)FAKE_MAX_EXTENTS, le32_to_cpu(desc.count));
	fake_take(fake, &desc);
	KUNIT_EXPECT_EQ(test, 2U, le32_to_cpu(desc.count));
	KUNIT_EXPECT_EQ(test, (100ULL + FAKE_MAX_EXTENTS) << TIDE_EXTENT_SHIFT,
			le64_to_cpu(desc.gpa));
	fake_take(fake, &desc);
	KUNIT_EXPECT_EQ(test, 1U, le32_to_cpu(desc.count));
	fake_take(fake, &desc);
	KUNIT_EXPECT_EQ(test, 202ULL << TIDE_EXTENT_SHIFT,
			le64_to_cpu(desc.gpa));
}

/* The indices run free; from just below 2^32 they go through zero. */
static void tide_ring_test_wrap(struct kunit *test)
{
	static const unsigned long pfn = 3;
	struct fake *fake = test->priv;
	struct tide_pci_desc desc;
	unsigned int i;
	u32 start = 0U - 5;

	fake->ring.sq_tail = start;
	fake->ring.cq_head = start;
	fake->sq_head = start;
	fake->cq_tail = start;
	fake_set_index(fake, TIDE_PCI_INDEX_SQ_TAIL, start);
	fake_set_index(fake, TIDE_PCI_INDEX_CQ_TAIL, start);
	for (i = 0; i < 5 * FAKE_RING_SIZE; i++) {
		fake_submit(fake, fake_request(test, fake, &pfn, 1));
		KUNIT_ASSERT_EQ(test, 1U, fake_published(fake));
		KUNIT_ASSERT_TRUE(test, fake_take(fake, &desc));
		fake_answer_ok(fake, &desc);
		KUNIT_ASSERT_TRUE(test, fake_reap(fake));
		KUNIT_ASSERT_EQ(test, i + 1, fake->completed);
	}
}

/* What does not fit waits, and goes out as answers make room. */
static void tide_ring_test_full(struct kunit *test)
{
	unsigned long pfns[3 * FAKE_RING_SIZE];
	struct fake *fake = test->priv;
	unsigned int i, answered = 0;
	struct tide_pci_desc desc;
	struct tide_request *req;

	for (i = 0; i < ARRAY_SIZE(pfns); i++)
		pfns[i] = 2 * i;
	req = fake_request(test, fake, pfns, ARRAY_SIZE(pfns));
	fake_submit(fake, req);
	KUNIT_EXPECT_EQ(test, (u32)FAKE_RING_SIZE, fake_published(fake));

	while (fake_take(fake, &desc)) {
		KUNIT_ASSERT_EQ(test, 2ULL * answered << TIDE_EXTENT_SHIFT,
				le64_to_cpu(desc.gpa));
		fake_answer_ok(fake, &desc);
		KUNIT_ASSERT_TRUE(test, fake_reap(fake));
		answered++;
		KUNIT_ASSERT_EQ(test, answered == ARRAY_SIZE(pfns) ? 1U : 0U,
				fake->completed);
	}
	KUNIT_EXPECT_EQ(test, (unsigned int)ARRAY_SIZE(pfns), answered);
	KUNIT_EXPECT_EQ(test, (u32)ARRAY_SIZE(pfns), req->done_extents);
}

static void tide_ring_test_any_order(struct kunit *test)
{
	struct tide_pci_desc desc[FAKE_RING_SIZE];
	struct tide_request *req[FAKE_RING_SIZE];
	struct fake *fake = test->priv;
	int i;

	for (i = 0; i < FAKE_RING_SIZE; i++) {
		unsigned long pfn = 10 * i;

		req[i] = fake_request(test, fake, &pfn, 1);
		fake_submit(fake, req[i]);
		KUNIT_ASSERT_TRUE(test, fake_take(fake, &desc[i]));
	}
	for (i = FAKE_RING_SIZE - 1; i >= 0; i--) {
		fake_answer_ok(fake, &desc[i]);
		KUNIT_ASSERT_TRUE(test, fake_reap(fake));
		KUNIT_EXPECT_TRUE(test, completion_done(&req[i]->completion));
		if (i)
			KUNIT_EXPECT_FALSE(test, completion_done(&req[i - 1]->completion));
	}
}

/* The first failure stays; what was done before it counts. */
static void tide_ring_test_failure(struct kunit *test)
{
	static const unsigned long pfns[] = { 1, 2, 3, 8 };
	struct fake *fake = test->priv;
	struct tide_request *req = fake_request(test, fake, pfns, 4);
	struct tide_pci_desc desc;
	struct tide_pci_cpl cpl;

	fake_submit(fake, req);
	fake_take(fake, &desc);
	cpl = (struct tide_pci_cpl) {
		.cookie = desc.cookie,
		.done = cpu_to_le32(2),
		.status = cpu_to_le16(TIDE_PCI_ST_IO),
		.flags = cpu_to_le16(TIDE_PCI_CPL_ZEROED | TIDE_PCI_CPL_PARTIAL),
	};
	fake_answer(fake, &cpl);
	fake_take(fake, &desc);
	fake_answer_ok(fake, &desc);
	KUNIT_EXPECT_TRUE(test, fake_reap(fake));
	KUNIT_EXPECT_EQ(test, 1U, fake->completed);
	KUNIT_EXPECT_EQ(test, (u32)TIDE_STATUS_IO, req->status);
	KUNIT_EXPECT_EQ(test, 3U, req->done_extents);
	KUNIT_EXPECT_FALSE(test, req->zeroed);
	KUNIT_EXPECT_TRUE(test, list_first_entry(&req->extents,
						 struct tide_extent, node)->zero);
	KUNIT_EXPECT_TRUE(test, list_last_entry(&req->extents,
						struct tide_extent, node)->zero);
}

static void tide_ring_test_not_zeroed(struct kunit *test)
{
	static const unsigned long pfn = 1;
	struct fake *fake = test->priv;
	struct tide_request *req = fake_request(test, fake, &pfn, 1);
	struct tide_pci_desc desc;
	struct tide_pci_cpl cpl;

	fake_submit(fake, req);
	fake_take(fake, &desc);
	cpl = (struct tide_pci_cpl) {
		.cookie = desc.cookie,
		.done = desc.count,
		.flags = cpu_to_le16(TIDE_PCI_CPL_DOWNGRADED),
	};
	fake_answer(fake, &cpl);
	KUNIT_EXPECT_TRUE(test, fake_reap(fake));
	KUNIT_EXPECT_EQ(test, (u32)TIDE_STATUS_OK, req->status);
	KUNIT_EXPECT_FALSE(test, req->zeroed);
	KUNIT_EXPECT_TRUE(test, req->downgraded);
}

/* No completion that makes no sense completes anything. */
static void tide_ring_test_corrupt(struct kunit *test)
{
	static const unsigned long pfns[] = { 1, 2 };
	struct fake *fake = test->priv;
	struct tide_request *req = fake_request(test, fake, pfns, 2);
	struct tide_pci_desc desc;
	struct tide_pci_cpl good, bad;
	u64 cookie;

	fake_submit(fake, req);
	fake_take(fake, &desc);
	cookie = le64_to_cpu(desc.cookie);
	good = (struct tide_pci_cpl) {
		.cookie = desc.cookie, .done = desc.count,
	};

#define EXPECT_CORRUPT(_member, _value) do {				\
	bad = good;							\
	bad._member = _value;						\
	fake_answer(fake, &bad);					\
	KUNIT_EXPECT_FALSE(test, fake_reap(fake));			\
	KUNIT_EXPECT_EQ(test, 0U, fake->completed);			\
} while (0)
	EXPECT_CORRUPT(cookie, cpu_to_le64(cookie + FAKE_RING_SIZE));
	EXPECT_CORRUPT(cookie, cpu_to_le64(cookie ^ 1));
	EXPECT_CORRUPT(cookie, cpu_to_le64(cookie + (1ULL << 32)));
	EXPECT_CORRUPT(done, cpu_to_le32(3));
	EXPECT_CORRUPT(done, cpu_to_le32(1));
	EXPECT_CORRUPT(status, cpu_to_le16(TIDE_PCI_ST_IO + 1));
#undef EXPECT_CORRUPT
	KUNIT_EXPECT_EQ(test, 6ULL, fake->ring.corrupt);

	fake_answer(fake, &good);
	KUNIT_EXPECT_TRUE(test, fake_reap(fake));
	KUNIT_EXPECT_EQ(test, 1U, fake->completed);

	/* Twice is once too often. */
	fake_answer(fake, &good);
	KUNIT_EXPECT_FALSE(test, fake_reap(fake));
	KUNIT_EXPECT_EQ(test, 1U, fake->completed);
}

static void tide_ring_test_tail_too_far(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_set_index(fake, TIDE_PCI_INDEX_CQ_TAIL, FAKE_RING_SIZE + 1);
	KUNIT_EXPECT_FALSE(test, fake_reap(fake));
	KUNIT_EXPECT_EQ(test, 1ULL, fake->ring.corrupt);
	KUNIT_EXPECT_EQ(test, 0U, fake->ring.cq_head);
}

/* With EVENT_IDX the doorbell rings only when the device asked for it. */
static void tide_ring_test_event_index(struct kunit *test)
{
	static const unsigned long pfn = 1;
	struct fake *fake = test->priv;

	tide_ring_stop(&fake->ring);
	tide_ring_start(&fake->ring, true);

	fake_submit(fake, fake_request(test, fake, &pfn, 1));
	KUNIT_EXPECT_EQ(test, 1U, fake->kicks);
	fake_submit(fake, fake_request(test, fake, &pfn, 1));
	KUNIT_EXPECT_EQ(test, 1U, fake->kicks);
	fake_set_index(fake, TIDE_PCI_INDEX_SQ_EVENT, 3);
	fake_submit(fake, fake_request(test, fake, &pfn, 1));
	KUNIT_EXPECT_EQ(test, 1U, fake->kicks);
	fake_submit(fake, fake_request(test, fake, &pfn, 1));
	KUNIT_EXPECT_EQ(test, 2U, fake->kicks);
}

static void abort_ring(struct fake *fake, enum tide_ring_abort why)
{
	LIST_HEAD(done);

	tide_ring_stop(&fake->ring);
	tide_ring_abort(&fake->ring, why, &done);
	tide_requests_complete(&done);
}

/* One request that takes all slots, and one that waits behind it. */
static void fill_ring(struct kunit *test, struct tide_request **sent,
		      struct tide_request **waiting)
{
	static const unsigned long later = 99;
	unsigned long pfns[FAKE_RING_SIZE];
	struct fake *fake = test->priv;
	unsigned int i;

	for (i = 0; i < FAKE_RING_SIZE; i++)
		pfns[i] = 2 * i;
	*sent = fake_request(test, fake, pfns, FAKE_RING_SIZE);
	*waiting = fake_request(test, fake, &later, 1);
	fake_submit(fake, *sent);
	fake_submit(fake, *waiting);
}

/* A reset answers what was sent; what was not goes out afterwards. */
static void tide_ring_test_reset(struct kunit *test)
{
	struct tide_request *sent, *waiting;
	struct fake *fake = test->priv;
	struct tide_pci_desc desc;

	fill_ring(test, &sent, &waiting);

	abort_ring(fake, TIDE_ABORT_RESET);
	KUNIT_EXPECT_EQ(test, 1U, fake->completed);
	KUNIT_EXPECT_EQ(test, (u32)TIDE_STATUS_NO_ANSWER, sent->status);
	KUNIT_EXPECT_FALSE(test, sent->unanswered);
	KUNIT_EXPECT_FALSE(test, sent->zeroed);

	fake_restart(fake);
	tide_ring_start(&fake->ring, false);
	KUNIT_ASSERT_TRUE(test, fake_take(fake, &desc));
	KUNIT_EXPECT_EQ(test, 99ULL << TIDE_EXTENT_SHIFT,
			le64_to_cpu(desc.gpa));
	fake_answer_ok(fake, &desc);
	KUNIT_EXPECT_TRUE(test, fake_reap(fake));
	KUNIT_EXPECT_EQ(test, 2U, fake->completed);
	KUNIT_EXPECT_EQ(test, (u32)TIDE_STATUS_OK, waiting->status);
}

/* While the device is being reset, requests wait. */
static void tide_ring_test_submit_while_stopped(struct kunit *test)
{
	static const unsigned long pfn = 4;
	struct fake *fake = test->priv;

	tide_ring_stop(&fake->ring);
	fake_submit(fake, fake_request(test, fake, &pfn, 1));
	KUNIT_EXPECT_EQ(test, 0U, fake_published(fake));
	KUNIT_EXPECT_FALSE(test, tide_ring_idle(&fake->ring));
	tide_ring_start(&fake->ring, false);
	KUNIT_EXPECT_EQ(test, 1U, fake_published(fake));
}

/* A device that is lost may still act on what it was sent, and only that. */
static void tide_ring_test_lost(struct kunit *test)
{
	struct tide_request *sent, *waiting, *late;
	static const unsigned long later = 99;
	struct fake *fake = test->priv;
	LIST_HEAD(list);

	fill_ring(test, &sent, &waiting);

	abort_ring(fake, TIDE_ABORT_LOST);
	KUNIT_EXPECT_EQ(test, 2U, fake->completed);
	KUNIT_EXPECT_TRUE(test, sent->unanswered);
	KUNIT_EXPECT_FALSE(test, waiting->unanswered);
	KUNIT_EXPECT_EQ(test, (u32)TIDE_STATUS_NO_ANSWER, waiting->status);
	KUNIT_EXPECT_TRUE(test, tide_ring_idle(&fake->ring));

	/* A dead ring takes nothing. */
	late = fake_request(test, fake, &later, 1);
	list_add(&late->node, &list);
	KUNIT_EXPECT_FALSE(test, tide_ring_submit(&fake->ring, &list));
	KUNIT_EXPECT_FALSE(test, list_empty(&list));
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(tide_ring_test_layout_is_checked),
	KUNIT_CASE(tide_ring_test_one_run),
	KUNIT_CASE(tide_ring_test_runs),
	KUNIT_CASE(tide_ring_test_wrap),
	KUNIT_CASE(tide_ring_test_full),
	KUNIT_CASE(tide_ring_test_any_order),
	KUNIT_CASE(tide_ring_test_failure),
	KUNIT_CASE(tide_ring_test_not_zeroed),
	KUNIT_CASE(tide_ring_test_corrupt),
	KUNIT_CASE(tide_ring_test_tail_too_far),
	KUNIT_CASE(tide_ring_test_event_index),
	KUNIT_CASE(tide_ring_test_reset),
	KUNIT_CASE(tide_ring_test_submit_while_stopped),
	KUNIT_CASE(tide_ring_test_lost),
	{}
};

struct kunit_suite tide_ring_suite = {
	.name = "tide_ring",
	.init = ring_init_case,
	.exit = ring_exit_case,
	.test_cases = ring_cases,
};
