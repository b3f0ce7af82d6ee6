/* What nvcc writes: parsed whole, printed, read again; cut short and damaged, it never harms. */
#include "tests/ptx/support.h"

#include <time.h>

/* Calls `check` for each text of the corpus. */
static void each_text(void (*check)(const char *path, const char *text, size_t length))
{
    char paths[] = CORPUS;
    size_t count = 0;
    for (char *path = strtok(paths, ":"); path; path = strtok(NULL, ":")) {
        size_t length;
        char *text = file_text(path, &length);
        check(path, text, length);
        free(text);
        count++;
    }
    ck_assert_uint_gt(count, 8);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The same text, each body read by itself. NULL: one of them is refused. */
static struct ptx_module *read_later(const char *text, size_t length)
{
    static struct ptx_diagnostics diagnostics;
    struct ptx_module *module = ptx_parse_heads(text, length, &diagnostics);
    bool fine = module != NULL;
    for (uint32_t i = module != NULL ? module->function_count : 0; i-- > 0;)
        fine = ptx_function_read(module, module->functions[i], &diagnostics) && fine;
    if (fine) return module;
    ptx_module_destroy(module);
    return NULL;
}

static void check_same(const char *path, const struct ptx_module *one,
                       const struct ptx_module *other)
{
    char *first = ptx_print(one), *second = ptx_print(other);
    ck_assert_msg(strcmp(first, second) == 0, "%s: bodies that are read later differ", path);
    free(first);
    free(second);
}

static void check_whole(const char *path, const char *text, size_t length)
{
    double start = seconds();
    struct ptx_module *module = parsed(text);
    double taken = seconds() - start;
    ck_assert_msg(taken < 0.2 + 1e-6 * (double)length, "%s: %g s for %zu bytes", path, taken,
                  length);
    uint32_t bodies = 0, instructions = 0, without_line = 0;
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = module->functions[i];
        bodies += function->is_defined;
        for (uint32_t j = 0; j < function->instruction_count; j++) {
            const struct ptx_instruction *instruction = &function->instructions[j];
            ck_assert_msg(instruction->text == NULL, "%s: not supported: %s", path,
                          instruction->text);
            instructions++;
            if (instruction->location == 0) { /* a destructor that the compiler made */
                without_line++;
                continue;
            }
            const struct ptx_location *place = &function->locations[instruction->location];
            ck_assert_ptr_nonnull(module->files[place->file]);
            ck_assert_ptr_nonnull(module->files[place->outer_file]);
        }
    }
    ck_assert_uint_gt(bodies, 0);
    ck_assert_uint_le(without_line, instructions / 5);
    check_round_trip(module);
    struct ptx_module *later = read_later(text, length);
    ck_assert_msg(later != NULL, "%s: a body that is read later is refused", path);
    check_same(path, module, later);
    ptx_module_destroy(later);
    ptx_module_destroy(module);
}

START_TEST(everything_that_nvcc_writes_is_understood)
{
    each_text(check_whole);
}
END_TEST

static uint64_t draw(uint64_t *state) /* SplitMix64 */
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Bytes that matter to a PTX reader, and any others. */
static char damage(uint64_t *state)
{
    static const char likely[] = ".,;:{}[]()<>@!%+-_|0179axf\"\n /*\\$";
    uint64_t drawn = draw(state);
    return drawn & 1 ? likely[(drawn >> 8) % (sizeof likely - 1)] : (char)(drawn >> 8);
}

/* Parses a copy without a NUL behind it, so that a sanitizer sees a byte too many being read. */
static bool survive(const char *text, size_t length)
{
    static struct ptx_diagnostics diagnostics;
    char *exact = malloc(length ? length : 1);
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, text, length);
    struct ptx_module *module = ptx_parse(exact, length, &diagnostics);
    bool accepted = module != NULL;
    ck_assert_int_eq(accepted, diagnostics.total == 0);
    if (module) {
        char *printed = ptx_print(module);
        ck_assert_ptr_nonnull(printed);
        free(printed);
    }
    struct ptx_module *later = read_later(exact, length);
    if (accepted) {
        ck_assert_ptr_nonnull(later);
        check_same("damaged", module, later);
    }
    ptx_module_destroy(later);
    ptx_module_destroy(module);
    free(exact);
    return accepted;
}

/* The small texts of the corpus: enough of every construct, quickly parsed. */
static bool is_small(size_t length)
{
    return length < 20000;
}

static uint32_t refused;

static void cut(const char *path, const char *text, size_t length)
{
    (void)path;
    if (!is_small(length)) return;
    for (size_t i = 0; i < 100; i++) refused += !survive(text, length * i / 100);
}

START_TEST(a_text_cut_short_is_refused_and_does_no_harm)
{
    refused = 0;
    each_text(cut);
    ck_assert_uint_gt(refused, 200);
}
END_TEST

static void mutate(const char *path, const char *text, size_t length)
{
    (void)path;
    if (!is_small(length)) return;
    uint64_t state = length;
    char *copy = malloc(length);
    ck_assert_ptr_nonnull(copy);
    for (int round = 0; round < 150; round++) {
        memcpy(copy, text, length);
        uint64_t changes = 1 + draw(&state) % 4;
        for (uint64_t i = 0; i < changes; i++) copy[draw(&state) % length] = damage(&state);
        if (round % 3 == 0) { /* a stretch copied to another place */
            size_t size = 1 + draw(&state) % 200, from = draw(&state) % (length - size);
            memmove(copy + draw(&state) % (length - size), copy + from, size);
        }
        refused += !survive(copy, length);
    }
    free(copy);
}

START_TEST(a_damaged_text_does_no_harm)
{
    refused = 0;
    each_text(mutate);
    ck_assert_uint_gt(refused, 200);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ptx_corpus");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_test(all, everything_that_nvcc_writes_is_understood);
    tcase_add_test(all, a_text_cut_short_is_refused_and_does_no_harm);
    tcase_add_test(all, a_damaged_text_does_no_harm);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
