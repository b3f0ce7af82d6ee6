/* text: PTX that tests write piece by piece, with random numbers that are the same in every run. It
 * knows nothing of what is written.
 */
#ifndef OVERLAP_TESTS_EXEC_TEXT_H
#define OVERLAP_TESTS_EXEC_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TEXT_ROOM = 16384 };

/* Zeros, but for `state`, are an empty text. */
struct text {
    char ptx[TEXT_ROOM];
    size_t length;
    uint32_t state; /* of the random numbers; not 0 */
};

/* Appends; fails the test when there is no room. */
void text_say(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns a random number from 0 to before `limit`. */
uint32_t text_below(struct text *text, uint32_t limit);

#endif
