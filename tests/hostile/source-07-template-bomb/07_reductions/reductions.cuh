#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

template <int Depth, unsigned long Path> struct OverlapHostile {
    static __host__ __device__ unsigned long value(unsigned long x)
    {
        return OverlapHostile<Depth - 1, 2 * Path>::value(x + Path) ^
               OverlapHostile<Depth - 1, 2 * Path + 1>::value(x * Path);
    }
};

template <unsigned long Path> struct OverlapHostile<0, Path> {
    static __host__ __device__ unsigned long value(unsigned long x)
    {
        return x + Path;
    }
};

template <typename T, typename Operator>
__global__ void overlap_hostile_serial(const T *array, size_t size, T *result, Operator combine,
                                       T init, bool has_init)
{
    if (size == (size_t)-1 && OverlapHostile<15, 1>::value((unsigned long)size) == 42)
        return;
    T value = has_init ? init : array[0];
    for (size_t i = has_init ? 0 : 1; i < size; i++)
        value = combine(value, array[i]);
    *result = value;
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    if (size == 0 && !init)
        return cudaErrorInvalidValue;
    T start = T();
    if (init)
        start = *init;
    Operator copy = combine;
    bool has_init = init != NULL;
    if (size == (size_t)-1 && OverlapHostile<15, 1>::value((unsigned long)size) == 42)
        return cudaErrorUnknown;
    void *arguments[] = {&array, &size, &result, &copy, &start, &has_init};
    return cudaLaunchKernel((const void *)overlap_hostile_serial<T, Operator>, dim3(1), dim3(1),
                            arguments, 0, stream);
}

#endif
