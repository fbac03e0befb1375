// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as people write and read them. */
#include <errno.h>
#include <string.h>

#include "fake.h"
#include "units.h"

static void formats_bytes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" },
		{ (1 << 20) - 1, "1.0 MiB" },
		{ 2 << 20, "2.0 MiB" },
		{ 1ull << 40, "1.0 TiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};
	char buf[16];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		units_format_bytes(buf, sizeof(buf), rows[i].bytes);
		assert_string_equal(buf, rows[i].text);
	}
}

static void parses_bytes(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t bytes;
	} rows[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "2M", 0, 2 << 20 },
		{ "2m", 0, 2 << 20 },
		{ "2MiB", 0, 2 << 20 },
		{ "1.5G", 0, 3ull << 29 },
		{ "16E", -ERANGE, 0 },
		{ "1.5", -EINVAL, 0 },
		{ "2MB", -EINVAL, 0 },
		{ "2Mi", -EINVAL, 0 },
		{ "2 M", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "M", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
		{ "0x10M", -EINVAL, 0 },
		{ "1e3M", -EINVAL, 0 },
		{ "1.2.3M", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t bytes = 0;
		int rc = units_parse_bytes(rows[i].text, &bytes);

		if (rc != rows[i].rc || (!rc && bytes != rows[i].bytes))
			fail_msg("\"%s\": %d, %lu", rows[i].text, rc, bytes);
	}
}

static void parses_factors(void **state)
{
	static const char *const bad[] = {
		"", "0", "-1", "nan", "inf", "1e999", "1x", "x", " ",
	};
	double f;

	(void)state;
	assert_int_equal(units_parse_factor("2.5", &f), 0);
	assert_true(f == 2.5);
	assert_int_equal(units_parse_factor("1e-3", &f), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (units_parse_factor(bad[i], &f) != -EINVAL)
			fail_msg("\"%s\" was taken", bad[i]);
}

static void parses_counts(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(units_parse_uint("17", 17, &v), 0);
	assert_int_equal(v, 17);
	assert_int_equal(units_parse_uint("18", 17, &v), -ERANGE);
	assert_int_equal(units_parse_uint("99999999999999999999", UINT64_MAX,
					  &v), -ERANGE);
	assert_int_equal(units_parse_uint("-1", 17, &v), -EINVAL);
	assert_int_equal(units_parse_uint(" 1", 17, &v), -EINVAL);
	assert_int_equal(units_parse_uint("0x1", 17, &v), -EINVAL);
	assert_int_equal(units_parse_uint("", 17, &v), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_bytes),
		cmocka_unit_test(parses_bytes),
		cmocka_unit_test(parses_factors),
		cmocka_unit_test(parses_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
