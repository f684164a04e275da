# The front door. `make help` lists the ways in.
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
VARIANTS ?=
ARGS ?=
PACKAGES := build
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)
export SETUP

.PHONY: all help configure check demo bench papers fuzz format install uninstall clean

space := $(subst ,, )

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
	@echo "                 (ARGS='asan tsan' for some, ARGS=--full for long stress tests,"
	@echo "                 ARGS=--bare: demo and check in a bare system, as root)"
	@echo "make demo        the web server, apps/httpd, on loopback (ARGS=--once: one pass,"
	@echo "                 ARGS='--root DIRECTORY' for files of yours)"
	@echo "make bench       the benchmarks, and a page of them, build/bench/index.html"
	@echo "                 (ARGS='NAME... --json --seconds N')"
	@echo "make papers      the experiments of the five papers, in an hour at most: see"
	@echo "                 build/papers/index.html (ONLY=mely-4,ac-10 for some, ARGS=--plan)"
	@echo "make fuzz        every fuzzer, then random tests with fresh seeds, 20 s each"
	@echo "                 (ARGS='SECONDS NAME...': ARGS=600 for 10 minutes each)"
	@echo "make format      lays out all C files as .clang-format says"
	@echo "make install     to PREFIX=/usr/local, below DESTDIR; with VARIANTS='asan tsan' also the"
	@echo "                 libraries for programs with these sanitizers"
	@echo "make uninstall   removes what the last make install put there"
	@echo "make clean       removes build/"
	@echo
	@echo "What is missing is installed first, by apt-get; with SETUP=no nothing is."

configure:
	@tools/setup $(PACKAGES)
	$(call quietly,configure,cmake --preset $(PRESET) -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
		$(if $(VARIANTS),-DWEFT_VARIANTS='$(subst $(space),;,$(strip $(VARIANTS)))'))

check:
	@tools/setup $(if $(filter --bare,$(ARGS)),bare,check)
	@tools/check $(ARGS)

demo: PACKAGES := demo
demo: configure
	@echo "building the demo in $(BUILD)"
	$(call build,weft-httpd)
	@exec $(BUILD)/apps/httpd/weft-httpd $(ARGS)

bench papers:
	@tools/setup $@
	@$(MAKE) --no-print-directory configure
	@echo "building the benchmarks in $(BUILD)"
	$(call build,weft-bench)
	@exec tools/papers/papers $@ --bench $(BUILD)/bench/weft-bench --out build/$@ $(how_$@)

how_bench = -- $(or $(ARGS),all)
how_papers = $(if $(ONLY),--only '$(ONLY)') $(ARGS)

fuzz: configure
	@tools/fuzz $(BUILD) $(ARGS)

format:
	@tests/checks/format --fix

install: configure
	@echo "building what is installed in $(BUILD)"
	$(call build,weft_installed)
	@DESTDIR='$(DESTDIR)' cmake --install $(BUILD)

uninstall:
	@DESTDIR='$(DESTDIR)' tools/uninstall $(BUILD)/install_manifest.txt

clean:
	@rm -rf build
