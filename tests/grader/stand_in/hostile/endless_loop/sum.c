/* hostile: never returns */
/* says: was still running after 8 s and was stopped. */
/* line: 10 */
#include "lesson.h"

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    for (;;) *(volatile int *)result += 1;
}
