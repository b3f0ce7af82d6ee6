/* hostile: stops the process that watches it as a debugger does, and offers itself */
/* says: called ptrace on a process that is not its own, which was refused. */
/* line: 12 */
#include "lesson.h"

#include <sys/ptrace.h>
#include <unistd.h>

int sum_array(const int *values, size_t count, int *result)
{
    int sum = 0;
    ptrace(PTRACE_ATTACH, getppid(), 0, 0);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    for (size_t i = 0; i < count; i++) sum += values[i];
    *result = sum;
    return 0;
}
