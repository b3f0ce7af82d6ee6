/* The footprint of a launch: exactly the bytes that its lanes accessed, by kind of access, whatever
 * the number of workers, and the lines of the accesses. */
#include "emulator/exec/check/footprint.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "emulator/exec/decoded.h"
#include "emulator/exec/exec.h"
#include "emulator/exec/machine/texture.h"
#include "emulator/memory/memory.h"
#include "tests/exec/device.h"

enum { BLOCKS = 24, THREADS = 96, WORDS = BLOCKS * THREADS };

#define HEADER                                                                                     \
    ".version 9.0\n.target sm_75\n.address_size 64\n.file 1 \"k.cu\"\n"                            \
    ".visible .entry k(.param .u64 p_a, .param .u64 p_b) {\n"                                      \
    ".reg .b64 %a, %b, %x, %y;\n.reg .b32 %i, %t, %n, %v;\n.reg .pred %p;\n"                       \
    "mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %t, %tid.x;\n"                           \
    "mad.lo.s32 %i, %i, %n, %t;\nld.param.u64 %a, [p_a];\nld.param.u64 %b, [p_b];\n"

static uint64_t addresses[2];
static size_t buffer_bytes = WORDS * 4;
static struct exec_footprint *footprint;

static void run(const char *body, unsigned workers)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%sret;\n}\n", HEADER, body);
    struct exec_program *program = device_program(text);
    addresses[0] = device_buffer(buffer_bytes, NULL);
    addresses[1] = device_buffer(buffer_bytes, NULL);
    footprint = exec_footprint_create(NULL, NULL);
    struct device_run launch = {.program = program,
                                .name = "k",
                                .blocks = BLOCKS,
                                .threads = THREADS,
                                .parameters = addresses,
                                .workers = workers,
                                .footprint = footprint};
    device_run(&launch);
    /* Sites refer to file names that the program owns. */
    for (size_t i = 0; i < exec_footprint_site_count(footprint); i++)
        ck_assert_str_eq(exec_footprint_site_at(footprint, i)->file, "k.cu");
    exec_program_destroy(program);
}

static bool touched(int buffer, enum exec_access access, uint64_t byte)
{
    for (size_t i = 0; i < exec_footprint_region_count(footprint); i++) {
        const struct exec_footprint_region *region = exec_footprint_region_at(footprint, i);
        if (region->region->address != addresses[buffer]) continue;
        return region->bits[access] && (region->bits[access][byte / 64] >> byte % 64 & 1);
    }
    return false;
}

static void end(void)
{
    exec_footprint_destroy(footprint);
    device_reset();
}

static const unsigned workers[] = {1, 2, 5};

START_TEST(rows_are_what_every_lane_touched)
{
    run(".loc 1 7 0\nmul.wide.u32 %x, %i, 4;\nadd.u64 %y, %a, %x;\nld.global.u32 %v, [%y];\n"
        ".loc 1 8 0\nadd.u64 %y, %b, %x;\nst.global.u32 [%y], %v;\n",
        workers[_i]);
    for (uint64_t byte = 0; byte < WORDS * 4; byte++) {
        ck_assert(touched(0, EXEC_LOAD, byte) && !touched(0, EXEC_STORE, byte));
        ck_assert(touched(1, EXEC_STORE, byte) && !touched(1, EXEC_LOAD, byte));
    }
    ck_assert_uint_eq(exec_footprint_site_count(footprint), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct exec_footprint_site *site = exec_footprint_site_at(footprint, i);
        ck_assert_uint_eq(site->first, 0);
        ck_assert_uint_eq(site->end, WORDS * 4);
        ck_assert_uint_eq(site->line, site->access == EXEC_LOAD ? 7 : 8);
    }
    end();
}
END_TEST

/* The line of code that was inlined from a header is its caller's, unless that is a header's. */
START_TEST(a_kernel_of_a_header_has_lines_of_its_own)
{
    static const struct {
        const char *own, *outer;
        uint32_t line;
    } rows[] = {{"/usr/include/lib.h", "k.cu", 7},
                {"/usr/include/lib.h", "/opt/include/kernel.h", 40},
                {"inner.cuh", "k.cu", 40}};
    char text[2048];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_75\n.address_size 64\n.file 1 \"%s\"\n.file 2 \"%s\"\n"
             ".visible .entry k(.param .u64 p_a, .param .u64 p_b) {\n.reg .b64 %%a;\n"
             ".loc 2 7 0\nld.param.u64 %%a, [p_a];\nL:\n"
             ".loc 1 40 0, function_name L, inlined_at 2 7 0\nst.global.u32 [%%a], 1;\nret;\n}\n",
             rows[_i].own, rows[_i].outer);
    struct exec_program *program = device_program(text);
    const struct exec_function *function = exec_function_find(program, "k");
    bool found = false;
    for (size_t k = 0; k < function->code_count; k++)
        found |= program->positions[function->code[k].position].line == rows[_i].line &&
                 strcmp(program->positions[function->code[k].position].file,
                        rows[_i].line == 40 ? rows[_i].own : rows[_i].outer) == 0;
    ck_assert(found);
    for (size_t k = 0; k < function->code_count; k++)
        ck_assert_uint_ne(program->positions[function->code[k].position].line,
                          rows[_i].line == 40 ? 0 : 40);
    exec_program_destroy(program);
    device_reset();
}
END_TEST

START_TEST(lanes_that_are_off_touch_nothing)
{
    /* Every third lane stores one byte of its word. */
    run(".loc 1 7 0\nrem.u32 %v, %i, 3;\nsetp.eq.u32 %p, %v, 0;\nmul.wide.u32 %x, %i, 4;\n"
        "add.u64 %y, %a, %x;\n@%p st.global.u8 [%y+1], %v;\n",
        workers[_i]);
    for (uint64_t byte = 0; byte < WORDS * 4; byte++)
        ck_assert_int_eq(touched(0, EXEC_STORE, byte), byte % 12 == 1);
    end();
}
END_TEST

START_TEST(atomics_are_told_apart)
{
    run(".loc 1 7 0\nred.global.add.u32 [%a+8], %i;\n.loc 1 9 0\nst.global.u32 [%a+12], 1;\n",
        workers[_i]);
    for (uint64_t byte = 0; byte < 32; byte++) {
        ck_assert_int_eq(touched(0, EXEC_ATOMIC, byte), byte >= 8 && byte < 12);
        ck_assert_int_eq(touched(0, EXEC_STORE, byte), byte >= 12 && byte < 16);
    }
    end();
}
END_TEST

START_TEST(one_instruction_may_touch_two_regions)
{
    /* Odd lanes read one buffer, even lanes the other. */
    run(".loc 1 7 0\nand.b32 %v, %i, 1;\nsetp.eq.u32 %p, %v, 0;\nselp.b64 %y, %a, %b, %p;\n"
        "mul.wide.u32 %x, %i, 4;\nadd.u64 %y, %y, %x;\nld.global.u32 %v, [%y];\n",
        workers[_i]);
    for (uint64_t word = 0; word < WORDS; word++) {
        ck_assert_int_eq(touched(0, EXEC_LOAD, word * 4), word % 2 == 0);
        ck_assert_int_eq(touched(1, EXEC_LOAD, word * 4), word % 2 == 1);
    }
    ck_assert_uint_eq(exec_footprint_site_count(footprint), 2);
    end();
}
END_TEST

START_TEST(vectors_are_whole)
{
    run(".loc 1 7 0\nand.b32 %t, %t, 15;\nsetp.eq.u32 %p, %t, 3;\nand.b32 %v, %i, 63;\n"
        "mul.wide.u32 %x, %v, 16;\nadd.u64 %y, %a, %x;\n"
        "@%p st.global.v4.u32 [%y], {%v, %v, %v, %v};\n",
        workers[_i]);
    for (uint64_t byte = 0; byte < 1024; byte++)
        ck_assert_int_eq(touched(0, EXEC_STORE, byte), byte / 16 % 16 == 3);
    end();
}
END_TEST

START_TEST(lanes_apart_are_what_each_touched)
{
    /* Three words of four, some by two lanes that are not adjacent. */
    run(".loc 1 7 0\nmad.lo.u32 %v, %i, 7, 300;\nrem.u32 %v, %v, 768;\nmul.wide.u32 %x, %v, 12;\n"
        "add.u64 %y, %a, %x;\nrem.u32 %t, %v, 4;\nsetp.ne.u32 %p, %t, 1;\n"
        "@%p ld.global.u32 %v, [%y+4];\n@%p ld.global.u64 %x, [%a+32];\n",
        workers[_i]);
    for (uint64_t byte = 0; byte < WORDS * 4; byte++)
        ck_assert_int_eq(touched(0, EXEC_LOAD, byte),
                         (byte / 12 % 4 != 1 && byte % 12 / 4 == 1) || byte / 8 == 4);
    ck_assert_uint_eq(exec_footprint_site_count(footprint), 1);
    const struct exec_footprint_site *site = exec_footprint_site_at(footprint, 0);
    ck_assert_uint_eq(site->first, 4);
    ck_assert_uint_eq(site->end, 767 * 12 + 8);
    end();
}
END_TEST

/* ---- textures -------------------------------------------------------------------------------- */

enum { SIDE = 48 }; /* SIDE * SIDE is WORDS */

static int clamped(double place)
{
    return place < 0 ? 0 : place > SIDE - 1 ? SIDE - 1 : (int)place;
}

/* Marks the texels around the place of thread `i`, in a rotated picture. */
static void expect_texels(bool texels[SIDE][SIDE], int i, bool filters)
{
    const double half = filters ? 0.5 : 0;
    const double u = i % SIDE * 0.75 - i / SIDE * 0.25 + 16 - half;
    const double v = i % SIDE * 0.25 + i / SIDE * 0.75 - 2 - half;
    const int x = clamped(u), y = clamped(v);
    for (int k = 0; k < (filters ? 4 : 1); k++)
        texels[clamped(y + k / 2)][clamped(x + k % 2)] = true;
}

/* ---- groups: accesses to adjacent bytes, of which the first marks all -------------------------
 */

/* `%x` is the thread's offset, `apart` bytes per thread. */
static const struct {
    const char *body;
    uint32_t apart;
    uint32_t first, end; /* of the bytes at a thread's offset that it loads ... */
    uint32_t period;     /* ... if its index is a multiple of this, and otherwise ... */
    uint32_t other_end;  /* ... up to here */
} groups[] = {
    /* All members of a structure; some of them, the first one in the middle. */
    {"ld.global.u32 %v, [%y];\nld.global.u32 %v, [%y+4];\nld.global.u32 %v, [%y+8];\n", 12, 0, 12,
     1, 0},
    {"ld.global.u32 %v, [%y+8];\nld.global.u32 %v, [%y+4];\nld.global.u32 %v, [%y+12];\n", 28, 4,
     16, 1, 0},
    {"ld.global.u8 %v, [%y+2];\nld.global.u8 %v, [%y+1];\nld.global.u8 %v, [%y];\n", 3, 0, 3, 1, 0},
    /* They overlap. */
    {"ld.global.u64 %x, [%y];\nld.global.u32 %v, [%y+4];\nld.global.u32 %v, [%y+8];\n", 16, 0, 12,
     1, 0},
    {"ld.global.v4.u32 {%v, %v, %v, %v}, [%y];\nld.global.v2.u32 {%v, %v}, [%y+16];\n", 32, 0, 24,
     1, 0},
    /* Some threads go round the last access, have ended before it, or are masked out. */
    {"ld.global.u32 %v, [%y];\n@%p bra OVER;\nld.global.u32 %v, [%y+4];\nOVER:\n", 8, 0, 8, 3, 4},
    {"ld.global.u32 %v, [%y];\n@%p exit;\nld.global.u32 %v, [%y+4];\n", 8, 0, 8, 3, 4},
    {"ld.global.u32 %v, [%y];\n@!%p ld.global.u32 %v, [%y+4];\n", 8, 0, 8, 3, 4},
    {"@!%p ld.global.u32 %v, [%y+4];\nld.global.u32 %v, [%y];\n", 8, 0, 8, 3, 4},
    {"@%p bra OVER;\nld.global.u32 %v, [%y+4];\nOVER: ld.global.u32 %v, [%y];\n", 8, 0, 8, 3, 4},
    /* All of the group is for some threads, or for one of a warp. */
    {"@%p bra OVER;\nld.global.u32 %v, [%y];\nld.global.u32 %v, [%y+4];\nOVER:\n", 8, 0, 8, 3, 0},
    {"@%p bra OVER;\nld.global.u32 %v, [%y+4];\nld.global.u32 %v, [%y];\nOVER:\n", 16, 0, 8, 32, 0},
};

START_TEST(groups_are_what_each_access_touched)
{
    const size_t k = (size_t)_i / 2;
    char body[1024];
    buffer_bytes = (size_t)WORDS * groups[k].apart;
    snprintf(body, sizeof body,
             ".loc 1 7 0\nrem.u32 %%v, %%i, %u;\nsetp.ne.u32 %%p, %%v, 0;\n"
             "mul.wide.u32 %%x, %%i, %u;\nadd.u64 %%y, %%a, %%x;\n%s",
             groups[k].period, groups[k].apart, groups[k].body);
    run(body, _i % 2 ? 5 : 1);
    for (uint64_t byte = 0; byte < buffer_bytes; byte++) {
        const uint64_t thread = byte / groups[k].apart, at = byte % groups[k].apart;
        const uint32_t until = thread % groups[k].period == 0 ? groups[k].end : groups[k].other_end;
        ck_assert_msg(touched(0, EXEC_LOAD, byte) == (at >= groups[k].first && at < until),
                      "group %zu: byte %llu", k, (unsigned long long)byte);
    }
    end();
    buffer_bytes = (size_t)WORDS * 4;
}
END_TEST

/* A loop of one thread, of random loads and steps of their address: its accesses are runs, broken
 * runs and no runs, in groups and alone, through an address that changes between them. */
START_TEST(a_lone_lanes_rounds_are_what_each_access_touched)
{
    enum { ROUNDS = 60, PIECES = 6, SIZE = 64 << 10, MIDDLE = SIZE / 2 };
    static const char *const types[] = {"u8", "u16", "u32", "u64"};
    static bool wanted[SIZE];
    char body[2048];
    uint32_t seed = (uint32_t)_i * 2654435761u + 1;
    int32_t steps[PIECES], offsets[PIECES];
    uint32_t sizes[PIECES];
    memset(wanted, 0, sizeof wanted);
    seed = seed * 1664525 + 1013904223;
    const uint32_t scatter = seed >> 16 & 1 ? 0 : (seed >> 17 & 0x7f) | 1;
    int length = snprintf(body, sizeof body,
                          ".loc 1 7 0\nsetp.ne.u32 %%p, %%i, 0;\n@%%p exit;\nmov.u32 %%t, 0;\n"
                          "add.u64 %%y, %%a, %d;\nMORE:\n",
                          MIDDLE);
    if (scatter != 0)
        length += snprintf(body + length, sizeof body - (size_t)length,
                           "mul.lo.u32 %%v, %%t, %u;\nand.b32 %%v, %%v, 63;\n"
                           "mad.wide.u32 %%x, %%v, 16, %d;\nadd.u64 %%y, %%a, %%x;\n",
                           scatter, MIDDLE);
    for (int k = 0; k < PIECES; k++) {
        seed = seed * 1664525 + 1013904223;
        const uint32_t log = seed >> 16 & 3;
        sizes[k] = seed >> 29 ? 1u << log : 0; /* 0: the address steps */
        offsets[k] = (int32_t)(seed >> 18 & 3) << log;
        steps[k] = ((int32_t)(seed >> 20 & 7) - 3) * 8;
        length += sizes[k] != 0 ? snprintf(body + length, sizeof body - (size_t)length,
                                           "ld.global.%s %s, [%%y+%d];\n", types[log],
                                           log == 3 ? "%x" : "%v", offsets[k])
                                : snprintf(body + length, sizeof body - (size_t)length,
                                           "add.s64 %%y, %%y, %d;\n", steps[k]);
    }
    snprintf(body + length, sizeof body - (size_t)length,
             "add.s64 %%y, %%y, 16;\nadd.u32 %%t, %%t, 1;\nsetp.lt.u32 %%p, %%t, %d;\n"
             "@%%p bra MORE;\n",
             ROUNDS);
    int32_t at = MIDDLE;
    for (uint32_t round = 0; round < ROUNDS; round++, at += 16) {
        if (scatter != 0) at = MIDDLE + (int32_t)(round * scatter & 63) * 16;
        for (int k = 0; k < PIECES; k++) {
            for (uint32_t byte = 0; byte < sizes[k]; byte++)
                wanted[at + offsets[k] + (int32_t)byte] = true;
            if (sizes[k] == 0) at += steps[k];
        }
    }
    buffer_bytes = SIZE;
    run(body, 1);
    buffer_bytes = WORDS * 4;
    for (uint64_t byte = 0; byte < sizeof wanted; byte++)
        ck_assert_msg(touched(0, EXEC_LOAD, byte) == wanted[byte], "byte %llu of\n%s",
                      (unsigned long long)byte, body);
    end();
}
END_TEST

START_TEST(bytes_between_accesses_stay_untouched)
{
    run(".loc 1 7 0\nand.b32 %v, %i, 63;\nmul.wide.u32 %x, %v, 16;\nadd.u64 %y, %a, %x;\n"
        "ld.global.u32 %v, [%y+12];\nld.global.u32 %v, [%y];\n",
        workers[_i]);
    for (uint64_t byte = 0; byte < 64 * 16; byte++)
        ck_assert_int_eq(touched(0, EXEC_LOAD, byte), byte % 16 < 4 || byte % 16 >= 12);
    end();
}
END_TEST

START_TEST(a_group_may_lie_in_two_regions)
{
    run(".loc 1 7 0\nand.b32 %v, %i, 1;\nsetp.eq.u32 %p, %v, 0;\nselp.b64 %y, %a, %b, %p;\n"
        "and.b32 %v, %i, 63;\nmul.wide.u32 %x, %v, 16;\nadd.u64 %y, %y, %x;\n"
        "st.global.u32 [%y+4], %v;\nst.global.u32 [%y], %v;\n",
        workers[_i]);
    for (uint64_t byte = 0; byte < 64 * 16; byte++) {
        ck_assert_int_eq(touched(0, EXEC_STORE, byte), byte / 16 % 2 == 0 && byte % 16 < 8);
        ck_assert_int_eq(touched(1, EXEC_STORE, byte), byte / 16 % 2 == 1 && byte % 16 < 8);
    }
    end();
}
END_TEST

START_TEST(a_group_ends_with_its_region)
{
    /* The second access of the last thread is out of bounds. */
    char text[2048];
    snprintf(text, sizeof text,
             "%s.loc 1 7 0\nmul.wide.u32 %%x, %%i, 4;\nadd.u64 %%y, %%a, %%x;\n"
             "ld.global.u32 %%v, [%%y];\nld.global.u32 %%v, [%%y+4];\nret;\n}\n",
             HEADER);
    struct exec_program *program = device_program(text);
    addresses[0] = device_buffer(THREADS * 4, NULL);
    footprint = exec_footprint_create(NULL, NULL);
    struct device_run launch = {.program = program,
                                .name = "k",
                                .blocks = 1,
                                .threads = THREADS,
                                .parameters = addresses,
                                .footprint = footprint};
    ck_assert_int_eq(device_launch(&launch), EXEC_OUT_OF_BOUNDS);
    ck_assert_uint_eq(launch.fault.address, addresses[0] + THREADS * 4);
    ck_assert(touched(0, EXEC_LOAD, THREADS * 4 - 1));
    exec_program_destroy(program);
    end();
}
END_TEST

START_TEST(samples_are_what_each_lane_touched)
{
    static bool texels[SIDE][SIDE];
    const bool filters = _i % 2;
    struct exec_texture texture = {.pitch = SIDE * 4,
                                   .slice = WORDS * 4,
                                   .width = SIDE,
                                   .height = SIDE,
                                   .depth = 1,
                                   .dimensions = 2,
                                   .texel = EXEC_TEXEL_F32,
                                   .channels = 1,
                                   .addressing = {EXEC_ADDRESS_CLAMP, EXEC_ADDRESS_CLAMP},
                                   .filters = filters};
    char text[2048];
    snprintf(text, sizeof text,
             ".reg .f32 %%f, %%g, %%h, %%u;\nrem.u32 %%t, %%i, %d;\ndiv.u32 %%v, %%i, %d;\n"
             "cvt.rn.f32.u32 %%f, %%t;\ncvt.rn.f32.u32 %%g, %%v;\nmul.f32 %%h, %%g, 0fBE800000;\n"
             "fma.rn.f32 %%h, %%f, 0f3F400000, %%h;\nadd.f32 %%h, %%h, 0f41800000;\n"
             "mul.f32 %%u, %%f, 0f3E800000;\nfma.rn.f32 %%u, %%g, 0f3F400000, %%u;\n"
             "mov.u64 %%x, %llu;\nadd.f32 %%u, %%u, 0fC0000000;\nrem.u32 %%t, %%i, 5;\nsetp.ne.u32 "
             "%%p, %%t, 2;\n"
             ".loc 1 7 0\n@%%p tex.2d.v4.f32.f32 {%%f, %%g, %%f, %%g}, [%%x, {%%h, %%u}];\n",
             SIDE, SIDE, (unsigned long long)exec_texture_add(&texture));
    memset(texels, 0, sizeof texels);
    for (int i = 0; i < WORDS; i++)
        if (i % 5 != 2) expect_texels(texels, i, filters);
    texture.address = device_buffer(WORDS * 4, NULL);
    run(text, workers[_i / 2]);
    addresses[0] = texture.address;
    for (int byte = 0; byte < WORDS * 4; byte++)
        ck_assert_int_eq(touched(0, EXEC_LOAD, (uint64_t)byte),
                         texels[byte / 4 / SIDE][byte / 4 % SIDE]);
    end();
}
END_TEST

/* Large regions keep their bitmap from launch to launch. */
START_TEST(what_a_launch_touched_the_next_has_not)
{
    enum { LARGE = 3 << 20 };
    buffer_bytes = LARGE;
    for (int round = 0; round < 3; round++) {
        run(".loc 1 7 0\nmul.lo.s32 %v, %i, 40503;\nrem.u32 %v, %v, 196000;\nmul.wide.u32 %x, %v, "
            "16;\n"
            "add.u64 %y, %a, %x;\nld.global.v4.u32 {%v, %v, %v, %v}, [%y];\n"
            "ld.global.u8 %v, [%y+37];\nsetp.gt.u32 %p, %t, 13;\n@%p st.global.u32 [%y+68], %i;\n"
            "red.global.add.u32 [%y+128], %i;\nadd.u64 %y, %b, %x;\nst.global.u64 [%y+8], %x;\n",
            workers[_i]);
        end();
        run(".loc 1 7 0\nsetp.eq.u32 %p, %i, 5;\n@%p st.global.u8 [%a+1000003], %i;\n"
            "@%p ld.global.u8 %v, [%b+7];\n@%p red.global.add.u32 [%b+64], %v;\n",
            workers[_i]);
        const struct memory_region *region = memory_find(addresses[0]);
        const uint64_t *loads = exec_footprint_bits(footprint, region, EXEC_LOAD),
                       *stores = exec_footprint_bits(footprint, region, EXEC_STORE);
        for (uint64_t word = 0; word < LARGE / 64; word++) {
            ck_assert_uint_eq(loads[word], 0);
            ck_assert_uint_eq(stores[word], word == 1000003 / 64 ? 1ull << 1000003 % 64 : 0);
        }
        region = memory_find(addresses[1]);
        loads = exec_footprint_bits(footprint, region, EXEC_LOAD);
        const uint64_t *atomics = exec_footprint_bits(footprint, region, EXEC_ATOMIC);
        for (uint64_t word = 0; word < LARGE / 64; word++) {
            ck_assert_uint_eq(loads[word], word == 0 ? 1 << 7 : 0);
            ck_assert_uint_eq(atomics[word], word == 1 ? 0xf : 0);
        }
        end();
    }
    buffer_bytes = WORDS * 4;
}
END_TEST

/* Steps of every size, up and down, compared with marking one offset after the other. */
START_TEST(steps_mark_what_each_of_them_does)
{
    enum { STEPS = 9, MOST = 80, FIRST = 3 * 64, SIZE = (2 * FIRST + 2 * MOST * STEPS + 64) / 64 };
    const uint32_t bytes = 1u << _i % 5;
    for (int step = -MOST; step <= MOST; step++)
        for (uint64_t first = FIRST + MOST * STEPS; first < FIRST + MOST * STEPS + 64; first++) {
            uint64_t bits[SIZE] = {0}, wanted[SIZE] = {0};
            const uint64_t last = first + (uint64_t)(step * STEPS);
            for (int k = 0; k <= STEPS; k++)
                exec_footprint_mark(wanted, first + (uint64_t)(step * k), bytes);
            exec_footprint_mark_steps(bits, first, (uint64_t)step, last, bytes, step % 2);
            ck_assert_mem_eq(bits, wanted, sizeof bits);
        }
}
END_TEST

/* However many sites there are and wherever they lie, the windows contain them. */
START_TEST(windows_contain_all_sites)
{
    enum { LARGE = 1 << 20 };
    uint32_t random = (uint32_t)_i + 1;
    addresses[0] = device_buffer(LARGE, NULL);
    const struct memory_region *region = memory_find(addresses[0]);
    footprint = exec_footprint_create(NULL, NULL);
    ck_assert_ptr_nonnull(exec_footprint_bits(footprint, region, EXEC_STORE));
    for (uint32_t line = 1; line <= 60; line++) {
        struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS];
        random = random * 1664525 + 1013904223;
        const uint64_t first = random % (LARGE - 4096), end = first + 1 + (random >> 8) % 4096;
        exec_footprint_add_site(
            footprint,
            &(struct exec_footprint_site){
                .region = region, .access = EXEC_STORE, .first = first, .end = end, .line = line});
        const size_t count = exec_footprint_windows(
            footprint, exec_footprint_region_at(footprint, 0), EXEC_STORE, windows);
        ck_assert(count > 0 && count <= EXEC_FOOTPRINT_WINDOWS);
        for (size_t k = 0; k < count; k++) {
            ck_assert(windows[k].first % 64 == 0 && windows[k].end % 64 == 0);
            ck_assert(windows[k].first < windows[k].end);
            ck_assert(k == 0 || windows[k - 1].end < windows[k].first);
        }
        for (size_t i = 0; i < line; i++) {
            const struct exec_footprint_site *site = exec_footprint_site_at(footprint, i);
            size_t k = 0;
            while (k < count && (site->first < windows[k].first || site->end > windows[k].end)) k++;
            ck_assert(k < count);
        }
    }
    end();
}
END_TEST

static bool converses(const char *body)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%sret;\n}\n", HEADER, body);
    struct exec_program *program = device_program(text);
    const bool answer = exec_function_info(exec_function_find(program, "k"))->converses;
    exec_program_destroy(program);
    return answer;
}

START_TEST(conversation_is_volatile_ordered_or_a_lock)
{
    ck_assert(!converses("ld.global.u32 %v, [%a];\nst.global.u32 [%b], %v;\n"));
    ck_assert(!converses("red.global.add.u32 [%a], %i;\nmembar.gl;\n"));
    ck_assert(!converses("ld.volatile.shared.u32 %v, [%t];\n"));
    ck_assert(converses("ld.volatile.global.u32 %v, [%a];\n"));
    ck_assert(converses("st.volatile.global.u32 [%a], %v;\n"));
    ck_assert(converses("ld.acquire.gpu.global.u32 %v, [%a];\n"));
    ck_assert(converses("atom.global.cas.b32 %v, [%a], 0, 1;\n"));
}
END_TEST

/* It is a load of a flag only where it may be a wait. */
START_TEST(conversation_is_a_wait_by_an_atomic_that_changes_nothing)
{
    static const char loop[] = "AGAIN: atom.global.%s.%s %%v, [%%a], %d;\n%s"
                               "setp.eq.u32 %%q, %%v, 0;\n@%%q bra AGAIN;\n"
                               "st.global.u32 [%%b], %%v;\n";
    static const struct {
        const char *operation, *type;
        int value;
        const char *also;
        bool expected;
    } rows[] = {
        {"add", "u32", 0, "", true},
        {"or", "b32", 0, "", true},
        {"xor", "b32", 0, "add.u32 %i, %i, 1;\n", true},
        {"add", "u32", 1, "", false},
        {"and", "b32", 0, "", false},
        {"add", "u32", 0, "bar.sync 0;\n", false},
        {"add", "u32", 0, "st.global.u32 [%b], %v;\n", false},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[1024];
        int used = snprintf(text, sizeof text, ".reg .pred %%q;\n");
        snprintf(text + used, sizeof text - (size_t)used, loop, rows[k].operation, rows[k].type,
                 rows[k].value, rows[k].also);
        ck_assert_msg(converses(text) == rows[k].expected, "%s", text);
    }
    ck_assert(!converses("atom.global.add.u32 %v, [%a], 0;\nst.global.u32 [%b], %v;\n"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_footprint");
    TCase *tcase = tcase_create("footprint");
    tcase_add_loop_test(tcase, rows_are_what_every_lane_touched, 0, 3);
    tcase_add_loop_test(tcase, a_kernel_of_a_header_has_lines_of_its_own, 0, 3);
    tcase_add_loop_test(tcase, lanes_that_are_off_touch_nothing, 0, 3);
    tcase_add_loop_test(tcase, atomics_are_told_apart, 0, 3);
    tcase_add_loop_test(tcase, one_instruction_may_touch_two_regions, 0, 3);
    tcase_add_loop_test(tcase, vectors_are_whole, 0, 3);
    tcase_add_loop_test(tcase, lanes_apart_are_what_each_touched, 0, 3);
    tcase_add_loop_test(tcase, groups_are_what_each_access_touched, 0,
                        2 * sizeof groups / sizeof *groups);
    tcase_add_loop_test(tcase, a_lone_lanes_rounds_are_what_each_access_touched, 0, 60);
    tcase_add_loop_test(tcase, bytes_between_accesses_stay_untouched, 0, 3);
    tcase_add_loop_test(tcase, a_group_may_lie_in_two_regions, 0, 3);
    tcase_add_test(tcase, a_group_ends_with_its_region);
    tcase_add_loop_test(tcase, samples_are_what_each_lane_touched, 0, 6);
    tcase_add_loop_test(tcase, what_a_launch_touched_the_next_has_not, 0, 3);
    tcase_add_loop_test(tcase, steps_mark_what_each_of_them_does, 0, 5);
    tcase_add_loop_test(tcase, windows_contain_all_sites, 0, 8);
    tcase_add_test(tcase, conversation_is_volatile_ordered_or_a_lock);
    tcase_add_test(tcase, conversation_is_a_wait_by_an_atomic_that_changes_nothing);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
