/* kernels.h: the device code of the sample programs, as PTX text any GPU from sm_70 on accepts.
 * Arithmetic is on integers and wraps, so that every machine computes the same bits. */
#ifndef APP_KERNELS_H
#define APP_KERNELS_H

#define PTX_HEADER ".version 6.4\n.target sm_70\n.address_size 64\n"

/* r5 = t, the index of the thread in the grid; threads from `touched` on leave.
 * rd3 = the thread's element: t * stride, but `last` for the last thread. */
#define PTX_THREAD                                                                                 \
    "    ld.param.u32 %r1, [touched];\n"                                                           \
    "    mov.u32 %r2, %ctaid.x;\n"                                                                 \
    "    mov.u32 %r3, %ntid.x;\n"                                                                  \
    "    mov.u32 %r4, %tid.x;\n"                                                                   \
    "    mad.lo.s32 %r5, %r2, %r3, %r4;\n"                                                         \
    "    setp.ge.u32 %p1, %r5, %r1;\n"                                                             \
    "    @%p1 bra DONE;\n"                                                                         \
    "    cvt.u64.u32 %rd1, %r5;\n"                                                                 \
    "    ld.param.u64 %rd2, [stride];\n"                                                           \
    "    mul.lo.s64 %rd3, %rd1, %rd2;\n"                                                           \
    "    add.s32 %r6, %r5, 1;\n"                                                                   \
    "    setp.ne.s32 %p2, %r6, %r1;\n"                                                             \
    "    @%p2 bra FOUND;\n"                                                                        \
    "    ld.param.u64 %rd3, [last];\n"                                                             \
    "FOUND:\n"

/* For thread t and its element e:
 *     v = (out[e] * mult + in[e]) ^ table[e];
 *     out[e] = v + add + low(bias) + (high(bias) ^ t * salt) */
__attribute__((unused)) static const char resend_ptx[] =
    PTX_HEADER ".visible .entry resend_step(\n"
               "    .param .u64 out,\n"
               "    .param .u64 in,\n"
               "    .param .u64 table,\n"
               "    .param .u32 touched,\n"
               "    .param .u32 mult,\n"
               "    .param .u64 stride,\n"
               "    .param .u64 last,\n"
               "    .param .u64 bias,\n"
               "    .param .u32 add,\n"
               "    .param .u32 salt\n"
               ")\n"
               "{\n"
               "    .reg .pred %p<3>;\n"
               "    .reg .b32 %r<20>;\n"
               "    .reg .b64 %rd<14>;\n" PTX_THREAD "    shl.b64 %rd4, %rd3, 2;\n"
               "    ld.param.u64 %rd5, [out];\n"
               "    ld.param.u64 %rd6, [in];\n"
               "    ld.param.u64 %rd7, [table];\n"
               "    cvta.to.global.u64 %rd8, %rd5;\n"
               "    cvta.to.global.u64 %rd9, %rd6;\n"
               "    cvta.to.global.u64 %rd10, %rd7;\n"
               "    add.s64 %rd8, %rd8, %rd4;\n"
               "    add.s64 %rd9, %rd9, %rd4;\n"
               "    add.s64 %rd10, %rd10, %rd4;\n"
               "    ld.global.u32 %r7, [%rd8];\n"
               "    ld.global.u32 %r8, [%rd9];\n"
               "    ld.global.u32 %r9, [%rd10];\n"
               "    ld.param.u32 %r10, [mult];\n"
               "    mad.lo.s32 %r11, %r7, %r10, %r8;\n"
               "    xor.b32 %r11, %r11, %r9;\n"
               "    ld.param.u32 %r12, [add];\n"
               "    add.s32 %r11, %r11, %r12;\n"
               "    ld.param.u64 %rd11, [bias];\n"
               "    cvt.u32.u64 %r13, %rd11;\n"
               "    add.s32 %r11, %r11, %r13;\n"
               "    shr.u64 %rd12, %rd11, 32;\n"
               "    cvt.u32.u64 %r14, %rd12;\n"
               "    ld.param.u32 %r15, [salt];\n"
               "    mul.lo.s32 %r16, %r5, %r15;\n"
               "    xor.b32 %r17, %r14, %r16;\n"
               "    add.s32 %r18, %r11, %r17;\n"
               "    st.global.u32 [%rd8], %r18;\n"
               "DONE:\n"
               "    ret;\n"
               "}\n";

/* h = h * prime ^ field, for one field of a struct parameter; a step that can be undone, so two
 * structs that differ in one field never end in the same h. */
#define PTX_MIX(type, offset)                                                                      \
    "    ld.param." type " %rd5, [arg+" offset "];\n"                                              \
    "    mul.lo.s64 %rd4, %rd4, 1099511628211;\n"                                                  \
    "    xor.b64 %rd4, %rd4, %rd5;\n"

/* For thread t and its element e: out[e] = h, the struct's fields mixed one by one, starting from
 * t. */
#define PTX_STRUCT_BODY(fields)                                                                    \
    "{\n"                                                                                          \
    "    .reg .pred %p<3>;\n"                                                                      \
    "    .reg .b32 %r<7>;\n"                                                                       \
    "    .reg .b64 %rd<10>;\n" PTX_THREAD "    mov.u64 %rd4, %rd1;\n" fields                       \
    "    ld.param.u64 %rd6, [out];\n"                                                              \
    "    cvta.to.global.u64 %rd7, %rd6;\n"                                                         \
    "    shl.b64 %rd8, %rd3, 3;\n"                                                                 \
    "    add.s64 %rd9, %rd7, %rd8;\n"                                                              \
    "    st.global.u64 [%rd9], %rd4;\n"                                                            \
    "DONE:\n"                                                                                      \
    "    ret;\n"                                                                                   \
    "}\n"

/* small: {u32, u16, u8, u8, u32}, 12 bytes; large: {u64, u32, u16, u8, u8, u64}, 24 bytes. */
__attribute__((unused)) static const char structs_ptx[] = PTX_HEADER
    ".visible .entry mix_small(\n"
    "    .param .u64 out,\n"
    "    .param .align 4 .b8 arg[12],\n"
    "    .param .u32 touched,\n"
    "    .param .u64 stride,\n"
    "    .param .u64 last\n"
    ")\n" PTX_STRUCT_BODY(PTX_MIX("u32", "0") PTX_MIX("u16", "4") PTX_MIX("u8", "6") PTX_MIX(
        "u8", "7") PTX_MIX("u32", "8")) ".visible .entry mix_large(\n"
                                        "    .param .u64 out,\n"
                                        "    .param .u32 touched,\n"
                                        "    .param .align 8 .b8 arg[24],\n"
                                        "    .param .u64 stride,\n"
                                        "    .param .u64 last\n"
                                        ")\n" PTX_STRUCT_BODY(
                                            PTX_MIX("u64", "0") PTX_MIX("u32", "8")
                                                PTX_MIX("u16", "12") PTX_MIX("u8", "14")
                                                    PTX_MIX("u8", "15") PTX_MIX("u64", "16"));

#endif
