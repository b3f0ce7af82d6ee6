/* hostile: closes all file descriptors, and answers wrongly */
/* says: The sum is wrong. */
#include "lesson.h"

#include <unistd.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    for (int i = 0; i < 256; i++) close(i);
    *result = 123456789;
    return 0;
}
