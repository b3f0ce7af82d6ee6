/* hostile: leaves with success before anything is done */
/* says: left with exit status 0 before the work was done. */
#include "lesson.h"

#include <unistd.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    (void)result;
    _exit(0);
}
