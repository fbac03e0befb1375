// SPDX-License-Identifier: GPL-2.0-or-later
/* The one printer, on json-c and stdio. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "units.h"

#define OUT_DEPTH	6
#define LABEL_WIDTH	28

struct out {
	FILE *to;
	FILE *f;				/* text on its way to @to */
	char *text;
	size_t text_len;
	bool json;
	int depth;				/* of the open group */
	struct json_object *open[OUT_DEPTH];	/* NULL in text */
};

struct out *out_new(FILE *f, bool json, const char *schema)
{
	struct out *out = calloc(1, sizeof(*out));

	if (!out)
		abort();
	out->to = f;
	out->f = open_memstream(&out->text, &out->text_len);
	if (!out->f)
		abort();
	out->json = json;
	if (json) {
		out->open[0] = json_object_new_object();
		json_object_object_add(out->open[0], "schema",
				       json_object_new_string(schema));
	}
	return out;
}

/* One value: @text, already formatted, or @json, which it takes. */
static void emit(struct out *out, const char *key, const char *label,
		 const char *text, struct json_object *json)
{
	if (out->json) {
		json_object_object_add(out->open[out->depth], key, json);
		return;
	}
	fprintf(out->f, "%*s%-*s %s\n", 2 * out->depth, "",
		LABEL_WIDTH - 2 * out->depth, label, text);
}

void out_str(struct out *out, const char *key, const char *label,
	     const char *value)
{
	emit(out, key, label, value ? value : "unknown",
	     out->json && value ? json_object_new_string(value) : NULL);
}

void out_bool(struct out *out, const char *key, const char *label, bool value)
{
	emit(out, key, label, value ? "yes" : "no",
	     out->json ? json_object_new_boolean(value) : NULL);
}

static struct json_object *number(struct out *out, struct num value)
{
	return out->json && value.known ? json_object_new_uint64(value.value) :
					  NULL;
}

void out_count(struct out *out, const char *key, const char *label,
	       struct num value)
{
	char text[32] = "unknown";

	if (value.known)
		snprintf(text, sizeof(text), "%" PRIu64, value.value);
	emit(out, key, label, text, number(out, value));
}

void out_bytes(struct out *out, const char *key, const char *label,
	       struct num value)
{
	char text[32] = "unknown";

	if (value.known)
		units_format_bytes(text, sizeof(text), value.value);
	emit(out, key, label, text, number(out, value));
}

/* Without this, 0.2 would come out as 0.20000000000000001. */
static struct json_object *real_number(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", value);
	return json_object_new_double_s(value, text);
}

void out_real(struct out *out, const char *key, const char *label,
	      double value, const char *unit)
{
	char text[64] = "unknown";
	struct json_object *json = NULL;

	if (isfinite(value)) {
		snprintf(text, sizeof(text), "%.4g%s", value, unit);
		if (out->json)
			json = real_number(value);
	}
	emit(out, key, label, text, json);
}

static void enter(struct out *out, struct json_object *json)
{
	if (++out->depth == OUT_DEPTH)
		abort();
	out->open[out->depth] = json;
}

static void nest(struct out *out, const char *key, const char *label,
		 struct json_object *json)
{
	if (out->json)
		json_object_object_add(out->open[out->depth], key, json);
	else
		fprintf(out->f, "%*s%s\n", 2 * out->depth, "", label);
	enter(out, json);
}

void out_group(struct out *out, const char *key, const char *label)
{
	nest(out, key, label, out->json ? json_object_new_object() : NULL);
}

void out_list(struct out *out, const char *key, const char *label)
{
	nest(out, key, label, out->json ? json_object_new_array() : NULL);
}

void out_item(struct out *out)
{
	struct json_object *json = NULL;

	if (out->json) {
		json = json_object_new_object();
		json_object_array_add(out->open[out->depth], json);
	}
	enter(out, json);
}

void out_end(struct out *out)
{
	out->depth--;
}

int out_finish(struct out *out)
{
	FILE *to = out->to;

	if (out->json)
		fprintf(out->f, "%s\n",
			json_object_to_json_string_ext(out->open[0],
				JSON_C_TO_STRING_PRETTY |
				JSON_C_TO_STRING_SPACED |
				JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(out->f);
	fwrite(out->text, 1, out->text_len, to);
	out_drop(out);
	return fflush(to) != 0 || ferror(to) ? -EIO : 0;
}

void out_drop(struct out *out)
{
	if (out->json)
		json_object_put(out->open[0]);
	fclose(out->f);
	free(out->text);
	free(out);
}
