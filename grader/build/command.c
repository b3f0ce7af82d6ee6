#include "grader/build/command.h"
#include "grader/evidence/sources.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The flags make errors of what gcc 14 refuses and older versions accept, all of them bugs. Tail
 * calls are disabled and frame pointers kept, so that a record's caller is the student's own
 * line. */
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
    "-O1",
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

/* A command contains no path of the user's. All names are relative to the folder in which the
 * command runs, which the compilers take to be /proc/self/cwd (PWD in their environment). This
 * matters because nvcc passes its arguments to a shell. */
static void add_names(struct command_list *list, const char *prefix)
{
    add(list, "%s-ffile-prefix-map=/proc/self/cwd=%s", prefix, SOURCES_SUBMISSION);
    add(list, "%s-ffile-prefix-map=../src=%s", prefix, SOURCES_SUBMISSION);
    add(list, "%s-ffile-prefix-map=../ours=%s", prefix, SOURCES_OURS);
}

/* Compiles "streams.c" to ../0.o, with its dependency list in ../0.d. `ours`: a source of the
 * drive. */
static void add_compile(struct command_list *list, const struct toolchain *toolchain,
                        const struct lesson *lesson, const char *source, bool ours)
{
    const bool cuda = is_cuda(source);
    const size_t number = list->count;

    add(list, "%s", cuda ? toolchain->nvcc : toolchain->cc);
    if (cuda) {
        add_all(list, cuda_flags);
        add_split(list, toolchain->gencode, " ", "");
        add(list, "-ccbin=%s", toolchain->cc);
    } else {
        add_all(list, c_flags);
    }
    add_names(list, cuda ? "-Xcompiler=" : "");
    if (!ours) add(list, "-I../src");
    add(list, "-I../ours/lessons/%s", lesson->folder);
    if (ours) add(list, "-I../ours/grader/lessons/%s", lesson->folder);
    add(list, "-I../ours");
    if (!cuda) add_split(list, toolchain->cuda_include, ";", "-isystem");
    /* A header of the submission must not stand in for the system's of the same name. nvcc has no
     * such flag, but what it compiles of ours does nothing but call. */
    if (ours) add(list, cuda ? "-I../src" : "-idirafter../src");
    add(list, "-MD");
    add(list, "-MF");
    add(list, "../%zu.d", number);
    add(list, "-c");
    if (ours)
        add(list, "../ours/grader/lessons/%s/%s", lesson->folder, source);
    else
        add(list, "%s", source);
    add(list, "-o");
    add(list, "../%zu.o", number);
    next(list);
}

static bool part_is_built(const struct toolchain *toolchain, const char *part)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/lib%s.a", toolchain->parts, part);
    return access(path, R_OK) == 0;
}

static void add_link(struct command_list *list, const struct toolchain *toolchain,
                     const struct lesson *lesson)
{
    const size_t objects = list->count;

    add(list, "%s", toolchain->cc);
    add(list, "-shared");
    add(list, "-o");
    add(list, "../lesson.so");
    for (size_t i = 0; i < objects; i++) add(list, "../%zu.o", i);
    add(list, "-Wl,-Map=../map");
    add(list, "-Wl,--whole-archive");
    for (const char *const *part = lesson->parts; part != NULL && *part != NULL; part++)
        add(list, "%s/lib%s.a", toolchain->parts, *part);
    for (const char *const *part = lesson->gpu_parts; part != NULL && *part != NULL; part++)
        if (part_is_built(toolchain, *part)) add(list, "%s/lib%s.a", toolchain->parts, *part);
    add(list, "-Wl,--no-whole-archive");
    /* Makes an undefined function a link error instead of a run-time error. */
    add(list, "-Wl,-z,defs");
    add(list, "-Wl,-z,now");
    add(list, "-Wl,--as-needed");
    if (toolchain->cuda_libraries[0] != '\0') {
        /* Links the runtime by its version and the emulator's libcuda as the driver, because a
         * machine without a GPU has no driver library of NVIDIA's. At run time the library path
         * decides which are loaded. */
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
                       const struct lesson *lesson)
{
    memset(list, 0, sizeof *list);
    for (const char *const *file = lesson->files; *file != NULL; file++)
        if (!command_is_header(*file)) add_compile(list, toolchain, lesson, *file, false);
    list->submitted = list->count;
    for (const char *const *file = lesson->drive_sources; file != NULL && *file != NULL; file++)
        add_compile(list, toolchain, lesson, *file, true);
    add_link(list, toolchain, lesson);
}

void command_list_free(struct command_list *list)
{
    for (size_t i = 0; i < COMMAND_MOST; i++)
        for (size_t j = 0; j < list->commands[i].count; j++) free(list->commands[i].arguments[j]);
    memset(list, 0, sizeof *list);
}

/* ---- hashing --------------------------------------------------------------------------------- */

int command_add_to_hash(struct sha256 *hash, const struct toolchain *toolchain,
                        const struct lesson *lesson, char *missing, size_t size)
{
    struct command_list list;
    char path[PATH_MAX];

    command_list_make(&list, toolchain, lesson);
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
    for (const char *const *part = lesson->gpu_parts; part != NULL && *part != NULL; part++) {
        snprintf(path, sizeof path, "%s/lib%s.a", toolchain->parts, *part);
        sha256_add_file(hash, path);
    }
    return 0;
}
