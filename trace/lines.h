/* trace_lines: maps an address in a traced process to the source line that it came from, by the
 * debug information of the mapped files (elfutils' libdw).
 *
 * For readers of a trace, where TRACE_MODULE records say what was mapped. It never runs in the
 * traced process and does not decide whether a line is the user's; the caller does.
 */
#ifndef OVERLAP_TRACE_LINES_H
#define OVERLAP_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_lines;

/* The strings belong to the trace_lines, or to libdw, and live as long as it. */
struct trace_line {
    const char *file;     /* as given to the compiler */
    unsigned line;        /* from 1 */
    const char *function; /* "" where unknown */
};

/* Owned by the caller. NULL: no memory. */
struct trace_lines *trace_lines_open(void);
void trace_lines_close(struct trace_lines *lines);

/* Adds the file at `path`, mapped with load address `base` (the difference between addresses in
 * memory and in the file). Returns false if it cannot be read, is no ELF file, or overlaps a file
 * added before. */
bool trace_lines_add(struct trace_lines *lines, const char *path, uint64_t base);

/* Finds the line of the instruction at `address`. Returns false without a file or debug information
 * there. */
bool trace_lines_at(const struct trace_lines *lines, uint64_t address, struct trace_line *line);

/* The same with the calls that were inlined there: the innermost function first, each further entry
 * with the line of the call. Fills in at most `most` entries and returns their number. */
size_t trace_lines_inlined(const struct trace_lines *lines, uint64_t address,
                           struct trace_line *line, size_t most);

/* Writes "main+28" for an address without line information. Returns the path of its file, or
 * NULL. */
const char *trace_lines_symbol(const struct trace_lines *lines, uint64_t address, char *text,
                               size_t size);

/* Visits the declaration of every function of that name that has code, until `visit` returns true.
 * Returns true if it did. */
bool trace_lines_function(const struct trace_lines *lines, const char *function,
                          bool (*visit)(const struct trace_line *declared, void *user), void *user);

#endif
