/* ptx_convert.c: conversions to and from small floats, in every rounding mode, and those that
 * pack. */
#include "ptx_one.h"
#include "ptx_small.h"

static uint32_t in[BATCH][3], out[BATCH];

static float as_float(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Floats in and around the format's range: values of encodings, ties between two, anything near. */
static void fill_floats(const struct small *f, uint64_t seed)
{
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0x00000001, 0x7f7fffff, 0xff7fffff};

    for (unsigned i = 0; i < BATCH; i++) {
        uint32_t code = small_random(&seed) % (f->largest + 1), near = code + 1 + code % 3;
        exact low = small_magnitude(f, code), high = small_magnitude(f, near);
        float x = (float)(i % 4 == 0   ? low
                          : i % 4 == 1 ? (low + high) / 2
                                       : low + (high - low) / 3);
        uint32_t bits = float_bits(x);
        if (i % 4 == 3)
            bits += small_random(&seed) % 3 - 1;
        in[i][0] = i < 8 ? special[i] : bits ^ (small_random(&seed) & 0x80000000);
        in[i][1] = in[(i * 7 + 3) % BATCH][0];
    }
}

static void check_conversion(const struct small *f, const char *code, char mode, unsigned shift)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fill_floats(f, seed);
        run_batch(code, (const uint32_t(*)[3])in, out);
        for (unsigned i = 0; i < BATCH; i++) {
            uint32_t want = small_round(f, as_float(in[i][0]), mode) << shift;
            if (out[i] != want)
                T_FAIL("%s of %08x: %08x, wanted %08x", code, in[i][0], out[i], want);
        }
    }
}

TEST(ptx_convert, f32_to_small)
{
    check_conversion(&F16, "h:cvt.rn.f16.f32 %hd, %a;", 'n', 0);
    check_conversion(&F16, "h:cvt.rz.f16.f32 %hd, %a;", 'z', 0);
    check_conversion(&F16, "h:cvt.rm.f16.f32 %hd, %a;", 'm', 0);
    check_conversion(&F16, "h:cvt.rp.f16.f32 %hd, %a;", 'p', 0);
    check_conversion(&BF16, "h:cvt.rn.bf16.f32 %hd, %a;", 'n', 0);
    check_conversion(&BF16, "h:cvt.rz.bf16.f32 %hd, %a;", 'z', 0);
    check_conversion(&TF32, "cvt.rna.tf32.f32 %d, %a;", 'a', 13);
    check_conversion(&TF32, "cvt.rn.tf32.f32 %d, %a;", 'n', 13);
    check_conversion(&TF32, "cvt.rz.tf32.f32 %d, %a;", 'z', 13);
}

/* To f16 by way of f32 would round twice. */
TEST(ptx_convert, f64_to_small)
{
    static const struct one ones[] = {
        {"cvt.rn.f16.f64 %d, %a;", "b16", "f64", "f64", "f64", 0x3ff0020000000000, 0, 0, 0x3c00},
        {"cvt.rn.f16.f64 %d, %a;", "b16", "f64", "f64", "f64", 0x3ff0020000000001, 0, 0, 0x3c01},
        {"cvt.rn.f16.f64 %d, %a;", "b16", "f64", "f64", "f64", 0x3ff0060000000000, 0, 0, 0x3c02},
        {"cvt.rp.f16.f64 %d, %a;", "b16", "f64", "f64", "f64", 0x0000000000000001, 0, 0, 1},
        {"cvt.f64.f16 %d, %a;", "f64", "b16", "b16", "b16", 0x8001, 0, 0, 0xbe70000000000000},
        {"cvt.rn.bf16.f64 %d, %a;", "b16", "f64", "f64", "f64", 0x3ff0100000000001, 0, 0, 0x3f81},
        {"cvt.f32.bf16 %d, %a;", "f32", "b16", "b16", "b16", 0xbf81, 0, 0, 0xbf810000},
    };

    CHECK_ALL(ones);
}

static void check_widening(const struct small *f, const char *code)
{
    for (unsigned base = 0; base < 0x10000; base += BATCH) {
        for (unsigned i = 0; i < BATCH; i++)
            in[i][0] = base + i;
        run_batch(code, (const uint32_t(*)[3])in, out);
        for (unsigned i = 0; i < BATCH; i++) {
            exact want = small_value(f, base + i);
            float got = as_float(out[i]);
            bool same = want != want ? got != got : got == (float)want;
            if (!same || (want == want && (signbit(got) != 0) != (base + i >= 0x8000)))
                T_FAIL("%s of %04x: %g", code, base + i, got);
        }
    }
}

TEST(ptx_convert, all_small_to_f32)
{
    check_widening(&F16, "cvt.f32.f16 %d, %ha;");
    check_widening(&BF16, "cvt.f32.bf16 %d, %ha;");
}

TEST(ptx_convert, whole_numbers)
{
    static const struct one ones[] = {
        {"cvt.rn.f16.s32 %d, %a;", "b16", "b32", "b32", "b32", 2049, 0, 0, 0x6800},
        {"cvt.rn.f16.s32 %d, %a;", "b16", "b32", "b32", "b32", 2051, 0, 0, 0x6802},
        {"cvt.rp.f16.s32 %d, %a;", "b16", "b32", "b32", "b32", (uint32_t)-2049, 0, 0, 0xe800},
        {"cvt.rm.f16.s32 %d, %a;", "b16", "b32", "b32", "b32", (uint32_t)-2049, 0, 0, 0xe801},
        {"cvt.rn.f16.u32 %d, %a;", "b16", "b32", "b32", "b32", 65520, 0, 0, 0x7c00},
        {"cvt.rz.f16.u32 %d, %a;", "b16", "b32", "b32", "b32", 1000000, 0, 0, 0x7bff},
        {"cvt.rn.f16.s16 %d, %a;", "b16", "b16", "b16", "b16", 0xffff, 0, 0, 0xbc00},
        /* 257 * 2^55 is a tie in bf16; one more is not */
        {"cvt.rn.bf16.u64 %d, %a;", "b16", "b64", "b64", "b64", 0x8080000000000000, 0, 0, 0x5f00},
        {"cvt.rn.bf16.u64 %d, %a;", "b16", "b64", "b64", "b64", 0x8080000000000001, 0, 0, 0x5f01},
        {"cvt.rzi.s32.f16 %d, %a;", "b32", "b16", "b16", "b16", 0xc100, 0, 0, (uint32_t)-2},
        {"cvt.rni.s32.f16 %d, %a;", "b32", "b16", "b16", "b16", 0x4100, 0, 0, 2},
        {"cvt.rpi.s32.bf16 %d, %a;", "b32", "b16", "b16", "b16", 0x4020, 0, 0, 3},
        {"cvt.rmi.s16.f16 %d, %a;", "b16", "b16", "b16", "b16", 0xc100, 0, 0, 0xfffd},
        {"cvt.rzi.u16.f16 %d, %a;", "b16", "b16", "b16", "b16", 0x7c00, 0, 0, 0xffff},
        {"cvt.rzi.s32.f16 %d, %a;", "b32", "b16", "b16", "b16", 0x7e00, 0, 0, 0},
        {"cvt.rzi.s64.f16 %d, %a;", "b64", "b16", "b16", "b16", 0x7e00, 0, 0, UINT64_C(1) << 63},
        {"cvt.rni.f16.f16 %d, %a;", "b16", "b16", "b16", "b16", 0x4100, 0, 0, 0x4000},
        {"cvt.rpi.f16.f16 %d, %a;", "b16", "b16", "b16", "b16", 0x3800, 0, 0, 0x3c00},
        {"cvt.rmi.bf16.bf16 %d, %a;", "b16", "b16", "b16", "b16", 0xbf00, 0, 0, 0xbf80},
        {"cvt.sat.f16.f16 %d, %a;", "b16", "b16", "b16", "b16", 0x4000, 0, 0, 0x3c00},
        {"cvt.sat.s8.s32 %d, %a;", "b32", "b32", "b32", "b32", 200, 0, 0, 127},
        {"cvt.sat.u8.s32 %d, %a;", "b32", "b32", "b32", "b32", (uint32_t)-5, 0, 0, 0},
        {"cvt.sat.u16.s64 %d, %a;", "b32", "b64", "b64", "b64", 70000, 0, 0, 65535},
        {"cvt.rzi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0xcf000000, 0, 0, 0x80000000},
        {"cvt.rzi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0x4effffff, 0, 0, 0x7fffff80},
        {"cvt.rzi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0x4f000000, 0, 0, 0x7fffffff},
        {"cvt.rzi.ftz.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0xff800000, 0, 0, 0x80000000},
        {"cvt.rpi.ftz.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 1, 0, 0, 0},
        {"cvt.rpi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 1, 0, 0, 1},
    };

    CHECK_ALL(ones);
}

#define PAIR(text, a, b, want)                                                                     \
    {                                                                                              \
        text, "b32", "f32", "f32", "f32", a, b, 0, want                                            \
    }

/* The first source is the upper half. */
TEST(ptx_convert, pairs_of_halves)
{
    static const struct one ones[] = {
        PAIR("cvt.rn.f16x2.f32 %d, %a, %b;", 0x3f800000, 0xc0000000, 0x3c00c000),
        PAIR("cvt.rz.f16x2.f32 %d, %a, %b;", 0x477fffff, 0x3f801fff, 0x7bff3c00),
        PAIR("cvt.rn.f16x2.f32 %d, %a, %b;", 0x477fffff, 0x3f801fff, 0x7c003c01),
        PAIR("cvt.rn.relu.f16x2.f32 %d, %a, %b;", 0xbf800000, 0x7fc00000, 0x00007fff),
        PAIR("cvt.rn.bf16x2.f32 %d, %a, %b;", 0x3f808000, 0x3f818000, 0x3f803f82),
        PAIR("cvt.rz.relu.bf16x2.f32 %d, %a, %b;", 0x3f81ffff, 0xbf800000, 0x3f810000),
        PAIR("cvt.rn.satfinite.f16x2.f32 %d, %a, %b;", 0x7f800000, 0xc7c35000, 0x7bfffbff),
    };

    CHECK_ALL(ones);
}

static uint32_t clamped(const struct small *f, exact x)
{
    uint32_t code = small_round(f, x, 'n'), magnitude = code & ((1u << (f->bits - 1)) - 1);

    if (x == x && magnitude > f->largest)
        return (code & 1u << (f->bits - 1)) | f->largest;
    return code;
}

static void check_eighths(const struct small *f, const char *code)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fill_floats(f, seed);
        run_batch(code, (const uint32_t(*)[3])in, out);
        for (unsigned i = 0; i < BATCH; i++) {
            uint32_t want = clamped(f, as_float(in[i][0])) << 8 | clamped(f, as_float(in[i][1]));
            if (out[i] != want)
                T_FAIL("%s of %08x, %08x: %04x, wanted %04x", code, in[i][0], in[i][1], out[i],
                       want);
        }
    }
}

TEST(ptx_convert, f32_to_eight_bits)
{
    check_eighths(&E4M3, "h:cvt.rn.satfinite.e4m3x2.f32 %hd, %a, %b;");
    check_eighths(&E5M2, "h:cvt.rn.satfinite.e5m2x2.f32 %hd, %a, %b;");
}

/* Every encoding; all values are exact in f16. */
static void check_from_eighths(const struct small *f, const char *code)
{
    for (unsigned i = 0; i < BATCH; i++)
        in[i][0] = i % 256 << 8 | (i * 5 + 1) % 256;
    run_batch(code, (const uint32_t(*)[3])in, out);
    for (unsigned i = 0; i < BATCH; i++) {
        uint32_t high = small_round(&F16, small_value(f, in[i][0] >> 8), 'n');
        uint32_t low = small_round(&F16, small_value(f, in[i][0] & 255), 'n');
        if (out[i] != (high << 16 | low))
            T_FAIL("%s of %04x: %08x", code, in[i][0], out[i]);
    }
}

TEST(ptx_convert, eight_bits_to_f16)
{
    check_from_eighths(&E4M3, "cvt.rn.f16x2.e4m3x2 %d, %ha;");
    check_from_eighths(&E5M2, "cvt.rn.f16x2.e5m2x2 %d, %ha;");
}

TEST(ptx_convert, f16_to_eight_and_four_bits)
{
    static const struct one ones[] = {
        {"cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;", "b16", "b32", "b32", "b32", 0x3c007c00, 0, 0,
         0x387e},
        {"cvt.rn.satfinite.relu.e5m2x2.f16x2 %d, %a;", "b16", "b32", "b32", "b32", 0xbc003c00, 0, 0,
         0x003c},
        {".reg .b8 %x; cvt.rn.satfinite.e2m1x2.f32 %x, %a, %b; cvt.u16.u8 %d, %x;", "b16", "f32",
         "f32", "f32", 0x40c00000, 0xbf000000, 0, 0x79},
    };

    T_EQ(small_round(&E2M1, 6, 'n'), 7);
    T_EQ(small_round(&E2M1, (exact)-0.5, 'n'), 9);
    CHECK_ALL(ones);
}

TEST(ptx_convert, packing_with_saturation)
{
    static const struct one ones[] = {
        {"cvt.pack.sat.s16.s32 %d, %a, %b;", "b32", "b32", "b32", "b32", 70000, (uint32_t)-70000, 0,
         0x7fff8000},
        {"cvt.pack.sat.u16.s32 %d, %a, %b;", "b32", "b32", "b32", "b32", 70000, (uint32_t)-1, 0,
         0xffff0000},
        {"cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", "b32", "b32", "b32", "b32", 300, (uint32_t)-4,
         0x12345678, 0x5678ff00},
        {"cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;", "b32", "b32", "b32", "b32", 127, (uint32_t)-129,
         0x12345678, 0x56787f80},
        {"cvt.pack.sat.s4.s32.b32 %d, %a, %b, %c;", "b32", "b32", "b32", "b32", 9, (uint32_t)-9,
         0x12345678, 0x34567878},
        {"cvt.pack.sat.u2.s32.b32 %d, %a, %b, %c;", "b32", "b32", "b32", "b32", 2, 4, 0x0000000f,
         0x000000fb},
    };

    CHECK_ALL(ones);
}
