// SPDX-License-Identifier: GPL-2.0-or-later
/* Trajectories: the model, see trajectory.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "traj_model.h"

/* Unites tools that overlap or touch; returns how many phases remain. */
static size_t merge_tools(struct traj_tool *tools, size_t n)
{
	size_t phases = 0;

	for (size_t i = 0; i < n; i++) {
		if (phases && tools[i].start_ms <= tools[phases - 1].end_ms) {
			if (tools[i].end_ms > tools[phases - 1].end_ms)
				tools[phases - 1].end_ms = tools[i].end_ms;
		} else {
			tools[phases++] = tools[i];
		}
	}
	return phases;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Appends an event that leaves the levels as they are. */
static struct traj_event *append(struct trajectory *traj, enum traj_type type,
				 uint64_t t_ms)
{
	struct traj_event *ev = &traj->events[traj->nr_events];

	*ev = traj->nr_events ? ev[-1] : (struct traj_event){ 0 };
	ev->type = type;
	ev->t_ms = t_ms;
	traj->nr_events++;
	return ev;
}

/*
 * Merges samples and phases by time. At the same moment a phase ends before
 * the sample and starts after it, so that a sample on the border counts as
 * taken outside.
 */
static void make_events(const struct traj_records *rec, size_t phases,
			struct trajectory *traj)
{
	size_t s = 0, p = 0;
	uint64_t base = 0;
	bool in_tool = false;

	append(traj, TRAJ_START, 0);
	while (s < rec->nr_samples || p < phases) {
		const struct traj_sample *m = &rec->samples[s];
		const struct traj_tool *tool = &rec->tools[p];
		bool more = s < rec->nr_samples;
		struct traj_event *ev;

		if (in_tool && (!more || tool->end_ms <= m->t_ms)) {
			ev = append(traj, TRAJ_TOOL_END, tool->end_ms);
			ev->tool = 0;
			in_tool = false;
			p++;
		} else if (!in_tool && p < phases &&
			   (!more || tool->start_ms < m->t_ms)) {
			ev = append(traj, TRAJ_TOOL_START, tool->start_ms);
			base = ev->harness;
			in_tool = true;
		} else {
			ev = append(traj, TRAJ_SAMPLE, m->t_ms);
			ev->harness = in_tool ? min_u64(base, m->bytes) :
						m->bytes;
			ev->tool = m->bytes - ev->harness;
			s++;
		}
	}
}

static void sum_up(struct trajectory *traj)
{
	double byte_ms = 0;

	for (size_t i = 0; i < traj->nr_events; i++) {
		const struct traj_event *ev = &traj->events[i];
		uint64_t live = ev->harness + ev->tool;

		traj->peak_live = max_u64(traj->peak_live, live);
		traj->harness_peak = max_u64(traj->harness_peak, ev->harness);
		traj->tool_peak = max_u64(traj->tool_peak, ev->tool);
		if (i + 1 < traj->nr_events)
			byte_ms += (double)live * (ev[1].t_ms - ev->t_ms);
	}
	traj->mean_live = traj->duration_ms ? byte_ms / traj->duration_ms : 0;
}

int traj_model(struct traj_records *rec, uint64_t duration_ms,
	       struct trajectory *traj)
{
	size_t phases = merge_tools(rec->tools, rec->nr_tools);
	const struct traj_event *last;

	traj->nr_tools = rec->nr_tools;
	traj->nr_phases = phases;
	traj->events = calloc(rec->nr_samples + 2 * phases + 2,
			      sizeof(*traj->events));
	if (!traj->events)
		return -ENOMEM;
	make_events(rec, phases, traj);
	last = &traj->events[traj->nr_events - 1];
	traj->duration_ms = max_u64(duration_ms, last->t_ms);
	append(traj, TRAJ_END, traj->duration_ms);
	sum_up(traj);
	return 0;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

uint64_t trajectory_need(const struct trajectory *traj, uint64_t unit)
{
	uint64_t tool = 0, need = 0;

	for (size_t i = 0; i < traj->nr_events; i++) {
		const struct traj_event *ev = &traj->events[i];

		tool = max_u64(tool, round_up(ev->tool, unit));
		need = max_u64(need, round_up(ev->harness, unit) + tool);
	}
	return need;
}

const char *traj_type_name(enum traj_type type)
{
	static const char *const names[] = {
		[TRAJ_START] = "start",
		[TRAJ_SAMPLE] = "sample",
		[TRAJ_TOOL_START] = "tool-start",
		[TRAJ_TOOL_END] = "tool-end",
		[TRAJ_END] = "end",
	};

	return names[type];
}
