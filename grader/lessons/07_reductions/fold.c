#include "grader/lessons/07_reductions/fold.h"
#include "grader/base/messages.h"

#include "grader/child/drive.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    size_t size;
    const char *words;
} kinds[REDUCTION_KINDS] = {
#define KIND(name, type, operation, pool, words) {sizeof(type), words},
    REDUCTION_TABLE(KIND)
#undef KIND
};

size_t fold_element_size(uint32_t kind)
{
    return kinds[kind].size;
}

const char *fold_words(uint32_t kind)
{
    return kinds[kind].words;
}

union fold_value fold_draw(struct random_source *random, uint32_t kind, uint32_t prime)
{
    union fold_value value = {.uint64 = 0};
    switch (kind) {
    case REDUCTION_SUM_INT64:
        value.int64 = random_between(random, -((int64_t)1 << 40), (int64_t)1 << 40);
        break;
    case REDUCTION_SUM_INT32:
        value.int32 = (int32_t)random_between(random, -20000, 20000);
        break;
    case REDUCTION_SUM_FLOAT:
        value.real = (float)random_real(random, -1000.0, 1000.0);
        break;
    case REDUCTION_MAX_FLOAT: /* all negative: a 0 too many changes the result */
        value.real = (float)random_real(random, -1000.0, -1.0);
        break;
    case REDUCTION_MIN_INT32: /* all positive */
        value.int32 = (int32_t)random_between(random, 1000, 1000000000);
        break;
    case REDUCTION_PRODUCT: /* odd: the product is never 0, and every factor changes it */
        value.uint64 = random_bits(random) | 1;
        break;
    case REDUCTION_MODULAR:
        value.uint32 = (uint32_t)random_between(random, 2, (int64_t)prime - 1);
        break;
    case REDUCTION_RANGE:
        value.range.low = (int32_t)random_between(random, 1000, 1000000000);
        value.range.high = (int32_t)random_between(random, -1000000000, -1000);
        value.range.mixed = (uint32_t)random_bits(random);
        break;
    default:
        for (size_t i = 0; i < fold_element_size(kind); i += sizeof(uint64_t)) {
            const uint64_t bits = random_bits(random);
            /* value.bytes has room for the largest type. */
            memcpy(value.bytes + i, &bits, sizeof bits);
        }
        break;
    }
    return value;
}

/* The common sizes are fixed, so that the compiler can inline the copy. */
static void copy_element(void *to, const void *from, size_t size)
{
    switch (size) {
    case sizeof(uint32_t):
        memcpy(to, from, sizeof(uint32_t));
        break;
    case sizeof(uint64_t):
        memcpy(to, from, sizeof(uint64_t));
        break;
    default:
        memcpy(to, from, size);
        break;
    }
}

void fold_fill(struct random_source *random, uint32_t kind, uint32_t prime, void *array,
               size_t count)
{
    const size_t size = fold_element_size(kind);
    unsigned char *at = array;
    for (size_t i = 0; i < count; i++) {
        const union fold_value value = fold_draw(random, kind, prime);
        copy_element(at + i * size, value.bytes, size);
    }
}

/* Combines in place: there are a million elements, and a union is larger than most elements. */
static void combine_with(uint32_t kind, uint32_t prime, union fold_value *into, const void *element)
{
    union fold_value other; /* its first bytes are the element */
    copy_element(other.bytes, element, kinds[kind].size);
    switch (kind) {
    case REDUCTION_SUM_INT64:
        into->uint64 += other.uint64;
        break;
    case REDUCTION_SUM_INT32:
        into->uint32 += other.uint32;
        break;
    case REDUCTION_SUM_FLOAT:
        into->real += other.real;
        break;
    case REDUCTION_MAX_FLOAT:
        into->real = into->real < other.real ? other.real : into->real;
        break;
    case REDUCTION_MIN_INT32:
        into->int32 = other.int32 < into->int32 ? other.int32 : into->int32;
        break;
    case REDUCTION_PRODUCT:
        into->uint64 *= other.uint64;
        break;
    case REDUCTION_MODULAR:
        into->uint32 = (uint32_t)((uint64_t)into->uint32 * other.uint32 % prime);
        break;
    case REDUCTION_RANGE:
        if (other.range.low < into->range.low) into->range.low = other.range.low;
        if (into->range.high < other.range.high) into->range.high = other.range.high;
        into->range.mixed ^= other.range.mixed;
        break;
    default:
        for (size_t i = 0; i < kinds[kind].size; i++)
            into->bytes[i] = (unsigned char)(into->bytes[i] + other.bytes[i]);
        break;
    }
}

union fold_value fold_combine(uint32_t kind, uint32_t prime, union fold_value a, union fold_value b)
{
    combine_with(kind, prime, &a, b.bytes);
    return a;
}

union fold_value fold_element(uint32_t kind, const void *array, size_t index)
{
    union fold_value value = {.uint64 = 0};
    size_t size = fold_element_size(kind);
    memcpy(value.bytes, (const unsigned char *)array + index * size, size);
    return value;
}

bool fold_same(uint32_t kind, union fold_value a, union fold_value b)
{
    return !memcmp(a.bytes, b.bytes, fold_element_size(kind));
}

const char *fold_show(uint32_t kind, union fold_value value, char text[FOLD_TEXT])
{
    switch (kind) {
    case REDUCTION_SUM_INT64:
        snprintf(text, FOLD_TEXT, "%" PRId64, value.int64);
        break;
    case REDUCTION_SUM_INT32:
    case REDUCTION_MIN_INT32:
        snprintf(text, FOLD_TEXT, "%" PRId32, value.int32);
        break;
    case REDUCTION_SUM_FLOAT:
    case REDUCTION_MAX_FLOAT:
        snprintf(text, FOLD_TEXT, "%.9g", (double)value.real);
        break;
    case REDUCTION_PRODUCT:
        snprintf(text, FOLD_TEXT, "%" PRIu64, value.uint64);
        break;
    case REDUCTION_MODULAR:
        snprintf(text, FOLD_TEXT, "%" PRIu32, value.uint32);
        break;
    case REDUCTION_RANGE:
        snprintf(text, FOLD_TEXT, "{%" PRId32 ", %" PRId32 ", %" PRIu32 "}", value.range.low,
                 value.range.high, value.range.mixed);
        break;
    default: /* shows the first bytes */
        text[0] = '{';
        for (size_t i = 0, at = 1; i < fold_element_size(kind) && at + 12 < FOLD_TEXT; i++)
            at += (size_t)snprintf(text + at, FOLD_TEXT - at, "%s%u%s", i > 0 ? ", " : "",
                                   value.bytes[i], i + 1 == fold_element_size(kind) ? "}" : "");
        break;
    }
    return text;
}

/* The sum of n floats in any order deviates by a random walk of n roundings; the additions within a
 * thread, a warp and a block add a few more. */
static double float_tolerance(double magnitudes, size_t count)
{
    return (double)FLT_EPSILON * magnitudes * (8.0 + sqrt((double)count));
}

struct fold_expected fold_case(const struct reduction_case *wanted, const void *array)
{
    struct fold_expected expected = {.exists = wanted->with_init || wanted->size};
    double sum = 0.0, magnitudes = 0.0;
    bool begun = false;

    if (wanted->with_init) {
        memcpy(expected.value.bytes, wanted->init, fold_element_size(wanted->kind));
        sum = (double)expected.value.real;
        magnitudes = fabs(sum);
        begun = true;
    }
    const size_t size = fold_element_size(wanted->kind);
    const unsigned char *at = array;
    for (size_t i = 0; i < wanted->size; i++) {
        if (begun)
            combine_with(wanted->kind, wanted->parameter, &expected.value, at + i * size);
        else
            memcpy(expected.value.bytes, at, size);
        begun = true;
    }
    if (wanted->kind == REDUCTION_SUM_FLOAT) {
        for (size_t i = 0; i < wanted->size; i++) {
            const double element = (double)fold_element(wanted->kind, array, i).real;
            sum += element;
            magnitudes += fabs(element);
        }
        expected.value.real = (float)sum;
        expected.tolerance = float_tolerance(magnitudes, (size_t)wanted->size + 1);
    }
    return expected;
}

bool fold_right(const struct reduction_case *wanted, const struct fold_expected *expected,
                union fold_value value)
{
    if (wanted->kind == REDUCTION_SUM_FLOAT)
        return fabs((double)value.real - (double)expected->value.real) <= expected->tolerance;
    return fold_same(wanted->kind, value, expected->value);
}

/* Returns true for types so small that any value matches some mistake by chance. */
static bool tells_by_chance(uint32_t kind)
{
    return fold_element_size(kind) < sizeof(uint32_t);
}

/* Returns how many times init is in the result, if that is the only error; else -1. */
static int init_times(const struct reduction_case *wanted, const void *array,
                      union fold_value value)
{
    struct reduction_case without = *wanted;
    union fold_value init = {.uint64 = 0};
    without.with_init = 0;
    if (!wanted->with_init || !wanted->size) return -1;
    memcpy(init.bytes, wanted->init, fold_element_size(wanted->kind));
    struct fold_expected bare = fold_case(&without, array);
    const int most = tells_by_chance(wanted->kind) ? 0 : 20000;
    for (int times = 0; times <= most; times++) {
        if (fold_right(&without, &bare, value)) return times;
        bare.value = fold_combine(wanted->kind, wanted->parameter, bare.value, init);
    }
    return -1;
}

const char *fold_explain(const struct reduction_case *wanted, const void *array,
                         const struct fold_expected *expected, union fold_value value,
                         char text[FOLD_SENTENCE])
{
    union fold_value zero = {.uint64 = 0}, poison, so_far = {.uint64 = 0};
    memset(poison.bytes, DRIVE_POISON, sizeof poison.bytes);
    if (fold_same(wanted->kind, value, poison))
        return _("*result still holds what was there before: nothing has written it.");

    int times = init_times(wanted, array, value);
    if (times == 0) return _("It is the result without init.");
    if (times > 1) {
        snprintf(text, FOLD_SENTENCE,
                 _("It is the result with init combined in %d times: once for each part that "
                   "started from it."),
                 times);
        return text;
    }
    if (wanted->kind == REDUCTION_SUM_FLOAT) return NULL;

    union fold_value with_zero =
        fold_combine(wanted->kind, wanted->parameter, expected->value, zero);
    if (fold_same(wanted->kind, value, with_zero))
        return _("It is the result with a 0 too many: something began with 0, or read one behind "
                 "the end.");
    for (size_t i = 0; i < wanted->size && !tells_by_chance(wanted->kind); i++) {
        union fold_value element = fold_element(wanted->kind, array, i);
        so_far = i ? fold_combine(wanted->kind, wanted->parameter, so_far, element) : element;
        union fold_value with_init = so_far, init = {.uint64 = 0};
        if (wanted->with_init) {
            memcpy(init.bytes, wanted->init, fold_element_size(wanted->kind));
            with_init = fold_combine(wanted->kind, wanted->parameter, so_far, init);
        }
        if (i + 1 < wanted->size && fold_same(wanted->kind, value, with_init)) {
            snprintf(text, FOLD_SENTENCE,
                     _("It is the result of the first %zu elements: the last %zu were left out."),
                     i + 1, (size_t)wanted->size - i - 1);
            return text;
        }
    }
    return NULL;
}
