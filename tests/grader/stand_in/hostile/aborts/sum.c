/* hostile: an assertion fails */
/* says: was stopped by abort() */
/* line: 12 */
#include "lesson.h"

#include <assert.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)result;
    assert(count == 0);
    return 0;
}
