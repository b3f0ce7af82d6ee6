/* hostile: never returns, and listens to no signal */
/* says: was still running after 2 s and was stopped. */
/* line: 9 */
#include "lesson.h"

#include <signal.h>
#include <unistd.h>

int sum_array(const int *values, size_t count, int *result)
{
    sigset_t all;
    (void)values;
    (void)count;
    (void)result;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;) pause(); /* endless_loop computes */
}
