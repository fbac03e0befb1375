# SPDX-License-Identifier: GPL-2.0-or-later
# The front door. Each target does its own set-up; those that install packages
# or build guest images want root.
.DEFAULT_GOAL := help

KERNEL ?= 6.12
DESTDIR ?=
prefix ?= /usr/local
VERSION := $(shell cat VERSION)
DKMS_TREE := $(DESTDIR)/usr/src/tide-$(VERSION)

help:
	@echo 'make demo                 replay a recorded trajectory with and without Tide'
	@echo 'make check [RING=...]     all tests, or some rings: abi scripts unit-core fuzz'
	@echo '                          unit-lib cli qtest dkms kunit vm; KERNELS="6.1 6.12 7.3 debug"'
	@echo '                          and, only if named, qemu-versions; QEMUS="7.2 11.1"'
	@echo 'make all                  library and command, into build/lib'
	@echo 'make install              them, into DESTDIR and prefix (/usr/local)'
	@echo 'make dkms-install         the module, for the kernels of this machine, by DKMS'
	@echo 'make module KERNEL=6.12   the module for a guest kernel: 6.1, 6.12 or 7.3'
	@echo 'make qemu                 QEMU with the device; prints its folder'
	@echo 'make clean                removes build/; what was fetched stays in ~/.cache/tide'

demo:
	bench/demo/demo.sh

check:
	tests/run.sh $(RING)

all: lib

lib:
	$(MAKE) -C libtidectl

qemu:
	qemu-device/qemu/build.sh

module:
	scripts/module.sh $(KERNEL)

install:
	$(MAKE) -C libtidectl install DESTDIR=$(DESTDIR) prefix=$(prefix)

# With DESTDIR only the source is put in place, for a package to be made of.
dkms-install:
	install -d $(DKMS_TREE)
	cp -a dkms.conf Kbuild VERSION module uapi $(DKMS_TREE)/
	[ -n "$(DESTDIR)" ] || dkms install tide/$(VERSION)

clean:
	rm -rf build

.PHONY: help demo check all lib qemu module install dkms-install clean
