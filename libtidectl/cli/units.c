// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as people write and read them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "units.h"

static const char prefixes[] = "KMGTPE";

void units_format_bytes(char *buf, size_t size, uint64_t bytes)
{
	double value = bytes;
	int i = -1;

	/* What would print as 1024.0 of one unit is 1.0 of the next. */
	while (value >= 1023.95 && prefixes[i + 1]) {
		value /= 1024;
		i++;
	}
	if (i < 0)
		snprintf(buf, size, "%d B", (int)value);
	else
		snprintf(buf, size, "%.1f %ciB", value, prefixes[i]);
}

/* Length of "K", "KiB" and the like at @text; 0 if it is none. */
static size_t suffix_length(const char *text, double *factor)
{
	const char *p = *text ? strchr(prefixes, text[0] & ~0x20) : NULL;

	if (!p || !*p)
		return 0;
	*factor = ldexp(1, 10 * (p - prefixes + 1));
	return strncasecmp(text + 1, "iB", 2) == 0 ? 3 : 1;
}

int units_parse_bytes(const char *text, uint64_t *bytes)
{
	double value, factor = 1;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	/* A plain count keeps all of its 64 bits. */
	if (units_parse_uint(text, UINT64_MAX, bytes) != -EINVAL)
		return units_parse_uint(text, UINT64_MAX, bytes);
	/* Decimal only, while strtod also takes hexadecimal and exponents. */
	if (text[strspn(text, "0123456789.")] == '\0')
		return -EINVAL;
	value = strtod(text, &end);
	if (end != text + strspn(text, "0123456789."))
		return -EINVAL;
	end += suffix_length(end, &factor);
	if (*end)
		return -EINVAL;
	value *= factor;
	if (value >= ldexp(1, 64))
		return -ERANGE;
	*bytes = value;
	return 0;
}

int units_parse_factor(const char *text, double *factor)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0)
		return -EINVAL;
	*factor = value;
	return 0;
}

int units_parse_uint(const char *text, uint64_t max, uint64_t *value)
{
	unsigned long long v;

	if (!*text || text[strspn(text, "0123456789")])
		return -EINVAL;
	errno = 0;
	v = strtoull(text, NULL, 10);
	if (errno || v > max)
		return -ERANGE;
	*value = v;
	return 0;
}
