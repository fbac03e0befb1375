/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests use of QEMU's test library, for releases that have less of it. */
#ifndef TIDE_TEST_COMPAT_H
#define TIDE_TEST_COMPAT_H

#include "libqtest.h"

#if __has_include("qobject/qdict.h")
#include "qobject/qdict.h"
#include "qobject/qjson.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"
#else
#include "qapi/qmp/qdict.h"
#include "qapi/qmp/qjson.h"
#include "qapi/qmp/qlist.h"
#include "qapi/qmp/qnum.h"
#endif

#if QEMU_VERSION_MAJOR < 10

/* Asked right after a QEMU was started: it is the youngest child. */
static inline pid_t tide_qtest_pid(void)
{
    g_autofree char *path = g_strdup_printf("/proc/self/task/%d/children",
                                            getpid());
    g_autofree char *text = NULL;
    const char *last;
    pid_t pid;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    last = strrchr(g_strchomp(text), ' ');
    pid = g_ascii_strtoull(last ? last : text, NULL, 10);
    g_assert_cmpint(pid, >, 0);
    return pid;
}

/* The @member of an answer that has to have it. */
static inline QDict *tide_qmp_take(QDict *response, const char *member)
{
    QDict *taken = qdict_get_qdict(response, member);

    g_assert_nonnull(taken);
    qobject_ref(taken);
    qobject_unref(response);
    return taken;
}

#define qtest_pid(qts) tide_qtest_pid()
#define qtest_qmp_assert_success_ref(qts, ...) \
    tide_qmp_take(qtest_qmp(qts, __VA_ARGS__), "return")
#define qtest_qmp_assert_failure_ref(qts, ...) \
    tide_qmp_take(qtest_qmp(qts, __VA_ARGS__), "error")
#define qtest_system_reset(qts)                                         \
    do {                                                                \
        qtest_qmp_assert_success(qts, "{ 'execute': 'system_reset' }"); \
        qtest_qmp_eventwait(qts, "RESET");                              \
    } while (0)

#endif

#endif /* TIDE_TEST_COMPAT_H */
