/* learn: the program behind ./learn, a student's guide through the course. */
#include "grader/base/embedded.h"
#include "grader/base/messages.h"
#include "grader/base/process.h"
#include "grader/learn/guide.h"
#include "grader/learn/interactive.h"
#include "grader/learn/screen.h"
#include "grader/learn/tools.h"
#include "grader/lessons/table.h"

#include "version.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 80 /* for a pipe */
#define ROOT "--root="

/* Prints help.txt, translated line by line. */
static void help(void)
{
    char line[256];

    for (const char *at = embedded_learn_help; *at != '\0'; at += strcspn(at, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (strcmp(line, "@COMMANDS@") != 0) {
            puts(messages_get(line));
            continue;
        }
        for (const struct guide_action *action = guide_actions; action->name != NULL; action++)
            printf("  %-10s %s\n", action->name, _(action->help));
    }
}

static size_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
    return WIDTH;
}

/* Carries out one command. Returns the exit status. */
static int command(struct guide *guide, const struct guide_action *action)
{
    struct page page = {.width = terminal_width()};
    int status = 0;

    if (action->grades) {
        /* Only a new grading has the verdict and the timeline; the progress is stored. */
        const bool anew =
            action->view == guide_view_lesson || strcmp(action->name, "timeline") == 0;
        if (!guide_know(guide, guide->current, anew) && process_interrupted() != 0)
            return 128 + process_interrupted();
    }
    if (action->run != NULL) status = action->run(guide, guide->current, &page);
    if (action->view != NULL && status == 0) status = action->view(guide, guide->current, &page);
    page_print(&page, stdout);
    page_free(&page);
    fputs(text_string(&guide->said), stdout);
    if (guide->reading[0] != '\0') tools_page(guide->reading);
    return status;
}

/* Carries out the command line's words. Returns the exit status. */
static int obey(struct guide *guide, int count, char **words)
{
    const struct guide_action *action = guide_actions;

    if (count > 1) {
        while (action->name != NULL && strcmp(action->name, words[1]) != 0) action++;
        if (action->name == NULL || count > 3) {
            fprintf(stderr, _("learn: there is no command \"%s\"; --help lists them.\n"),
                    count > 3 ? words[3] : words[1]);
            return 2;
        }
    }
    if (count > 2) {
        guide->current = course_find(&guide->course, words[2]);
        if (guide->current == guide->course.count) {
            fprintf(stderr, _("learn: there is no lesson \"%s\".\n"), words[2]);
            return 2;
        }
    }
    if (count == 1 && screen_possible()) return interactive_run(guide);
    return command(guide, action);
}

/* "--root=DIR": uses another source tree, with the programs of this build. */
static void choose_root(struct toolchain *toolchain, const char *root)
{
    static char lessons[PATH_MAX], cache[PATH_MAX];

    snprintf(lessons, sizeof lessons, "%s/grader/lessons", root);
    snprintf(cache, sizeof cache, "%s/build/grader/cache", root);
    toolchain->source = root;
    toolchain->lessons = lessons;
    toolchain->cache = cache;
}

int main(int count, char **words)
{
    const struct toolchain *configured = toolchain_configured();
    struct guide guide;

    if (configured == NULL) {
        perror("learn: the file grader/toolchain of the build");
        return 2;
    }
    struct toolchain toolchain = *configured;
    messages_begin(toolchain.catalogues);
    process_handle_interrupts();
    if (count > 1 && strncmp(words[1], ROOT, strlen(ROOT)) == 0) {
        choose_root(&toolchain, words[1] + strlen(ROOT));
        words++;
        count--;
    }
    if (count > 1 && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0)) {
        help();
        return 0;
    }
    if (count > 1 && strcmp(words[1], "--version") == 0) {
        puts("learn (Overlap) " OVERLAP_VERSION);
        return 0;
    }
    int status = guide_open(&guide, &toolchain, lesson_table);
    if (status == 0)
        status = obey(&guide, count, words);
    else
        fprintf(stderr, "learn: %s\n", text_string(&guide.said));
    guide_close(&guide);
    return status;
}
