/* Tensor maps: whatever bytes a tensor copy finds in place of a map, they are reported and never
 * followed; those of a GPU are read as the driver wrote them. tests/gpu/tensor_map.cu checks the
 * copies of valid ones. */
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

/* ---- maps that a program has encoded by itself ------------------------------------------------
 */

/* What cuTensorMapEncodeTiled of an H200's driver wrote into the first 64 bytes. */
static const struct coded {
    uint64_t words[8];
    struct exec_tensor_map map;
} coded[] = {
    {{0x19f13d495e60, 0x2e4a8f170006c430, 0xc8eb642b5b85202, 0x1000000000, 0x1a6b92a3c58,
      0x3692a00000001, 0x300096900000000, 0x7806ad},
     {.address = 0x19f13d495e60,
      .size = {0xb92a3c59, 423, 2, 223531},
      .stride = {0x2e4a8f170, 0x1b5b852020, 0xc8eb6420},
      .box = {4, 174, 7, 121},
      .step = {2, 6, 6, 5},
      .rank = 4,
      .type = EXEC_TENSOR_F32_FTZ,
      .swizzle = 2,
      .fill = 1}},
    {{0x7f82b3e00000, 0x800000340, 0x800000000200, 0x200000, 0x3f0000003f, 0x3f0000003f,
      0x70000000000003f, 0x7070707},
     {.address = 0x7f82b3e00000,
      .size = {64, 64, 64, 64, 64},
      .stride = {128, 8192, 524288, 33554432},
      .box = {8, 8, 8, 8, 8},
      .step = {1, 1, 1, 1, 1},
      .rank = 5,
      .type = EXEC_TENSOR_F16,
      .swizzle = 0,
      .fill = 0}},
    {{0x7331ec0a35a0, 0x800022520, 0x10, 0x0, 0x10000003f, 0x80, 0x700000000000000, 0x6965},
     {.address = 0x7331ec0a35a0,
      .size = {64, 2, 129},
      .stride = {128, 256},
      .box = {8, 102, 106},
      .step = {1, 1, 1},
      .rank = 3,
      .type = EXEC_TENSOR_BF16,
      .swizzle = 1,
      .fill = 0}},
    {{0x4966f42231c0, 0x330e1500046010, 0x0, 0x0, 0x1fab9f110330e14e, 0x0, 0x2f00000400000000,
      0x6f},
     {.address = 0x4966f42231c0,
      .size = {53535055, 531341074},
      .stride = {53535056},
      .box = {48, 112},
      .step = {5, 1},
      .rank = 2,
      .type = EXEC_TENSOR_U8,
      .swizzle = 3,
      .fill = 0}},
    {{0x1232cb58e710, 0x76400, 0x0, 0x0, 0x4810816, 0x0, 0x700000200000000, 0x0},
     {.address = 0x1232cb58e710,
      .size = {75565079},
      .stride = {0},
      .box = {8},
      .step = {3},
      .rank = 1,
      .type = EXEC_TENSOR_TF32_FTZ,
      .swizzle = 3,
      .fill = 0}},
    {{0xee4c689f7e0, 0xa129900006e3c0, 0x1ed000001b4, 0x1013854, 0x2b8fb0284a63c, 0x149c00000014,
      0x3002c160002adc7, 0x5cb5d44a},
     {.address = 0xee4c689f7e0,
      .size = {42247741, 178428, 21, 5277, 175560},
      .stride = {168990976, 6976, 7888, 269714752},
      .box = {4, 75, 213, 182, 93},
      .step = {7, 3, 1, 7, 3},
      .rank = 5,
      .type = EXEC_TENSOR_F32,
      .swizzle = 3,
      .fill = 1}},
    {{0x7dbc53ff0700, 0x40589a700060240, 0x2431d6df0c109cf5, 0x6c95849d, 0x17ac080b134c,
      0x473af3000ca7b3, 0x50078060000096d, 0xbf463c03},
     {.address = 0x7dbc53ff0700,
      .size = {134943565, 6061, 829364, 4668148, 2414},
      .stride = {1079548528, 0xc109cf50, 0x2431d6df0, 0x6c95849d0},
      .box = {6, 4, 61, 71, 192},
      .step = {7, 1, 1, 5, 8},
      .rank = 5,
      .type = EXEC_TENSOR_U64,
      .swizzle = 0,
      .fill = 0}},
    {{0x262b177bb7b0, 0x20000002c0, 0x3d60089d8b6, 0xdd, 0x25aef58e0000003f, 0x3700000000,
      0xb00119e000002aa, 0xff5702e5},
     {.address = 0x262b177bb7b0,
      .size = {64, 632223119, 1, 56, 683},
      .stride = {512, 144542560, 15712, 3536},
      .box = {12, 230, 3, 88, 256},
      .step = {7, 4, 7, 1, 2},
      .rank = 5,
      .type = EXEC_TENSOR_S64,
      .swizzle = 0,
      .fill = 0}},
    {{0x18f6baa7add0, 0x20000424c0, 0x1, 0x16bbc9cb, 0x7d867e0000003f, 0x71392800000063,
      0x10002030008d878, 0xc85a4df2},
     {.address = 0x18f6baa7add0,
      .size = {64, 8226431, 100, 7420201, 579705},
      .stride = {512, 16, 0, 0x16bbc9cb0},
      .box = {2, 243, 78, 91, 201},
      .step = {4, 1, 1, 2, 1},
      .rank = 5,
      .type = EXEC_TENSOR_F64,
      .swizzle = 1,
      .fill = 0}},
    {{0x538f6a47ed0, 0x12ecf0000460b0, 0x2ebc4000023ad, 0x0, 0x77c00097677e, 0x1841120,
      0x2700018000000000, 0x8022f},
     {.address = 0x538f6a47ed0,
      .size = {9922431, 30657, 25432353, 1},
      .stride = {19844864, 146128, 3062848},
      .box = {40, 48, 3, 9},
      .step = {1, 1, 7, 1},
      .rank = 4,
      .type = EXEC_TENSOR_U16,
      .swizzle = 3,
      .fill = 0}},
    {{0x728252468880, 0x70003a3b0, 0x73d82bc846f0fc8, 0x0, 0xb0000001a, 0x4c798a00000000,
      0x70005f600000000, 0xf94648},
     {.address = 0x728252468880,
      .size = {27, 12, 1, 5011851},
      .stride = {112, 0x846f0fc80, 1943546816},
      .box = {8, 73, 71, 250},
      .step = {7, 7, 8, 3},
      .rank = 4,
      .type = EXEC_TENSOR_TF32,
      .swizzle = 1,
      .fill = 1}},
    {{0xb205d7f8430, 0xc600020130, 0x3ecbf5149c, 0x3000000000, 0x4a9c00000314, 0x108d003348d6,
      0xb0003c200000000, 0x2cc709},
     {.address = 0xb205d7f8430,
      .size = {789, 19101, 3360983, 4238},
      .stride = {3168, 0x3cbf5149c0, 992},
      .box = {12, 10, 200, 45},
      .step = {3, 1, 8, 2},
      .rank = 4,
      .type = EXEC_TENSOR_U32,
      .swizzle = 0,
      .fill = 0}},
    {{0x7ac4f99c6d80, 0x407d3bc000621b0, 0x91fb71768fb4b71f, 0x11000000000, 0x2abfd334101f4eed,
      0x3400000000, 0x30001c500000000, 0xa4ab92},
     {.address = 0x7ac4f99c6d80,
      .size = {270487278, 717214517, 1, 53},
      .stride = {1081949120, 0x18fb4b71f0, 0x191fb71760},
      .box = {4, 147, 172, 165},
      .step = {6, 1, 8, 1},
      .rank = 4,
      .type = EXEC_TENSOR_S32,
      .swizzle = 1,
      .fill = 0}},
};

static void code(const uint64_t *words)
{
    memset(bytes, 0xa5, sizeof bytes); /* nothing reads the other half */
    memcpy(bytes, words, sizeof coded->words);
}

START_TEST(the_bytes_of_a_gpu_are_a_map)
{
    const struct coded *row = &coded[_i];
    struct exec_tensor_map map;
    code(row->words);
    ck_assert(exec_tensor_map_open(&map, bytes));
    ck_assert_mem_eq(&map, &row->map, sizeof map);
    bytes[8] |= 2; /* as what NVIDIA's CuTe DSL compiles, which marks large tensors, too */
    bytes[10] |= 0x20;
    ck_assert(exec_tensor_map_open(&map, bytes));
    ck_assert_mem_eq(&map, &row->map, sizeof map);
}
END_TEST

/* Bits that stand for nothing are not set in it, and it breaks no rule. */
START_TEST(what_no_gpu_would_have_is_no_map)
{
    static const struct {
        unsigned word;
        uint64_t changed;
    } changes[] = {{0, 8},         {0, 1ull << 57}, {1, 1},          {1, 4},
                   {1, 5 << 4},    {1, 1 << 11},    {1, 6 << 7},     {1, 1 << 19},
                   {1, 1u << 31},  {3, 1ull << 48}, {6, 1ull << 47}, {7, 1ull << 32},
                   {2, 1ull << 5}, {4, 1ull << 32}, {6, 7ull << 35}, {7, 1ull << 3}};
    /* Of one dimension, so that what is of others has to be 0. */
    static const uint64_t flat[8] = {0x7f82b3e00000, 0x300, 0, 0, 63, 0, 7ull << 56, 0};
    struct exec_tensor_map map;
    code(flat);
    ck_assert(exec_tensor_map_open(&map, bytes));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint64_t words[8];
        memcpy(words, flat, sizeof words);
        words[changes[i].word] ^= changes[i].changed;
        code(words);
        ck_assert_msg(!exec_tensor_map_open(&map, bytes), "change %zu", i);
    }
    code((uint64_t[8]){0, 0x300, 0, 0, 63, 0, 7ull << 56, 0});
    ck_assert_msg(!exec_tensor_map_open(&map, bytes), "no address");
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
    tcase_add_loop_test(tests, the_bytes_of_a_gpu_are_a_map, 0,
                        (int)(sizeof coded / sizeof *coded));
    tcase_add_test(tests, what_no_gpu_would_have_is_no_map);
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
