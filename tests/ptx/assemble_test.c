/* The strongest check of the tree: for each text of the corpus except CUB's, NVIDIA's assembler
 * makes the same machine code and data from the text and from the printer's output for its tree. */
#include "tests/ptx/support.h"
#include "tests/temporary.h"

#include <elf.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The tree does not keep line information and unrolling hints as they were written, so both texts
 * omit them. */
static bool is_left_out(const char *line)
{
    line += strspn(line, " \t");
    return strncmp(line, ".loc\t", 5) == 0 || strncmp(line, ".loc ", 5) == 0 ||
           strncmp(line, ".file\t", 6) == 0 || strncmp(line, ".file ", 6) == 0 ||
           strncmp(line, ".pragma", 7) == 0;
}

static void write_stripped(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (!is_left_out(text)) fprintf(file, "%.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
    ck_assert_int_eq(fclose(file), 0);
}

static void assemble(const char *target, const char *source, const char *object)
{
    char architecture[64];
    snprintf(architecture, sizeof architecture, "-arch=%s", target);
    char *arguments[] = {
        "ptxas", architecture, (char *)(uintptr_t)source, "-o", (char *)(uintptr_t)object, NULL};
    pid_t child;
    int status;
    ck_assert_int_eq(posix_spawn(&child, PTXAS, NULL, NULL, arguments, environ), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "ptxas refuses %s", source);
}

static const Elf64_Shdr *section_headers(const char *object)
{
    return (const Elf64_Shdr *)(const void *)(object +
                                              ((const Elf64_Ehdr *)(const void *)object)->e_shoff);
}

static const char *section_name(const char *object, uint32_t index)
{
    const Elf64_Shdr *headers = section_headers(object);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)object;
    return object + headers[header->e_shstrndx].sh_offset + headers[index].sh_name;
}

/* Code, constants and initial values. */
static bool is_compared(const char *object, uint32_t index)
{
    const char *name = section_name(object, index);
    return section_headers(object)[index].sh_type == SHT_PROGBITS &&
           (strncmp(name, ".text.", 6) == 0 || strncmp(name, ".nv.constant", 12) == 0 ||
            strncmp(name, ".nv.global", 10) == 0);
}

static void check_same_section(const char *path, const char *a, uint32_t index, const char *b)
{
    const char *name = section_name(a, index);
    const Elf64_Shdr *one = &section_headers(a)[index];
    uint32_t count = ((const Elf64_Ehdr *)(const void *)b)->e_shnum;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(section_name(b, i), name) != 0) continue;
        const Elf64_Shdr *two = &section_headers(b)[i];
        ck_assert_msg(one->sh_size == two->sh_size &&
                          memcmp(a + one->sh_offset, b + two->sh_offset, one->sh_size) == 0,
                      "%s: %s differs after printing", path, name);
        return;
    }
    ck_abort_msg("%s: %s is missing after printing", path, name);
}

static void check_same_code(const char *path, const char *object, const char *printed_object)
{
    size_t length, printed_length;
    char *a = file_text(object, &length), *b = file_text(printed_object, &printed_length);
    uint32_t compared = 0, count = ((const Elf64_Ehdr *)(const void *)a)->e_shnum;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_compared(a, i)) continue;
        check_same_section(path, a, i, b);
        compared++;
    }
    ck_assert_msg(compared > 0, "%s has no code", path);
    free(a);
    free(b);
}

static void check_text(const char *path)
{
    static const char *names[4];
    size_t length;
    char *text = file_text(path, &length);
    struct ptx_module *module = parsed(text);
    char *printed = ptx_print(module);
    ck_assert_ptr_nonnull(printed);
    for (int i = 0; i < 4; i++)
        if (names[i] == NULL) names[i] = temporary_file();
    write_stripped(names[0], text);
    write_stripped(names[1], printed);
    assemble(module->target, names[0], names[2]);
    assemble(module->target, names[1], names[3]);
    check_same_code(path, names[2], names[3]);
    ptx_module_destroy(module);
    free(printed);
    free(text);
}

START_TEST(what_is_printed_assembles_to_the_same_code)
{
    char paths[] = CORPUS;
    uint32_t count = 0;
    for (char *path = strtok(paths, ":"); path; path = strtok(NULL, ":")) {
        if (strstr(path, "/cub_")) continue;
        check_text(path);
        count++;
    }
    ck_assert_uint_gt(count, 8);
}
END_TEST

int main(void)
{
    if (access(PTXAS, X_OK) != 0) {
        printf("%s is not there: nothing is compared\n", PTXAS);
        return 77; /* skipped */
    }
    Suite *suite = suite_create("ptx_assemble");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_test(all, what_is_printed_assembles_to_the_same_code);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
