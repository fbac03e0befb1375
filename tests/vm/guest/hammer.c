// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hammer RESOURCE0 RESOURCE2 MODE SECONDS: one CPU hammers the device, without a
 * driver, and another one counts how far it gets meanwhile. Prints two numbers:
 * rounds of plain work per second, and blows per second.
 *
 * MODE: nothing, compute (what any busy CPU costs), doorbell, registers,
 * descriptors (refused ones, a ringful a doorbell), port (ACPI's timer: another
 * device, to compare with).
 */
#include <endian.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/tide_pci.h>

#define PM_TIMER_PORT 0x608

static volatile uint32_t *regs;
static unsigned char *rings;
static uint32_t queue_size;
static unsigned long long blows;
static volatile int stop;
static volatile unsigned sink;

static uint32_t *index_at(unsigned int offset)
{
	return (uint32_t *)(rings + offset);
}

static void set_reg(unsigned int offset, uint32_t value)
{
	regs[offset / 4] = value;
}

static uint32_t reg(unsigned int offset)
{
	return regs[offset / 4];
}

static void nothing(void)
{
	pause();
}

static void compute(void)
{
	for (unsigned int i = 0; i < 1000; i++)
		sink += i;
}

static void doorbell(void)
{
	set_reg(TIDE_PCI_REG_DOORBELL, 0);
}

static void registers(void)
{
	sink += reg(TIDE_PCI_REG_STATUS);
}

/* All slots are zero: an intent that does not exist. */
static void descriptors(void)
{
	uint32_t answered = __atomic_load_n(index_at(TIDE_PCI_INDEX_CQ_TAIL), __ATOMIC_ACQUIRE);

	__atomic_store_n(index_at(TIDE_PCI_INDEX_CQ_HEAD), answered, __ATOMIC_RELEASE);
	__atomic_store_n(index_at(TIDE_PCI_INDEX_SQ_TAIL), answered + queue_size,
			 __ATOMIC_RELEASE);
	doorbell();
}

static void port(void)
{
	sink += inl(PM_TIMER_PORT);
}

static const struct {
	const char *name;
	void (*blow)(void);
} modes[] = {
	{ "nothing", nothing }, { "compute", compute }, { "doorbell", doorbell },
	{ "registers", registers }, { "descriptors", descriptors }, { "port", port },
};

static void (*blow)(void);

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static void *hammer(void *unused)
{
	(void)unused;
	pin(1);
	if (blow == port && iopl(3)) {
		perror("iopl");
		exit(1);
	}
	while (!stop) {
		blow();
		blows++;
	}
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *map(const char *path, size_t len)
{
	int fd = open(path, O_RDWR | O_SYNC);
	void *p = fd < 0 ? MAP_FAILED :
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	return p;
}

static void enable(void)
{
	set_reg(TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_RESET);
	while (reg(TIDE_PCI_REG_STATUS) & TIDE_PCI_STATUS_RESETTING)
		;
	memset(rings, 0, reg(TIDE_PCI_REG_CQ_OFFSET));
	queue_size = reg(TIDE_PCI_REG_QUEUE_SIZE);
	set_reg(TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_ENABLE);
}

int main(int argc, char **argv)
{
	unsigned long long rounds = 0;
	double from, seconds;
	pthread_t thread;

	for (size_t i = 0; argc == 5 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[3], modes[i].name))
			blow = modes[i].blow;
	if (!blow) {
		fprintf(stderr, "usage: hammer RESOURCE0 RESOURCE2 MODE SECONDS\n");
		return 2;
	}
	regs = map(argv[1], TIDE_PCI_REGS_SIZE);
	rings = map(argv[2], reg(TIDE_PCI_REG_CQ_OFFSET));
	enable();
	seconds = atof(argv[4]);
	pin(0);
	pthread_create(&thread, NULL, hammer, NULL);
	for (from = now(); now() - from < seconds; rounds++)
		compute();
	stop = 1;
	seconds = now() - from;
	printf("%.0f %.0f\n", (double)rounds / seconds, (double)blows / seconds);
	return 0;
}
