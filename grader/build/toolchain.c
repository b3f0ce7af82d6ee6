#include "grader/build/toolchain.h"
#include "grader/base/files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_LIMIT 16384

#define FIELD(name) offsetof(struct toolchain, name)

/* The keys of the file; each must be present. */
static const struct {
    const char *key;
    size_t field;
} lines[] = {
    {"cc", FIELD(cc)},
    {"cc_version", FIELD(cc_version)},
    {"nvcc", FIELD(nvcc)},
    {"nvcc_version", FIELD(nvcc_version)},
    {"gencode", FIELD(gencode)},
    {"cuda", FIELD(cuda)},
    {"cuda_include", FIELD(cuda_include)},
    {"cuda_libraries", FIELD(cuda_libraries)},
    {"source", FIELD(source)},
    {"compiled_source", FIELD(compiled_source)},
};

/* The grader's own components, relative to the build folder; `lessons` is relative to the source
 * tree. */
static const struct {
    const char *path;
    size_t field;
} pieces[] = {
    {"emulator/lib", FIELD(emulator)},
    {"grader/parts", FIELD(parts)},
    {"grader/cache", FIELD(cache)},
    {"grader/runner", FIELD(runner)},
    {"grader/probe", FIELD(probe)},
    {"locale", FIELD(catalogues)},
    {"recorder/librecorder.so", FIELD(recorder)},
};

static void set(struct toolchain *toolchain, size_t field, const char *value)
{
    *(const char **)((char *)toolchain + field) = value;
}

static const char *get(const struct toolchain *toolchain, size_t field)
{
    return *(const char *const *)((const char *)toolchain + field);
}

static const char *join(const char *folder, const char *rest)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, rest) < 0 ? NULL : path;
}

/* Finds the build folder: the one above the running program's. */
static int find_build(char build[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", build, PATH_MAX - 1);
    if (length < 0) return -1;
    build[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(build, '/');
        if (slash == NULL) return -1;
        *slash = '\0';
    }
    return 0;
}

/* Cuts the file into lines, to which the toolchain then points. */
static void take_lines(struct toolchain *toolchain, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
            const size_t length = strlen(lines[i].key);
            if (strncmp(line, lines[i].key, length) == 0 && line[length] == '=')
                set(toolchain, lines[i].field, line + length + 1);
        }
}

/* In a release the tree is "..", because its place was unknown when the release was made. */
static int find_source(struct toolchain *toolchain, const char *build)
{
    if (strcmp(toolchain->source, "..") == 0)
        toolchain->source = strndup(build, (size_t)(strrchr(build, '/') - build));
    if (toolchain->source != NULL) toolchain->lessons = join(toolchain->source, "grader/lessons");
    return toolchain->lessons == NULL ? -1 : 0;
}

/* Returns 0, or -1 with errno. */
static int read_toolchain(struct toolchain *toolchain)
{
    struct text text = {0}; /* never freed: the toolchain points into it */
    char build[PATH_MAX], path[PATH_MAX + 20];

    if (find_build(build) != 0) return -1;
    snprintf(path, sizeof path, "%s/grader/toolchain", build);
    if (files_read(path, FILE_LIMIT, &text) != 0 || text.size == 0) return -1;
    take_lines(toolchain, text.data);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (get(toolchain, lines[i].field) == NULL) {
            errno = EINVAL;
            return -1;
        }
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        set(toolchain, pieces[i].field, join(build, pieces[i].path));
        if (get(toolchain, pieces[i].field) == NULL) return -1;
    }
    return find_source(toolchain, build);
}

/* Returns true when a GPU of that capability runs something that `gencode` makes: machine code of
 * its own, or PTX for it or an older one. */
static bool runs(const char *gencode, unsigned capability)
{
    static const char ptx[] = "code=compute_";
    char own[24];

    snprintf(own, sizeof own, "code=sm_%u", capability);
    if (strstr(gencode, own) != NULL) return true;
    for (const char *at = gencode; (at = strstr(at, ptx)) != NULL;) {
        at += sizeof ptx - 1;
        if (strtoul(at, NULL, 10) <= capability) return true;
    }
    return false;
}

int toolchain_widen(struct toolchain *wide, const struct toolchain *from, unsigned capability)
{
    char *gencode = NULL;

    *wide = *from;
    if (capability == 0 || runs(from->gencode, capability)) return 0;
    if (asprintf(&gencode, "%s -gencode=arch=compute_%u,code=compute_%u", from->gencode, capability,
                 capability) < 0)
        return -1;
    wide->gencode = gencode;
    return 0;
}

const struct toolchain *toolchain_configured(void)
{
    static struct toolchain configured;

    if (configured.lessons == NULL && read_toolchain(&configured) != 0) return NULL;
    return &configured;
}
