/* hostile: writes through a null pointer */
/* says: was stopped by a segmentation fault. It touched the address 0x0 (a null pointer). */
/* line: 11 */
#include "lesson.h"

int sum_array(const int *values, size_t count, int *result)
{
    int *volatile nowhere = NULL;
    (void)values;
    (void)count;
    *(volatile int *)nowhere = 1;
    return *result;
}
