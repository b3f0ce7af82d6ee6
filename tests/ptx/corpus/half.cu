// Half precision and bfloat16, scalars and pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void half_precision(__half *h, __half2 *h2, float *f, int *i)
{
    h[0] = h[1] * h[2] + __float2half(2.0f) - h[3] / h[4];
    h2[0] = __hfma2(h2[1], h2[2], __hadd2_sat(h2[3], h2[4]));
    h2[1] = __hmax2(h2[2], h2[3]);
    f[0] = __half2float(h[5]) + __low2float(h2[4]);
    i[0] = __half2int_rn(h[6]) + (h[7] < h[8]) + __hisnan(h[9]) + __hbeq2(h2[5], h2[6]);
    h[1] = hexp(h[2]) + hsqrt(h[3]) + __int2half_rz(i[1]) + htrunc(h[4]);
    atomicAdd(h2, h2[7]);
}

__global__ void brain_float(__nv_bfloat16 *b, __nv_bfloat162 *b2, float *f)
{
    b[0] = b[1] * b[2] + __float2bfloat16(0.5f);
    b2[1] = __floats2bfloat162_rn(f[0], f[1]);
    f[2] = __bfloat162float(b[3]) + (b[4] > b[5] ? 1.0f : 2.0f);
}
