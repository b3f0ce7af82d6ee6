/* hostile: never returns */
/* says: was still running after 2 s and was stopped. */
/* line: 11 */
#include "lesson.h"

int sum_array(const int *values, size_t count, int *result)
{
    volatile int running = 1;
    (void)values;
    (void)count;
    while (running) running = 1;
    return *result;
}
