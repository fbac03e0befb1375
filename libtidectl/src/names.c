// SPDX-License-Identifier: LGPL-2.1-or-later
/* Words for the numbers of the user ABI. */
#include <errno.h>
#include <string.h>

#include "private.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const intents[] = {
	[TIDE_INTENT_DISCARD] = "discard",
	[TIDE_INTENT_DISCARD_LAZY] = "lazy",
	[TIDE_INTENT_COLD] = "cold",
	[TIDE_INTENT_PAGEOUT] = "pageout",
	[TIDE_INTENT_WILLNEED] = "willneed",
};

static const char *const statuses[] = {
	[TIDE_STATUS_OK] = "ok",
	[TIDE_STATUS_INVALID] = "invalid",
	[TIDE_STATUS_RANGE] = "range",
	[TIDE_STATUS_UNSUPPORTED] = "unsupported",
	[TIDE_STATUS_INHIBITED] = "inhibited",
	[TIDE_STATUS_BUSY] = "busy",
	[TIDE_STATUS_IO] = "io",
	[TIDE_STATUS_PENDING] = "pending",
	[TIDE_STATUS_NO_ANSWER] = "no-answer",
};

static const char *const backends[] = {
	[TIDE_BACKEND_CONTIG] = "contig",
	[TIDE_BACKEND_CMA] = "cma",
};

static const char *const states[] = {
	[TIDE_DEVICE_OK] = "ok",
	[TIDE_DEVICE_INHIBITED] = "inhibited",
	[TIDE_DEVICE_DEGRADED] = "degraded",
};

static const char *name_of(const char *const *names, size_t n, uint32_t value)
{
	return value < n && names[value] ? names[value] : "unknown";
}

TIDE_EXPORT const char *tide_intent_name(uint32_t intent)
{
	return name_of(intents, ARRAY_SIZE(intents), intent);
}

TIDE_EXPORT const char *tide_status_name(uint32_t status)
{
	return name_of(statuses, ARRAY_SIZE(statuses), status);
}

TIDE_EXPORT const char *tide_backend_name(uint32_t backend)
{
	return name_of(backends, ARRAY_SIZE(backends), backend);
}

TIDE_EXPORT const char *tide_state_name(uint32_t device_state)
{
	return name_of(states, ARRAY_SIZE(states), device_state);
}

TIDE_EXPORT int tide_intent_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(intents); i++)
		if (intents[i] && strcmp(intents[i], name) == 0)
			return i;
	return -EINVAL;
}
