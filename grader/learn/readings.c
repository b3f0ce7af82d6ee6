#include "grader/learn/readings.h"
#include "grader/base/files.h"
#include "grader/base/messages.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_LIMIT ((size_t)1 << 18)

/* Finds folder/base.zh-CN.md where Chinese was chosen and the file exists, else folder/base.md. */
static void choose(const struct guide *guide, const char *folder, const char *name,
                   const char *base, char *found, size_t size)
{
    char path[PATH_MAX];

    snprintf(found, size, "%s.zh-CN.md", base);
    snprintf(path, sizeof path, "%s/%s/%s/%s", guide->toolchain.source, folder, name, found);
    if (messages_language()[0] == '\0' || access(path, R_OK) != 0)
        snprintf(found, size, "%s.md", base);
}

static void path_of(const struct guide *guide, size_t lesson, const char *folder, const char *base,
                    char path[PATH_MAX])
{
    const char *name = guide->course.lessons[lesson].lesson->folder;
    char found[64];

    choose(guide, folder, name, base, found, sizeof found);
    snprintf(path, PATH_MAX, "%s/%s/%s/%s", guide->toolchain.source, folder, name, found);
}

void readings_text_name(const struct guide *guide, size_t lesson, char *name, size_t size)
{
    choose(guide, "lessons", guide->course.lessons[lesson].lesson->folder, "README", name, size);
}

void readings_text_path(const struct guide *guide, size_t lesson, char path[PATH_MAX])
{
    path_of(guide, lesson, "lessons", "README", path);
}

void readings_answers_path(const struct guide *guide, size_t lesson, char path[PATH_MAX])
{
    path_of(guide, lesson, "solutions", "answers", path);
}

void readings_title(const struct guide *guide, size_t lesson, char *title, size_t size)
{
    struct text text = {0};
    char path[PATH_MAX];

    readings_text_path(guide, lesson, path);
    files_read(path, TEXT_LIMIT, &text);
    /* A link to the text in the other language precedes the heading. */
    const char *line = text_string(&text), *heading = strstr(line, "\n# ");
    if (heading != NULL && strncmp(line, "# ", 2) != 0) line = heading + 1;
    const size_t length = strcspn(line, "\n");
    const char *colon = memchr(line, ':', length), *wide = strstr(line, "\uff1a");
    const char *from = line;
    if (colon != NULL)
        from = colon + 1;
    else if (wide != NULL && wide < line + length)
        from = wide + strlen("\uff1a");
    from += strspn(from, " #");
    snprintf(title, size, "%.*s", (int)(line + length - from), from);
    text_free(&text);
}

/* Joins the lines of each item. */
static void unwrap(const char *text, struct text *items)
{
    while (*text != '\0') {
        const size_t blanks = strspn(text, " "), length = strcspn(text, "\n");
        if (items->size > 0) text_add(items, blanks > 0 && length > blanks ? " " : "\n");
        text_add_bytes(items, text + blanks, length - blanks);
        text += length + (text[length] == '\n');
    }
}

void readings_questions(const struct guide *guide, size_t lesson, struct text *questions)
{
    struct text text = {0};
    const char *last = NULL;
    char path[PATH_MAX];

    readings_text_path(guide, lesson, path);
    files_read(path, TEXT_LIMIT, &text);
    for (const char *at = text_string(&text); (at = strstr(at, "\n## ")) != NULL;) {
        at += strlen("\n## ");
        last = at;
    }
    if (last != NULL) unwrap(last, questions);
    text_free(&text);
}
