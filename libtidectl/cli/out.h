/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one printer. A verb says each value once, with its JSON key and its
 * label; it comes out as a JSON object or as aligned lines.
 */
#ifndef TIDE_CLI_OUT_H
#define TIDE_CLI_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct out;

/* A number that may be unknown: null in JSON, "unknown" in text, never 0. */
struct num {
	bool known;
	uint64_t value;
};

#define NUM(v) ((struct num){ .known = true, .value = (v) })
#define NUM_UNKNOWN ((struct num){ .known = false })

/* @schema, such as "tidectl-status/1", is a JSON member only. */
struct out *out_new(FILE *f, bool json, const char *schema);

void out_str(struct out *out, const char *key, const char *label,
	     const char *value);	/* NULL: unknown */
void out_bool(struct out *out, const char *key, const char *label, bool value);
void out_count(struct out *out, const char *key, const char *label,
	       struct num value);
void out_bytes(struct out *out, const char *key, const char *label,
	       struct num value);
/* @unit stands behind the number in text; NaN: unknown. */
void out_real(struct out *out, const char *key, const char *label,
	      double value, const char *unit);

/* Values up to the matching out_end() are members of an object below @key. */
void out_group(struct out *out, const char *key, const char *label);
/* As out_group(), for a list; each out_item() begins an object in it. */
void out_list(struct out *out, const char *key, const char *label);
void out_item(struct out *out);
void out_end(struct out *out);

/* Writes all of it and frees; -EIO if any of it could not be written. */
int out_finish(struct out *out);

/* Frees without writing anything. */
void out_drop(struct out *out);

#endif /* TIDE_CLI_OUT_H */
