/* hostile: ends at once and leaves a child behind, in a session of its own */
/* says: came to its end but left 1 process running, which was stopped. */
#include "device.h"
#include "lesson.h"

#include <stdlib.h>
#include <unistd.h>

static void leave_child(void)
{
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    for (;;) pause();
}

int sum_array(const int *values, size_t count, int *result)
{
    int sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    *result = sum;
    atexit(leave_child);
    return 0;
}
