#include "grader/build/compiler_messages.h"
#include "grader/base/messages.h"
#include "grader/evidence/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_SHOWN 12
#define MOST_SEEN 64
#define OF_TEMPLATE "instantiation of" /* nvcc's and gcc's words, behind an error */

/* Returns the student's file with whose name the line begins, or NULL; *length is set to the length
 * of the name as printed. */
static const char *file_at(const struct lesson *lesson, const char *line, size_t *length)
{
    /* By the names of the grader's commands (command.c); nvcc shows the second of headers. */
    static const char *const folders[] = {SOURCES_SUBMISSION "/", "../src/"};
    const char *start = line;

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strncmp(line, folders[i], strlen(folders[i])) == 0) line += strlen(folders[i]);
    for (const char *const *file = lesson->files; *file != NULL; file++) {
        size_t name = strlen(*file);
        if (strncmp(line, *file, name) == 0 && (line[name] == ':' || line[name] == '(')) {
            *length = (size_t)(line - start) + name;
            return *file;
        }
    }
    return NULL;
}

/* Returns the message of an error line, or NULL: "streams.c:41:5: error: ...", "streams.cu(41):
 * error: ...", or ld's "streams.c:41: undefined reference to `x'". */
static const char *error_in(const char *line)
{
    static const char *const signs[] = {": error: ",
                                        ": fatal error: ",
                                        ": catastrophic error: ",
                                        ": undefined reference to ",
                                        ": multiple definition of ",
                                        NULL};
    for (const char *const *sign = signs; *sign != NULL; sign++) {
        const char *found = strstr(line, *sign);
        if (found == NULL) continue;
        /* keeps ld's own words, but leaves out "error: " */
        return strstr(*sign, "error") != NULL ? found + strlen(*sign) : found + 2;
    }
    return NULL;
}

/* Returns true where the linker misses what only the lesson's own code asks for: the submission
 * does not define it. Sets result->what; the linker's lines name no file of the student's. */
static bool explain_missing(const char *error, struct compiled *result)
{
    static const char sign[] = "undefined reference to `";
    struct text missing = {0};

    if (strncmp(error, sign, sizeof sign - 1) != 0) return false;
    error += sizeof sign - 1;
    const char *end = strrchr(error, '\'');
    text_add_quoted(&missing, error, end != NULL ? (size_t)(end - error) : strlen(error));
    snprintf(result->what, sizeof result->what,
             _("It does not compile: %.200s, which the lesson calls, is nowhere defined."),
             text_string(&missing));
    text_free(&missing);
    return true;
}

/* Error lines that were shown. A compiler tells an error of a template for each instantiation. */
struct seen {
    const char *lines[MOST_SEEN];
    size_t sizes[MOST_SEEN], count;
    unsigned first_times; /* of the first error */
};

/* Returns true for an error that has been shown; otherwise notes it. */
static bool is_repeated(struct seen *seen, const char *line, size_t size)
{
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->sizes[i] != size || memcmp(seen->lines[i], line, size) != 0) continue;
        seen->first_times += i == 0;
        return true;
    }
    if (seen->count == 0) seen->first_times = 1;
    if (seen->count < MOST_SEEN) {
        seen->lines[seen->count] = line;
        seen->sizes[seen->count++] = size;
    }
    return false;
}

/* Sets result->what for the first error. */
static void say_error(const char *message, unsigned times, bool of_template,
                      struct compiled *result)
{
    if (times > 1 && of_template)
        snprintf(result->what, sizeof result->what,
                 _("It does not compile, in %u instantiations of the template: %.200s"), times,
                 message);
    else
        snprintf(result->what, sizeof result->what, _("It does not compile: %.240s"), message);
}

void compiler_messages_explain(const struct handed_in *handed_in, const char *said, size_t size,
                               struct compiled *result)
{
    struct text shown = {0}, quoted = {0}, message = {0};
    const char *const *file = handed_in->lesson->files;
    struct seen seen = {.count = 0};
    const char *first = NULL;
    bool missing = false, again = false;

    for (size_t start = 0; start < size;) {
        const char *end = memchr(said + start, '\n', size - start);
        size_t length = end != NULL ? (size_t)(end - (said + start)) : size - start,
               name_length = 0;
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)(length < 1000 ? length : 1000), said + start);
        const char *name = file_at(handed_in->lesson, line, &name_length);
        const char *error = error_in(line);
        if (error != NULL) again = is_repeated(&seen, said + start, length);
        /* Warnings before the first error are left out, because the error stops the compilation. */
        if (error != NULL && first == NULL) {
            first = error;
            missing = name == NULL && explain_missing(error, result);
            text_add_quoted(&message, error, strlen(error));
            if (name != NULL) {
                snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s",
                         handed_in->shown, name);
                result->place.line = (unsigned)strtoul(line + name_length + 1, NULL, 10);
                result->place.submission = true;
            }
        }
        if (first != NULL && name != NULL && !again)
            text_format(&shown, "%s/%s%s\n", handed_in->shown, name, line + name_length);
        else if (first != NULL && !again)
            text_format(&shown, "%s\n", line);
        start += length + 1;
    }
    if (result->place.file[0] == '\0')
        snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s", handed_in->shown,
                 *file);
    if (first == NULL)
        snprintf(result->what, sizeof result->what, _("It does not compile."));
    else if (!missing)
        say_error(text_string(&message), seen.first_times,
                  memmem(said, size, OF_TEMPLATE, strlen(OF_TEMPLATE)) != NULL, result);
    if (!missing)
        text_add_lines(&quoted, first != NULL ? text_string(&shown) : said,
                       first != NULL ? shown.size : size, "  | ", LINES_SHOWN, false);
    text_free(&shown);
    text_free(&message);
    result->said = quoted.data;
}
