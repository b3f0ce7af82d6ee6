/* The branch-free arithmetic of the 16-bit formats (ops/half_lanes.h) gives, bit for bit, what
 * ops/half.h gives, which rounds the exact value once: every conversion, and products and sums of
 * values at the edges of the formats and of pseudo-random ones. */
#include "emulator/exec/ops/half.h"
#include "emulator/exec/ops/half_lanes.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { ALL = 1 << 16, EDGES = 72, RANDOM = 1 << 20 };

/* ck_assert_msg tells Check of every call, of which there are millions. */
#define SAME(one, other, ...)                                                                      \
    do {                                                                                           \
        if ((one) != (other)) ck_abort_msg(__VA_ARGS__);                                           \
    } while (0)

static uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Values on both sides of each limit: zeros, subnormals, the smallest and largest normal numbers,
 * infinities, NaN, and some exponents between, each with fractions that round either way. */
static u16 edge(unsigned k, unsigned fraction_bits)
{
    static const u16 exponents_f16[] = {0, 1, 2, 5, 10, 15, 16, 26, 30};
    static const u16 exponents_bf16[] = {0, 1, 2, 62, 64, 127, 190, 250, 254};
    const u16 last = (u16)((1 << fraction_bits) - 1);
    const u16 fractions[] = {0, 1, (u16)(last >> 1), last};
    const u16 exponent = fraction_bits == 10 ? exponents_f16[k / 8] : exponents_bf16[k / 8];
    return (u16)(exponent << fraction_bits | fractions[k / 2 % 4] | (k & 1) << 15);
}

static const u16 others_f16[] = {0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xffff};
static const u16 others_bf16[] = {0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffff};
enum { OTHERS = sizeof others_f16 / sizeof *others_f16, VALUES = EDGES + OTHERS };

static u16 value_f16(unsigned k)
{
    return k < EDGES ? edge(k, 10) : others_f16[k - EDGES];
}

static u16 value_bf16(unsigned k)
{
    return k < EDGES ? edge(k, 7) : others_bf16[k - EDGES];
}

/* Computes a * b + c, where a * b must be exact in f64. The sum is rounded to odd, so that rounding
 * it again to a narrow format gives the same as one rounding of the exact value. */
static f64 once_fma(f64 a, f64 b, f64 c)
{
    const f64 product = a * b;
    const f64 sum = product + c;
    const f64 part = sum - product;
    const f64 error = (product - (sum - part)) + (c - part);
    if (!(fabs(sum) < (f64)INFINITY) || error == 0 || exec_bits64(sum) & 1) return sum;
    return nextafter(sum, error > 0 ? (f64)INFINITY : -(f64)INFINITY);
}

static void check_f16(u16 a, u16 b, u16 c)
{
    const f64 x = half_widen(a, HALF_F16), y = half_widen(b, HALF_F16), z = half_widen(c, HALF_F16);
    const f32 p = half_from_f16(a), q = half_from_f16(b), r = half_from_f16(c);
    const u16 fma = half_round(once_fma(x, y, z), HALF_F16, HALF_NEAREST);
    const u16 sum = half_round(once_fma(x, 1.0, y), HALF_F16, HALF_NEAREST);
    const u16 product = half_round(x * y, HALF_F16, HALF_NEAREST);
    SAME(half_to_f16(half_fma32(p, q, r)), fma, "f16 %04x * %04x + %04x", a, b, c);
    SAME(half_to_f16(p + q), sum, "f16 %04x + %04x", a, b);
    SAME(half_to_f16(p * q), product, "f16 %04x * %04x", a, b);
}

static void check_bf16(u16 a, u16 b, u16 c)
{
    const f64 x = half_widen(a, HALF_BF16), y = half_widen(b, HALF_BF16),
              z = half_widen(c, HALF_BF16);
    const f32 p = half_from_bf16(a), q = half_from_bf16(b), r = half_from_bf16(c);
    const u16 fma = half_round(once_fma(x, y, z), HALF_BF16, HALF_NEAREST);
    const u16 sum = half_round(once_fma(x, 1.0, y), HALF_BF16, HALF_NEAREST);
    const u16 product = half_round(x * y, HALF_BF16, HALF_NEAREST);
    SAME(half_to_bf16(half_to_odd(half_fma64(p, q, r))), fma, "bf16 %04x * %04x + %04x", a, b, c);
    SAME(half_to_bf16(p + q), sum, "bf16 %04x + %04x", a, b);
    SAME(half_to_bf16(half_to_odd((f64)p * q)), product, "bf16 %04x * %04x", a, b);
}

START_TEST(every_value_converts_exactly)
{
    for (unsigned bits = 0; bits < ALL; bits++) {
        const f64 f16 = half_widen((u16)bits, HALF_F16), bf16 = half_widen((u16)bits, HALF_BF16);
        const f64 one = half_from_f16((u16)bits), other = half_from_bf16((u16)bits);
        SAME(isnan(f16) ? 0 : exec_bits64(f16), isnan(one) ? 0 : exec_bits64(one), "f16 %04x",
             bits);
        SAME(isnan(bf16) ? 0 : exec_bits64(bf16), isnan(other) ? 0 : exec_bits64(other),
             "bf16 %04x", bits);
    }
}
END_TEST

/* Every 2^11th f32, those around, and so all ties of either format. */
START_TEST(every_value_is_rounded_once)
{
    for (u64 at = 0; at < UINT64_C(1) << 32; at += 1 << 11)
        for (int k = -1; k <= 1; k++) {
            const u32 bits = (u32)at + (u32)k;
            const f32 value = exec_f32(bits);
            SAME(half_to_f16(value), half_round(value, HALF_F16, HALF_NEAREST), "f16 of %08x",
                 bits);
            SAME(half_to_bf16(value), half_round(value, HALF_BF16, HALF_NEAREST), "bf16 of %08x",
                 bits);
        }
}
END_TEST

START_TEST(edges_are_computed_exactly)
{
    for (unsigned i = 0; i < VALUES; i++)
        for (unsigned j = 0; j < VALUES; j++)
            for (unsigned k = 0; k < VALUES; k++) {
                check_f16(value_f16(i), value_f16(j), value_f16(k));
                check_bf16(value_bf16(i), value_bf16(j), value_bf16(k));
            }
}
END_TEST

START_TEST(random_values_are_computed_exactly)
{
    for (uint32_t k = 0; k < RANDOM; k++) {
        const uint32_t one = scramble(2 * k + 1), other = scramble(2 * k + 2);
        check_f16((u16)one, (u16)(one >> 16), (u16)other);
        check_bf16((u16)one, (u16)(one >> 16), (u16)other);
        /* Sums in which the product and c are of the same size, and cancel. */
        const u16 a = (u16)(one & 0x83ff) | 0x3c00, b = (u16)(one >> 16 & 0x83ff) | 0x3800;
        check_f16(a, b, (u16)((other & 0xbfff) | 0x3000));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_half_lanes");
    TCase *tests = tcase_create("half_lanes");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, every_value_converts_exactly);
    tcase_add_test(tests, every_value_is_rounded_once);
    tcase_add_test(tests, edges_are_computed_exactly);
    tcase_add_test(tests, random_values_are_computed_exactly);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
