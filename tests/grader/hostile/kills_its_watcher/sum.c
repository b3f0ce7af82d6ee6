/* hostile: kills the process that watches it */
/* says: killed the process that held it to its limits, and was stopped. */
#include "lesson.h"

#include <signal.h>
#include <unistd.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    kill(getppid(), SIGKILL);
    for (;;) pause();
    return *result;
}
