/* hostile: replaces itself by a program that succeeds */
/* says: Nobody has written the sum. */
#include "lesson.h"

#include <unistd.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    execl("/bin/true", "true", (char *)NULL);
    return *result;
}
