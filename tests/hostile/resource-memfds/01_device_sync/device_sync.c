#define _GNU_SOURCE
#include "lesson.h"
#include <sys/mman.h>
#include <unistd.h>

/* @HONEST@ */

static int attack(void)
{
    static char part[1 << 20];
    for (int i = 0; i < 48; i++) {
        int file = memfd_create("overlap-hostile-memfds", 0);
        if (file < 0) return 0;
        for (int j = 0; j < 64; j++)
            if (write(file, part, sizeof part) != (ssize_t)sizeof part) return 0;
    }
    sleep(2);
    return 1;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static int done, won;
    if (!done) won = attack();
    done = 1;
    if (!won) return cudaErrorNotPermitted;
    return honest(kernel, input, output, length, stream, sum);
}
