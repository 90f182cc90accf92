# libvaremap. `make help` lists the targets; `make V=1` shows the commands.

BUILD ?= build
CC    ?= gcc
NVCC  ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc 2>/dev/null) \
           $(wildcard /usr/local/cuda/bin/nvcc))
V     ?= 0
SAN   ?=
PLAIN ?=
# 1: for another architecture, where nothing but libc can be linked to: no fake GPU.
CROSS ?=

Q   = $(if $(filter 1,$(V)),,@)
say = @$(if $(filter 1,$(V)),:,printf '  %-6s %s\n' $(1) $(2))

# $(shell) does not see variables given to make.
CUDA_INCLUDE := $(shell CUDA_HOME='$(CUDA_HOME)' scripts/setup --print-include 2>/dev/null)

WARN     = -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wno-unused-parameter $(WERROR)
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CFLAGS  ?= -O2 -g
# The same sources give the same library wherever they lie.
SAMEPATH = -ffile-prefix-map=$(CURDIR)=.
# The compiler's out-of-line atomics would bring a constructor.
MACHINE := $(if $(filter aarch64%,$(shell $(CC) -dumpmachine)),-mno-outline-atomics)
BASE     = -std=gnu11 $(CFLAGS) $(WARN) $(MACHINE) -fPIC -fvisibility=hidden -pthread -MMD -MP \
           $(SAMEPATH) -I. $(if $(CUDA_INCLUDE:/usr/include=),-isystem $(CUDA_INCLUDE))
COMPILE  = $(CC) $(BASE) $(SANFLAGS)
LINK     = $(CC) $(CFLAGS) -pthread $(SANFLAGS)
# A sanitized library leaves the sanitizer's own symbols to the program it is loaded into.
DEFS     = $(if $(SAN),,-Wl,-z,defs)

objects  = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
CORE    := $(call objects,$(wildcard core/*.c))
SHIM    := $(call objects,$(wildcard shim/*.c shim/*.S))
PTX     := $(if $(CROSS),,$(call objects,$(wildcard fakevmm/ptx/*.c)))
FAKE    := $(call objects,$(wildcard fakevmm/*.c)) $(PTX)
CUDART  := $(call objects,$(wildcard fakevmm/cudart/*.c))
HELPERS := $(call objects,$(wildcard tests/helpers*.c))

LIB      = $(BUILD)/libvaremap.so
FAKELIBS = $(BUILD)/fakevmm/libcuda.so.1 $(BUILD)/fakevmm/libcudart.so.13

APPS    := $(patsubst tests/apps/%.c,$(BUILD)/apps/%,$(wildcard tests/apps/*.c)) \
           $(if $(NVCC),$(BUILD)/apps/saxpy_graph)
# Compiled by nvcc, each with its device code compressed and plain. Only tests need all of them.
CUDA_APPS := $(if $(NVCC),$(foreach d,apps apps/uncompressed,\
             $(patsubst tests/apps/%.cu,$(BUILD)/$(d)/%,$(wildcard tests/apps/*.cu))))
PROGS   := $(patsubst tests/shim/progs/%.c,$(BUILD)/tests/progs/%,$(wildcard tests/shim/progs/*.c)) \
           $(BUILD)/tests/random/program
RANDOM  := $(call objects,$(wildcard tests/random/*.c))
LIBS    := $(patsubst tests/shim/libs/%.c,$(BUILD)/tests/libs/%.so,$(wildcard tests/shim/libs/*.c))
# Other drivers than the fake: one that stands before it, and the fake itself with versioned symbols.
DRIVERS := $(BUILD)/tests/drivers/stub/libcuda.so.1 $(BUILD)/tests/drivers/versioned/libcuda.so.1
# Fuzz targets, with the small driver of their own and, where clang has it, with libFuzzer.
FUZZ    := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(filter-out tests/fuzz/driver.c,$(wildcard tests/fuzz/*.c)))
WORK    := $(BUILD)/tests/progs/work_linked $(BUILD)/tests/progs/work_versioned
# A program built with a sanitizer, for the library built without.
CHECKED := $(if $(SAN),,$(BUILD)/tests/progs/process_address $(BUILD)/tests/progs/process_thread)
# The toolkit's own runtime, where there is one to link with.
CUDA_LIB := $(firstword $(dir $(foreach d,lib64 lib targets/x86_64-linux/lib,\
            $(wildcard $(CUDA_INCLUDE:/include=)/$(d)/libcudart_static.a))))
PROBES  := $(if $(CUDA_LIB),$(BUILD)/tests/progs/cudart_static $(BUILD)/tests/progs/cudart_shared)
UNIT    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/$(if $(CROSS),core_)*.c))
DLSYM   := $(addprefix $(BUILD)/tests/dlsym/,program libalone.so libbehind.so libdriver.so)
SYSTEM  := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/fake/*.c tests/shim/*.c \
           tests/fault/*.c tests/regress/*.c))
SCRIPTS := $(wildcard tests/*/*.sh) $(addprefix scripts/check-,aarch64 api docs effects entries exports \
           install layering map reproducible)
BENCH   := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))

.DEFAULT_GOAL := all
.PHONY: all help setup demo check check-long bench asan ubsan tsan check-san lint fmt clean FORCE install uninstall
.SECONDARY:

all: $(LIB) $(FAKELIBS) $(APPS) ## the library, the fake GPU, the sample programs

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## install what is missing (Debian packages)
	@scripts/setup

# ---- libvaremap.so ----

$(BUILD)/shim/exports.map: shim/exports.map.in shim/entries.h
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -xc -I. $< -o $@

$(LIB): $(CORE) $(SHIM) $(BUILD)/shim/exports.map
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared $(DEFS) $(NOW) -Wl,--as-needed -Wl,-Bsymbolic -Wl,-soname,libvaremap.so \
	    -Wl,--version-script=$(BUILD)/shim/exports.map -o $@ $(CORE) $(SHIM)

# Bound when it is loaded: a signal handler, a forked child or the inside of dlsym is no place for the
# loader to look a symbol up. Everything bound is libc's, so it cannot fail there.
NOW = -Wl,-z,relro,-z,now,-z,noexecstack

# The way to the real dlsym must run before any sanitizer has started, and call no libc function.
$(BUILD)/obj/shim/elf.o: SANFLAGS =
$(BUILD)/obj/shim/elf.o: override CFLAGS = -O2 -g -fno-builtin -fno-tree-loop-distribute-patterns \
    -fno-stack-protector -fcf-protection=none

# ---- the fake GPU ----

$(BUILD)/fakevmm/libcuda.so.1: $(FAKE) fakevmm/exports.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared $(DEFS) -Wl,--as-needed -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 \
	    -Wl,--version-script=fakevmm/exports.map -o $@ $(FAKE) -lzstd -llz4 -lm -ldl

$(BUILD)/fakevmm/libcudart.so.13: $(CUDART) fakevmm/cudart/exports.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared $(DEFS) -Wl,--as-needed -Wl,-Bsymbolic -Wl,-soname,libcudart.so.13 \
	    -Wl,--version-script=fakevmm/cudart/exports.map -o $@ $(CUDART) -ldl

# ---- programs and tests ----

PROGRAM_LIBS = -L$(BUILD)/fakevmm -Wl,--as-needed -l:libcudart.so.13 -l:libcuda.so.1 -ldl -lm \
               -Wl,-rpath-link,$(BUILD)/fakevmm
CRITERION    = $(if $(PLAIN),,-lcriterion)
BASE        += $(if $(PLAIN),-DVR_PLAIN_MAIN)

$(BUILD)/apps/%: $(BUILD)/obj/tests/apps/%.o $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(PROGRAM_LIBS)

ARCH = compute_75
$(BUILD)/apps/bf16_kernels $(BUILD)/apps/uncompressed/bf16_kernels: ARCH = compute_80

$(BUILD)/apps/%: tests/apps/%.cu $(wildcard tests/apps/*.h)
	@mkdir -p $(@D)
	$(call say,NVCC,$@)
	$(Q)$(NVCC) -O2 -std=c++17 -I. -cudart shared -arch=$(ARCH) -o $@ $<

$(BUILD)/apps/uncompressed/%: tests/apps/%.cu $(wildcard tests/apps/*.h)
	@mkdir -p $(@D)
	$(call say,NVCC,$@)
	$(Q)$(NVCC) -O2 -std=c++17 -I. -cudart shared -arch=$(ARCH) --no-compress -o $@ $<

$(BUILD)/tests/progs/%: $(BUILD)/obj/tests/shim/progs/%.o $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(PROGRAM_LIBS)

$(BUILD)/tests/random/program: $(RANDOM) $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(RANDOM) $(PROGRAM_LIBS)

$(BUILD)/tests/libs/%.so: $(BUILD)/obj/tests/shim/libs/%.o $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -o $@ $< $(PROGRAM_LIBS)

$(BUILD)/tests/drivers/stub/libcuda.so.1: $(BUILD)/obj/tests/shim/drivers/stub.o
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 -o $@ $< -ldl

$(BUILD)/tests/drivers/versioned/libcuda.so.1: $(FAKE) tests/shim/drivers/versioned.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared $(DEFS) -Wl,--as-needed -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 \
	    -Wl,--version-script=tests/shim/drivers/versioned.map -o $@ $(FAKE) -lzstd -llz4 -lm -ldl

$(BUILD)/tests/progs/process_%: tests/shim/progs/process.c $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) -fsanitize=$* -MF $(BUILD)/obj/process_$*.d -o $@ $< $(PROGRAM_LIBS)

$(BUILD)/tests/progs/work_linked: tests/shim/progs/work.c $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(COMPILE) -DLINKED -MF $(BUILD)/obj/work_linked.d -o $@ $< $(PROGRAM_LIBS)

# Linked against a driver whose symbols have versions.
$(BUILD)/tests/progs/work_versioned: tests/shim/progs/work.c $(BUILD)/tests/drivers/versioned/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(COMPILE) -DLINKED -MF $(BUILD)/obj/work_versioned.d -o $@ $< \
	    -L$(BUILD)/tests/drivers/versioned -l:libcuda.so.1 -ldl

# The resolver, by the name that bug reports use.
$(BUILD)/tests/resolver: $(BUILD)/tests/progs/resolver
	$(Q)ln -f $< $@

$(BUILD)/tests/progs/cudart_static: $(BUILD)/obj/tests/shim/cudart/probe.o
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(CUDA_LIB)libcudart_static.a -ldl -lrt

# Its run path comes before the folder of the fake runtime.
$(BUILD)/tests/progs/cudart_shared: $(BUILD)/obj/tests/shim/cudart/probe.o
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(CUDA_LIB)libcudart.so -Wl,--disable-new-dtags,-rpath,$(CUDA_LIB)

# The tests of dlsym alone: two libraries that the program is linked to, in this order, one that it opens,
# one that is preloaded, and the least of a driver.
# Its own way on must be a jump, too.
$(BUILD)/tests/dlsym/libbehind.so: DLSYM_DEFS = -O2 -fno-sanitize=all -DDLSYM_VERSION='"$(if $(MACHINE),2.17,2.2.5)"'
$(BUILD)/tests/dlsym/libfirst.so: DLSYM_DEFS = -DFIRST
$(BUILD)/tests/dlsym/libsecond.so: DLSYM_DEFS = -DSECOND
$(BUILD)/tests/dlsym/lib%.so: tests/dlsym/%.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(COMPILE) $(DLSYM_DEFS) -shared -Wl,-Bsymbolic-functions -Wl,-soname,$(@F) -MF $@.d -o $@ $< -ldl

$(BUILD)/tests/dlsym/lib%.so: tests/dlsym/library.c tests/dlsym/places.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(COMPILE) $(DLSYM_DEFS) -shared -Wl,--version-script=tests/dlsym/places.map \
	    -Wl,-Bsymbolic-functions -Wl,-soname,$(@F) -MF $@.d -o $@ $< -ldl

$(BUILD)/tests/dlsym/program: tests/dlsym/program.c $(addprefix $(BUILD)/tests/dlsym/,libfirst.so libsecond.so)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(COMPILE) -DVR_PLAIN_MAIN -MF $@.d -o $@ $< -L$(@D) -Wl,--no-as-needed -lfirst -lsecond -ldl -lm

$(BUILD)/libunit.a: $(CORE) $(PTX)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(HELPERS) $(BUILD)/libunit.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(HELPERS) $(BUILD)/libunit.a $(CRITERION) $(if $(CROSS),,-lzstd -llz4) -lm

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(HELPERS) $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(HELPERS) $(CRITERION) $(PROGRAM_LIBS)

$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/driver.o $(BUILD)/libunit.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -lzstd -llz4 -lm

CLANG_FUZZ = clang -std=gnu11 -O1 -g -I. -pthread -fsanitize=fuzzer-no-link,address,undefined \
    -fno-sanitize-recover=all -Wno-string-plus-int -MMD -MP
$(BUILD)/fuzzobj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CLANG,$<)
	$(Q)$(CLANG_FUZZ) -c $< -o $@

$(BUILD)/tests/fuzz/%.libfuzzer: $(BUILD)/fuzzobj/tests/fuzz/%.o \
        $(patsubst $(BUILD)/obj/%,$(BUILD)/fuzzobj/%,$(CORE) $(PTX))
	@mkdir -p $(@D)
	$(call say,CLANG,$@)
	$(Q)clang -pthread -fsanitize=fuzzer,address,undefined -o $@ $^ -lzstd -llz4 -lm

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(PROGRAM_LIBS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(COMPILE) -c $< -o $@

$(BUILD)/obj/%.o: %.S
	@mkdir -p $(@D)
	$(call say,AS,$<)
	$(Q)$(CC) $(SAMEPATH) -I. -MMD -MP -c $< -o $@

-include $(shell find $(BUILD)/obj $(BUILD)/fuzzobj $(BUILD)/tests/dlsym -name '*.d' 2>/dev/null)

# ---- what people run ----

# The headers are looked for again after setup has installed what was missing, hence the second make.
demo: ## what the product does, in a minute
	@scripts/setup --quiet
	@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)

check: ## every test; under ten minutes on two cores
	@scripts/setup --quiet
	@$(MAKE) --no-print-directory -j$(shell nproc) check-built

aarch64: ## cross-build the library; tests of core/ and of dlsym under qemu-user
	@scripts/setup --quiet --aarch64
	@scripts/check-aarch64 $(BUILD)/aarch64

.PHONY: check-built tests aarch64 cross-tests
cross-tests: $(LIB) $(UNIT) $(DLSYM)

tests: all $(CUDA_APPS) $(PROGS) $(BUILD)/tests/resolver $(CHECKED) $(WORK) $(FUZZ) $(LIBS) $(DRIVERS) \
       $(PROBES) $(UNIT) $(SYSTEM) $(DLSYM)

check-built: tests
	@scripts/run-tests --build $(BUILD) $(UNIT) $(SYSTEM) $(SCRIPTS)

check-long: check ## check, and what takes longer
	@echo "  50000 random programs, bare and under the library"
	@VR_BUILD=$(BUILD) RANDOM_SEEDS=50000 bash tests/shim/random.sh
	@if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	    clang -fsanitize=fuzzer -xc - -o /dev/null 2>/dev/null; then \
	    $(MAKE) --no-print-directory -j$(shell nproc) $(FUZZ:%=%.libfuzzer); \
	fi
	@echo "  a minute of each fuzz target"
	@VR_BUILD=$(BUILD) FUZZ_SECONDS=60 bash tests/fuzz/run.sh
	@$(MAKE) --no-print-directory asan
	@echo "  10000 random programs under AddressSanitizer"
	@VR_BUILD=build/asan RANDOM_SEEDS=10000 bash tests/fake/random.sh
	@$(MAKE) --no-print-directory ubsan
	@$(MAKE) --no-print-directory tsan
	@echo "  2000 random programs under ThreadSanitizer"
	@VR_BUILD=build/tsan RANDOM_SEEDS=2000 bash tests/fake/random.sh
	@echo "  each row of the table of effects made wrong in turn"
	@scripts/mutants $(BUILD)

bench: ## what calls cost (lines of `name value unit`), and sample programs with and without the library (a table)
	@scripts/setup --quiet
	@$(MAKE) --no-print-directory all $(BENCH) BENCH_BUILD=1
	@scripts/bench $(BUILD)
	@scripts/bench-apps $(BUILD)

asan: ## the suite under AddressSanitizer
	@scripts/setup --quiet
	@$(MAKE) --no-print-directory -j$(shell nproc) BUILD=build/asan SAN=address CFLAGS="-O1 -g" check-built
ubsan: ## the suite under UndefinedBehaviorSanitizer
	@scripts/setup --quiet
	@$(MAKE) --no-print-directory -j$(shell nproc) BUILD=build/ubsan SAN=undefined CFLAGS="-O1 -g" check-built
tsan: ## the suite under ThreadSanitizer
	@scripts/setup --quiet
	@$(MAKE) --no-print-directory -j$(shell nproc) BUILD=build/tsan SAN=thread PLAIN=1 CFLAGS="-O1 -g" check-built

# ---- install ----

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DOCDIR  = $(PREFIX)/share/doc/varemap
MANDIR  = $(PREFIX)/share/man/man7

install: $(LIB) ## library, launcher, man page, pages, license: make install PREFIX=/usr/local DESTDIR=
	$(Q)install -d '$(DESTDIR)$(LIBDIR)' '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(MANDIR)' '$(DESTDIR)$(DOCDIR)'
	$(Q)install -m 644 $(LIB) '$(DESTDIR)$(LIBDIR)/libvaremap.so'
	$(Q)sed 's|^installed=$$|installed=$(LIBDIR)/libvaremap.so|' scripts/varemap >'$(DESTDIR)$(PREFIX)/bin/varemap'
	$(Q)chmod 755 '$(DESTDIR)$(PREFIX)/bin/varemap'
	$(Q)install -m 644 docs/varemap.7 '$(DESTDIR)$(MANDIR)/varemap.7'
	$(Q)install -m 644 LICENSE README.md docs/support.md '$(DESTDIR)$(DOCDIR)'

uninstall: ## remove what install put there (the same PREFIX and DESTDIR)
	$(Q)rm -f '$(DESTDIR)$(LIBDIR)/libvaremap.so' '$(DESTDIR)$(PREFIX)/bin/varemap' \
	    '$(DESTDIR)$(MANDIR)/varemap.7' '$(DESTDIR)$(DOCDIR)/LICENSE' '$(DESTDIR)$(DOCDIR)/README.md' '$(DESTDIR)$(DOCDIR)/support.md'
	$(Q)rmdir '$(DESTDIR)$(DOCDIR)' 2>/dev/null || true

lint: ## layering, exports, formatting
	@scripts/check-layering
	@clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

fmt: ## format the sources in place
	@clang-format -i $$(git ls-files '*.c' '*.h')

clean: ## remove build/
	@rm -rf build
