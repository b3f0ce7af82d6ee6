/* gtest_report: the results of one iteration as GoogleTest's XML or JSON file.
 */
#ifndef OVERLAP_GRADER_SESSION_GTEST_REPORT_H
#define OVERLAP_GRADER_SESSION_GTEST_REPORT_H

#include "grader/session/results.h"

#include <stdio.h>

enum gtest_report_format {
    REPORT_NONE,
    REPORT_XML,
    REPORT_JSON,
};

/* Parses the value of --gtest_output. Returns 0 and sets the format and path (folders are made; in
 * a folder an unused file name is chosen), or returns -1 with a sentence. */
int gtest_report_target(const char *value, enum gtest_report_format *format, char *path,
                        size_t size, struct text *why);

/* `seed` 0: the tests were not shuffled. `listing`: write names and places only; nothing was
 * run. */
void gtest_report_xml(FILE *out, const struct results *results, int seed, bool listing);
void gtest_report_json(FILE *out, const struct results *results, int seed, bool listing);

/* Writes the file. Returns 0, or -1 with a sentence. */
int gtest_report_write(enum gtest_report_format format, const char *path,
                       const struct results *results, int seed, bool listing, struct text *why);

#endif
