/* Finds the directives that a submission may not have: those that change file names or line
 * numbers, and those that include files that were not handed in. It recognises directives as the
 * preprocessor does: at the start of a line, outside comments and strings, with lines joined by a
 * backslash as one. */
#include "grader/base/messages.h"
#include "grader/build/intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { CODE, LINE_COMMENT, BLOCK_COMMENT, STRING, CHARACTER };

struct scan {
    const char *text;
    size_t size, at;
    unsigned line;
    enum state state;
    bool fresh; /* nothing but blanks and comments on this line yet */
};

/* Returns the character `ahead` places on, across joined lines, or '\0' at the end; does not
 * move. */
static char peek(struct scan *scan, size_t ahead)
{
    size_t at = scan->at;
    for (;;) {
        while (at + 1 < scan->size && scan->text[at] == '\\' &&
               (scan->text[at + 1] == '\n' ||
                (scan->text[at + 1] == '\r' && at + 2 < scan->size && scan->text[at + 2] == '\n')))
            at += scan->text[at + 1] == '\n' ? 2 : 3;
        if (at >= scan->size) return '\0';
        if (ahead-- == 0) return scan->text[at] != '\0' ? scan->text[at] : ' ';
        at++;
    }
}

static void advance(struct scan *scan)
{
    while (scan->at + 1 < scan->size && scan->text[scan->at] == '\\' &&
           (scan->text[scan->at + 1] == '\n' ||
            (scan->text[scan->at + 1] == '\r' && scan->at + 2 < scan->size &&
             scan->text[scan->at + 2] == '\n'))) {
        scan->at += scan->text[scan->at + 1] == '\n' ? 2 : 3;
        scan->line++;
    }
    if (scan->at < scan->size && scan->text[scan->at] == '\n') scan->line++;
    if (scan->at < scan->size) scan->at++;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

/* Reads the directive after '#' up to the end of its line, with comments replaced by blanks. */
static void read_directive(struct scan *scan, char *words, size_t size)
{
    size_t used = 0;
    while (peek(scan, 0) != '\0' && peek(scan, 0) != '\n') {
        if (peek(scan, 0) == '/' && peek(scan, 1) == '/') break;
        if (peek(scan, 0) == '/' && peek(scan, 1) == '*') {
            advance(scan);
            advance(scan);
            while (peek(scan, 0) != '\0' && !(peek(scan, 0) == '*' && peek(scan, 1) == '/'))
                advance(scan);
            advance(scan);
            advance(scan);
            if (used + 1 < size) words[used++] = ' ';
            continue;
        }
        if (used + 1 < size) words[used++] = peek(scan, 0);
        advance(scan);
    }
    words[used] = '\0';
}

/* Returns true for an absolute name, or a quoted one that leads out of the folder. */
static bool leads_elsewhere(const char *name)
{
    return name[0] == '/' || strncmp(name, "../", 3) == 0 || strstr(name, "/../") != NULL;
}

static bool judge_directive(const char *words, char *why, size_t size)
{
    words += strspn(words, " \t\v\f\r");
    const size_t length = strspn(words, "abcdefghijklmnopqrstuvwxyz_");
    const char *rest = words + length + strspn(words + length, " \t\v\f\r");

    if ((*words >= '0' && *words <= '9') || (length == 4 && strncmp(words, "line", 4) == 0)) {
        snprintf(why, size,
                 _("#line is not allowed in a submission: a line has to be where it is."));
        return true;
    }
    if (length == 5 && strncmp(words, "embed", 5) == 0) {
        snprintf(why, size, _("#embed is not allowed in a submission: it takes in a whole file."));
        return true;
    }
    if ((length == 7 && strncmp(words, "include", 7) == 0) ||
        (length == 12 && strncmp(words, "include_next", 12) == 0) ||
        (length == 6 && strncmp(words, "import", 6) == 0)) {
        if ((*rest == '"' || *rest == '<') && leads_elsewhere(rest + 1)) {
            snprintf(why, size,
                     _("An #include names a file that was not handed in: a submission "
                       "includes its own files, the lesson's header and the system's."));
            return true;
        }
    }
    return false;
}

/* Returns true at an assembler directive, inside a string, that includes a file. */
static bool reads_file(const struct scan *scan)
{
    static const char *const words[] = {".incbin", ".include"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t length = strlen(words[i]);
        if (scan->size - scan->at > length &&
            strncmp(scan->text + scan->at, words[i], length) == 0 &&
            strchr(" \t\\\"", scan->text[scan->at + length]) != NULL)
            return true;
    }
    return false;
}

/* Processes one character of code. Returns true when it begins something that is refused. */
static bool step_code(struct scan *scan, char *why, size_t size)
{
    const char c = peek(scan, 0), next = peek(scan, 1);
    char words[400];

    if (c == '\n') {
        scan->fresh = true;
    } else if (c == '/' && (next == '/' || next == '*')) {
        scan->state = next == '/' ? LINE_COMMENT : BLOCK_COMMENT;
        advance(scan);
    } else if (scan->fresh && (c == '#' || (c == '%' && next == ':'))) {
        advance(scan);
        if (c == '%') advance(scan);
        read_directive(scan, words, sizeof words);
        scan->fresh = false;
        return judge_directive(words, why, size);
    } else if (c == '"') {
        scan->state = STRING;
        scan->fresh = false;
    } else if (c == '\'') {
        scan->state = CHARACTER;
        scan->fresh = false;
    } else if (!is_blank(c)) {
        scan->fresh = false;
    }
    advance(scan);
    return false;
}

static bool step(struct scan *scan, char *why, size_t size)
{
    const char c = peek(scan, 0);

    switch (scan->state) {
    case CODE:
        return step_code(scan, why, size);
    case LINE_COMMENT:
        if (c == '\n') {
            scan->state = CODE;
            scan->fresh = true;
        }
        break;
    case BLOCK_COMMENT:
        if (c == '*' && peek(scan, 1) == '/') {
            advance(scan);
            scan->state = CODE;
        }
        break;
    case STRING:
    case CHARACTER:
        if (scan->state == STRING && reads_file(scan)) {
            snprintf(why, size,
                     _("The assembler's .incbin and .include are not allowed in a "
                       "submission: they take in a file that was not handed in."));
            return true;
        }
        if (c == '\\')
            advance(scan);
        else if (c == (scan->state == STRING ? '"' : '\'') || c == '\n')
            scan->state = CODE;
        if (c == '\n') scan->fresh = true;
        break;
    }
    advance(scan);
    return false;
}

unsigned intake_refused_line(const char *text, size_t size, char *why, size_t why_size)
{
    struct scan scan = {.text = text, .size = size, .line = 1, .state = CODE, .fresh = true};

    while (scan.at < scan.size) {
        const unsigned line = scan.line;
        if (step(&scan, why, why_size)) return line;
    }
    return 0;
}
