# The front door. `make help` lists the ways in.
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
ARGS ?=
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)
export SETUP

.PHONY: all help configure check demo bench fuzz format install clean

# Runs a command that says much: all of it goes to a log, which is shown if it fails.
quietly = @mkdir -p build/logs; $(2) >build/logs/$(1).log 2>&1 || { cat build/logs/$(1).log; exit 1; }
# Builds the targets given; all without any.
build = $(call quietly,build,cmake --build $(BUILD) -j $(JOBS) $(if $(1),--target $(1)))

all: configure
	@echo "building all in $(BUILD)"
	$(call build)

help:
	@echo "make             build the library and all that uses it, in $(BUILD)"
	@echo "make check       all tests in all configurations, all checks of the source"
	@echo "                 (ARGS='asan tsan' for some, ARGS=--full for long stress tests)"
	@echo "make demo        the web server, apps/httpd, on loopback (ARGS=--once: one pass,"
	@echo "                 ARGS='--root DIRECTORY' for files of yours)"
	@echo "make bench       the benchmarks (ARGS='NAME... --json --seconds N')"
	@echo "make fuzz        random tests with fresh seeds (ARGS=SECONDS)"
	@echo "make format      lays out all C files as .clang-format says"
	@echo "make install     to PREFIX=/usr/local, below DESTDIR"
	@echo "make clean       removes build/"
	@echo
	@echo "What is missing is installed first, by apt-get; with SETUP=no nothing is."

configure:
	@tools/setup build
	$(call quietly,configure,cmake --preset $(PRESET) -DCMAKE_INSTALL_PREFIX=$(PREFIX))

check:
	@tools/setup check
	@tools/check $(ARGS)

demo: configure
	@echo "building the demo in $(BUILD)"
	$(call build,weft-httpd)
	@exec $(BUILD)/apps/httpd/weft-httpd $(ARGS)

bench:
	@tools/setup bench
	@$(MAKE) --no-print-directory configure
	@echo "building the benchmarks in $(BUILD)"
	$(call build,weft-bench)
	@exec $(BUILD)/bench/weft-bench $(or $(ARGS),all)

fuzz: configure
	@tools/fuzz $(BUILD) $(ARGS)

format:
	@tests/checks/format --fix

install: configure
	@echo "building the library in $(BUILD)"
	$(call build,weft_static weft_shared weft-tame weft_man)
	@DESTDIR='$(DESTDIR)' cmake --install $(BUILD)

clean:
	@rm -rf build
