/* The two pages of ./learn: the course, and one lesson. */
#include "grader/base/files.h"
#include "grader/base/messages.h"
#include "grader/base/text.h"
#include "grader/learn/excerpt.h"
#include "grader/learn/guide.h"
#include "grader/learn/readings.h"

#include <string.h>

#define COURSE_BAR 14
#define LESSON_BAR 24
#define BAR_ROOM (3 * LESSON_BAR + 1)

static const struct {
    const char *word;
    enum page_style style;
    char sign;
} states[COURSE_STATES] = {
    [COURSE_UNKNOWN] = {N_("to be graded"), PAGE_PLAIN, ' '},
    [COURSE_UNTOUCHED] = {N_("not begun"), PAGE_PLAIN, '.'},
    [COURSE_BROKEN] = {N_("does not compile"), PAGE_BAD, '-'},
    [COURSE_OPEN] = {N_("begun"), PAGE_MARK, '-'},
    [COURSE_PASSED] = {N_("passed"), PAGE_GOOD, '+'},
};

/* Adds the text, padded with blanks to `columns` columns. */
static void add_column(struct text *line, const char *text, size_t columns)
{
    const size_t used = text_columns(text);
    text_format(line, "%s%*s", text, used < columns ? (int)(columns - used) : 0, "");
}

static void add_row(struct page *page, const struct guide *guide, size_t i)
{
    const struct course_lesson *lesson = &guide->course.lessons[i];
    const bool grading = guide->gradings[i].pid > 0;
    const unsigned judged = course_judged(lesson);
    char bar[BAR_ROOM], title[200];
    struct text line = {0};

    text_format(&line, "%s %s ", i == guide->current ? page_sign('>') : " ",
                page_sign(states[lesson->state].sign));
    add_column(&line, lesson->lesson->folder, 22);
    add_column(&line, grading ? _("grading") : _(states[lesson->state].word), 17);
    page_bar(bar, COURSE_BAR, lesson->passed, judged);
    text_format(&line, "%s %2u/%-2u", page->width >= 66 ? bar : "", lesson->passed, judged);
    readings_title(guide, i, title, sizeof title);
    /* Adds the title where there is room for it. */
    if (page->width >= 100) text_format(&line, "  %s", title);
    page_line(page, states[lesson->state].style, "%s", text_string(&line));
    text_free(&line);
}

static void add_next(struct page *page, const struct guide *guide, size_t at)
{
    const struct course_lesson *lesson = &guide->course.lessons[at];
    const char *folder = lesson->handed_in->shown;
    char title[200], text[PATH_MAX];
    struct text line = {0};

    readings_title(guide, at, title, sizeof title);
    readings_text_name(guide, at, text, sizeof text);
    text_format(&line, _("Next: %s, %s"), lesson->lesson->folder, title);
    page_paragraph(page, PAGE_TITLE, "", text_string(&line));
    text_free(&line);
    text_format(&line, guide->screen ? _("%s/%s, key t") : _("%s/%s, or ./learn text"), folder,
                text);
    page_paragraph(page, PAGE_PLAIN, _("  read   "), text_string(&line));
    text_free(&line);
    text_format(&line,
                guide->screen ? _("%s/%s, and save: the verdict appears here")
                              : _("%s/%s, then ./learn check, or ./learn in a terminal"),
                folder, lesson->lesson->files[0]);
    page_paragraph(page, PAGE_PLAIN, _("  write  "), text_string(&line));
    text_free(&line);
    if (lesson->failing[0] != '\0' && lesson->state != COURSE_UNTOUCHED) {
        text_format(&line,
                    guide->screen ? _("%s.%s fails first, key h for a hint")
                                  : _("%s.%s fails first, ./learn hint"),
                    lesson->lesson->suite, lesson->failing);
        page_paragraph(page, PAGE_PLAIN, _("  mend   "), text_string(&line));
        text_free(&line);
    }
}

int guide_view_course(struct guide *guide, size_t lesson, struct page *page)
{
    const struct course *course = &guide->course;
    const size_t next = course_next(course, lesson);

    page_line(page, PAGE_TITLE, _("Overlap: CUDA's concurrency. %zu of %zu lessons passed"),
              course_passed(course), course->count);
    page_line(page, PAGE_PLAIN, "%s", "");
    for (size_t i = 0; i < course->count; i++) add_row(page, guide, i);
    page_line(page, PAGE_PLAIN, "%s", "");
    if (next < course->count)
        add_next(page, guide, next);
    else
        page_paragraph(page, PAGE_GOOD, "",
                       _("You have passed every lesson. ./grade --solutions and answers.md in "
                         "solutions/ show how we would have done it."));
    if (course->unsaved)
        page_paragraph(page, PAGE_BAD, "",
                       _("How far you are cannot be written down here: the clone is read-only."));
    return 0;
}

/* ---- one lesson
 * ---------------------------------------------------------------------------------- */

static void add_heading(struct page *page, const struct guide *guide, size_t index)
{
    const struct course_lesson *lesson = &guide->course.lessons[index];
    const struct grading *grading = &guide->gradings[index];
    const bool graded = grading->judged > 0;
    const size_t passed = graded ? grading_passed(grading) : lesson->passed;
    const size_t of = graded ? grading->count - grading_skipped(grading) : course_judged(lesson);
    char bar[BAR_ROOM];
    struct text line = {0};

    add_column(&line, lesson->lesson->folder, 24);
    page_bar(bar, LESSON_BAR, passed, of);
    text_format(&line, "%s ", bar);
    text_format(&line, _("%zu of %zu checks pass"), passed, of);
    page_line(page, PAGE_TITLE, "%s", text_string(&line));
    page_line(page, PAGE_PLAIN, "%s", "");
    text_free(&line);
}

static void add_failure(struct page *page, const struct guide *guide, const struct grading *grading,
                        size_t index)
{
    const struct check *check = &grading->lesson->checks[index];
    const struct verdict *verdict = grading->checks[index].verdict;
    const struct verdict_failure *failure = &verdict->failures[0];
    struct text line = {0};

    if (grading->broken)
        text_format(&line, _("%s It does not compile, so that nothing can be judged."),
                    page_sign('-'));
    else
        text_format(&line, "%s %s.%s: %s", page_sign('-'), grading->lesson->suite, check->name,
                    _(check->title));
    page_paragraph(page, PAGE_BAD, "", text_string(&line));
    if (failure->place.line > 0)
        page_line(page, PAGE_FAINT, "%s:%u", failure->place.file, failure->place.line);
    excerpt_add(page, guide->toolchain.source, failure);
    page_paragraph(page, PAGE_PLAIN, "", failure->what);
    page_paragraph(page, PAGE_PLAIN, _("Why:  "), failure->why);
    page_paragraph(page, PAGE_PLAIN, _("Seen: "), verdict->seen);
    text_free(&line);
}

static void add_others(struct page *page, const struct grading *grading)
{
    struct text names = {0};

    for (size_t i = 0; i < grading->count && !grading->broken; i++)
        if (i != grading->first && grading->checks[i].outcome == TEST_FAILED)
            text_format(&names, "%s%s", names.size > 0 ? ", " : "",
                        grading->lesson->checks[i].name);
    if (names.size > 0) {
        page_line(page, PAGE_PLAIN, "%s", "");
        page_paragraph(page, PAGE_FAINT, _("Fails too: "), text_string(&names));
    }
    text_free(&names);
}

static void add_printed(struct page *page, const struct grading *grading)
{
    if (grading->printed.size == 0) return;
    page_line(page, PAGE_PLAIN, "%s", "");
    page_line(page, PAGE_FAINT, "%s", _("It printed:"));
    page_text(page, PAGE_PLAIN, text_string(&grading->printed));
}

static void add_figures(struct page *page, const struct grading *grading)
{
    for (size_t i = 0; i < grading->count; i++) {
        const struct verdict *verdict = grading->checks[i].verdict;
        for (size_t j = 0; verdict != NULL && j < verdict->figure_count; j++)
            page_paragraph(page, PAGE_FAINT, "    ", verdict->figures[j].text);
    }
}

static void add_shown(struct page *page, struct guide *guide, size_t index)
{
    const struct grading *grading = &guide->gradings[index];
    struct text questions = {0};

    page_line(page, PAGE_GOOD, "%s", _("Passed. What you have shown:"));
    for (size_t i = 0; i < grading->count; i++) {
        const bool passed = grading->checks[i].outcome == TEST_PASSED;
        char sign[16];
        snprintf(sign, sizeof sign, "  %s ", page_sign(passed ? '+' : '.'));
        page_paragraph(page, passed ? PAGE_GOOD : PAGE_FAINT, sign,
                       _(grading->lesson->checks[i].title));
    }
    page_line(page, PAGE_PLAIN, "%s", "");
    if (grading->timeline.size > 0) {
        page_line(page, PAGE_TITLE, "%s", _("On the device's clock:"));
        page_text(page, PAGE_PLAIN, text_string(&grading->timeline));
    }
    add_figures(page, grading);
    readings_questions(guide, index, &questions);
    if (questions.size > 0) {
        page_line(page, PAGE_PLAIN, "%s", "");
        page_paragraph(page, PAGE_PLAIN, "", text_string(&questions));
        page_line(page, PAGE_FAINT, "%s",
                  guide->screen
                      ? _("a: the answers   s: our solution beside yours   n: the next lesson")
                      : _("./learn answers, ./learn solution, ./learn next"));
    }
    text_free(&questions);
}

int guide_view_lesson(struct guide *guide, size_t index, struct page *page)
{
    const struct course_lesson *lesson = &guide->course.lessons[index];
    const struct grading *grading = &guide->gradings[index];

    add_heading(page, guide, index);
    if (lesson->state == COURSE_UNTOUCHED) {
        page_paragraph(page, PAGE_PLAIN, "", _("It is not written yet."));
        add_next(page, guide, index);
        return 1;
    }
    if (grading->trouble[0] != '\0') {
        page_paragraph(page, PAGE_BAD, "", grading->trouble);
        return 2;
    }
    if (grading->first < grading->count) {
        add_failure(page, guide, grading, grading->first);
        add_others(page, grading);
        add_printed(page, grading);
        return 1;
    }
    if (!grading->done) {
        page_paragraph(page, PAGE_PLAIN, "",
                       grading->pid > 0 ? _("No check has failed so far.") : "");
        return 1;
    }
    add_shown(page, guide, index);
    return 0;
}
