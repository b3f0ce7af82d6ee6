// The device code of the fat binary tests: each architecture's PTX holds its own number.
extern "C" __global__ void image(int *out)
{
    out[threadIdx.x] = __CUDA_ARCH__ * 1000;
}
