/* hostile: leaves before the drive has started */
/* says: left with exit status 0 before the work was done. */
#include "lesson.h"

#include <stdlib.h>

__attribute__((constructor)) static void leave(void)
{
    exit(0);
}

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    return *result;
}
