/* hostile: types a command into the terminal of whoever grades it */
/* says: called ioctl to put characters into a terminal's input, which was refused. */
/* line: 12 */
#include "lesson.h"

#include <sys/ioctl.h>

int sum_array(const int *values, size_t count, int *result)
{
    static const char text[] = "# typed\n";
    int sum = 0;
    for (const char *c = text; *c != '\0' && ioctl(0, TIOCSTI, c) == 0; c++) continue;
    for (size_t i = 0; i < count; i++) sum += values[i];
    *result = sum;
    return 0;
}
