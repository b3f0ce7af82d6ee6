// One of two translation units of an -rdc=true program, whose PTX stays in two pieces.
extern __device__ int linked_value(int x);

extern "C" __global__ void linked(int *out)
{
    out[threadIdx.x] = linked_value(static_cast<int>(threadIdx.x));
}
