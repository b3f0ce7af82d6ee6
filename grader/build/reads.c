#include "grader/build/reads.h"
#include "grader/base/files.h"
#include "grader/base/messages.h"
#include "grader/build/entries.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_LIMIT ((size_t)4 << 20)
#define MAP_LIMIT ((size_t)16 << 20)

/* ---- what was read ----------------------------------------------------------------------------
 */

static bool is_below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return length > 0 && strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || folder[length - 1] == '/');
}

static bool is_below_one_of(const char *path, const char *list)
{
    char folder[PATH_MAX];

    while (*list != '\0') {
        const size_t length = strcspn(list, ";");
        snprintf(folder, sizeof folder, "%.*s", (int)length, list);
        if (is_below(path, folder)) return true;
        list += length + (list[length] == ';');
    }
    return false;
}

/* Removes "name/.." from an absolute path. */
static void shorten(char *path)
{
    char *up;

    while (path[0] == '/' && (up = strstr(path, "/../")) != NULL) {
        char *before = up;
        while (before > path && *--before != '/')
            ;
        memmove(before, up + 3, strlen(up + 3) + 1);
    }
}

/* Returns true for a file that an honest compilation reads: "../ours/x.h", "x.h",
 * "/usr/include/x.h". */
static bool is_allowed(const struct toolchain *toolchain, const char *path)
{
    static const char *const systems[] = {"/usr", "/nix/store", "/gnu/store", "/opt/rh"};
    char toolkit[PATH_MAX] = "";

    if (strstr(path, "/../") != NULL) return false;
    if (strncmp(path, "../ours/", 8) == 0 || strncmp(path, "../src/", 7) == 0 ||
        strncmp(path, "../temporary/", 13) == 0)
        return true;
    if (path[0] != '/') return strncmp(path, "../", 3) != 0;
    /* nvcc names the student's files by their full path, beginning with PWD. */
    if (is_below(path, "/proc/self/cwd") || is_below_one_of(path, toolchain->cuda_include))
        return true;
    if (toolchain->cuda != NULL && is_below(path, toolchain->cuda)) return true;
    if (toolchain->cuda != NULL && realpath(toolchain->cuda, toolkit) != NULL &&
        is_below(path, toolkit))
        return true;
    if (is_below(path, toolchain->source)) return false;
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        if (is_below(path, systems[i])) return true;
    return false;
}

/* Reads the next name of a make rule, unescaped. Returns where the list goes on, or NULL. */
static const char *next_name(const char *at, char name[PATH_MAX])
{
    size_t used = 0;

    for (;;) {
        at += strspn(at, " \t\r\n");
        if (at[0] != '\\' || (at[1] != '\n' && at[1] != '\r')) break;
        at += 2;
    }
    if (*at == '\0') return NULL;
    while (*at != '\0' && strchr(" \t\r\n", *at) == NULL) {
        if (at[0] == '\\' && (at[1] == '\n' || at[1] == '\r')) break;
        if (at[0] == '\\' && at[1] != '\0') at++;
        if (at[0] == '$' && at[1] == '$') at++;
        if (used + 1 < PATH_MAX) name[used++] = *at;
        at++;
    }
    name[used] = '\0';
    return at;
}

static void refuse(const struct handed_in *handed_in, const char *path, struct compiled *result)
{
    struct text quoted = {0};

    text_add_quoted(&quoted, path, strnlen(path, 120));
    snprintf(result->what, sizeof result->what,
             _("The compilation read %.140s, which was not handed in and is not the lesson's."),
             text_string(&quoted));
    snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s", handed_in->shown,
             handed_in->lesson->files[0]);
    text_free(&quoted);
}

int reads_check(const struct handed_in *handed_in, const struct toolchain *toolchain,
                const char *work, const struct command_list *commands, struct compiled *result)
{
    char path[PATH_MAX], name[PATH_MAX];
    int status = 0;

    for (size_t i = 0; i + 1 < commands->count && status == 0; i++) {
        struct text list = {0};
        snprintf(path, sizeof path, "%s/%zu.d", work, i);
        if (files_read(path, LIST_LIMIT, &list) != 0) {
            status = trouble_set_error(&result->trouble, errno, TROUBLE_CHANGED,
                                       "the compiler's list of what it read");
        }
        const char *at = strchr(text_string(&list), ':');
        at = at != NULL ? at + 1 : NULL;
        while (status == 0 && at != NULL && (at = next_name(at, name)) != NULL) {
            shorten(name);
            if (name[0] == '\0' || name[strlen(name) - 1] == ':' || is_allowed(toolchain, name))
                continue;
            refuse(handed_in, name, result);
            status = -1;
        }
        text_free(&list);
    }
    return status;
}

/* ---- origin of addresses -----------------------------------------------------------------------
 */

/* Parses a line of the linker's map: " .text 0x0000000000001180 0x2f5 ../0.o", possibly with the
 * name on a line of its own. */
static bool read_piece(const char *line, unsigned long long *start, unsigned long long *size,
                       size_t *object)
{
    const char *at = strstr(line, "0x");
    char *end;

    if (at == NULL || line[0] != ' ') return false;
    *start = strtoull(at, &end, 16);
    at = end + strspn(end, " \t");
    if (strncmp(at, "0x", 2) != 0) return false;
    *size = strtoull(at, &end, 16);
    at = end + strspn(end, " \t");
    if (strncmp(at, "../", 3) != 0 || !isdigit((unsigned char)at[3])) return false;
    *object = strtoul(at + 3, &end, 10);
    return strncmp(end, ".o", 2) == 0 && (end[2] == '\n' || end[2] == '\0') && *start != 0 &&
           *size != 0;
}

static const char *source_of(const struct lesson *lesson, size_t object)
{
    for (const char *const *file = lesson->files; *file != NULL; file++)
        if (!command_is_header(*file) && object-- == 0) return *file;
    return NULL;
}

int reads_note_objects(const struct lesson *lesson, const char *work)
{
    char path[PATH_MAX];
    struct text map = {0}, objects = {0};
    unsigned long long start, size;
    size_t object;
    int status = -1;

    snprintf(path, sizeof path, "%s/map", work);
    if (files_read(path, MAP_LIMIT, &map) != 0) goto done;
    /* The sections listed before this line were discarded and have no address. */
    const char *at = strstr(text_string(&map), "\nLinker script and memory map");
    for (; at != NULL && *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (!read_piece(line, &start, &size, &object)) continue;
        const char *source = source_of(lesson, object);
        if (source != NULL) text_format(&objects, "%llx %llx %s\n", start, start + size, source);
    }
    snprintf(path, sizeof path, "%s/%s", work, ENTRIES_OBJECTS);
    unlink(path);
    status = objects.failed ? -1 : files_write(path, text_string(&objects), objects.size);
done:
    text_free(&map);
    text_free(&objects);
    return status;
}
