#include "lesson.h"

/* @HONEST@ */

char much[(size_t)1 << 46];
__asm__(".section .bss.more,\"aw\",@nobits\n.space 0x200000000000\n.text");

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    much[length % 7] = 1;
    return honest(kernel, input, output, length, stream, sum);
}
