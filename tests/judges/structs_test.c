/* The model of structs and parameters in lesson 11's judge, against the compiler's layout. */
#include "grader/lessons/11_structs/model.h"

#include <check.h>
#include <stdalign.h>
#include <string.h>

START_TEST(the_layout_is_the_compilers)
{
    struct sample {
        char letter;
        double weight;
        int16_t code;
        alignas(16) float colour[4];
        float *data;
        char last;
    };
    uint64_t figures[STRUCTS_LAYOUT_FIGURES] = {
        sizeof(struct sample),           alignof(struct sample),
        offsetof(struct sample, letter), offsetof(struct sample, weight),
        offsetof(struct sample, code),   offsetof(struct sample, colour),
        offsetof(struct sample, data),   offsetof(struct sample, last)};
    ck_assert_uint_eq(model_layout_differs(figures), MODEL_SAME);
    figures[5]++;
    ck_assert_uint_eq(model_layout_differs(figures), 5);
}
END_TEST

/* Parameters are laid out like fields. */
START_TEST(parameters_lie_as_fields)
{
    struct large {
        uint8_t a;
        alignas(16) uint32_t b[4];
        uint16_t c;
        alignas(16) uint32_t d[4];
        uint32_t e;
    };
    const struct model_kernel *kernel = &model_kernels[STRUCTS_LOOK_LARGE];
    ck_assert_uint_eq(model_offset(kernel, 0), offsetof(struct large, a));
    ck_assert_uint_eq(model_offset(kernel, 1), offsetof(struct large, b));
    ck_assert_uint_eq(model_offset(kernel, 2), offsetof(struct large, c));
    ck_assert_uint_eq(model_offset(kernel, 3), offsetof(struct large, d));
    ck_assert_uint_eq(model_offset(kernel, 4), offsetof(struct large, e));
}
END_TEST

/* A value may be larger than its alignment: not one of these lies where its size would put it. */
START_TEST(structs_lie_at_their_alignment)
{
    struct structs {
        uint8_t a;
        uint32_t b[2];
        uint8_t c;
        uint32_t d[3], e[4];
        uint64_t f, g[2];
        uint8_t h;
    };
    const struct model_kernel *kernel = &model_kernels[STRUCTS_LOOK_STRUCTS];
    static const size_t offsets[] = {offsetof(struct structs, b), offsetof(struct structs, d),
                                     offsetof(struct structs, e), offsetof(struct structs, g)};
    static const unsigned numbers[] = {1, 3, 4, 6};
    unsigned bytes = 0;
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(model_offset(kernel, numbers[i]), offsets[i]);
        ck_assert_uint_ne(offsets[i] % kernel->parameters[numbers[i]].size, 0);
    }
    ck_assert_uint_eq(model_offset(kernel, 7), offsetof(struct structs, h));
    for (unsigned i = 0; i < kernel->count; i++) bytes += kernel->parameters[i].size;
    ck_assert_uint_le(bytes, STRUCTS_SEEN);
}
END_TEST

/* A pointer is aligned as a pointer, whatever it points to. */
START_TEST(pointers_are_values_of_eight_bytes)
{
    struct work {
        float *given;
        void *made;
        uint32_t length;
        uint8_t *both;
        uint64_t key;
    };
    const struct model_kernel *kernel = &model_kernels[STRUCTS_WORK_BYTES];
    ck_assert_uint_eq(model_offset(kernel, 1), offsetof(struct work, made));
    ck_assert_uint_eq(model_offset(kernel, 3), offsetof(struct work, both));
    ck_assert_uint_eq(model_offset(kernel, 4), offsetof(struct work, key));
}
END_TEST

START_TEST(what_was_packed_without_gaps_is_known)
{
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    /* Five values of 1, 2, 4, 8 and 1 bytes, packed, but expected at 0, 2, 4, 8 and 16. */
    static const unsigned char tight[STRUCTS_SEEN] = {1,  3,  4,  5,  6,  7,  8,  9,
                                                      10, 11, 12, 13, 14, 15, 16, 99};
    struct structs_case c = {.kernel = STRUCTS_LOOK_GROWING, .arguments = 5};
    unsigned char seen[STRUCTS_SEEN];
    for (uint32_t i = 0, at = 0; i < c.arguments; at += c.given[i++].size) {
        c.given[i].size = model_kernels[c.kernel].parameters[i].size;
        c.given[i].at = at;
    }
    memcpy(seen, bytes, sizeof bytes);
    ck_assert_uint_eq(model_seen_differs(&c, bytes, seen), MODEL_SAME);
    ck_assert(!model_seen_without_gaps(&c, bytes, seen));
    ck_assert_uint_eq(model_seen_differs(&c, bytes, tight), 1);
    ck_assert(model_seen_without_gaps(&c, bytes, tight));
}
END_TEST

START_TEST(what_lies_between_rows_stays)
{
    const struct structs_case c = {.rows = 2, .columns = 2, .stride = 3};
    const float before[] = {1, 2, 3, 4, 5};
    float after[] = {2, 4, 3, 8, 10};
    ck_assert_uint_eq(model_double_differs(&c, before, after), MODEL_SAME);
    after[2] = 6;
    ck_assert_uint_eq(model_double_differs(&c, before, after), 2);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_layout_is_the_compilers,           parameters_lie_as_fields,
        structs_lie_at_their_alignment,        pointers_are_values_of_eight_bytes,
        what_was_packed_without_gaps_is_known, what_lies_between_rows_stays,
    };
    Suite *suite = suite_create("structs");
    TCase *tcase = tcase_create("all");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
