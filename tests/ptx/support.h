/* Shared functions of the tests of ptx: modules from text, the sentences of a refusal, files. */
#ifndef OVERLAP_TESTS_PTX_SUPPORT_H
#define OVERLAP_TESTS_PTX_SUPPORT_H

#include "emulator/ptx/ptx.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

/* Returns the module, which the test must destroy; fails the test with the sentences when there is
 * none. */
static inline struct ptx_module *parsed(const char *text)
{
    static struct ptx_diagnostics diagnostics;
    char sentences[4096];
    struct ptx_module *module = ptx_parse(text, strlen(text), &diagnostics);
    ptx_diagnostics_print(&diagnostics, sentences, sizeof sentences);
    ck_assert_msg(module != NULL, "refused:\n%s", sentences);
    ck_assert_msg(diagnostics.total == 0, "a module and sentences:\n%s", sentences);
    return module;
}

/* Returns all sentences for a text that must be refused. */
static inline const char *refusal(const char *text)
{
    static struct ptx_diagnostics diagnostics;
    static char sentences[4096];
    struct ptx_module *module = ptx_parse(text, strlen(text), &diagnostics);
    ptx_diagnostics_print(&diagnostics, sentences, sizeof sentences);
    ck_assert_msg(module == NULL, "accepted:\n%s", text);
    ck_assert_msg(diagnostics.total > 0, "refused without a sentence:\n%s", text);
    return sentences;
}

/* Returns a file's contents, which the caller frees; fails the test when the file cannot be
 * read. */
static inline char *file_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    ck_assert_int_ge(size, 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, file), (size_t)size);
    text[size] = '\0';
    fclose(file);
    *length = (size_t)size;
    return text;
}

/* Returns the module's variable of that name; fails the test when there is none. */
static inline const struct ptx_variable *variable_of(const struct ptx_module *module,
                                                     const char *name)
{
    for (uint32_t k = 0; k < module->variable_count; k++)
        if (strcmp(module->variables[k]->name, name) == 0) return module->variables[k];
    ck_abort_msg("no variable %s", name);
}

/* Checks that the text is unchanged when it is printed, parsed and printed again. */
static inline void check_round_trip(const struct ptx_module *module)
{
    char *first = ptx_print(module);
    ck_assert_ptr_nonnull(first);
    struct ptx_module *again = parsed(first);
    char *second = ptx_print(again);
    ck_assert_ptr_nonnull(second);
    size_t same = 0;
    while (first[same] && first[same] == second[same]) same++;
    ck_assert_msg(first[same] == second[same],
                  "printed twice, it differs from:\n%.200s\nto:\n%.200s",
                  first + (same > 50 ? same - 50 : 0), second + (same > 50 ? same - 50 : 0));
    ptx_module_destroy(again);
    free(first);
    free(second);
}

static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
