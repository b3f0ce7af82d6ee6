/* hostile: calls itself without end */
/* says: was stopped by a segmentation fault */
#include "lesson.h"

static int deeper(volatile int *depth)
{
    volatile char much[4096];
    much[0] = (char)*depth;
    ++*depth;
    return deeper(depth) + much[0];
}

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    return deeper(result);
}
