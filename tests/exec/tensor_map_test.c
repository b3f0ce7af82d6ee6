/* Invalid tensor maps: whatever bytes a tensor copy finds in place of a map, they are reported and
 * never followed. tests/gpu/tensor_map.cu checks the copies of valid ones. */
#include "emulator/exec/machine/tensor_map.h"
#include "tests/exec/device.h"

#include <check.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 1024, WIDTH = 32 };

static struct exec_tensor_map right; /* of `in`: words, 32 to a row, boxes of 8 x 4 */
static alignas(EXEC_TENSOR_MAP_BYTES) unsigned char bytes[EXEC_TENSOR_MAP_BYTES];
static uint32_t output[WORDS];
static struct device_run result;

/* Runs a kernel whose body has the generic address of the map parameter in %map, of `out` in %out,
 * of a tile in shared memory in %tile, and a barrier object in [m]. `bytes` is the map. One thread
 * runs. */
static enum exec_end run_kernel(const char *body)
{
    static char text[8192];
    static uint32_t input[WORDS];
    void *out;
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_90a\n.address_size 64\n"
             ".visible .entry k(.param .u64 po, .param .align 128 .b8 pm[128]) {\n"
             ".reg .b64 %%map, %%out, %%d<10>;\n.reg .b32 %%tile, %%r<10>;\n.reg .pred %%p;\n"
             ".shared .align 1024 .b8 s[2048];\n.shared .align 8 .b64 m;\n"
             ".local .align 128 .b8 l[128];\n"
             "ld.param.u64 %%out, [po];\nmov.b64 %%d1, pm;\ncvta.param.u64 %%map, %%d1;\n"
             "mov.u32 %%tile, s;\nmov.u32 %%r1, 0;\nmbarrier.init.shared.b64 [m], 1;\n"
             "%s\nret;\n}\n",
             body);
    struct exec_program *program = device_program(text);
    for (uint32_t k = 0; k < WORDS; k++) input[k] = 0x1000 + 3 * k;
    const uint64_t in = device_buffer_of(input, sizeof input, NULL);
    struct {
        uint64_t out;
        alignas(EXEC_TENSOR_MAP_BYTES) unsigned char map[EXEC_TENSOR_MAP_BYTES];
    } parameters = {device_buffer(sizeof output, &out), {0}};
    struct exec_tensor_map map;
    /* Address 0 is replaced by the input's. */
    if (exec_tensor_map_open(&map, bytes) && map.address == 0) {
        map.address = in;
        exec_tensor_map_seal(&map, bytes);
    }
    memcpy(parameters.map, bytes, sizeof bytes);
    memset(out, 0, sizeof output);
    result = (struct device_run){.program = program,
                                 .name = "k",
                                 .blocks = 1,
                                 .threads = 1,
                                 .parameters = &parameters,
                                 .limit = 100000};
    const enum exec_end end = device_launch(&result);
    memcpy(output, out, sizeof output);
    return end;
}

static void setup(void)
{
    right = (struct exec_tensor_map){.size = {WIDTH, WORDS / WIDTH},
                                     .stride = {4 * WIDTH},
                                     .box = {8, 4},
                                     .step = {1, 1},
                                     .rank = 2,
                                     .type = EXEC_TENSOR_U32};
    exec_tensor_map_seal(&right, bytes);
}

/* Lets go of the memory and the program of the last run, which a report may quote. */
static void forget(void)
{
    device_reset();
    exec_program_destroy((struct exec_program *)(uintptr_t)result.program);
    result.program = NULL;
}

static void teardown(void)
{
    forget();
}

static void stops(const char *body, enum exec_end expected, const char *words)
{
    const enum exec_end end = run_kernel(body);
    const char *said = device_sentence(&result);
    ck_assert_msg(end == expected, "%s: %d, expected %d: %s", body, end, expected, said);
    ck_assert_msg(strstr(said, words) != NULL, "%s: %s", body, said);
    forget();
}

#define LOAD(tile, map, coordinates)                                                               \
    "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [" tile "], "    \
    "[" map ", {" coordinates "}], [m];"
static const char load[] = LOAD("%tile", "%map", "8, 2");

START_TEST(a_box_comes_row_by_row)
{
    char body[1000];
    snprintf(body, sizeof body,
             "mbarrier.arrive.expect_tx.shared.b64 _, [m], 128;\n%s\n"
             "mbarrier.test_wait.parity.shared.b64 %%p, [m], 0;\nselp.u32 %%r2, 1, 0, %%p;\n"
             "st.global.u32 [%%out], %%r2;\nld.shared.u32 %%r3, [s+36];\n"
             "st.global.u32 [%%out+4], %%r3;\n",
             load);
    ck_assert_int_eq(run_kernel(body), EXEC_DONE);
    ck_assert_uint_eq(output[0], 1);
    ck_assert_uint_eq(output[1], 0x1000 + 3 * (3 * WIDTH + 9));
}
END_TEST

/* As on an H100; a load may begin before the tensor, by whole 16 bytes. */
START_TEST(where_a_box_begins_is_checked)
{
    static const char store[] = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                                "[%map, {-4, 2}], [%tile];";
    ck_assert_int_eq(run_kernel(LOAD("%tile", "%map", "-4, -1")), EXEC_DONE);
    forget();
    stops(LOAD("%tile", "%map", "3, 2"), EXEC_ILLEGAL, "begins 12 bytes behind the beginning");
    stops(LOAD("%tile", "%map", "-1, 2"), EXEC_ILLEGAL, "begins 4 bytes before the beginning");
    stops(store, EXEC_ILLEGAL, "begins 4 elements before the tensor along dimension 0");
}
END_TEST

START_TEST(bytes_that_are_no_map_are_named)
{
    memset(bytes, 0x55, sizeof bytes);
    stops(load, EXEC_ILLEGAL, "where there is none");
    memset(bytes, 0, sizeof bytes);
    stops(load, EXEC_ILLEGAL, "where there is none");
}
END_TEST

/* The seal covers every bit of the map. */
START_TEST(a_map_that_was_changed_is_named)
{
    bytes[_i / 8] ^= (unsigned char)(1 << _i % 8);
    stops(load, EXEC_ILLEGAL, "its bytes were changed");
}
END_TEST

static void no_rank(struct exec_tensor_map *map)
{
    map->rank = 0;
}
static void rank_6(struct exec_tensor_map *map)
{
    map->rank = 6;
}
static void type_13(struct exec_tensor_map *map)
{
    map->type = 13; /* one more than the last */
}
static void type_200(struct exec_tensor_map *map)
{
    map->type = 200;
}
static void swizzle_4(struct exec_tensor_map *map)
{
    map->swizzle = EXEC_SWIZZLES;
}
static void interleave_1(struct exec_tensor_map *map)
{
    map->interleave = 1;
}
static void atom_1(struct exec_tensor_map *map)
{
    map->atom = 1;
}
static void address_8(struct exec_tensor_map *map)
{
    map->address = 8;
}
static void no_size(struct exec_tensor_map *map)
{
    map->size[1] = 0;
}
static void large_size(struct exec_tensor_map *map)
{
    map->size[0] = (UINT64_C(1) << 32) + 1;
}
static void stride_40(struct exec_tensor_map *map)
{
    map->stride[0] = 40;
}
static void large_stride(struct exec_tensor_map *map)
{
    map->stride[0] = UINT64_C(1) << 40;
}
static void no_box(struct exec_tensor_map *map)
{
    map->box[1] = 0;
}
static void large_box(struct exec_tensor_map *map)
{
    map->box[1] = UINT32_MAX;
}
static void odd_box(struct exec_tensor_map *map)
{
    map->box[0] = 5;
}
static void no_step(struct exec_tensor_map *map)
{
    map->step[1] = 0;
}
static void step_9(struct exec_tensor_map *map)
{
    map->step[1] = 9;
}
static void narrow_swizzle(struct exec_tensor_map *map)
{
    map->swizzle = EXEC_SWIZZLE_32B;
    map->box[0] = 12;
}
static void nan_of_integers(struct exec_tensor_map *map)
{
    map->fill = 1;
}
static void fill_2(struct exec_tensor_map *map)
{
    map->type = EXEC_TENSOR_F32;
    map->fill = 2;
}

static const struct {
    void (*change)(struct exec_tensor_map *map);
    const char *words;
} rules[] = {
    {no_rank, "1 to 5 dimensions"},
    {rank_6, "1 to 5 dimensions"},
    {type_13, "type of elements"},
    {type_200, "type of elements"},
    {swizzle_4, "swizzle mode"},
    {interleave_1, "interleaved layout"},
    {atom_1, "interleaved layout"},
    {address_8, "multiple of 16"},
    {no_size, "1 to 2^32 elements"},
    {large_size, "1 to 2^32 elements"},
    {stride_40, "strides"},
    {large_stride, "less than 2^40"},
    {no_box, "1 to 256 elements"},
    {large_box, "1 to 256 elements"},
    {odd_box, "multiple of 16 bytes"},
    {no_step, "element strides"},
    {step_9, "element strides"},
    {narrow_swizzle, "no longer than the swizzle"},
    {nan_of_integers, "NaN fills"},
    {fill_2, "NaN fills"},
};

/* A map that a kernel has changed may break rules that the API would have enforced. */
START_TEST(a_map_that_breaks_a_rule_is_not_followed)
{
    rules[_i].change(&right);
    exec_tensor_map_seal(&right, bytes);
    stops(load, EXEC_ILLEGAL, rules[_i].words);
}
END_TEST

START_TEST(copies_are_checked)
{
    stops(LOAD("%tile+16", "%map", "8, 2"), EXEC_MISALIGNED, "not a multiple of 128");
    stops(LOAD("%tile+1984", "%map", "8, 2"), EXEC_MISALIGNED, "not a multiple of 128");
    stops(LOAD("%tile+2048", "%map", "8, 2"), EXEC_OUT_OF_BOUNDS, "");
    stops("add.u64 %map, %map, 32;\n" LOAD("%tile", "%map", "8, 2"), EXEC_MISALIGNED,
          "not a multiple of 64");
    stops("add.u64 %map, %map, 64;\n" LOAD("%tile", "%map", "8, 2"), EXEC_WRONG_SPACE,
          "outside of its parameter block");
    stops("mov.u64 %d2, 64;\n" LOAD("%tile", "%d2", "8, 2"), EXEC_OUT_OF_BOUNDS, "");
    stops("mov.u64 %d2, s;\ncvta.shared.u64 %d2, %d2;\n" LOAD("%tile", "%d2", "8, 2"), EXEC_ILLEGAL,
          "shared memory");
    stops("mov.u64 %d2, l;\ncvta.local.u64 %d2, %d2;\n" LOAD("%tile", "%d2", "8, 2"), EXEC_ILLEGAL,
          "local memory");
    stops("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%map, {8, 2, 0}], [%tile];",
          EXEC_ILLEGAL, "3 coordinates by a tensor map of 2 dimensions");
    stops("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%map, {8}], [%tile];",
          EXEC_ILLEGAL, "1 coordinate by a tensor map");
    right.size[1] = WORDS;
    exec_tensor_map_seal(&right, bytes);
    stops(LOAD("%tile", "%map", "8, 32"), EXEC_OUT_OF_BOUNDS, "past the end");
}
END_TEST

/* Combinations that the table of cp.reduce.async.bulk.tensor in the PTX ISA lacks. */
START_TEST(reductions_take_some_types)
{
    static const struct {
        const char *operation;
        uint16_t types; /* a bit each */
    } rows[] = {
        {"add", 1 << EXEC_TENSOR_U32 | 1 << EXEC_TENSOR_S32 | 1 << EXEC_TENSOR_U64 |
                    1 << EXEC_TENSOR_F32 | 1 << EXEC_TENSOR_F32_FTZ | 1 << EXEC_TENSOR_F16 |
                    1 << EXEC_TENSOR_BF16 | 1 << EXEC_TENSOR_TF32 | 1 << EXEC_TENSOR_TF32_FTZ},
        {"min", 1 << EXEC_TENSOR_U32 | 1 << EXEC_TENSOR_S32 | 1 << EXEC_TENSOR_U64 |
                    1 << EXEC_TENSOR_S64 | 1 << EXEC_TENSOR_F16 | 1 << EXEC_TENSOR_BF16},
        {"max", 1 << EXEC_TENSOR_U32 | 1 << EXEC_TENSOR_S32 | 1 << EXEC_TENSOR_U64 |
                    1 << EXEC_TENSOR_S64 | 1 << EXEC_TENSOR_F16 | 1 << EXEC_TENSOR_BF16},
        {"inc", 1 << EXEC_TENSOR_U32},
        {"dec", 1 << EXEC_TENSOR_U32},
        {"and", 1 << EXEC_TENSOR_U32 | 1 << EXEC_TENSOR_S32 | 1 << EXEC_TENSOR_U64},
        {"or", 1 << EXEC_TENSOR_U32 | 1 << EXEC_TENSOR_S32 | 1 << EXEC_TENSOR_U64},
        {"xor", 1 << EXEC_TENSOR_U32 | 1 << EXEC_TENSOR_S32 | 1 << EXEC_TENSOR_U64},
    };
    char body[200];
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (unsigned type = 0; type < EXEC_TENSOR_TYPES; type++) {
            if (exec_tensor_element(type)->bytes == 0) continue;
            right.type = (uint8_t)type;
            right.box[0] = 16;
            exec_tensor_map_seal(&right, bytes);
            snprintf(body, sizeof body,
                     "cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.bulk_group "
                     "[%%map, {0, 0}], [%%tile];",
                     rows[k].operation);
            const enum exec_end end = run_kernel(body);
            ck_assert_msg(end == (rows[k].types >> type & 1 ? EXEC_DONE : EXEC_ILLEGAL),
                          "%s of type %u: %d", rows[k].operation, type, end);
            forget();
        }
}
END_TEST

START_TEST(kernels_change_maps_and_nothing_else)
{
    /* `out` holds garbage: fresh memory is filled with 0xa5. */
    stops("st.global.u32 [%out], %r1;\nadd.u64 %d2, %out, 128;\nmov.u32 %r2, 7;\n"
          "st.global.u32 [%d2], %r2;\ntensormap.replace.tile.rank.global.b1024.b32 [%d2], 1;",
          EXEC_ILLEGAL, "where there is none");
    stops("tensormap.replace.tile.rank.global.b1024.b32 [%out+32], 1;", EXEC_MISALIGNED,
          "multiple of 64");
    /* Zeros become a map step by step; until it is complete it has no size. */
    stops("add.u64 %d2, %out, 128;\ntensormap.replace.tile.rank.global.b1024.b32 [%d2], 1;\n" LOAD(
              "%tile", "%d2", "8, 2"),
          EXEC_ILLEGAL, "the tensor's sizes");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_tensor_map");
    TCase *tests = tcase_create("maps");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_box_comes_row_by_row);
    tcase_add_test(tests, where_a_box_begins_is_checked);
    tcase_add_test(tests, bytes_that_are_no_map_are_named);
    tcase_add_loop_test(tests, a_map_that_was_changed_is_named, 0, 8 * EXEC_TENSOR_MAP_BYTES);
    tcase_add_loop_test(tests, a_map_that_breaks_a_rule_is_not_followed, 0,
                        sizeof rules / sizeof *rules);
    tcase_add_test(tests, copies_are_checked);
    tcase_add_test(tests, reductions_take_some_types);
    tcase_add_test(tests, kernels_change_maps_and_nothing_else);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
