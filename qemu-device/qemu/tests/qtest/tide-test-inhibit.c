/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who forbids discards, and what the guest and the operator hear of it. */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-driver.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define INHIBITOR "-device tide-testdev,id=inhibitor "

static void set_inhibit(QTestState *qts, bool on)
{
    qtest_qmp_assert_success(qts, on ?
        "{ 'execute': 'qom-set', 'arguments': { 'path': '/machine/peripheral/inhibitor', "
        "'property': 'inhibit', 'value': true } }" :
        "{ 'execute': 'qom-set', 'arguments': { 'path': '/machine/peripheral/inhibitor', "
        "'property': 'inhibit', 'value': false } }");
}

static bool inhibited(Tide *t)
{
    return tide_reg(t, TIDE_PCI_REG_STATUS) & TIDE_PCI_STATUS_INHIBITED;
}

static void test_comes_and_goes(void)
{
    Tide *t = tide_start(RAM_ARG INHIBITOR, ",exclusive=off");
    Answer a;

    qpci_msix_enable(t->dev);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t interrupts;

        ram_fill(t, BASE, 2, 0x5a);
        set_inhibit(t->qts, true);
        a = tide_ask(t, BASE, 2, DISCARD);
        g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_INHIBITED);
        g_assert_cmpuint(a.done, ==, 0);
        g_assert_true(inhibited(t));
        g_assert_true(ram_is(t, BASE, 2, 0x5a));

        /* The driver is told when it lifts, without asking. */
        interrupts = tide_counter(t, "interrupts");
        set_inhibit(t->qts, false);
        WAIT_FOR(!inhibited(t));
        WAIT_FOR(tide_counter(t, "interrupts") > interrupts);
        g_assert_cmpuint(tide_ask(t, BASE, 2, DISCARD).status, ==, TIDE_PCI_ST_OK);
        g_assert_true(ram_is(t, BASE, 2, 0));
    }
    g_assert_cmpuint(tide_counter(t, "refused-inhibited"), ==, 3);
    qpci_msix_disable(t->dev);
    tide_stop(t);
}

/* With exclusive=on it is the inhibitor that is kept out. */
static void test_exclusive(void)
{
    Tide *t = tide_start(RAM_ARG INHIBITOR, "");
    QDict *error = qtest_qmp_assert_failure_ref(t->qts,
        "{ 'execute': 'qom-set', 'arguments': { 'path': '/machine/peripheral/inhibitor', "
        "'property': 'inhibit', 'value': true } }");

    qobject_unref(error);
    g_assert_cmpuint(tide_ask(t, BASE, 1, DISCARD).status, ==, TIDE_PCI_ST_OK);
    tide_stop(t);
}

/* One line that names the fix, and nothing left behind. */
static void refused_at_realize(const char *args, const char *text,
                               const char *second)
{
    QTestState *qts = qtest_initf("-machine pc -nodefaults %s", args);
    QDict *error = qtest_qmp_assert_failure_ref(qts,
        "{ 'execute': 'device_add', 'arguments': { 'driver': 'tide' } }");
    const char *desc = qdict_get_str(error, "desc");

    g_assert_nonnull(strstr(desc, text));
    g_assert_nonnull(strstr(desc, second));
    g_assert_null(strchr(desc, '\n'));
    qobject_unref(error);
    qtest_quit(qts);
}

static void test_refused_while_inhibited(void)
{
    refused_at_realize("-device tide-testdev,id=inhibitor,inhibit=on",
                       "assigned device", "exclusive=off");
}

static void test_coarse_pages(void)
{
    refused_at_realize("-m 1G -machine memory-backend=m -object memory-backend-memfd,"
                       "id=m,size=1G,hugetlb=on,hugetlbsize=1G,reserve=off",
                       "1 GiB", "2 MiB");
}

/* The same where the machine does not come up without the device either. */
static void refused_at_start(const char *args, const char *text, const char *second)
{
    g_autofree char *command = g_strdup_printf("%s -machine q35 -accel qtest "
        "-nodefaults -display none %s -device tide", g_getenv("QTEST_QEMU_BINARY"),
        args);
    g_autofree char *said = NULL;
    int status;

    g_assert_true(g_spawn_command_line_sync(command, NULL, &said, &status, NULL));
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, EXIT_FAILURE);
    g_assert_nonnull(strstr(said, text));
    g_assert_nonnull(strstr(said, second));
}

static void test_locked_memory(void)
{
    refused_at_start("-overcommit mem-lock=on", "locked memory", "mem-lock");
}

/* No such hardware is asked for: the device says no before the accelerator does. */
static void test_confidential_guest(void)
{
    refused_at_start("-object sev-guest,id=c,cbitpos=51,reduced-phys-bits=1 "
                     "-machine confidential-guest-support=c",
                     "confidential guest", "confidential-guest-support");
}

void tide_add_inhibit_tests(void)
{
    qtest_add_func("/tide/inhibit/comes-and-goes", test_comes_and_goes);
    qtest_add_func("/tide/inhibit/exclusive", test_exclusive);
    qtest_add_func("/tide/inhibit/refused", test_refused_while_inhibited);
    qtest_add_func("/tide/inhibit/coarse-pages", test_coarse_pages);
    qtest_add_func("/tide/inhibit/locked-memory", test_locked_memory);
    qtest_add_func("/tide/inhibit/confidential-guest", test_confidential_guest);
}
