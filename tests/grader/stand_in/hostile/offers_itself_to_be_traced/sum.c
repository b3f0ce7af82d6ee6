/* hostile: makes the process that watches it its debugger, which every signal would wait for */
/* says: was stopped by signal 15 (Terminated). */
#include "lesson.h"

#include <signal.h>
#include <sys/ptrace.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGTERM);
    return *result;
}
