/* hostile: starts children that stay */
/* says: ran more than 1 process at one time and was stopped. */
#include "lesson.h"

#include <unistd.h>

int sum_array(const int *values, size_t count, int *result)
{
    (void)values;
    (void)count;
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            for (;;) pause();
    sleep(1);
    return *result;
}
