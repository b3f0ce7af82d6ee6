/* screen: shows a page on the terminal, reads keys, and restores the terminal (ncurses).
 */
#ifndef OVERLAP_GRADER_LEARN_SCREEN_H
#define OVERLAP_GRADER_LEARN_SCREEN_H

#include "grader/learn/page.h"

enum screen_key {
    SCREEN_NOTHING = 0, /* other keys are their character */
    SCREEN_UP = 0x1000,
    SCREEN_DOWN,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_TOP,
    SCREEN_RESIZED,
};

/* Returns true when standard input and output are terminals that can position a cursor. */
bool screen_possible(void);
/* Returns 0 or -1. */
int screen_open(void);
void screen_close(void);

/* Leave the terminal to another program, and take it back. */
void screen_suspend(void);
void screen_resume(void);

size_t screen_width(void);
size_t screen_height(void);

/* Shows the page from its line `top` on, above two lines at the bottom. Returns the `top` that was
 * used, which fits the screen.
 */
size_t screen_draw(const struct page *page, size_t top, const char *status,
                   enum page_style status_style, const char *keys);

/* Returns a key that was pressed, or SCREEN_NOTHING; never waits. */
int screen_take_key(void);

#endif
