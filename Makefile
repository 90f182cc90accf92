# libvaremap. `make help` lists the targets; `make V=1` shows the commands.

BUILD ?= build
CC    ?= gcc
NVCC  ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc 2>/dev/null) \
           $(wildcard /usr/local/cuda/bin/nvcc))
V     ?= 0
SAN   ?=
PLAIN ?=

Q   = $(if $(filter 1,$(V)),,@)
say = @$(if $(filter 1,$(V)),:,printf '  %-6s %s\n' $(1) $(2))

# $(shell) does not see variables given to make.
CUDA_INCLUDE := $(shell CUDA_HOME='$(CUDA_HOME)' scripts/setup --print-include 2>/dev/null)

WARN     = -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wno-unused-parameter $(WERROR)
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CFLAGS  ?= -O2 -g
BASE     = -std=gnu11 $(CFLAGS) $(WARN) -fPIC -fvisibility=hidden -pthread -MMD -MP -I. \
           $(if $(CUDA_INCLUDE),-isystem $(CUDA_INCLUDE))
COMPILE  = $(CC) $(BASE) $(SANFLAGS)
LINK     = $(CC) $(CFLAGS) -pthread $(SANFLAGS)
# A sanitized library leaves the sanitizer's own symbols to the program it is loaded into.
DEFS     = $(if $(SAN),,-Wl,-z,defs)

objects  = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
CORE    := $(call objects,$(wildcard core/*.c))
SHIM    := $(call objects,$(wildcard shim/*.c shim/*.S))
PTX     := $(call objects,$(wildcard fakevmm/ptx/*.c))
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
# The toolkit's own runtime, where there is one to link with.
CUDA_LIB := $(firstword $(dir $(foreach d,lib64 lib targets/x86_64-linux/lib,\
            $(wildcard $(CUDA_INCLUDE:/include=)/$(d)/libcudart_static.a))))
PROBES  := $(if $(CUDA_LIB),$(BUILD)/tests/progs/cudart_static $(BUILD)/tests/progs/cudart_shared)
UNIT    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c))
SYSTEM  := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/fake/*.c tests/shim/*.c \
           tests/fault/*.c tests/regress/*.c))
SCRIPTS := $(wildcard tests/*/*.sh) scripts/check-exports scripts/check-layering scripts/check-map \
           scripts/check-api scripts/check-effects
BENCH   := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))

.DEFAULT_GOAL := all
.PHONY: all help setup demo check check-long bench asan ubsan tsan check-san lint fmt clean FORCE
.SECONDARY:

all: $(LIB) $(FAKELIBS) $(APPS) ## the library, the fake GPU, the sample programs

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## install what is missing (Debian packages)
	@scripts/setup

# ---- libvaremap.so ----

$(BUILD)/shim/exports.map: shim/exports.map.in shim/entries.h
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -xc -I. $< -o $@

$(LIB): $(CORE) $(SHIM) $(BUILD)/shim/exports.map
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared $(DEFS) -Wl,--as-needed -Wl,-Bsymbolic -Wl,-soname,libvaremap.so \
	    -Wl,--version-script=$(BUILD)/shim/exports.map -o $@ $(CORE) $(SHIM)

# The way to the real dlsym must run before any sanitizer has started, and call no libc function.
$(BUILD)/obj/shim/elf.o: SANFLAGS =
$(BUILD)/obj/shim/elf.o: CFLAGS = -O2 -g -fno-builtin -fno-tree-loop-distribute-patterns \
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

$(BUILD)/tests/progs/cudart_static: $(BUILD)/obj/tests/shim/cudart/probe.o
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(CUDA_LIB)libcudart_static.a -ldl -lrt

# Its run path comes before the folder of the fake runtime.
$(BUILD)/tests/progs/cudart_shared: $(BUILD)/obj/tests/shim/cudart/probe.o
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(CUDA_LIB)libcudart.so -Wl,--disable-new-dtags,-rpath,$(CUDA_LIB)

$(BUILD)/libunit.a: $(CORE) $(PTX)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(HELPERS) $(BUILD)/libunit.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(HELPERS) $(BUILD)/libunit.a $(CRITERION) -lzstd -llz4 -lm

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(HELPERS) $(FAKELIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(HELPERS) $(CRITERION) $(PROGRAM_LIBS)

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
	$(Q)$(CC) -I. -MMD -MP -c $< -o $@

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ---- what people run ----

# The headers are looked for again after setup has installed what was missing, hence the second make.
demo: ## what the product does, in a minute
	@scripts/setup --quiet
	@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)

check: ## every test; under ten minutes on two cores
	@scripts/setup --quiet
	@$(MAKE) --no-print-directory -j$(shell nproc) check-built

.PHONY: check-built tests
tests: all $(CUDA_APPS) $(PROGS) $(LIBS) $(PROBES) $(UNIT) $(SYSTEM)

check-built: tests
	@scripts/run-tests --build $(BUILD) $(UNIT) $(SYSTEM) $(SCRIPTS)

check-long: check ## check, and what takes longer
	@echo "  50000 random programs, bare and under the library"
	@VR_BUILD=$(BUILD) RANDOM_SEEDS=50000 bash tests/shim/random.sh
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

lint: ## layering, exports, formatting
	@scripts/check-layering
	@clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

fmt: ## format the sources in place
	@clang-format -i $$(git ls-files '*.c' '*.h')

clean: ## remove build/
	@rm -rf build
