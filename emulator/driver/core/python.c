#include "emulator/driver/core/python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/base/hash.h"
#include "emulator/driver/core/core.h"

/* The dynamic linker resolves these from the program or its libpython; NULL in a process without
 * Python. */
#define WEAK __attribute__((weak, visibility("default")))
WEAK int Py_IsInitialized(void);
WEAK void *PyGILState_GetThisThreadState(void);
WEAK void _Py_DumpTraceback(int file, void *thread_state);
WEAK const char *PyUnstable_DumpTraceback(int file, void *thread_state);

enum {
    LINES = 4096, /* a new line beyond these is left out of stacks */
    SLOTS = 2 * LINES,
    DUMP = 32 << 10, /* bytes: room for about a hundred calls */
};

static struct {
    uint32_t count;
    uint16_t slots[SLOTS]; /* open addressing; 0: free */
    struct line {
        uint64_t file; /* its hash */
        unsigned number;
    } lines[LINES];
} known;

void python_after_fork(void)
{
    if (known.count > 0) memset(known.slots, 0, sizeof known.slots);
    known.count = 0;
}

const void *python_code(void)
{
    if (Py_IsInitialized == NULL || PyGILState_GetThisThreadState == NULL) return NULL;
    const void *code = NULL;
    if (_Py_DumpTraceback != NULL) *(void **)&code = (void *)(uintptr_t)_Py_DumpTraceback;
    if (PyUnstable_DumpTraceback != NULL)
        *(void **)&code = (void *)(uintptr_t)PyUnstable_DumpTraceback;
    return code;
}

/* ---- parsing the dump ---------------------------------------------------------------------- */

/* Appends a character in UTF-8; returns the new end. */
static char *put_character(char *to, unsigned long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[more] | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--) *to++ = (char)(0x80 | ((code >> 6 * i) & 0x3f));
    return to;
}

/* CPython escapes characters that are not ASCII as \xHH, \uHHHH or \UHHHHHHHH. Decodes them in
 * place: the text never gets longer. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        const size_t digits = at[0] != '\\'  ? 0
                              : at[1] == 'x' ? 2
                              : at[1] == 'u' ? 4
                              : at[1] == 'U' ? 8
                                             : 0;
        char number[9] = "", *end = number;
        for (size_t i = 0; i < digits && at[2 + i] != '\0'; i++) number[i] = at[2 + i];
        const unsigned long code = strtoul(number, &end, 16);
        if (digits == 0 || end != number + digits || code > 0x10ffff) {
            *to++ = *at++;
            continue;
        }
        to = put_character(to, code);
        at += 2 + digits;
    }
    *to = '\0';
}

/* Parses `  File "NAME", line NUMBER in FUNCTION`. Returns false for any other line. */
static bool parse(char *text, char **file, unsigned *number)
{
    static const char begin[] = "  File \"", middle[] = "\", line ";
    char *end = NULL;
    if (strncmp(text, begin, sizeof begin - 1) != 0) return false;
    *file = text + sizeof begin - 1;
    for (char *at = *file; (at = strstr(at, middle)) != NULL; at++) end = at;
    if (end == NULL) return false;
    *end = '\0';
    unescape(*file);
    *number = (unsigned)strtoul(end + sizeof middle - 1, NULL, 10);
    return *number > 0;
}

/* The number of the line among the recorded ones, recording it if it is new; 0: the table is
 * full. */
static uint32_t number_of(const char *file, unsigned number)
{
    const uint64_t hash = hash_text(file);
    uint32_t slot = (uint32_t)(hash_add(hash, number) % SLOTS);
    for (; known.slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        const struct line *line = &known.lines[known.slots[slot] - 1];
        if (line->file == hash && line->number == number) return known.slots[slot];
    }
    if (known.count == LINES) return 0;
    known.lines[known.count++] = (struct line){hash, number};
    known.slots[slot] = (uint16_t)known.count;
    struct trace_record record = {.kind = TRACE_LINE, .object = known.count, .count = number};
    trace_copy_string(record.text, sizeof record.text, file);
    trace_put(driver.trace, &record);
    return known.count;
}

/* ---- requesting the dump ------------------------------------------------------------------- */

/* Reads the dump through a non-blocking pipe, which drops what it has no room for. A new pipe each
 * time: a program may close descriptors that it did not open. */
static bool dump(void *thread_state, char *text, size_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    if (PyUnstable_DumpTraceback != NULL)
        PyUnstable_DumpTraceback(ends[1], thread_state);
    else
        _Py_DumpTraceback(ends[1], thread_state);
    const ssize_t length = read(ends[0], text, size - 1);
    close(ends[0]);
    close(ends[1]);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

size_t python_lines(uint64_t *addresses, size_t most)
{
    static char text[DUMP];
    const int kept = errno;
    size_t count = 0;
    if (python_code() == NULL || !Py_IsInitialized()) return 0;
    void *state = PyGILState_GetThisThreadState();
    if (state == NULL || !dump(state, text, sizeof text)) goto done;
    for (char *at = text, *next; count < most && (next = strchr(at, '\n')) != NULL; at = next) {
        char *file;
        unsigned line;
        *next++ = '\0';
        if (!parse(at, &file, &line)) continue;
        const uint32_t number = number_of(file, line);
        if (number != 0) addresses[count++] = TRACE_LINE_ADDRESS | number;
    }
done:
    errno = kept;
    return count;
}
