// Calls what the stand-in for cuFFT lacks: each function returns CUFFT_NOT_SUPPORTED, and the
// device names it. Prints "all right" and exits with 0, or says what is wrong and exits with 1.
#include <cufftXt.h>

#include <cstdio>

int main()
{
    cufftHandle plan;
    int wrong = 0, gpus[] = {0};
    long long n[] = {8};
    size_t size;
    wrong += cufftCreate(&plan) != CUFFT_SUCCESS;
    wrong += cufftXtSetGPUs(plan, 1, gpus) != CUFFT_NOT_SUPPORTED;
    wrong += cufftXtSetCallback(plan, nullptr, CUFFT_CB_LD_REAL, nullptr) != CUFFT_NOT_SUPPORTED;
    wrong += cufftXtMakePlanMany(plan, 1, n, nullptr, 1, 8, CUDA_C_16F, nullptr, 1, 8, CUDA_C_16F,
                                 1, &size, CUDA_C_16F) != CUFFT_NOT_SUPPORTED;
    wrong += cufftDestroy(plan) != CUFFT_SUCCESS;
    printf(wrong == 0 ? "all right\n" : "%d calls are wrong\n", wrong);
    return wrong != 0;
}
