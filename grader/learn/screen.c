#include "grader/learn/screen.h"
#include "grader/base/messages.h"
#include "grader/base/text.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#undef lines /* term.h defines short names for all terminal capabilities */

static SCREEN *terminal;

bool screen_possible(void)
{
    int trouble;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return false;
    if (setupterm(NULL, STDOUT_FILENO, &trouble) != OK) return false;
    const char *placing = tigetstr("cup");
    const bool possible = placing != NULL && placing != (char *)-1;
    /* newterm makes its own. Nobody would know of this one, and each judge, which is forked of this
     * process and looks for leaks under AddressSanitizer, would fail for it. */
    del_curterm(cur_term);
    return possible;
}

static const struct {
    short color;
    int attributes;
} styles[PAGE_STYLES] = {
    [PAGE_PLAIN] = {-1, A_NORMAL},         [PAGE_TITLE] = {-1, A_BOLD},
    [PAGE_GOOD] = {COLOR_GREEN, A_NORMAL}, [PAGE_BAD] = {COLOR_RED, A_BOLD},
    [PAGE_MARK] = {COLOR_YELLOW, A_BOLD},  [PAGE_FAINT] = {COLOR_CYAN, A_NORMAL},
};

int screen_open(void)
{
    const char *no_color = getenv("NO_COLOR");

    terminal = newterm(NULL, stdout, stdin);
    if (terminal == NULL) return -1;
    set_term(terminal);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    if (has_colors() && (no_color == NULL || no_color[0] == '\0')) {
        start_color();
        use_default_colors();
        for (int i = 1; i < PAGE_STYLES; i++) init_pair((short)i, styles[i].color, -1);
    }
    return 0;
}

void screen_close(void)
{
    if (terminal == NULL) return;
    endwin();
    delscreen(terminal);
    terminal = NULL;
}

void screen_suspend(void)
{
    def_prog_mode();
    endwin();
}

void screen_resume(void)
{
    reset_prog_mode();
    clearok(curscr, TRUE);
    refresh();
}

size_t screen_width(void)
{
    return COLS > 20 ? (size_t)COLS : 20;
}

size_t screen_height(void)
{
    return LINES > 4 ? (size_t)LINES : 4;
}

static void put(int row, enum page_style style, const char *text)
{
    const int attributes = styles[style].attributes | COLOR_PAIR(style);

    move(row, 0);
    clrtoeol();
    attron(attributes);
    addnstr(text, (int)text_fitting(text, (size_t)COLS));
    attroff(attributes);
}

size_t screen_draw(const struct page *page, size_t top, const char *status,
                   enum page_style status_style, const char *keys)
{
    const size_t rows = screen_height() - 2;

    if (page->count <= rows)
        top = 0;
    else if (top > page->count - rows)
        top = page->count - rows;
    for (size_t i = 0; i < rows; i++) {
        const bool there = top + i < page->count;
        put((int)i, there ? page->lines[top + i].style : PAGE_PLAIN,
            there ? page->lines[top + i].text : "");
    }
    if (top + rows < page->count) {
        /* A sign for more lines below. */
        const char *sign = messages_utf8() ? "\u2193" : "v";
        mvaddstr((int)rows - 1, COLS - 1, sign);
    }
    put(LINES - 2, status_style, status);
    put(LINES - 1, PAGE_FAINT, keys);
    refresh();
    return top;
}

int screen_take_key(void)
{
    const int key = getch();

    switch (key) {
    case ERR:
        return SCREEN_NOTHING;
    case KEY_UP:
        return SCREEN_UP;
    case KEY_DOWN:
        return SCREEN_DOWN;
    case KEY_PPAGE:
        return SCREEN_PAGE_UP;
    case KEY_NPAGE:
    case ' ':
        return SCREEN_PAGE_DOWN;
    case KEY_HOME:
        return SCREEN_TOP;
    case KEY_RESIZE:
        return SCREEN_RESIZED;
    default:
        return key < 0x100 ? key : SCREEN_NOTHING;
    }
}
