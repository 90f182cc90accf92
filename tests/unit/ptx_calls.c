/* ptx_calls.c: calls of addresses, recursion, and functions that the driver defines (PTX ISA,
 * "call"; CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global Memory Allocation"). */
#include "ptx_world.h"

#define TWO_FUNCTIONS                                                                              \
    PTX_HEAD ".func (.param .b32 r) plus (.param .b32 a);\n"                                       \
             ".func (.param .b32 r) times (.param .b32 a);\n"                                      \
             ".global .align 8 .u64 table[2] = {plus, times};\n"                                   \
             ".func (.param .b32 r) plus (.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a];\n"  \
             "add.u32 %a, %a, 100; st.param.b32 [r], %a; ret; }\n"                                 \
             ".func (.param .b32 r) times (.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a];\n" \
             "mul.lo.u32 %a, %a, 3; st.param.b32 [r], %a; ret; }\n"

/* Calls the function at %f with 7 and stores what it answers at an offset. */
#define CALL_AT(offset)                                                                            \
    "{ .param .b32 p; .param .b32 q; st.param.b32 [p], 7;\n"                                       \
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"                                   \
    "call (q), %f, (p), proto; ld.param.b32 %v, [q]; }\n"                                          \
    "st.global.u32 [%out+" #offset "], %v;\n"

TEST(ptx_calls, address_of_a_function)
{
    T_EQ(run_text(TWO_FUNCTIONS ".entry k(.param .u64 out) { .reg .b64 %out, %f; .reg .b32 %v;\n"
                                "ld.param.u64 %out, [out]; mov.u64 %f, plus;\n" CALL_AT(
                                    0) "mov.u64 %f, times;\n" CALL_AT(4) "ret; }\n",
                  1, 1),
         PTX_OK);
    T_EQ(word(0), 107);
    T_EQ(word(1), 21);
}

/* The table is the module's only variable: its bytes are put at the end of the memory. */
static enum ptx_result run_table(const char *text)
{
    struct ptx_module *module = load(text);
    const struct ptx_variable *table = ptx_variable_at(module, 0);
    uint64_t params[] = {WORLD_BASE}, addresses[] = {at(WORLD_BYTES / 2)};
    const struct ptx_launch launch = {.grid = {1, 1, 1},
                                      .block = {4, 1, 1},
                                      .params = (const unsigned char *)params,
                                      .addresses = addresses,
                                      .memory = {world_span, world_generation, &world}};
    enum ptx_result result;

    memcpy(world.bytes + WORLD_BYTES / 2, table->data, table->size);
    result = ptx_run(ptx_kernel_at(module, 0), &launch, world_message, sizeof world_message);
    ptx_unload(module);
    return result;
}

/* Threads of one warp call different functions. */
TEST(ptx_calls, table_of_functions)
{
    T_EQ(run_table(TWO_FUNCTIONS
                   ".entry k(.param .u64 out) { .reg .b64 %out, %f, %o; .reg .b32 %v, %t, %i;\n"
                   "ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4;\n"
                   "add.u64 %out, %out, %o; and.b32 %i, %t, 1; mul.wide.u32 %o, %i, 8;\n"
                   "mov.u64 %f, table; add.u64 %f, %f, %o; ld.global.u64 %f, [%f];\n" CALL_AT(
                       0) "ret; }\n"),
         PTX_OK);
    for (unsigned i = 0; i < 4; i++)
        T_EQ(word(i), i & 1 ? 21 : 107);
}

TEST(ptx_calls, addresses_of_functions_and_variables_in_one_table)
{
    struct ptx_module *module =
        load(PTX_HEAD ".global .u32 v;\n.func f() { ret; }\n"
                      ".global .align 8 .u64 table[4] = {f, v, f, generic(v)+4};\n"
                      ".entry k() { ret; }\n");
    const struct ptx_variable *table = ptx_variable_at(module, 1);

    T_EQ(table->reloc_count, 2);
    T_EQ(table->relocs[0].offset, 8);
    T_EQ(table->relocs[1].offset, 24);
    T_EQ(table->relocs[1].addend, 4);
    T_NE(((const uint64_t *)table->data)[0], 0);
    T_MEM_EQ(table->data, table->data + 16, 8);
    ptx_unload(module);
}

TEST(ptx_calls, what_is_no_function_cannot_be_called)
{
    static const char *const addresses[] = {"0", "%out", "0x400000000001230"};
    char text[4096];

    for (unsigned i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%s%s%s%s", TWO_FUNCTIONS,
                 ".entry k(.param .u64 out) { .reg .b64 %out, %f; .reg .b32 %v;\n"
                 "ld.param.u64 %out, [out]; mov.u64 %f, ",
                 addresses[i], ";\n" CALL_AT(0) "ret; }\n");
        T_EQ(run_text(text, 1, 1), PTX_BAD_CALL);
        T_STR_HAS(world_message, "call of 0x");
    }
}

/* f(n) = n < 2 ? n : f(n - 1) + f(n - 2), through an address that the function gets as well. */
TEST(ptx_calls, recursion_through_an_address)
{
    static const char text[] = PTX_HEAD
        ".func (.param .b32 r) f (.param .b32 n, .param .b64 self);\n"
        ".entry k(.param .u64 out) { .reg .b64 %out, %f; .reg .b32 %v; ld.param.u64 %out, [out];\n"
        "mov.u64 %f, f; { .param .b32 a; .param .b64 b; .param .b32 c; st.param.b32 [a], 15;\n"
        "st.param.b64 [b], %f; p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 "
        "_);\n"
        "call (c), %f, (a, b), p; ld.param.b32 %v, [c]; } st.global.u32 [%out], %v; ret; }\n"
        ".func (.param .b32 r) f (.param .b32 n, .param .b64 self) { .reg .b32 %n, %m, %s;\n"
        ".reg .b64 %f; .reg .pred %p; ld.param.b32 %n, [n]; ld.param.b64 %f, [self];\n"
        "st.param.b32 [r], %n; setp.lt.u32 %p, %n, 2; @%p ret; sub.u32 %m, %n, 1;\n"
        "{ .param .b32 a; .param .b64 b; .param .b32 c; st.param.b32 [a], %m; st.param.b64 [b], "
        "%f;\n"
        "q: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
        "call (c), %f, (a, b), q; ld.param.b32 %s, [c]; } sub.u32 %m, %n, 2;\n"
        "{ .param .b32 a; .param .b64 b; .param .b32 c; st.param.b32 [a], %m; st.param.b64 [b], "
        "%f;\n"
        "q: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
        "call (c), %f, (a, b), q; ld.param.b32 %m, [c]; } add.u32 %s, %s, %m;\n"
        "st.param.b32 [r], %s; ret; }\n";

    T_EQ(run_text(text, 1, 2), PTX_OK);
    T_EQ(word(0), 610);
}

/* ---- what the driver defines ---- */

static struct {
    char printed[4096];
    uint64_t handle, taken, given;
    unsigned value;
} host;

static void print(void *context, const char *text, size_t length)
{
    strncat(host.printed, text, length);
}

static void set_conditional(void *context, uint64_t handle, unsigned value)
{
    host.handle = handle;
    host.value = value;
}

static uint64_t take(void *context, uint64_t size)
{
    host.taken = size;
    return size > 1000 ? 0 : at(512);
}

static bool give(void *context, uint64_t address)
{
    host.given = address;
    return address == at(512);
}

static enum ptx_result run_hosted(const char *text, bool hosted)
{
    struct ptx_module *module = load(text);
    uint64_t params[] = {WORLD_BASE};
    struct ptx_launch launch = {.grid = {1, 1, 1},
                                .block = {1, 1, 1},
                                .params = (const unsigned char *)params,
                                .memory = {world_span, world_generation, &world}};
    enum ptx_result result;

    memset(&host, 0, sizeof host);
    if (hosted)
        launch.host = (struct ptx_host){
            .print = print, .set_conditional = set_conditional, .take = take, .give = give};
    result = ptx_run(ptx_kernel_at(module, 0), &launch, world_message, sizeof world_message);
    ptx_unload(module);
    return result;
}

/* The format is at 0 in the memory, a text at 256; arguments go to a local array, as nvcc packs
 * them. The number of arguments is stored at 1024. */
#define PRINTS(stores)                                                                             \
    PTX_HEAD ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"             \
             ".entry k(.param .u64 out) { .local .align 8 .b8 args[64]; .reg .b64 %out, %l, %t;\n" \
             ".reg .b32 %v; .reg .f64 %d; ld.param.u64 %out, [out]; mov.u64 %l, args;\n"           \
             "add.u64 %t, %out, 256;\n" stores "cvta.local.u64 %l, %l;\n"                          \
             "{ .param .b64 p; .param .b64 q; .param .b32 r; st.param.b64 [p], %out;\n"            \
             "st.param.b64 [q], %l; call.uni (r), vprintf, (p, q); ld.param.b32 %v, [r]; }\n"      \
             "st.global.u32 [%out+1024], %v; ret; }\n"

static void check_print(const char *format, const char *code, const char *want, unsigned count)
{
    memset(world.bytes, 0, 2048);
    memcpy(world.bytes, format, strlen(format) + 1);
    memcpy(world.bytes + 256, "text", 5);
    T_EQ(run_hosted(code, true), PTX_OK);
    T_STR_EQ(host.printed, want);
    T_EQ(word(256), count);
}

TEST(ptx_calls, printf_conversions)
{
    check_print("%d,%u|%5d|%-5d|%05i%%",
                PRINTS("st.local.u32 [%l], -3; st.local.u32 [%l+4], -3;\n"
                       "st.local.u32 [%l+8], 42; st.local.u32 [%l+12], 42;\n"
                       "st.local.u32 [%l+16], 42;\n"),
                "-3,4294967293|   42|42   |00042%", 5);
    /* an argument of eight bytes is aligned to eight */
    check_print("%c%lld %x",
                PRINTS("st.local.u32 [%l], 65; st.local.u64 [%l+8], -5000000000;\n"
                       "st.local.u32 [%l+16], 255;\n"),
                "A-5000000000 ff", 3);
    check_print("%5.2f %g %s|%.2s",
                PRINTS("mov.f64 %d, 0d40091EB851EB851F; st.local.f64 [%l], %d;\n"
                       "mov.f64 %d, 0d3FE0000000000000; st.local.f64 [%l+8], %d;\n"
                       "st.local.u64 [%l+16], %t; st.local.u64 [%l+24], %t;\n"),
                " 3.14 0.5 text|te", 4);
    check_print("%*d %.*f",
                PRINTS("st.local.u32 [%l], 4; st.local.u32 [%l+4], 7;\n"
                       "st.local.u32 [%l+8], 1; mov.f64 %d, 0d3FE0000000000000;\n"
                       "st.local.f64 [%l+16], %d;\n"),
                "   7 0.5", 4);
    check_print("%hhd %hu %#lx",
                PRINTS("st.local.u32 [%l], 511; st.local.u32 [%l+4], 65537;\n"
                       "st.local.u64 [%l+8], 0x123456789a;\n"),
                "-1 1 0x123456789a", 3);
    check_print("plain", PRINTS(""), "plain", 0);
}

TEST(ptx_calls, printf_of_bad_addresses)
{
    memcpy(world.bytes, "%s", 3);
    T_EQ(run_hosted(PRINTS("st.local.u64 [%l], 16;"), true), PTX_ILLEGAL_ADDRESS);
    T_STR_EQ(host.printed, "");
    check_print("%s", PRINTS("st.local.u64 [%l], 0;"), "(null)", 1);
    /* a null format is told of, not an error */
    T_EQ(run_hosted(PRINTS("st.global.u32 [%out+2000], %v; mov.u64 %t, %out; mov.u64 %out, 0;"),
                    true),
         PTX_ILLEGAL_ADDRESS); /* by the store to null + 1024 behind it */
    T_STR_HAS(world_message, "0x400");
}

TEST(ptx_calls, assertions)
{
    memcpy(world.bytes, "n < 5\0file.cu\0void f()\0", 24);
    T_EQ(run_hosted(PTX_HEAD
                    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c,\n"
                    ".param .b64 d, .param .b64 e);\n"
                    ".entry k(.param .u64 out) { .reg .b64 %m, %f, %n; ld.param.u64 %m, [out];\n"
                    "add.u64 %f, %m, 6; add.u64 %n, %m, 14; { .param .b64 a; .param .b64 b;\n"
                    ".param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a], %m;\n"
                    "st.param.b64 [b], %f; st.param.b32 [c], 12; st.param.b64 [d], %n;\n"
                    "st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }\n"
                    "st.global.u32 [%m], 0; ret; }\n",
                    true),
         PTX_ASSERT);
    T_STR_EQ(world_message, "file.cu:12: void f(): block: [0,0,0], thread: [0,0,0] Assertion "
                            "`n < 5` failed.");
    T_EQ(world.bytes[0], 'n');
}

#define CONDITIONAL                                                                                \
    PTX_HEAD ".extern .func cudaGraphSetConditional (.param .b64 h, .param .b32 v);\n"             \
             ".entry k(.param .u64 out) { { .param .b64 a; .param .b32 b;\n"                       \
             "st.param.b64 [a], 0x123456789; st.param.b32 [b], 7;\n"                               \
             "call.uni cudaGraphSetConditional, (a, b); } ret; }\n"

TEST(ptx_calls, conditional_handles)
{
    T_EQ(run_hosted(CONDITIONAL, true), PTX_OK);
    T_EQ(host.handle, 0x123456789);
    T_EQ(host.value, 7);
    T_EQ(run_hosted(CONDITIONAL, false), PTX_UNSUPPORTED);
    T_STR_HAS(world_message, "cudaGraphSetConditional");
}

#define HEAP(size, freed)                                                                          \
    PTX_HEAD ".extern .func (.param .b64 r) malloc (.param .b64 s);\n"                             \
             ".extern .func free (.param .b64 p);\n"                                               \
             ".entry k(.param .u64 out) { .reg .b64 %out, %p; ld.param.u64 %out, [out];\n"         \
             "{ .param .b64 a; .param .b64 b; st.param.b64 [a], " size ";\n"                       \
             "call.uni (b), malloc, (a); ld.param.b64 %p, [b]; }\n"                                \
             "st.global.u64 [%out], %p; { .param .b64 a; st.param.b64 [a], " freed ";\n"           \
             "call.uni free, (a); } ret; }\n"

TEST(ptx_calls, heap)
{
    T_EQ(run_hosted(HEAP("96", "%p"), true), PTX_OK);
    T_EQ(host.taken, 96);
    T_EQ(host.given, at(512));
    T_EQ(wide(0), at(512));
    T_EQ(run_hosted(HEAP("5000", "%p"), true), PTX_OK); /* free(NULL) does nothing */
    T_EQ(wide(0), 0);
    T_EQ(host.given, 0);
    T_EQ(run_hosted(HEAP("96", "%out"), true), PTX_ILLEGAL_ADDRESS);
}

/* One that no module and no driver defines. */
TEST(ptx_calls, undefined_functions)
{
    T_EQ(run_hosted(PTX_HEAD ".extern .func nowhere ();\n"
                             ".entry k(.param .u64 out) { call nowhere; ret; }\n",
                    true),
         PTX_UNSUPPORTED);
    T_STR_HAS(world_message, "nowhere");
}
