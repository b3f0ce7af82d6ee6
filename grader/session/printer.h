/* printer: GoogleTest's console format, byte for byte (googletest/src/gtest.cc's pretty and brief
 * printers). It prints results and decides nothing. Text of a submission's is already quoted
 * (text.h).
 */
#ifndef OVERLAP_GRADER_SESSION_PRINTER_H
#define OVERLAP_GRADER_SESSION_PRINTER_H

#include "grader/session/options.h"
#include "grader/session/results.h"

#include <stdio.h>

struct printer {
    FILE *out;
    bool color;
    bool brief;
    bool print_time;
    unsigned width; /* columns available to drawings */
};

/* Sets colours as --gtest_color and the terminal say. */
void printer_begin(struct printer *printer, FILE *out, const struct options *options);

void printer_iteration_start(const struct printer *printer, const struct results *results,
                             const struct options *options, int iteration, int random_seed);
void printer_set_up(const struct printer *printer);
void printer_suite_start(const struct printer *printer, const struct suite *suite);
void printer_test_start(const struct printer *printer, const struct suite *suite,
                        const struct test *test);
void printer_test_disabled(const struct printer *printer, const struct suite *suite,
                           const struct test *test);
/* Prints the submission's output, the figures, the failures or the reason of a skip, and the end
 * line. */
void printer_test_end(const struct printer *printer, const struct suite *suite,
                      const struct test *test);
void printer_suite_end(const struct printer *printer, const struct suite *suite);
void printer_tear_down(const struct printer *printer);
void printer_iteration_end(const struct printer *printer, const struct results *results,
                           const struct options *options);

/* --gtest_list_tests */
void printer_list(const struct printer *printer, const struct results *results);

#endif
