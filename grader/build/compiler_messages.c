#include "grader/build/compiler_messages.h"
#include "grader/base/messages.h"
#include "grader/evidence/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_SHOWN 12

/* Returns the student's file with whose name the line begins, or NULL; *length is set to the length
 * of the name as printed. */
static const char *file_at(const struct lesson *lesson, const char *line, size_t *length)
{
    const char *start = line;

    if (strncmp(line, SOURCES_SUBMISSION "/", strlen(SOURCES_SUBMISSION "/")) == 0)
        line += strlen(SOURCES_SUBMISSION "/");
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

void compiler_messages_explain(const struct handed_in *handed_in, const char *said, size_t size,
                               struct compiled *result)
{
    struct text shown = {0}, quoted = {0}, message = {0};
    const char *const *file = handed_in->lesson->files;
    const char *first = NULL;
    bool missing = false;

    for (size_t start = 0; start < size;) {
        const char *end = memchr(said + start, '\n', size - start);
        size_t length = end != NULL ? (size_t)(end - (said + start)) : size - start,
               name_length = 0;
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)(length < 1000 ? length : 1000), said + start);
        const char *name = file_at(handed_in->lesson, line, &name_length);
        const char *error = error_in(line);
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
        if (first != NULL && name != NULL)
            text_format(&shown, "%s/%s%s\n", handed_in->shown, name, line + name_length);
        else if (first != NULL)
            text_format(&shown, "%s\n", line);
        start += length + 1;
    }
    if (result->place.file[0] == '\0')
        snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s", handed_in->shown,
                 *file);
    if (first == NULL)
        snprintf(result->what, sizeof result->what, _("It does not compile."));
    else if (!missing)
        snprintf(result->what, sizeof result->what, _("It does not compile: %.240s"),
                 text_string(&message));
    if (!missing)
        text_add_lines(&quoted, first != NULL ? text_string(&shown) : said,
                       first != NULL ? shown.size : size, "  | ", LINES_SHOWN, false);
    text_free(&shown);
    text_free(&message);
    result->said = quoted.data;
}
