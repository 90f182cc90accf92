/* ptx_memory.c: state spaces, vectors, variables, atomics, and what happens on a bad access. */
#include "ptx_world.h"

TEST(ptx_memory, widths_and_signs)
{
    const unsigned char bytes[] = {0x80, 0xff, 0x00, 0x80, 1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff};

    memcpy(world.bytes, bytes, sizeof bytes);
    T_EQ(run_text(KERNEL(".reg .b64 %r<6>; .reg .b32 %w;\n"
                         "ld.global.u8 %r0, [%out]; ld.global.s8 %r1, [%out];\n"
                         "ld.global.u16 %r2, [%out]; ld.global.s16 %r3, [%out];\n"
                         "ld.global.s32 %r4, [%out+8]; ld.global.u32 %r5, [%out+8];\n"
                         "st.global.u64 [%out+64], %r0; st.global.u64 [%out+72], %r1;\n"
                         "st.global.u64 [%out+80], %r2; st.global.u64 [%out+88], %r3;\n"
                         "st.global.u64 [%out+96], %r4; st.global.u64 [%out+104], %r5;\n"
                         "mov.u32 %w, 0x11223344; st.global.u8 [%out+112], %w;\n"
                         "st.global.b16 [%out+114], %w;\n"),
                  1, 1),
         PTX_OK);
    T_EQ(wide(8), 0x80);
    T_EQ(wide(9), (uint64_t)-128);
    T_EQ(wide(10), 0xff80);
    T_EQ(wide(11), (uint64_t)-128);
    T_EQ(wide(12), UINT64_MAX);
    T_EQ(wide(13), 0xffffffff);
    T_EQ(wide(14), 0x33440044);
}

/* The address register may be one of the targets. */
TEST(ptx_memory, vectors)
{
    for (unsigned i = 0; i < 8; i++)
        ((uint32_t *)(void *)world.bytes)[i] = i + 1;
    T_EQ(run_text(KERNEL(".reg .b32 %a, %b, %c, %d; .reg .b64 %p, %q;\n"
                         "ld.global.v4.u32 {%a, %b, %c, %d}, [%out+16];\n"
                         "st.global.v4.u32 [%out+32], {%d, %c, %b, %a};\n"
                         "mov.u64 %p, %out;\n"
                         "ld.global.v2.u64 {%p, %q}, [%p];\n"
                         "st.global.v2.u64 [%out+48], {%q, %p};\n"),
                  1, 1),
         PTX_OK);
    for (unsigned i = 0; i < 4; i++)
        T_EQ(word(8 + i), 8 - i);
    T_EQ(wide(6), UINT64_C(4) << 32 | 3);
    T_EQ(wide(7), UINT64_C(2) << 32 | 1);
}

TEST(ptx_memory, parameters_are_packed_by_alignment)
{
    struct ptx_module *module = load(
        PTX_HEAD ".entry k(.param .u8 a, .param .u16 b, .param .align 4 .b8 c[12], .param .u8 d,\n"
                 ".param .u64 .ptr .global .align 16 e, .param .align 16 .b8 f[24]) { ret; }\n");
    const struct ptx_kernel *kernel = ptx_find(module, "k");
    const struct ptx_param want[] = {{0, 1}, {2, 2}, {4, 12}, {16, 1}, {24, 8}, {32, 24}};

    T_EQ(kernel->param_count, 6);
    for (unsigned i = 0; i < 6; i++) {
        T_EQ(kernel->params[i].offset, want[i].offset);
        T_EQ(kernel->params[i].size, want[i].size);
    }
    T_EQ(kernel->param_bytes, 56);
    ptx_unload(module);
}

/* Parts of a struct parameter, by name and by address. */
TEST(ptx_memory, struct_parameters)
{
    struct {
        uint64_t out;
        uint32_t part[4];
    } params = {WORLD_BASE, {1, 2, 3, 4}};
    struct ptx_module *module =
        load(PTX_HEAD ".entry k(.param .u64 out, .param .align 8 .b8 s[16]) {\n"
                      ".reg .b64 %out, %p; .reg .b32 %a, %b;\n"
                      "ld.param.u64 %out, [out]; ld.param.u32 %a, [s+12];\n"
                      "mov.b64 %p, s; ld.param.u32 %b, [%p+4];\n"
                      "st.global.v2.u32 [%out], {%a, %b};\n"
                      "cvta.param.u64 %p, %p; ld.u32 %a, [%p+8]; st.global.u32 [%out+8], %a;\n"
                      "ret; }\n");

    T_EQ(run(module, 1, 1, &params), PTX_OK);
    T_EQ(word(0), 4);
    T_EQ(word(1), 2);
    T_EQ(word(2), 3);
    ptx_unload(module);
}

/* Static and demoted shared arrays follow each other, the dynamic one is behind them. */
TEST(ptx_memory, shared)
{
    static const char text[] =
        PTX_HEAD ".shared .align 4 .b8 first[4];\n.extern .shared .align 16 .b8 dyn[];\n"
                 ".shared .align 4 .b8 unused[1000];\n"
                 ".entry k(.param .u64 out) {\n"
                 ".shared .align 8 .b8 second[5];\n"
                 ".reg .b64 %out, %g; .reg .b32 %a, %t, %n; .reg .pred %p;\n"
                 "ld.param.u64 %out, [out];\n"
                 "mov.u32 %a, first; st.global.u32 [%out], %a;\n"
                 "mov.u32 %a, second; st.global.u32 [%out+4], %a;\n"
                 "mov.u32 %a, dyn; st.global.u32 [%out+8], %a;\n"
                 "mov.u32 %t, %tid.x; shl.b32 %n, %t, 2; add.u32 %n, %n, %a;\n"
                 "st.shared.u32 [%n], %t; bar.sync 0;\n"
                 "xor.b32 %n, %t, 63; shl.b32 %n, %n, 2; add.u32 %n, %n, %a;\n"
                 "cvt.u64.u32 %g, %n; cvta.shared.u64 %g, %g; ld.u32 %n, [%g];\n"
                 "mul.wide.u32 %g, %t, 4; add.u64 %g, %out, %g; st.global.u32 [%g+16], %n;\n"
                 "ret; }\n";
    struct ptx_module *module = load(text);
    uint64_t params[] = {WORLD_BASE};
    const struct ptx_kernel *kernel = ptx_kernel_at(module, 0);
    struct ptx_launch launch = {.grid = {2, 1, 1},
                                .block = {64, 1, 1},
                                .dynamic_shared = 64 * 4,
                                .params = (const void *)params,
                                .memory = {world_span, world_generation, &world}};

    T_EQ(kernel->static_shared, 16);
    T_EQ(ptx_run(kernel, &launch, world_message, sizeof world_message), PTX_OK);
    T_EQ(word(0), 0);
    T_EQ(word(1), 8);
    T_EQ(word(2), 16);
    for (unsigned i = 0; i < 64; i++)
        T_EQ(word(4 + i), i ^ 63);
    launch.dynamic_shared = 63 * 4;
    T_EQ(ptx_run(kernel, &launch, world_message, sizeof world_message), PTX_ILLEGAL_ADDRESS);
    T_STR_HAS(world_message, "shared");
    ptx_unload(module);
}

TEST(ptx_memory, local_is_each_threads_own)
{
    T_EQ(run_text(KERNEL(".local .align 4 .b8 depot[16]; .reg .b64 %l, %g; .reg .b32 %t;\n"
                         "mov.u32 %t, %tid.x; mov.u64 %l, depot; st.local.u32 [%l+8], %t;\n"
                         "bar.sync 0; cvta.local.u64 %g, %l; ld.u32 %t, [%g+8];\n"
                         "mov.u32 %t, %t; cvt.u64.u32 %g, %t; shl.b64 %g, %g, 2;\n"
                         "add.u64 %g, %g, %out; st.global.u32 [%g], %t;\n"),
                  1, 40),
         PTX_OK);
    for (unsigned i = 0; i < 40; i++)
        T_EQ(word(i), i);
}

TEST(ptx_memory, variables_have_initial_values)
{
    static const char text[] = PTX_HEAD ".visible .global .align 4 .u32 a = 7;\n"
                                        ".const .align 4 .f32 f[3] = {1.0, 0f40000000};\n"
                                        ".global .align 8 .u64 p[2] = {a, generic(f)+4};\n"
                                        ".global .align 1 .b8 s[] = {104, 105, 0};\n"
                                        ".global .u16 m[2][3] = {{1, 2}, {4}};\n"
                                        ".global .align 8 .b8 z[1000];\n"
                                        ".entry k() { ret; }\n";
    struct ptx_module *module = load(text);
    const struct ptx_variable *v;

    v = ptx_variable_at(module, 0);
    T_STR_EQ(v->name, "a");
    T_EQ(v->size, 4);
    T_MEM_EQ(v->data, (&(uint32_t){7}), 4);
    v = ptx_variable_at(module, 1);
    T_EQ(v->space, PTX_CONST);
    T_MEM_EQ(v->data, ((float[]){1, 2, 0}), 12);
    v = ptx_variable_at(module, 2);
    T_EQ(v->reloc_count, 2);
    T_EQ(v->relocs[0].offset, 0);
    T_EQ(v->relocs[0].variable, 0);
    T_EQ(v->relocs[1].offset, 8);
    T_EQ(v->relocs[1].variable, 1);
    T_EQ(v->relocs[1].addend, 4);
    v = ptx_variable_at(module, 3);
    T_EQ(v->size, 3);
    T_STR_EQ((const char *)v->data, "hi");
    v = ptx_variable_at(module, 4);
    T_MEM_EQ(v->data, ((uint16_t[]){1, 2, 0, 4, 0, 0}), 12);
    v = ptx_variable_at(module, 5);
    T_EQ(v->size, 1000);
    T_NULL(v->data);
    T_NULL(ptx_variable_at(module, 6));
    ptx_unload(module);
}

TEST(ptx_memory, variables_by_address)
{
    static const char text[] = PTX_HEAD ".global .align 4 .u32 a; .const .align 4 .u32 c;\n"
                                        ".entry k() {\n"
                                        ".reg .b64 %p; .reg .b32 %v;\n"
                                        "ld.const.u32 %v, [c]; st.global.u32 [a], %v;\n"
                                        "mov.u64 %p, a; st.global.u32 [%p+4], %v; ret; }\n";
    struct ptx_module *module = load(text);
    const uint64_t addresses[] = {at(0), at(64)};
    const struct ptx_launch launch = {.grid = {1, 1, 1},
                                      .block = {1, 1, 1},
                                      .addresses = addresses,
                                      .memory = {world_span, world_generation, &world}};

    world.bytes[64] = 99;
    T_EQ(ptx_run(ptx_kernel_at(module, 0), &launch, world_message, sizeof world_message), PTX_OK);
    T_EQ(word(0), 99);
    T_EQ(word(1), 99);
    ptx_unload(module);
}

/* 64 threads of two blocks on the same words. */
TEST(ptx_memory, atomics)
{
    T_EQ(run_text(
             KERNEL(".reg .b32 %t, %o; .reg .f64 %d; .reg .f32 %f; .reg .b64 %w; .reg .pred %p;\n"
                    "mov.u32 %t, %tid.x;\n"
                    "atom.global.add.u32 %o, [%out], 1;\n"
                    "red.global.add.u32 [%out+4], %t;\n"
                    "atom.max.s32 %o, [%out+8], %t;\n"
                    "red.global.add.f32 [%out+12], 0f3F000000;\n"
                    "red.relaxed.gpu.global.add.f64 [%out+16], 0d3FF8000000000000;\n"
                    "atom.global.inc.u32 %o, [%out+24], 9;\n"
                    "atom.global.or.b32 %o, [%out+28], 5;\n"
                    "cvt.u64.u32 %w, %t; atom.global.add.u64 %w, [%out+32], %w;\n"
                    "setp.eq.u32 %p, %t, 0;\n"
                    "@%p atom.global.cas.b32 %o, [%out+40], 0, 77;\n"
                    "@%p atom.global.exch.b32 %o, [%out+44], 78;\n"),
             2, 32),
         PTX_OK);
    T_EQ(word(0), 64);
    T_EQ(word(1), 2 * 31 * 16);
    T_EQ(word(2), 31);
    T_EQ(word(3), 0x42000000);
    T_EQ(wide(2), 0x4058000000000000); /* 96.0 */
    T_EQ(word(6), 64 % 10);
    T_EQ(word(7), 5);
    T_EQ(wide(4), 2 * 31 * 16);
    T_EQ(word(10), 77);
    T_EQ(word(11), 78);
}

TEST(ptx_memory, atomics_on_shared)
{
    T_EQ(run_text(KERNEL(".shared .align 4 .u32 sum; .reg .b32 %t, %o; .reg .pred %p;\n"
                         "mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0;\n"
                         "@!%p st.shared.u32 [sum], 0; bar.sync 0;\n"
                         "atom.shared.add.u32 %o, [sum], %t; bar.sync 0; @%p ret;\n"
                         "ld.shared.u32 %o, [sum]; st.global.u32 [%out], %o;\n"),
                  1, 100),
         PTX_OK);
    T_EQ(word(0), 4950);
}

TEST(ptx_memory, windows_are_told_apart)
{
    T_EQ(run_text(
             KERNEL(".shared .b32 s; .local .b32 l; .reg .b64 %a; .reg .pred %p; .reg .b32 %v;\n"
                    "cvta.shared.u64 %a, s; isspacep.shared %p, %a; selp.u32 %v, 1, 0, %p;\n"
                    "st.global.u32 [%out], %v;\n"
                    "isspacep.local %p, %a; selp.u32 %v, 1, 0, %p; st.global.u32 [%out+4], %v;\n"
                    "isspacep.global %p, %out; selp.u32 %v, 1, 0, %p;\n"
                    "st.global.u32 [%out+8], %v;\n"),
             1, 1),
         PTX_OK);
    T_EQ(word(0), 1);
    T_EQ(word(1), 0);
    T_EQ(word(2), 1);
}

TEST(ptx_memory, bad_accesses_are_named)
{
    world.size = 4096;
    T_EQ(run_text(KERNEL(".reg .b32 %v; ld.global.u32 %v, [%out+4096];"), 1, 1),
         PTX_ILLEGAL_ADDRESS);
    T_STR_HAS(world_message, "illegal load of 4 bytes at 0x700000001000");
    T_EQ(run_text(KERNEL(".reg .b64 %v; ld.global.u64 %v, [%out+4092];"), 1, 1), PTX_MISALIGNED);
    T_EQ(run_text(KERNEL(".reg .b32 %v; ld.global.u32 %v, [%out+2];"), 1, 1), PTX_MISALIGNED);
    T_STR_HAS(world_message, "0x700000000002");
    T_EQ(run_text(KERNEL(".reg .b32 %v; ld.global.v2.u32 {%v, _}, [%out+4];"), 1, 1),
         PTX_MISALIGNED);
    T_EQ(run_text(KERNEL(".reg .b64 %n; mov.u64 %n, 0; st.u32 [%n], 1;"), 1, 1),
         PTX_ILLEGAL_ADDRESS);
    T_STR_HAS(world_message, "store");
    T_EQ(run_text(KERNEL(".reg .b64 %n; mov.u64 %n, 0x123456789abcdef0; st.u32 [%n], 1;"), 1, 1),
         PTX_ILLEGAL_ADDRESS);
    T_EQ(run_text(KERNEL(".local .b32 l; st.local.u32 [l+4096], 1;"), 1, 1), PTX_ILLEGAL_ADDRESS);
    world.read_only = true;
    T_EQ(
        run_text(KERNEL(".reg .b32 %v; ld.global.u32 %v, [%out]; st.global.u32 [%out], %v;"), 1, 1),
        PTX_ILLEGAL_ADDRESS);
    T_STR_HAS(world_message, "illegal store of 4 bytes at 0x700000000000");
    T_STR_HAS(world_message, "block 0,0,0 thread 0,0,0");
}

/* A span is asked for once, and again when the generation has moved. */
TEST(ptx_memory, spans_are_kept)
{
    static const char text[] = KERNEL(
        ".reg .b32 %i, %v; .reg .pred %p; mov.u32 %i, 100;\n"
        "L: ld.global.u32 %v, [%out]; sub.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra L;\n");
    struct ptx_module *module = load(text);
    uint64_t params[] = {WORLD_BASE};

    T_EQ(run(module, 1, 40, params), PTX_OK); /* more blocks would share it among more workers */
    T_EQ(world.spans, 1);
    ptx_unload(module);
}
