#include "grader/learn/interactive.h"
#include "grader/base/messages.h"
#include "grader/base/process.h"
#include "grader/learn/screen.h"
#include "grader/learn/tools.h"
#include "grader/learn/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORTH_NAMING 0.05 /* seconds a step must take to be shown */
#define TICK 100          /* milliseconds between updates of the time while a lesson is graded */

struct display {
    struct guide *guide;
    struct watch watch;
    guide_view view;
    struct page page;
    size_t top;
    size_t wanted; /* the lesson to grade next; course.count: none */
    char asked;    /* a key that has to be pressed twice, after the first press */
    bool told;     /* guide->said is shown until the next key */
    bool quit;
};

/* ---- display ------------------------------------------------------------------------------------
 */

static void rebuild(struct display *display)
{
    page_free(&display->page);
    display->page.width = screen_width();
    display->view(display->guide, display->guide->current, &display->page);
}

static const struct grading *under_way(const struct guide *guide)
{
    for (size_t i = 0; i < guide->course.count; i++)
        if (guide->gradings[i].pid > 0) return &guide->gradings[i];
    return NULL;
}

/* Adds the steps that took noticeable time: "compile 0.24, values 0.11". */
static void add_times(struct text *status, const struct grading *grading)
{
    bool first = true;

    for (size_t i = 0; i < grading->step_count; i++) {
        if (grading->steps[i].seconds < WORTH_NAMING) continue;
        text_format(status, "%s%s %.2f", first ? ": " : ", ", grading->steps[i].name,
                    grading->steps[i].seconds);
        first = false;
    }
}

static enum page_style make_status(const struct display *display, struct text *status)
{
    const struct guide *guide = display->guide;
    const struct grading *current = &guide->gradings[guide->current], *busy = under_way(guide);

    if (display->told) {
        /* The last sentence only; the page above shows its effect. */
        const char *said = text_string(&guide->said);
        size_t length = strcspn(said, "\n");
        text_add_bytes(status, said, length);
        return PAGE_MARK;
    }
    if (busy != NULL) {
        text_format(status, _("%s: %s, %.1f s, %zu of %zu checks judged"), busy->lesson->folder,
                    busy->step[0] != '\0' ? busy->step : "...", grading_now() - busy->started,
                    busy->judged, busy->count);
        return PAGE_MARK;
    }
    if (current->done && current->trouble[0] == '\0') {
        text_format(status, _("verdict on %s after %.2f s"), current->lesson->folder,
                    current->seconds);
        add_times(status, current);
    } else {
        text_add(status, _("waiting for you to save"));
    }
    return PAGE_FAINT;
}

static void draw(struct display *display)
{
    struct text status = {0};
    const enum page_style style = make_status(display, &status);

    display->top = screen_draw(&display->page, display->top, text_string(&status), style,
                               _("h hint  t text  l list  n next  c check  s solution  a answers  "
                                 "? keys  q quit"));
    text_free(&status);
}

static int view_keys(struct guide *guide, size_t lesson, struct page *page)
{
    (void)lesson;
    page_line(page, PAGE_TITLE, "%s", _("Keys, and the commands that do the same"));
    page_line(page, PAGE_PLAIN, "%s", "");
    for (const struct guide_action *action = guide_actions; action->name != NULL; action++)
        page_line(page, PAGE_PLAIN, "  %c   ./learn %-10s %s", action->key, action->name,
                  _(action->help));
    page_line(page, PAGE_PLAIN, "  1-%zu %s", guide->course.count, _("this lesson"));
    page_line(page, PAGE_PLAIN, "%s", _("  arrows, page up and down: move the page"));
    page_line(page, PAGE_PLAIN, "%s", _("  q   quit"));
    return 0;
}

static void show(struct display *display, guide_view view)
{
    display->view = view;
    display->top = 0;
    rebuild(display);
}

/* ---- grading
 * --------------------------------------------------------------------------------------- */

/* If no grading is in progress: starts the requested one, else one of a lesson that was not graded
 * yet. */
static void grade_next(struct display *display)
{
    struct guide *guide = display->guide;
    struct course *course = &guide->course;

    if (under_way(guide) != NULL) return;
    if (display->wanted == course->count)
        for (size_t i = 0; i < course->count; i++) {
            const size_t at = (guide->current + i) % course->count;
            if (course->lessons[at].state == COURSE_UNKNOWN) {
                display->wanted = at;
                break;
            }
        }
    if (display->wanted == course->count) return;
    const size_t index = display->wanted;
    display->wanted = course->count;
    course_look(course, index);
    if (course->lessons[index].state != COURSE_UNTOUCHED && !guide_grade(guide, index))
        course->lessons[index].state = COURSE_OPEN;
    rebuild(display);
}

/* Requests a grading of the lesson that is shown, if its verdict is not known. */
static void want(struct display *display, size_t index)
{
    if (!display->guide->gradings[index].done && display->guide->gradings[index].pid == 0 &&
        display->guide->course.lessons[index].state != COURSE_UNTOUCHED)
        display->wanted = index;
}

static void saved(struct display *display, size_t index)
{
    struct guide *guide = display->guide;

    if (!course_look(&guide->course, index)) return;
    display->told = false;
    guide->current = index;
    for (size_t i = 0; i < guide->course.count; i++)
        if (guide->gradings[i].pid > 0) {
            grading_end(&guide->gradings[i]);
            if (i != index) display->guide->course.lessons[i].state = COURSE_UNKNOWN;
        }
    grading_end(&guide->gradings[index]);
    display->wanted = index;
    grade_next(display);
    show(display, guide_view_lesson);
}

static void look(struct display *display)
{
    watch_take(&display->watch);
    for (size_t i = 0; i < display->guide->course.count; i++)
        if (watch_changed(&display->watch, &display->guide->course, i)) saved(display, i);
}

static void take_news(struct display *display)
{
    struct guide *guide = display->guide;

    for (size_t i = 0; i < guide->course.count; i++) {
        struct grading *grading = &guide->gradings[i];
        if (grading->fd < 0 || !grading_take(grading)) continue;
        if (grading->done) guide_graded(guide, i);
        rebuild(display);
    }
}

/* ---- keys
 * ------------------------------------------------------------------------------------------- */

static void read_file(struct display *display)
{
    struct guide *guide = display->guide;

    if (guide->reading[0] == '\0') return;
    screen_suspend();
    tools_page(guide->reading);
    screen_resume();
    guide->reading[0] = '\0';
}

/* A measurement prints directly to the terminal. */
static void run_outside(struct display *display, const struct guide_action *action)
{
    screen_suspend();
    action->run(display->guide, display->guide->current, NULL);
    fputs(_("\nReturn goes back. "), stdout);
    fflush(stdout);
    for (int c = getchar(); c != '\n' && c != EOF && process_interrupted() == 0;) c = getchar();
    screen_resume();
}

static void act(struct display *display, const struct guide_action *action)
{
    struct guide *guide = display->guide;

    text_free(&guide->said);
    display->told = false;
    if (action->key == 'r' && display->asked != 'r') {
        display->asked = 'r';
        text_add(&guide->said, _("r once more puts the stub back; your file is kept beside it"));
        display->told = true;
        return;
    }
    display->asked = 0;
    if (action->key == 'm') {
        run_outside(display, action);
        return;
    }
    if (action->key == 'c') {
        display->wanted = guide->current;
        grading_end(&guide->gradings[guide->current]);
    }
    if (action->run != NULL) action->run(guide, guide->current, &display->page);
    display->told = guide->said.size > 0;
    if (action->grades) want(display, guide->current);
    if (action->view != NULL)
        show(display, action->view);
    else
        rebuild(display);
    if (action->key == 'r' || action->key == 'u') {
        grading_end(&guide->gradings[guide->current]);
        show(display, guide_view_lesson);
    }
    read_file(display);
}

static void press(struct display *display, int key)
{
    struct guide *guide = display->guide;
    const size_t page = screen_height() > 4 ? screen_height() - 4 : 1;

    for (const struct guide_action *action = guide_actions; action->name != NULL; action++)
        if (key == action->key) {
            act(display, action);
            return;
        }
    display->asked = 0;
    display->told = false;
    if (key == 'q')
        display->quit = true;
    else if (key == '?')
        show(display, view_keys);
    else if (key == SCREEN_RESIZED)
        rebuild(display);
    else if (key == SCREEN_UP)
        display->top -= display->top > 0;
    else if (key == SCREEN_DOWN)
        display->top++;
    else if (key == SCREEN_PAGE_UP)
        display->top -= display->top < page ? display->top : page;
    else if (key == SCREEN_PAGE_DOWN)
        display->top += page;
    else if (key == SCREEN_TOP)
        display->top = 0;
    else if (key == '\r' || key == '\n' ||
             (key >= '1' && (size_t)(key - '1') < guide->course.count)) {
        if (key >= '1') guide->current = (size_t)(key - '1');
        want(display, guide->current);
        show(display, guide_view_lesson);
    }
}

/* ---- main loop ----------------------------------------------------------------------------------
 */

static void wait_for_news(const struct display *display)
{
    const struct grading *busy = under_way(display->guide);
    struct pollfd news[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = display->watch.fd, .events = POLLIN},
        {.fd = busy != NULL ? busy->fd : -1, .events = POLLIN},
    };
    poll(news, 3, busy != NULL ? TICK : display->watch.milliseconds);
}

int interactive_run(struct guide *guide)
{
    struct display display = {.guide = guide, .view = guide_view_course};
    int status = 0;

    display.wanted = guide->course.count;
    if (watch_open(&display.watch, &guide->course) != 0) return 2;
    guide->screen = true;
    if (screen_open() != 0) {
        watch_close(&display.watch);
        return 2;
    }
    rebuild(&display);
    while (!display.quit && process_interrupted() == 0) {
        grade_next(&display);
        draw(&display);
        wait_for_news(&display);
        for (int key; (key = screen_take_key()) != SCREEN_NOTHING;) press(&display, key);
        take_news(&display);
        look(&display);
    }
    screen_close();
    if (process_interrupted() != 0) status = 128 + process_interrupted();
    page_free(&display.page);
    watch_close(&display.watch);
    return status;
}
