/* The actions of keys and of the commands of the same names. */
#include "grader/base/messages.h"
#include "grader/build/stub.h"
#include "grader/learn/guide.h"
#include "grader/learn/keep.h"
#include "grader/learn/readings.h"
#include "grader/learn/tools.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- navigation ---------------------------------------------------------------------------------
 */

static int run_next(struct guide *guide, size_t index, struct page *page)
{
    (void)page;
    const struct course *course = &guide->course;
    const bool done = course->lessons[index].state == COURSE_PASSED || guide->screen;
    const size_t next = course_next(course, done ? (index + 1) % course->count : index);

    guide->current = next < course->count ? next : index;
    return 0;
}

static int view_next(struct guide *guide, size_t index, struct page *page)
{
    (void)index;
    return guide_view_course(guide, guide->current, page);
}

static int run_text(struct guide *guide, size_t index, struct page *page)
{
    (void)page;
    readings_text_path(guide, index, guide->reading);
    return 0;
}

/* ---- hints
 * --------------------------------------------------------------------------------------- */

static const struct hint *find_hint(const struct course_lesson *lesson)
{
    const struct hint *hint = lesson->lesson->hints;
    while (hint != NULL && hint->check != NULL && strcmp(hint->check, lesson->failing) != 0) hint++;
    return hint != NULL && hint->check != NULL ? hint : NULL;
}

/* Shows one more step of the hint. */
static int run_hint(struct guide *guide, size_t index, struct page *page)
{
    struct course_lesson *lesson = &guide->course.lessons[index];

    (void)page;
    if (find_hint(lesson) == NULL) return 0;
    if (lesson->hints < COURSE_HINTS) lesson->hints++;
    course_save(&guide->course, index);
    return 0;
}

static int view_hint(struct guide *guide, size_t index, struct page *page)
{
    static const char *const names[COURSE_HINTS] = {N_("Where to look:  "), N_("The idea:       "),
                                                    N_("Nearly written: ")};
    const struct course_lesson *lesson = &guide->course.lessons[index];
    const struct grading *grading = &guide->gradings[index];
    const struct hint *hint = find_hint(lesson);

    if (hint == NULL) {
        page_paragraph(page, PAGE_PLAIN, "",
                       lesson->state == COURSE_PASSED
                           ? _("This lesson is passed: there is nothing to hint at.")
                           : _("It has not been graded yet: save the file, or check it."));
        return 0;
    }
    page_line(page, PAGE_TITLE, "%s.%s", lesson->lesson->suite, hint->check);
    page_line(page, PAGE_PLAIN, "%s", "");
    if (lesson->state == COURSE_BROKEN) {
        page_paragraph(page, PAGE_PLAIN, "",
                       _("It does not compile: start with the first error; the ones after it often "
                         "follow from it."));
        page_line(page, PAGE_PLAIN, "%s", "");
    }
    for (unsigned i = 0; i < lesson->hints && i < COURSE_HINTS; i++) {
        page_paragraph(page, PAGE_PLAIN, _(names[i]), _(hint->steps[i]));
        page_line(page, PAGE_PLAIN, "%s", "");
    }
    const struct verdict *verdict =
        grading->first < grading->count ? grading->checks[grading->first].verdict : NULL;
    if (verdict != NULL && verdict->failures[0].hint[0] != '\0' && lesson->hints > 1) {
        page_paragraph(page, PAGE_PLAIN, _("To this run:    "), verdict->failures[0].hint);
        page_line(page, PAGE_PLAIN, "%s", "");
    }
    if (lesson->hints < COURSE_HINTS)
        page_line(page, PAGE_FAINT,
                  guide->screen ? _("%u of %u. h: the next one")
                                : _("%u of %u. Again for the next one."),
                  lesson->hints, COURSE_HINTS);
    return 0;
}

/* ---- the student's file ------------------------------------------------------------------------
 */

static int run_reset(struct guide *guide, size_t index, struct page *page)
{
    (void)page;
    const int status =
        keep_reset(&guide->toolchain, guide->course.lessons[index].handed_in, &guide->said);
    course_look(&guide->course, index);
    return status == 0 ? 0 : 1;
}

static int run_restore(struct guide *guide, size_t index, struct page *page)
{
    (void)page;
    const int status =
        keep_restore(&guide->toolchain, guide->course.lessons[index].handed_in, &guide->said);
    course_look(&guide->course, index);
    return status == 0 ? 0 : 1;
}

/* ---- shown after a pass, or at the second request ----------------------------------------------
 */

static void ask(struct guide *guide, size_t index, unsigned what)
{
    struct course_lesson *lesson = &guide->course.lessons[index];

    guide->refused = lesson->state != COURSE_PASSED && !(lesson->asked & what);
    if (!guide->refused) return;
    lesson->asked |= what;
    course_save(&guide->course, index);
}

static int run_solution(struct guide *guide, size_t index, struct page *page)
{
    (void)page;
    ask(guide, index, COURSE_ASKED_SOLUTION);
    return 0;
}

static int run_answers(struct guide *guide, size_t index, struct page *page)
{
    (void)page;
    ask(guide, index, COURSE_ASKED_ANSWERS);
    if (!guide->refused) readings_answers_path(guide, index, guide->reading);
    return 0;
}

static void say_later(const struct guide *guide, struct page *page)
{
    page_paragraph(page, PAGE_PLAIN, "",
                   _("You have not passed this lesson yet, and it teaches more when you have. Ask "
                     "once more to see it all the same."));
    if (guide->course.unsaved)
        page_paragraph(
            page, PAGE_FAINT, "",
            _("(This clone is read-only, so that ./learn cannot remember that you asked: "
              "it is in solutions/.)"));
}

static enum page_style style_of(const char *line, size_t middle)
{
    const char sign = strlen(line) > middle ? line[middle] : ' ';
    return sign == '|' ? PAGE_MARK : sign == '<' ? PAGE_BAD : sign == '>' ? PAGE_GOOD : PAGE_PLAIN;
}

/* Returns the column in which diff -y puts its sign, the same for all lines; it depends on the
 * width. */
static size_t sign_column(size_t width)
{
    return (width - 3) / 2 / 8 * 8 + 8 > width / 2 ? width / 2 - 1 : width / 2;
}

static void add_diff(const struct guide *guide, size_t index, const char *name, struct page *page)
{
    const struct course_lesson *lesson = &guide->course.lessons[index];
    char own[PATH_MAX + 300], ours[PATH_MAX], width[16];
    struct text printed = {0};

    snprintf(own, sizeof own, "%s/%s", lesson->handed_in->folder, name);
    snprintf(ours, sizeof ours, "%s/solutions/%s/%s", guide->toolchain.source,
             lesson->lesson->folder, name);
    snprintf(width, sizeof width, "%zu", page->width);
    page_line(page, PAGE_TITLE, _("%-*s ours: solutions/%s/%s"), (int)(page->width / 2), _("yours"),
              lesson->lesson->folder, name);
    const char *const arguments[] = {
        "diff", "--side-by-side", "--expand-tabs", "--minimal", "-W", width, own, ours, NULL};
    if (tools_capture(arguments, &printed) < 0) {
        page_paragraph(page, PAGE_BAD, "",
                       _("diff is not there; the file is the one named above."));
    }
    char *rest = NULL;
    for (char *at = printed.data; at != NULL && *at != '\0'; at = rest) {
        rest = strchr(at, '\n');
        if (rest != NULL) *rest++ = '\0';
        page_text(page, style_of(at, sign_column(page->width)), *at != '\0' ? at : " ");
    }
    text_free(&printed);
}

static int view_solution(struct guide *guide, size_t index, struct page *page)
{
    if (guide->refused) {
        say_later(guide, page);
        return 1;
    }
    for (const char *const *file = guide->course.lessons[index].lesson->files; *file != NULL;
         file++)
        add_diff(guide, index, *file, page);
    return 0;
}

static int view_answers(struct guide *guide, size_t index, struct page *page)
{
    if (guide->refused) {
        say_later(guide, page);
        return 1;
    }
    /* Shown after the pager ends. */
    return guide->screen ? guide_view_lesson(guide, index, page) : 0;
}

static int view_timeline(struct guide *guide, size_t index, struct page *page)
{
    const struct grading *grading = &guide->gradings[index];

    page_line(page, PAGE_TITLE, _("%s on the device's clock"),
              guide->course.lessons[index].lesson->folder);
    if (grading->timeline.size == 0) {
        page_paragraph(page, PAGE_PLAIN, "",
                       grading->pid > 0
                           ? _("The timed run is still to come.")
                           : _("There is none: the timed run was not made, or did not end well."));
        return 1;
    }
    page_text(page, PAGE_PLAIN, text_string(&grading->streams));
    page_line(page, PAGE_PLAIN, "%s", "");
    for (size_t i = 0; i < grading->count; i++) {
        const struct verdict *verdict = grading->checks[i].verdict;
        for (size_t j = 0; verdict != NULL && j < verdict->figure_count; j++)
            page_paragraph(page, PAGE_PLAIN, "", verdict->figures[j].text);
    }
    return 0;
}

/* ---- measuring
 * ------------------------------------------------------------------------------------ */

static int run_measure(struct guide *guide, size_t index, struct page *page)
{
    const char *folder = guide->course.lessons[index].lesson->folder;
    char script[PATH_MAX], program[PATH_MAX];

    (void)page;
    snprintf(program, sizeof program, "%s/lessons/%s/measure.cu", guide->toolchain.source, folder);
    snprintf(script, sizeof script, "%s/grader/learn/measure.sh", guide->toolchain.source);
    if (access(program, R_OK) != 0) {
        text_format(&guide->said, _("%s has nothing to measure.\n"), folder);
        return 1;
    }
    const char *const arguments[] = {"sh",
                                     script,
                                     guide->toolchain.nvcc,
                                     guide->toolchain.emulator,
                                     guide->toolchain.cuda_libraries,
                                     guide->toolchain.probe,
                                     guide->toolchain.cache,
                                     program,
                                     NULL};
    return tools_run(arguments, guide->toolchain.source) == 0 ? 0 : 2;
}

const struct guide_action guide_actions[] = {
    {"list", 'l', false, NULL, guide_view_course, N_("the course on one screen, and what is next")},
    {"next", 'n', false, run_next, view_next, N_("on to the next lesson")},
    {"check", 'c', true, NULL, guide_view_lesson, N_("grade it and show the first failure")},
    {"hint", 'h', true, run_hint, view_hint, N_("a hint; again: the next of three")},
    {"text", 't', false, run_text, NULL, N_("the lesson's text, in the pager")},
    {"timeline", 'i', true, NULL, view_timeline, N_("your run and ours on the device's clock")},
    {"solution", 's', true, run_solution, view_solution,
     N_("our solution beside yours, after a pass")},
    {"answers", 'a', true, run_answers, view_answers, N_("the answers to the lesson's questions")},
    {"reset", 'r', false, run_reset, NULL, N_("the stub again; your file is kept")},
    {"restore", 'u', false, run_restore, NULL, N_("take up the file that was kept")},
    {"measure", 'm', false, run_measure, NULL,
     N_("lessons 02 and 03: measure their tables yourself")},
    {0},
};
