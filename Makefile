# The front door. `make help` lists the ways in.
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
ARGS ?=
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)

.PHONY: all help configure check demo bench fuzz format install clean

all: configure
	@cmake --build $(BUILD) -j $(JOBS)

help:
	@echo "make             build the library and all that uses it, in $(BUILD)"
	@echo "make check       all tests in all configurations, all checks of the source"
	@echo "                 (ARGS='asan tsan' for some, ARGS=--full for long stress tests)"
	@echo "make demo        a small web server on loopback (ARGS=--once: one pass)"
	@echo "make bench       the benchmarks (ARGS='NAME... --json --seconds N')"
	@echo "make fuzz        random tests with fresh seeds (ARGS=SECONDS)"
	@echo "make format      lays out all C files as .clang-format says"
	@echo "make install     to PREFIX=/usr/local, below DESTDIR"
	@echo "make clean       removes build/"

configure:
	@tools/setup build
	@mkdir -p build/logs
	@cmake --preset $(PRESET) -DCMAKE_INSTALL_PREFIX=$(PREFIX) >build/logs/configure.log 2>&1 || \
		{ cat build/logs/configure.log; exit 1; }

check:
	@tools/setup check
	@tools/check $(ARGS)

demo: all
	@demo=$$(find $(BUILD) -name weft-demo -type f) && exec $${demo:?is not built} $(ARGS)

bench:
	@tools/setup bench
	@$(MAKE) --no-print-directory all
	@exec $(BUILD)/bench/weft-bench $(or $(ARGS),all)

fuzz: configure
	@tools/fuzz $(BUILD) $(ARGS)

format:
	@tests/checks/format --fix

install: all
	@DESTDIR='$(DESTDIR)' cmake --install $(BUILD)

clean:
	@rm -rf build
