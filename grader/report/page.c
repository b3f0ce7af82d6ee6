/* The HTML pages for a class and for a student. They need no network and, for reading, no script.
 * All text from outside is escaped by text_add_escaped. */
#include "grader/base/embedded.h"
#include "grader/report/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FINDINGS 15

static void begin_page(struct text *text, const char *title)
{
    /* The policy guarantees that the page loads nothing. */
    text_add(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    text_add_escaped(text, title);
    text_format(text, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", embedded_page_css);
}

static void add_tagged(struct text *text, const char *before, const char *string, const char *after)
{
    if (string[0] == '\0') return;
    text_add(text, before);
    text_add_escaped(text, string);
    text_add(text, after);
}

static void add_count(struct text *text, size_t count, const char *one)
{
    text_format(text, "%zu %s%s", count, one, count == 1 ? "" : "s");
}

/* ---- one student ------------------------------------------------------------------------ */

static void add_source(struct text *text, const json_t *failure)
{
    const json_t *lines = json_list(failure, "source"), *line;
    size_t i;

    if (json_array_size(lines) == 0) return;
    text_add(text, "<pre>");
    json_array_foreach(lines, i, line)
    {
        const bool here = json_number(line, "line") == json_number(failure, "line");
        text_add(text, here ? "<mark>" : "");
        text_format(text, "%4.0f  ", json_number(line, "line"));
        text_add_escaped(text, json_text(line, "text"));
        text_add(text, here ? "</mark>\n" : "\n");
    }
    text_add(text, "</pre>\n");
}

static void add_failure(struct text *text, const json_t *failure)
{
    const char *file = json_text(failure, "file");

    text_add(text, "<p class=\"what\">");
    if (file[0] != '\0') {
        text_add(text, "<code>");
        text_add_escaped(text, file);
        if (json_number(failure, "line") > 0)
            text_format(text, ":%.0f", json_number(failure, "line"));
        text_add(text, "</code> ");
    }
    text_add_escaped(text, json_text(failure, "what"));
    text_add(text, "</p>\n");
    add_source(text, failure);
    add_tagged(text, "<p class=\"said\">Why: ", json_text(failure, "why"), "</p>\n");
    add_tagged(text, "<p class=\"said\">Hint: ", json_text(failure, "hint"), "</p>\n");
    add_tagged(text, "<p class=\"said\">Seen: ", json_text(failure, "seen"), "</p>\n");
}

static bool is_shown(const json_t *check, bool handed_out)
{
    if (handed_out && !check_is_visible(check)) return false;
    return !check_is_blocked(check) && strcmp(json_text(check, "outcome"), "passed") != 0;
}

static void add_check(struct text *text, const json_t *check)
{
    const json_t *failure;
    size_t i;

    text_format(text, "<div class=\"check %s\">\n<p><strong>", json_text(check, "outcome"));
    text_add_escaped(text, json_text(check, "name"));
    text_add(text, "</strong> ");
    add_tagged(text, "<span class=\"said\">", json_text(check, "title"), "</span>");
    text_add(text, "</p>\n");
    json_array_foreach(json_list(check, "failures"), i, failure)
    {
        add_failure(text, failure);
    }
    add_tagged(text, "<pre class=\"timeline\">", json_text(check, "timeline"), "</pre>\n");
    add_tagged(text, "<p>Not judged: ", json_text(check, "reason"), "</p>\n");
    add_tagged(text, "<p>", json_text(check, "why"), "</p>\n");
    if (json_text(check, "printed")[0] != '\0')
        add_tagged(text, "<details><summary>What it printed</summary><pre>",
                   json_text(check, "printed"), "</pre></details>\n");
    text_add(text, "</div>\n");
}

static void add_score(struct text *text, const json_t *of)
{
    text_add_points(text, json_number(of, "score"));
    text_add(text, " of ");
    text_add_points(text, json_number(of, "max_score"));
}

static void add_checks(struct text *text, const json_t *lesson, bool handed_out)
{
    const json_t *check;
    size_t i;

    json_array_foreach(json_list(lesson, "checks"), i, check)
    {
        struct text blocked = {0};
        if (is_shown(check, handed_out)) add_check(text, check);
        check_blocks(lesson, check, handed_out, &blocked);
        add_tagged(text, "<p class=\"said\">", text_string(&blocked), "</p>\n");
        text_free(&blocked);
    }
}

static void add_lessons(struct text *text, const json_t *record, bool handed_out)
{
    const json_t *lesson;
    size_t i;

    json_array_foreach(json_list(record, "lessons"), i, lesson)
    {
        add_tagged(text, "<h3>", json_text(lesson, "lesson"), ": ");
        add_score(text, lesson);
        text_add(text, "</h3>\n");
        add_tagged(text, "<p class=\"trouble\">No points: ", json_text(lesson, "lost"),
                   " is required.</p>\n");
        add_tagged(text, "<p class=\"said\">", json_text(lesson, "note"), "</p>\n");
        if (json_yes(lesson, "missing"))
            text_add(text, "<p>Nothing was handed in.</p>\n");
        else
            add_checks(text, lesson, handed_out);
    }
}

static void add_record(struct text *text, const json_t *record, bool handed_out)
{
    const char *command = json_text(record, "command");

    if (!json_yes(record, "complete") && json_text(record, "trouble")[0] == '\0')
        text_add(text, "<p class=\"trouble\">Grading has not come to its end.</p>\n");
    add_tagged(text, "<p class=\"trouble\">Not judged, which is not the submission's fault: ",
               json_text(record, "trouble"), "</p>\n");
    add_tagged(text, "<p class=\"said\">", json_text(record, "note"), "</p>\n");
    add_lessons(text, record, handed_out);
    if (!handed_out) add_tagged(text, "<p>The same run again: <code>", command, "</code></p>\n");
}

void report_student_page(const json_t *class, struct text *text)
{
    const json_t *record = json_array_get(json_list(class, "submissions"), 0);

    begin_page(text, record_name(record));
    add_tagged(text, "<h1>", record_name(record), "</h1>\n");
    text_add(text, "<p>");
    add_score(text, record);
    add_tagged(text, " points, seed ", json_text(record, "seed"), "");
    add_tagged(text, ", Overlap ", json_text(record, "overlap"), "");
    text_add(text, "</p>\n");
    add_record(text, record, true);
    text_add(text, "</body>\n</html>\n");
}

/* ---- overview of the class -------------------------------------------------------------- */

struct lesson_sum {
    char name[128];
    size_t students, full;
    double score, most;
};

struct finding_sum {
    const char *suite, *check, *kind;
    size_t students;
};

struct sums {
    struct lesson_sum *lessons;
    size_t lesson_count;
    struct finding_sum *findings;
    size_t finding_count;
    size_t judged, absent; /* absent: students who handed in nothing */
    double score, most;
};

static void sum_lesson(struct sums *sums, const json_t *lesson)
{
    const char *name = json_text(lesson, "lesson");
    const double score = json_number(lesson, "score"), most = json_number(lesson, "max_score");
    size_t at = 0;

    while (at < sums->lesson_count && strcmp(sums->lessons[at].name, name) != 0) at++;
    if (at == sums->lesson_count) {
        struct lesson_sum *grown = realloc(sums->lessons, (at + 1) * sizeof *grown);
        if (grown == NULL) return;
        sums->lessons = grown;
        memset(&grown[at], 0, sizeof *grown);
        snprintf(grown[at].name, sizeof grown[at].name, "%s", name);
        sums->lesson_count++;
    }
    sums->lessons[at].students++;
    sums->lessons[at].full += score >= most;
    sums->lessons[at].score += score;
    sums->lessons[at].most += most;
}

static void sum_check(struct sums *sums, const char *suite, const json_t *check)
{
    const json_t *first = json_array_get(json_list(check, "failures"), 0);
    const char *name = json_text(check, "name"), *kind = json_text(first, "kind");
    size_t at = 0;

    if (first == NULL || check_is_blocked(check)) return;
    while (at < sums->finding_count && (strcmp(sums->findings[at].check, name) != 0 ||
                                        strcmp(sums->findings[at].suite, suite) != 0 ||
                                        strcmp(sums->findings[at].kind, kind) != 0))
        at++;
    if (at == sums->finding_count) {
        struct finding_sum *grown = realloc(sums->findings, (at + 1) * sizeof *grown);
        if (grown == NULL) return;
        sums->findings = grown;
        grown[at] = (struct finding_sum){suite, name, kind, 0};
        sums->finding_count++;
    }
    sums->findings[at].students++;
}

static int compare_findings(const void *a, const void *b)
{
    const struct finding_sum *x = a, *y = b;
    if (x->students != y->students) return x->students < y->students ? 1 : -1;
    const int suites = strcmp(x->suite, y->suite);
    return suites != 0 ? suites : strcmp(x->check, y->check);
}

static bool is_absent(const json_t *record)
{
    return json_yes(record, "complete") && json_array_size(json_list(record, "lessons")) == 0;
}

static void sum_up(struct sums *sums, const json_t *class)
{
    const json_t *record, *lesson, *check;
    size_t i, j, k;

    memset(sums, 0, sizeof *sums);
    json_array_foreach(json_list(class, "submissions"), i, record)
    {
        sums->absent += is_absent(record);
        if (!record_has_points(record)) continue;
        sums->judged++;
        sums->score += json_number(record, "score");
        sums->most += json_number(record, "max_score");
        json_array_foreach(json_list(record, "lessons"), j, lesson)
        {
            sum_lesson(sums, lesson);
            if (json_yes(lesson, "missing")) continue;
            json_array_foreach(json_list(lesson, "checks"), k, check)
            {
                sum_check(sums, json_text(lesson, "suite"), check);
            }
        }
    }
    if (sums->finding_count > 0)
        qsort(sums->findings, sums->finding_count, sizeof *sums->findings, compare_findings);
}

static void add_glance(struct text *text, const struct sums *sums)
{
    text_add(text, "<h2>Lessons</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>Lesson</th>"
                   "<th class=\"number\">All points</th><th class=\"number\">Mean</th>"
                   "<th>Mean, as a bar</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < sums->lesson_count; i++) {
        const struct lesson_sum *sum = &sums->lessons[i];
        const double part = sum->most > 0 ? 100 * sum->score / sum->most : 0;
        add_tagged(text, "<tr><th>", sum->name, "</th>");
        text_format(text,
                    "<td class=\"number\">%zu of %zu</td><td class=\"number\">%.0f %%</td>"
                    "<td><div class=\"bar\"><span style=\"width:%.1f%%\"></span></div></td></tr>\n",
                    sum->full, sum->students, part, part);
    }
    text_add(text, "</tbody></table></div>\n<h2>Most frequent failures</h2>\n<div class=\"wide\">"
                   "<table>\n<thead><tr><th>Check</th><th>Finding</th><th class=\"number\">Students"
                   "</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < sums->finding_count && i < MOST_FINDINGS; i++) {
        const struct finding_sum *sum = &sums->findings[i];
        add_tagged(text, "<tr><td>", sum->suite, ".");
        text_add_escaped(text, sum->check);
        text_add(text, "</td><td>");
        text_add_escaped(text, sum->kind);
        text_format(text, "</td><td class=\"number\">%zu</td></tr>\n", sum->students);
    }
    text_add(text, "</tbody></table></div>\n");
}

/* ---- one row per student ---------------------------------------------------------------- */

static void add_points_cell(struct text *text, const json_t *record, const json_t *of)
{
    const double score = json_number(of, "score"), most = json_number(of, "max_score");
    const bool judged = record_has_points(record);

    text_format(text, "<td class=\"number %s\" data-value=\"%g\" data-most=\"%g\">",
                is_absent(record) ? "none"
                : !judged         ? "trouble"
                : score >= most   ? "full"
                : score == 0      ? "none"
                                  : "",
                judged ? score : -1.0, most);
    if (is_absent(record))
        text_add(text, "-");
    else if (!judged)
        text_add(text, "?");
    else if (of != NULL)
        text_add_points(text, score);
    text_add(text, "</td>");
}

/* Adds the words that the search examines besides the name: failed checks and kinds of finding. */
static void add_words(struct text *text, const json_t *record)
{
    const json_t *lesson, *check, *failure;
    size_t i, j, k;

    add_tagged(text, "", json_text(json_object_get(record, "submission"), "id"), " ");
    json_array_foreach(json_list(record, "lessons"), i, lesson)
    {
        json_array_foreach(json_list(lesson, "checks"), j, check)
        {
            if (strcmp(json_text(check, "outcome"), "failed") != 0) continue;
            add_tagged(text, "", json_text(lesson, "suite"), ".");
            add_tagged(text, "", json_text(check, "name"), " ");
            json_array_foreach(json_list(check, "failures"), k, failure)
            {
                add_tagged(text, "", json_text(failure, "kind"), " ");
            }
        }
    }
}

static void add_row(struct text *text, const json_t *record, size_t number, const struct sums *sums)
{
    text_format(text, "<tr data-detail=\"s%zu\" data-words=\"", number);
    add_words(text, record);
    text_format(text, "\"><th scope=\"row\"><a href=\"#s%zu\">", number);
    text_add_escaped(text, record_name(record));
    text_add(text, "</a></th>");
    add_points_cell(text, record, record);
    for (size_t i = 0; i < sums->lesson_count; i++)
        add_points_cell(text, record,
                        json_find(json_list(record, "lessons"), "lesson", sums->lessons[i].name));
    text_add(text, "</tr>\n");
}

static void add_find(struct text *text, const struct sums *sums)
{
    text_add(text,
             "<form class=\"find\" onsubmit=\"return false\"><label>Search names, checks, "
             "findings<input id=\"search\" type=\"search\"></label>\n"
             "<label>Points in<select id=\"lesson\"><option value=\"1\">all lessons</option>");
    for (size_t i = 0; i < sums->lesson_count; i++) {
        text_format(text, "<option value=\"%zu\">", i + 2);
        add_tagged(text, "", sums->lessons[i].name, "</option>");
    }
    text_add(text, "</select></label>\n<label>Show<select id=\"which\"><option value=\"all\">"
                   "everybody</option><option value=\"open\">with points missing</option>"
                   "<option value=\"full\">with all points</option></select></label>\n"
                   "<span id=\"count\" role=\"status\"></span></form>\n");
}

static void add_students(struct text *text, const json_t *class, const struct sums *sums)
{
    const json_t *records = json_list(class, "submissions"), *record;
    size_t i;

    text_add(text, "<h2>Students</h2>\n");
    add_find(text, sums);
    text_add(text, "<div class=\"wide\"><table id=\"students\">\n<thead><tr><th scope=\"col\">"
                   "<button>Name</button></th><th scope=\"col\" class=\"number\"><button>Points"
                   "</button></th>");
    for (size_t j = 0; j < sums->lesson_count; j++)
        add_tagged(text, "<th scope=\"col\" class=\"number\"><button>", sums->lessons[j].name,
                   "</button></th>");
    text_add(text, "</tr></thead>\n<tbody>\n");
    json_array_foreach(records, i, record)
    {
        add_row(text, record, i, sums);
    }
    text_add(text, "</tbody></table></div>\n<h2>What is missing, student by student</h2>\n");
    json_array_foreach(records, i, record)
    {
        text_format(text, "<details id=\"s%zu\"><summary>", i);
        text_add_escaped(text, record_name(record));
        if (record_has_points(record)) {
            text_add(text, ": ");
            add_score(text, record);
        }
        text_add(text, "</summary>\n");
        add_record(text, record, false);
        text_add(text, "</details>\n");
    }
}

/* ---- similar submissions and changes ------------------------------------------------------ */

static void add_similar(struct text *text, const json_t *class)
{
    const json_t *pairs = json_list(class, "similar"), *pair;
    size_t i;

    if (json_array_size(pairs) == 0) return;
    text_add(text, "<h2>Submissions that share unusual code</h2>\n<p>This says where to look and "
                   "changes no points. Names, layout and comments are left out of the comparison, "
                   "and so is what the stubs, the solutions or many students have.</p>\n"
                   "<div class=\"wide\"><table><thead><tr><th>Lesson</th><th>One</th><th>Other</th>"
                   "<th class=\"number\">Shared</th><th>Lines</th></tr></thead>\n<tbody>\n");
    json_array_foreach(pairs, i, pair)
    {
        add_tagged(text, "<tr><td>", json_text(pair, "lesson"), "</td><td>");
        add_tagged(text, "", json_text(pair, "one"), "</td><td>");
        add_tagged(text, "", json_text(pair, "other"), "</td>");
        text_format(text, "<td class=\"number\">%.0f %%</td><td>%.0f and %.0f</td></tr>\n",
                    100 * json_number(pair, "part"), json_number(pair, "one_line"),
                    json_number(pair, "other_line"));
    }
    text_add(text, "</tbody></table></div>\n");
}

static void add_changes(struct text *text, const json_t *class)
{
    const json_t *changes = json_list(class, "changes"), *change;
    size_t i;

    if (json_array_size(changes) == 0) return;
    text_add(text, "<h2>Changed since the last time</h2>\n<ul>\n");
    json_array_foreach(changes, i, change)
    {
        add_tagged(text, "<li>", json_text(change, "what"), "</li>\n");
    }
    text_add(text, "</ul>\n");
}

void report_page(const json_t *class, struct text *text)
{
    const size_t count = json_array_size(json_list(class, "submissions"));
    struct sums sums;

    sum_up(&sums, class);
    begin_page(text, "Overlap: a class");
    text_add(text, "<h1>Overlap: ");
    add_count(text, count, "submission");
    text_add(text, "</h1>\n<p>");
    if (sums.judged > 0 && sums.most > 0)
        text_format(text, "On average %.1f of %.1f points (%.0f %%). ",
                    sums.score / (double)sums.judged, sums.most / (double)sums.judged,
                    100 * sums.score / sums.most);
    if (sums.absent > 0) {
        add_count(text, sums.absent, "student");
        text_add(text, " handed in nothing. ");
    }
    if (sums.judged + sums.absent < count) {
        text_add(text, "<span class=\"trouble\">");
        add_count(text, count - sums.judged - sums.absent, "submission");
        text_add(text, " could not be judged.</span>");
    }
    text_add(text, "</p>\n");
    add_glance(text, &sums);
    add_students(text, class, &sums);
    add_similar(text, class);
    add_changes(text, class);
    text_format(text, "<script>\n%s</script>\n</body>\n</html>\n", embedded_page_js);
    free(sums.lessons);
    free(sums.findings);
}
