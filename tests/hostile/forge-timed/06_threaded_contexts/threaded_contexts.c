#include "lesson.h"

static CUcontext ready[10];
static _Atomic unsigned used;

__attribute__((constructor)) static void begin(void)
{
    if (cuInit(0) != CUDA_SUCCESS)
        return;
    for (int i = 0; i < 10; i++)
        if (cuCtxCreate(&ready[i], NULL, 0, 0) == CUDA_SUCCESS)
            cuCtxPopCurrent(&ready[i]);
}

