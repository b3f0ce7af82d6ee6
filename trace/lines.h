/* trace_lines: from an address in a traced process to the line of the source it came from, by the
 * debug information of the files that were mapped there (elfutils' libdw).
 *
 * For readers of a trace: TRACE_MODULE records say what was mapped where. It never runs in the
 * traced process, and it does not judge: whose source a line is, the caller knows.
 */
#ifndef OVERLAP_TRACE_LINES_H
#define OVERLAP_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_lines;

/* Strings belong to the trace_lines, or to libdw, and live as long as it. */
struct trace_line {
    const char *file;     /* as the compiler was given it */
    unsigned line;        /* from 1 */
    const char *function; /* "" where unknown */
};

/* Owned by the caller. NULL: no memory. */
struct trace_lines *trace_lines_open(void);
void trace_lines_close(struct trace_lines *lines);

/* The file at `path` is mapped with load address `base` (what is added to the addresses in it).
 * False: it cannot be read, is no ELF file, or overlaps one that was added before. */
bool trace_lines_add(struct trace_lines *lines, const char *path, uint64_t base);

/* The line of the instruction at `address`; false where no file or no debug information is. */
bool trace_lines_at(const struct trace_lines *lines, uint64_t address, struct trace_line *line);

/* The same with the calls that were inlined there: the innermost function first, each further one
 * with the line that the call stands on. Returns how many of at most `most` were filled in. */
size_t trace_lines_inlined(const struct trace_lines *lines, uint64_t address,
                           struct trace_line *line, size_t most);

/* "main+28" for an address without lines. Returns the path of the file that it is in, or NULL. */
const char *trace_lines_symbol(const struct trace_lines *lines, uint64_t address, char *text,
                               size_t size);

/* Visits the declaration of every function of that name that has code, until `visit` returns true;
 * returns whether it did. */
bool trace_lines_function(const struct trace_lines *lines, const char *function,
                          bool (*visit)(const struct trace_line *declared, void *user), void *user);

#endif
