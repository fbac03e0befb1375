/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tide

#if !defined(TIDE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TIDE_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(tide_extent,
	TP_PROTO(unsigned long pfn, unsigned long index, u8 from, u8 to),
	TP_ARGS(pfn, index, from, to),
	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(unsigned long, index)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		__entry->pfn = pfn;
		__entry->index = index;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("pfn=%lx index=%lu from=%u to=%u", __entry->pfn,
		  __entry->index, __entry->from, __entry->to)
);

TRACE_EVENT(tide_submit,
	TP_PROTO(unsigned long pfn, u32 count, u16 intent, u64 cookie),
	TP_ARGS(pfn, count, intent, cookie),
	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(u64, cookie)
		__field(u32, count)
		__field(u16, intent)
	),
	TP_fast_assign(
		__entry->pfn = pfn;
		__entry->cookie = cookie;
		__entry->count = count;
		__entry->intent = intent;
	),
	TP_printk("pfn=%lx count=%u intent=%u cookie=%llx", __entry->pfn,
		  __entry->count, __entry->intent, __entry->cookie)
);

TRACE_EVENT(tide_answer,
	TP_PROTO(u64 cookie, u32 done, u16 status, u16 flags, u32 action),
	TP_ARGS(cookie, done, status, flags, action),
	TP_STRUCT__entry(
		__field(u64, cookie)
		__field(u32, done)
		__field(u32, action)
		__field(u16, status)
		__field(u16, flags)
	),
	TP_fast_assign(
		__entry->cookie = cookie;
		__entry->done = done;
		__entry->action = action;
		__entry->status = status;
		__entry->flags = flags;
	),
	TP_printk("cookie=%llx done=%u status=%u flags=%x action=%u",
		  __entry->cookie, __entry->done, __entry->status,
		  __entry->flags, __entry->action)
);

#endif /* TIDE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
