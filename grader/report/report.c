#include "grader/report/report.h"
#include "grader/base/files.h"
#include "grader/base/messages.h"
#include "grader/report/kinds.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A format for one submission; a class needs a folder of them. */
#define SINGLE 1u
/* Somebody waits for this file: it is also written while grading goes on. */
#define ANSWER 2u

struct report_kind {
    const char *name, *extension;
    void (*write)(const json_t *class, struct text *text);
    unsigned flags;
};

static const struct report_kind kinds[] = {
    {"html", "html", report_page, 0},
    {"pages", "html", report_student_page, SINGLE},
    {"json", "json", report_json, 0},
    {"junit", "xml", report_junit, 0},
    {"canvas", "csv", report_canvas, 0},
    {"moodle", "csv", report_moodle, 0},
    {"gradescope", "json", report_gradescope, SINGLE | ANSWER},
    {"github-classroom", "txt", report_github, SINGLE | ANSWER},
    {"autolab", "json", report_autolab, SINGLE | ANSWER},
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

struct report_target {
    const struct report_kind *kind;
    const char *path; /* ends in '/': a folder */
};

struct reports {
    struct marks *marks;
    size_t count;
    struct report_target targets[];
};

static int parse(const char *value, struct report_target *target, struct text *why)
{
    const char *names[KIND_COUNT + 1] = {NULL};
    char word[32];
    const size_t length = strcspn(value, ":");

    for (size_t i = 0; i < KIND_COUNT; i++) {
        names[i] = kinds[i].name;
        if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, value, length) != 0) continue;
        if (value[length] == '\0' || value[length + 1] == '\0') {
            text_format(why, _("--report=%s needs a file, as in --report=%s:results.%s"), names[i],
                        names[i], kinds[i].extension);
            return -1;
        }
        *target = (struct report_target){&kinds[i], value + length + 1};
        return 0;
    }
    snprintf(word, sizeof word, "%.*s", (int)length, value);
    const char *near = text_nearest(word, names);
    text_add(why, _("there is no report \""));
    text_add_quoted(why, word, strlen(word));
    text_add(why, "\"");
    if (near != NULL) text_format(why, _("; did you mean --report=%s:FILE?"), near);
    text_add(why, _(" There are:"));
    for (size_t i = 0; i < KIND_COUNT; i++) text_format(why, "%s %s", i > 0 ? "," : "", names[i]);
    return -1;
}

static bool in_folder(const struct report_target *target)
{
    return target->path[strlen(target->path) - 1] == '/';
}

static int write_one(const struct report_kind *kind, const char *path, const json_t *class,
                     struct text *why)
{
    struct text text = {0};

    kind->write(class, &text);
    errno = ENOMEM;
    int result = text.failed ? -1 : files_replace(path, text_string(&text), text.size);
    if (result != 0) {
        const int error = errno;
        if (why->size > 0) text_add(why, "; ");
        text_format(why, _("the report %s cannot be written: %s"), path, strerror(error));
    }
    text_free(&text);
    return result;
}

static int write_target(const struct report_target *target, const json_t *class, struct text *why)
{
    const struct report_kind *kind = target->kind;
    json_t *record;
    char path[PATH_MAX];
    size_t i;

    if (!in_folder(target)) return write_one(kind, target->path, class, why);
    if (!(kind->flags & SINGLE)) {
        snprintf(path, sizeof path, "%sclass.%s", target->path, kind->extension);
        return write_one(kind, path, class, why);
    }
    json_array_foreach(json_list(class, "submissions"), i, record)
    {
        json_t *alone = json_pack("{s:[O]}", "submissions", record);
        const char *id = json_text(json_object_get(record, "submission"), "key");
        snprintf(path, sizeof path, "%s%s.%s", target->path, id[0] != '\0' ? id : "submission",
                 kind->extension);
        int result = write_one(kind, path, alone, why);
        json_decref(alone);
        if (result != 0) return -1;
    }
    return 0;
}

/* ---- all of them ------------------------------------------------------------------------ */

struct reports *reports_open(const char *const *values, size_t count, const char *marks,
                             struct text *why)
{
    struct reports *reports = calloc(1, sizeof *reports + count * sizeof reports->targets[0]);

    if (reports == NULL) {
        text_add(why, _("no memory"));
        return NULL;
    }
    for (; reports->count < count; reports->count++)
        if (parse(values[reports->count], &reports->targets[reports->count], why) != 0) goto failed;
    reports->marks = marks_read(marks, why);
    if (reports->marks != NULL) return reports;
failed:
    reports_close(reports);
    return NULL;
}

void reports_close(struct reports *reports)
{
    if (reports == NULL) return;
    marks_free(reports->marks);
    free(reports);
}

size_t reports_count(const struct reports *reports)
{
    return reports->count;
}

const struct marks *reports_marks(const struct reports *reports)
{
    return reports->marks;
}

int reports_hold_class(const struct reports *reports, struct text *why)
{
    for (size_t i = 0; i < reports->count; i++) {
        const struct report_target *target = &reports->targets[i];
        if (!(target->kind->flags & SINGLE) || in_folder(target)) continue;
        text_format(why,
                    _("--report=%s:%s: this is a file for each submission, so a class needs a "
                      "folder: --report=%s:%s/"),
                    target->kind->name, target->path, target->kind->name, target->path);
        return -1;
    }
    return 0;
}

static int write_those(const struct reports *reports, const json_t *class, unsigned flags,
                       struct text *why)
{
    int result = 0;

    for (size_t i = 0; i < reports->count; i++) {
        if ((reports->targets[i].kind->flags & flags) != flags) continue;
        if (write_target(&reports->targets[i], class, why) != 0) result = -1;
    }
    return result;
}

int reports_write(const struct reports *reports, const json_t *class, struct text *why)
{
    return write_those(reports, class, 0, why);
}

int reports_write_unfinished(const struct reports *reports, const json_t *class, struct text *why)
{
    return write_those(reports, class, ANSWER, why);
}
