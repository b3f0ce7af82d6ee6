/* hostile: prints a million lines */
/* says: printed more than 1 MiB and was stopped. */
#include "lesson.h"

#include <stdio.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    for (int i = 0; i < 1000000; i++) printf("line %d of a million\n", i);
    return *result;
}
