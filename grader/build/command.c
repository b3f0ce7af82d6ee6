#include "grader/build/command.h"
#include "grader/evidence/sources.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What gcc 14 refuses is refused by older ones too: each is a bug that compiles. Calls stay calls
 * (no tail jumps) and frames stay chained, so that a record's caller is the student's own line. */
static const char *const c_flags[] = {"-std=gnu17",
                                      "-O2",
                                      "-g",
                                      "-fPIC",
                                      "-fno-omit-frame-pointer",
                                      "-fno-optimize-sibling-calls",
                                      "-Wall",
                                      "-Wextra",
                                      "-Werror=implicit-function-declaration",
                                      "-Werror=implicit-int",
                                      "-Werror=int-conversion",
                                      "-Werror=incompatible-pointer-types",
                                      "-Werror=return-type",
                                      NULL};
static const char *const cuda_flags[] = {
    "-std=c++17",
    "-O2",
    "-g",
    "-lineinfo",
    "-cudart",
    "shared",
    "-Xcompiler=-fPIC,-fno-omit-frame-pointer,-fno-optimize-sibling-calls,-Wall",
    NULL};

const char *command_extension(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot + 1 : "";
}

bool command_is_header(const char *name)
{
    const char *extension = command_extension(name);
    return strcmp(extension, "h") == 0 || strcmp(extension, "cuh") == 0 ||
           strcmp(extension, "hpp") == 0 || strcmp(extension, "inl") == 0;
}

static bool is_cuda(const char *name)
{
    return strcmp(command_extension(name), "cu") == 0;
}

/* ---- building a command --------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void add(struct command_list *list, const char *format,
                                                      ...)
{
    struct command *command = &list->commands[list->count];
    char *argument = NULL;
    va_list arguments;

    va_start(arguments, format);
    int size = vasprintf(&argument, format, arguments);
    va_end(arguments);
    if (size < 0 || command->count == COMMAND_MOST_ARGUMENTS) {
        if (size >= 0) free(argument);
        list->failed = true;
        return;
    }
    command->arguments[command->count++] = argument;
}

static void add_all(struct command_list *list, const char *const *arguments)
{
    for (; *arguments != NULL; arguments++) add(list, "%s", *arguments);
}

/* Adds each piece of a list with the prefix before it. */
static void add_split(struct command_list *list, const char *pieces, const char *separator,
                      const char *prefix)
{
    for (const char *at = pieces; *at != '\0';) {
        size_t length = strcspn(at, separator);
        if (length > 0) add(list, "%s%.*s", prefix, (int)length, at);
        at += length + (at[length] != '\0');
    }
}

static void next(struct command_list *list)
{
    if (list->count + 1 < COMMAND_MOST)
        list->count++;
    else
        list->failed = true;
}

/* "streams.c" to `work`/0.o */
static void add_compile(struct command_list *list, const struct toolchain *toolchain,
                        const struct lesson *lesson, const char *work, const char *source,
                        size_t number)
{
    bool cuda = is_cuda(source);

    add(list, "%s", cuda ? toolchain->nvcc : toolchain->cc);
    if (cuda) {
        add_all(list, cuda_flags);
        add_split(list, toolchain->gencode, " ", "");
        add(list, "-ccbin=%s", toolchain->cc);
        add(list, "-Xcompiler=-ffile-prefix-map=%s/src=%s", work, SOURCES_SUBMISSION);
    } else {
        add_all(list, c_flags);
        add(list, "-ffile-prefix-map=%s/src=%s", work, SOURCES_SUBMISSION);
    }
    add(list, "-I%s/src", work);
    add(list, "-I%s/lessons/%s", toolchain->source, lesson->folder);
    add(list, "-I%s/%s", toolchain->lessons, lesson->folder);
    add(list, "-I%s", toolchain->source);
    if (!cuda) add_split(list, toolchain->cuda_include, ";", "-isystem");
    add(list, "-c");
    add(list, "%s", source);
    add(list, "-o");
    add(list, "%s/%zu.o", work, number);
    next(list);
}

static void add_link(struct command_list *list, const struct toolchain *toolchain,
                     const struct lesson *lesson, const char *work, size_t objects)
{
    add(list, "%s", toolchain->cc);
    add(list, "-shared");
    add(list, "-o");
    add(list, "%s/lesson.so", work);
    for (size_t i = 0; i < objects; i++) add(list, "%s/%zu.o", work, i);
    add(list, "-Wl,--whole-archive");
    for (const char *const *part = lesson->parts; part != NULL && *part != NULL; part++)
        add(list, "%s/lib%s.a", toolchain->parts, *part);
    add(list, "-Wl,--no-whole-archive");
    /* A function that nobody defines is an error now, not when it is called. */
    add(list, "-Wl,-z,defs");
    add(list, "-Wl,-z,now");
    add(list, "-Wl,--as-needed");
    if (toolchain->cuda_libraries[0] != '\0') {
        /* The runtime by its version; the driver is our own libcuda, as no machine without a GPU
         * has NVIDIA's. Where they are found at run time is the library path's business. */
        add(list, "-L%s", toolchain->cuda_libraries);
        add(list, "-L%s", toolchain->emulator);
        add(list, "-l:libcudart.so.13");
        add(list, "-l:libcuda.so.1");
    }
    for (const char *const *library = lesson->libraries; library != NULL && *library != NULL;
         library++)
        add(list, "-l%s", *library);
    add(list, "-lstdc++");
    add(list, "-lpthread");
    add(list, "-ldl");
    add(list, "-lrt");
    add(list, "-lm");
    next(list);
}

void command_list_make(struct command_list *list, const struct toolchain *toolchain,
                       const struct lesson *lesson, const char *work)
{
    size_t objects = 0;

    memset(list, 0, sizeof *list);
    for (const char *const *file = lesson->files; *file != NULL; file++)
        if (!command_is_header(*file)) add_compile(list, toolchain, lesson, work, *file, objects++);
    for (const char *const *file = lesson->drive_sources; file != NULL && *file != NULL; file++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s/%s", toolchain->lessons, lesson->folder, *file);
        add_compile(list, toolchain, lesson, work, path, objects++);
    }
    add_link(list, toolchain, lesson, work, objects);
}

void command_list_free(struct command_list *list)
{
    for (size_t i = 0; i < COMMAND_MOST; i++)
        for (size_t j = 0; j < list->commands[i].count; j++) free(list->commands[i].arguments[j]);
    memset(list, 0, sizeof *list);
}

/* ---- hashing --------------------------------------------------------------------------------- */

/* All headers directly in `folder`, in the order of their names. A folder that is not there adds
 * nothing. */
static void add_headers(struct sha256 *hash, const char *folder)
{
    struct dirent **entries = NULL;
    char path[PATH_MAX];
    int count = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        if (command_is_header(entries[i]->d_name) &&
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < (int)sizeof path) {
            sha256_add_string(hash, entries[i]->d_name);
            sha256_add_file(hash, path);
        }
        free(entries[i]);
    }
    free(entries);
}

int command_add_to_hash(struct sha256 *hash, const struct toolchain *toolchain,
                        const struct lesson *lesson, char *missing, size_t size)
{
    struct command_list list;
    char path[PATH_MAX];

    /* The commands, with a fixed name in place of the folder they will run in. */
    command_list_make(&list, toolchain, lesson, "WORK");
    for (size_t i = 0; i < list.count; i++)
        for (size_t j = 0; j < list.commands[i].count; j++)
            sha256_add_string(hash, list.commands[i].arguments[j]);
    command_list_free(&list);
    sha256_add_string(hash, toolchain->cc_version);
    sha256_add_string(hash, toolchain->nvcc_version);
    for (const char *const *part = lesson->parts; part != NULL && *part != NULL; part++) {
        snprintf(path, sizeof path, "%s/lib%s.a", toolchain->parts, *part);
        if (sha256_add_file(hash, path) != 0) {
            snprintf(missing, size, "%s", path);
            return -1;
        }
    }
    for (const char *const *file = lesson->drive_sources; file != NULL && *file != NULL; file++) {
        snprintf(path, sizeof path, "%s/%s/%s", toolchain->lessons, lesson->folder, *file);
        if (sha256_add_file(hash, path) != 0) {
            snprintf(missing, size, "%s", path);
            return -1;
        }
    }
    snprintf(path, sizeof path, "%s/lessons/%s", toolchain->source, lesson->folder);
    add_headers(hash, path);
    snprintf(path, sizeof path, "%s/%s", toolchain->lessons, lesson->folder);
    add_headers(hash, path);
    snprintf(path, sizeof path, "%s/kernels", toolchain->source);
    add_headers(hash, path);
    return 0;
}
