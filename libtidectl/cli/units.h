/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TIDE_CLI_UNITS_H
#define TIDE_CLI_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* "1.5 GiB"; whole bytes below 1 KiB. 16 bytes hold every result. */
void units_format_bytes(char *buf, size_t size, uint64_t bytes);

/* "4096", "2M", "2MiB", "1.5G": bytes, binary multiples. 0 or -EINVAL/-ERANGE. */
int units_parse_bytes(const char *text, uint64_t *bytes);

/* A finite number above zero: 0 or -EINVAL. */
int units_parse_factor(const char *text, double *factor);

/* Decimal digits only, at most @max: 0, -EINVAL or -ERANGE. */
int units_parse_uint(const char *text, uint64_t max, uint64_t *value);

#endif /* TIDE_CLI_UNITS_H */
