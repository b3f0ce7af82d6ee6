/* hostile: changes the numbers so that a wrong sum is right */
/* says: was stopped by a segmentation fault */
/* line: 9 */
#include "lesson.h"

int sum_array(const int *values, size_t count, int *result)
{
    int *mine = (int *)(size_t)values;
    for (size_t i = 0; i < count; i++) mine[i] = 0;
    *result = 0;
    return 0;
}
