/* Promises of fatbin: it finds the PTX in every form in which nvcc stores it, takes the one that
 * suits the device, says why it cannot use others, and reads no byte out of bounds (every damaged
 * image lies at the very end of an allocation, for ASan and for malloc's checks). */
#include "emulator/fatbin/fatbin.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file {
    unsigned char *bytes;
    size_t size;
};

static struct fatbin fatbin;
static char why[256];

static struct file load(const char *name)
{
    char path[512];
    struct file file = {0};
    snprintf(path, sizeof path, "%s/%s", IMAGES, name);
    FILE *stream = fopen(path, "rb");
    ck_assert_msg(stream != NULL, "%s", path);
    ck_assert_int_eq(fseek(stream, 0, SEEK_END), 0);
    file.size = (size_t)ftell(stream);
    rewind(stream);
    file.bytes = malloc(file.size);
    ck_assert_uint_eq(fread(file.bytes, 1, file.size, stream), file.size);
    fclose(stream);
    return file;
}

/* Opens the image called `name` for a device of `capability`. */
static enum fatbin_result open_image(const char *name, unsigned capability)
{
    struct file file = load(name);
    enum fatbin_result result =
        fatbin_open(file.bytes, file.size, capability, &fatbin, why, sizeof why);
    free(file.bytes);
    return result;
}

static void tear_down(void)
{
    fatbin_close(&fatbin);
}

/* Checks that the unit has the number that the PTX of architecture `arch` stores, and no other. */
static void assert_text_of(const struct fatbin_unit *unit, unsigned arch)
{
    char target[32], value[32];
    snprintf(target, sizeof target, ".target sm_%u", arch);
    snprintf(value, sizeof value, "%u", arch * 10 * 1000);
    ck_assert_ptr_nonnull(strstr(unit->text, ".version"));
    ck_assert_ptr_nonnull(strstr(unit->text, target));
    ck_assert_ptr_nonnull(strstr(unit->text, value));
    ck_assert_ptr_nonnull(strstr(unit->text, ".visible .entry image"));
    ck_assert_uint_eq(unit->length, strlen(unit->text));
}

static const char *const modes[] = {"none.fatbin", "speed.fatbin", "default.fatbin", "size.fatbin"};

START_TEST(every_compression_gives_the_same_text)
{
    static char first[1 << 16];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        ck_assert_msg(open_image(modes[i], 75) == FATBIN_OK, "%s: %s", modes[i], why);
        ck_assert_uint_eq(fatbin.count, 1);
        ck_assert_uint_eq(fatbin.units[0].arch, 75);
        assert_text_of(&fatbin.units[0], 75);
        if (i == 0) snprintf(first, sizeof first, "%s", fatbin.units[0].text);
        ck_assert_str_eq(fatbin.units[0].text, first);
        fatbin_close(&fatbin);
    }
}
END_TEST

static const struct choice {
    const char *name;
    unsigned capability;
    unsigned taken;
} choices[] = {
    {"several.fatbin", 75, 75},
    {"several.fatbin", 79, 75},
    {"several.fatbin", 80, 80},
    {"several.fatbin", 89, 80},
    {"several.fatbin", 90, 90},
    {"several.fatbin", 120, 90},
    {"exact.fatbin", 90, 90},
    {"exact.fatbin", 100, 75},
    {"exact.fatbin", 75, 75},
    /* PTX in place of machine code that the device would run, as in CuPy's wheel. */
    {"wheel.fatbin", 90, 100},
    {"wheel.fatbin", 86, 100},
    {"wheel.fatbin", 120, 120},
    /* What is in the machine code that the device would run is nearer than PTX for later ones. */
    {"lines.fatbin", 90, 90},
    {"lines.fatbin", 86, 80},
    {"lines.fatbin", 100, 100},
    {"lines_none.fatbin", 90, 90},
    {"lines.cubin", 90, 90},
    {"lines_debug.cubin", 90, 90},
};

START_TEST(the_highest_architecture_that_suits_is_taken)
{
    const struct choice *choice = &choices[_i];
    ck_assert_msg(open_image(choice->name, choice->capability) == FATBIN_OK, "%s", why);
    ck_assert_uint_eq(fatbin.count, 1);
    ck_assert_uint_eq(fatbin.units[0].arch, choice->taken);
    assert_text_of(&fatbin.units[0], choice->taken);
}
END_TEST

START_TEST(machine_code_alone_is_named)
{
    static const char *const names[] = {"machine.fatbin", "machine.cubin"};
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(open_image(names[i], 90), FATBIN_NO_PTX);
        ck_assert_str_eq(why, "this binary carries no PTX, only machine code; build with -gencode "
                              "arch=compute_75,code=compute_75, or where NVRTC compiles, with "
                              "--gpu-architecture=compute_75 for nvrtcGetPTX");
        ck_assert_uint_eq(fatbin.count, 0);
    }
    ck_assert_int_eq(open_image("machine_exact.fatbin", 90), FATBIN_NO_PTX);
    ck_assert_str_eq(why, "this binary carries no PTX, only machine code for sm_90a; build with "
                          "-gencode arch=compute_90a,code=[sm_90a,compute_90a]");
    /* With PTX inside, but for another family. */
    ck_assert_int_eq(open_image("lines.cubin", 80), FATBIN_NO_PTX);
    ck_assert_int_eq(open_image("lines_none.fatbin", 100), FATBIN_NO_PTX);
}
END_TEST

START_TEST(linked_machine_code_gives_one_unit_per_translation_unit)
{
    ck_assert_msg(open_image("lines_linked.cubin", 90) == FATBIN_OK, "%s", why);
    ck_assert_uint_eq(fatbin.count, 2);
    ck_assert_ptr_nonnull(strstr(fatbin.units[0].text, ".visible .entry linked"));
    ck_assert_ptr_nonnull(strstr(fatbin.units[1].text, ".visible .func"));
}
END_TEST

/* The line of `source` that stands in front of the statement `what`. */
static void assert_line(const struct fatbin_unit *unit, const char *source, const char *what,
                        int expected)
{
    char word[64];
    int number = 0, line = 0, file = 0;
    const char *at = strstr(unit->text, what), *named;
    ck_assert_msg(at != NULL, "%s: %s", what, unit->text);
    while (at > unit->text && strncmp(at, "\n.loc ", 6) != 0) at--;
    ck_assert_msg(sscanf(at, " .loc %d %d", &number, &line) == 2, "%s: %s", what, unit->text);
    snprintf(word, sizeof word, "/%s\"\n", source);
    named = strstr(unit->text, word);
    ck_assert_msg(named != NULL, "%s: %s", word, unit->text);
    while (named > unit->text && strncmp(named, ".file ", 6) != 0) named--;
    ck_assert_int_eq(sscanf(named, ".file %d", &file), 1);
    ck_assert_msg(number == file && line == expected, "%s: %s", what, unit->text);
}

START_TEST(ptx_in_machine_code_has_its_lines)
{
    ck_assert_int_eq(open_image("lines.cubin", 90), FATBIN_OK);
    assert_line(&fatbin.units[0], "image.cu", "st.global", 4);
    fatbin_close(&fatbin);
    ck_assert_int_eq(open_image("lines_none.fatbin", 90), FATBIN_OK);
    assert_line(&fatbin.units[0], "image.cu", "st.global", 4);
    fatbin_close(&fatbin);
    ck_assert_int_eq(open_image("lines_linked.cubin", 90), FATBIN_OK);
    assert_line(&fatbin.units[0], "linked.cu", "st.global", 6);
    assert_line(&fatbin.units[1], "linked_value.cu", "mul.lo", 4);
}
END_TEST

START_TEST(ptx_for_later_devices_is_named)
{
    ck_assert_int_eq(open_image("later.fatbin", 90), FATBIN_TOO_NEW);
    ck_assert_ptr_nonnull(strstr(why, "compute_100"));
    ck_assert_ptr_nonnull(strstr(why, "9.0"));
    ck_assert_int_eq(open_image("several.fatbin", 70), FATBIN_TOO_NEW);
    ck_assert_ptr_nonnull(strstr(why, "compute_75"));
    /* Machine code of another family, or of a later member, is not for this device. */
    ck_assert_int_eq(open_image("wheel.fatbin", 75), FATBIN_TOO_NEW);
    ck_assert_ptr_nonnull(strstr(why, "compute_100"));
}
END_TEST

START_TEST(plain_text_is_taken_whole)
{
    struct file file = load("image.ptx");
    ck_assert_int_eq(fatbin_open(file.bytes, file.size, 75, &fatbin, why, sizeof why), FATBIN_OK);
    ck_assert_uint_eq(fatbin.count, 1);
    assert_text_of(&fatbin.units[0], 75);
    fatbin_close(&fatbin);

    const char *text = " \n// (C) nobody\n/* two\nlines */ .version 9.0\n.target sm_75\n";
    ck_assert_int_eq(fatbin_open(text, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why),
                     FATBIN_OK);
    ck_assert_str_eq(fatbin.units[0].text, text);
    fatbin_close(&fatbin);
    ck_assert_int_eq(fatbin_open(text, 30, 75, &fatbin, why, sizeof why), FATBIN_NOT_AN_IMAGE);
    free(file.bytes);
}
END_TEST

static const char *const strangers[] = {
    "",        " ",       "//",           "/*",          "/**/", "// .version",
    "version", ".versio", "hello, world", "\x50\xed\x55"};

START_TEST(anything_else_is_not_an_image)
{
    const char *text = strangers[_i];
    char *exact = malloc(strlen(text) + 1);
    memcpy(exact, text, strlen(text) + 1);
    ck_assert_int_eq(fatbin_open(exact, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why),
                     FATBIN_NOT_AN_IMAGE);
    ck_assert_int_eq(fatbin_open(exact, strlen(text), 75, &fatbin, why, sizeof why),
                     FATBIN_NOT_AN_IMAGE);
    ck_assert_str_ne(why, "");
    free(exact);
}
END_TEST

START_TEST(null_is_not_an_image)
{
    ck_assert_int_eq(fatbin_open(NULL, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why),
                     FATBIN_NOT_AN_IMAGE);
    ck_assert_int_eq(fatbin_open(NULL, 0, 75, &fatbin, NULL, 0), FATBIN_NOT_AN_IMAGE);
}
END_TEST

/* ---- wrappers ---------------------------------------------------------------------------- */

struct wrapper {
    uint32_t magic, version;
    const void *container;
    const void *const *linked;
};

START_TEST(a_wrapper_is_followed_only_in_memory)
{
    struct file file = load("default.fatbin");
    struct wrapper wrapper = {0x466243b1, 1, file.bytes, NULL};
    ck_assert_int_eq(fatbin_open(&wrapper, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why),
                     FATBIN_OK);
    assert_text_of(&fatbin.units[0], 75);
    fatbin_close(&fatbin);
    ck_assert_int_eq(fatbin_open(&wrapper, sizeof wrapper, 75, &fatbin, why, sizeof why),
                     FATBIN_NOT_AN_IMAGE);

    wrapper.version = 3;
    ck_assert_int_eq(fatbin_open(&wrapper, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why),
                     FATBIN_DAMAGED);
    wrapper.version = 1;
    wrapper.container = NULL;
    ck_assert_int_eq(fatbin_open(&wrapper, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why),
                     FATBIN_DAMAGED);
    free(file.bytes);
}
END_TEST

START_TEST(a_linked_wrapper_gives_one_unit_per_translation_unit)
{
    static const struct {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size;
    } empty = {0xba55ed50, 1, 16, 0};
    struct file kernel = load("linked.fatbin"), value = load("linked_value.fatbin");
    struct file later = load("machine.fatbin");
    const void *linked[] = {kernel.bytes, value.bytes, later.bytes, NULL};
    struct wrapper wrapper = {0x466243b1, 2, &empty, linked};

    ck_assert_msg(fatbin_open(&wrapper, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why) ==
                      FATBIN_OK,
                  "%s", why);
    ck_assert_uint_eq(fatbin.count, 2);
    ck_assert_ptr_nonnull(strstr(fatbin.units[0].text, ".visible .entry linked"));
    ck_assert_ptr_nonnull(strstr(fatbin.units[1].text, ".visible .func"));
    fatbin_close(&fatbin);

    linked[0] = later.bytes;
    linked[1] = NULL;
    ck_assert_int_eq(fatbin_open(&wrapper, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why),
                     FATBIN_NO_PTX);
    linked[0] = NULL;
    ck_assert_int_eq(fatbin_open(&wrapper, FATBIN_UNKNOWN_SIZE, 75, &fatbin, why, sizeof why),
                     FATBIN_NO_PTX);
    free(kernel.bytes);
    free(value.bytes);
    free(later.bytes);
}
END_TEST

/* ---- damage ------------------------------------------------------------------------------ */

START_TEST(an_image_cut_anywhere_is_refused)
{
    struct file file = load(modes[_i]);
    for (size_t size = 0; size < file.size; size++) {
        unsigned char *cut = malloc(size + (size == 0));
        memcpy(cut, file.bytes, size);
        enum fatbin_result result = fatbin_open(cut, size, 75, &fatbin, why, sizeof why);
        ck_assert_msg(result == (size < 4 ? FATBIN_NOT_AN_IMAGE : FATBIN_DAMAGED),
                      "%s cut at %zu gives %d", modes[_i], size, (int)result);
        ck_assert_ptr_null(fatbin.units);
        ck_assert_str_ne(why, "");
        free(cut);
    }
    free(file.bytes);
}
END_TEST

/* Every byte of the headers is set to hostile values; any result will do, but no crash. */
START_TEST(damaged_headers_are_survived)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct file file = load(modes[_i]);
    size_t refused = 0;
    for (size_t at = 0; at < 16 + 0x68; at++) {
        for (size_t v = 0; v < sizeof values; v++) {
            unsigned char kept = file.bytes[at];
            file.bytes[at] = values[v];
            enum fatbin_result result =
                fatbin_open(file.bytes, file.size, 75, &fatbin, why, sizeof why);
            if (result != FATBIN_OK) {
                refused++;
                ck_assert_uint_eq(fatbin.count, 0);
                ck_assert_str_ne(why, "");
            } else {
                ck_assert_uint_eq(fatbin.count, 1);
                ck_assert_uint_eq(fatbin.units[0].length, strlen(fatbin.units[0].text));
            }
            fatbin_close(&fatbin);
            file.bytes[at] = kept;
        }
    }
    ck_assert_uint_gt(refused, 60);
    free(file.bytes);
}
END_TEST

static void survive(const char *name, const struct file *file, size_t size)
{
    unsigned char *cut = malloc(size + (size == 0));
    memcpy(cut, file->bytes, size);
    enum fatbin_result result = fatbin_open(cut, size, 90, &fatbin, why, sizeof why);
    ck_assert_msg(fatbin.count <= 2 && (result == FATBIN_OK) == (fatbin.count > 0),
                  "%s cut at %zu gives %d", name, size, (int)result);
    fatbin_close(&fatbin);
    free(cut);
}

/* Cut anywhere, and with each byte of the headers set to hostile values. */
START_TEST(damaged_machine_code_is_survived)
{
    enum { HEADER = 64, SECTIONS = 40, SECTION_COUNT = 60 };
    static const char *const names[] = {"lines.cubin", "lines_linked.cubin", "lines_none.fatbin"};
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    const char *name = names[_i];
    struct file file = load(name);
    const size_t elf = _i < 2 ? 0 : 16 + 0x48;
    uint64_t table;
    uint16_t count;
    memcpy(&table, file.bytes + elf + SECTIONS, sizeof table);
    memcpy(&count, file.bytes + elf + SECTION_COUNT, sizeof count);
    ck_assert_uint_le(elf + table + HEADER * (size_t)count, file.size);
    for (size_t size = 0; size < file.size; size++) survive(name, &file, size);
    for (size_t i = 0; i < HEADER * (1 + (size_t)count); i++) {
        const size_t at = elf + (i < HEADER ? i : table + i - HEADER);
        const unsigned char kept = file.bytes[at];
        for (size_t v = 0; v < sizeof values; v++) {
            file.bytes[at] = values[v];
            survive(name, &file, file.size);
        }
        file.bytes[at] = kept;
    }
    for (size_t at = 0; at < file.size; at++) { /* the tables of lines, too */
        file.bytes[at] ^= 0xff;
        survive(name, &file, file.size);
        file.bytes[at] ^= 0xff;
    }
    free(file.bytes);
}
END_TEST

/* Machine code that claims more than anything may have is passed over, for PTX of a later device.
 */
START_TEST(machine_code_that_does_not_unpack_is_passed_over)
{
    enum { FIRST = 16, HEADER_SIZE = 4, SIZE = 8, ARCH = 28, FLAGS = 40, TEXT_SIZE = 56 };
    struct file file = load("lines.fatbin");
    uint32_t header_size, arch;
    uint64_t size;
    const uint64_t huge = 1ull << 40;
    for (size_t at = FIRST; at < file.size; at += header_size + size) {
        memcpy(&header_size, file.bytes + at + HEADER_SIZE, sizeof header_size);
        memcpy(&size, file.bytes + at + SIZE, sizeof size);
        memcpy(&arch, file.bytes + at + ARCH, sizeof arch);
        if (arch != 90) continue;
        file.bytes[at + FLAGS + 1] |= 0x80; /* zstd */
        memcpy(file.bytes + at + TEXT_SIZE, &huge, sizeof huge);
    }
    ck_assert_int_eq(fatbin_open(file.bytes, file.size, 90, &fatbin, why, sizeof why), FATBIN_OK);
    ck_assert_uint_eq(fatbin.count, 1);
    ck_assert_uint_eq(fatbin.units[0].arch, 100);
    free(file.bytes);
}
END_TEST

START_TEST(a_damaged_payload_never_passes_for_another_text_size)
{
    struct file file = load(modes[_i]);
    size_t text_length = 0;
    ck_assert_int_eq(fatbin_open(file.bytes, file.size, 75, &fatbin, why, sizeof why), FATBIN_OK);
    text_length = fatbin.units[0].length;
    fatbin_close(&fatbin);
    for (size_t at = 16 + 0x50; at < file.size; at++) {
        file.bytes[at] ^= 0x55;
        enum fatbin_result result =
            fatbin_open(file.bytes, file.size, 75, &fatbin, why, sizeof why);
        ck_assert(result == FATBIN_OK || result == FATBIN_DAMAGED);
        if (result == FATBIN_OK) ck_assert_uint_le(fatbin.units[0].length, text_length + 8);
        fatbin_close(&fatbin);
        file.bytes[at] ^= 0x55;
    }
    free(file.bytes);
}
END_TEST

START_TEST(a_sentence_is_cut_to_its_room)
{
    char small[8];
    ck_assert_int_eq(fatbin_open("no", FATBIN_UNKNOWN_SIZE, 75, &fatbin, small, sizeof small),
                     FATBIN_NOT_AN_IMAGE);
    ck_assert_uint_eq(strlen(small), sizeof small - 1);
}
END_TEST

int main(void)
{
    int mode_count = (int)(sizeof modes / sizeof *modes);
    Suite *suite = suite_create("fatbin");
    TCase *tcase = tcase_create("fatbin");
    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, every_compression_gives_the_same_text);
    tcase_add_loop_test(tcase, the_highest_architecture_that_suits_is_taken, 0,
                        (int)(sizeof choices / sizeof *choices));
    tcase_add_test(tcase, machine_code_alone_is_named);
    tcase_add_test(tcase, linked_machine_code_gives_one_unit_per_translation_unit);
    tcase_add_test(tcase, ptx_in_machine_code_has_its_lines);
    tcase_add_test(tcase, ptx_for_later_devices_is_named);
    tcase_add_test(tcase, plain_text_is_taken_whole);
    tcase_add_loop_test(tcase, anything_else_is_not_an_image, 0,
                        (int)(sizeof strangers / sizeof *strangers));
    tcase_add_test(tcase, null_is_not_an_image);
    tcase_add_test(tcase, a_wrapper_is_followed_only_in_memory);
    tcase_add_test(tcase, a_linked_wrapper_gives_one_unit_per_translation_unit);
    tcase_add_loop_test(tcase, an_image_cut_anywhere_is_refused, 0, mode_count);
    tcase_add_loop_test(tcase, damaged_headers_are_survived, 0, mode_count);
    tcase_add_loop_test(tcase, a_damaged_payload_never_passes_for_another_text_size, 0, mode_count);
    tcase_add_loop_test(tcase, damaged_machine_code_is_survived, 0, 3);
    tcase_add_test(tcase, machine_code_that_does_not_unpack_is_passed_over);
    tcase_add_test(tcase, a_sentence_is_cut_to_its_room);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
