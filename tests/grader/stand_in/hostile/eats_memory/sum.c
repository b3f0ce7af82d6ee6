/* hostile: allocates until it dies */
/* says: used more than 128 MiB of memory and was stopped. */
#include "lesson.h"

#include <stdlib.h>
#include <string.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    (void)result;
    for (;;) {
        char *more = malloc(1 << 20);
        if (more != NULL) memset(more, 1, 1 << 20);
    }
}
