// Integer and floating-point arithmetic of every width, bit operations, conversions, libdevice.
#include <cstdint>

template <class T> __device__ T mixed(T a, T b)
{
    return a * b + a / (b | 1) - a % (b | 1) + (a << 3) + (b >> 2) + (a & b) + (a ^ b) + ~a;
}

template <class T> __global__ void integers(T *values)
{
    T a = values[threadIdx.x], b = values[threadIdx.x + 1];
    values[threadIdx.x] = mixed(a, b) + (a < b ? a : b) + (a > b);
}
template __global__ void integers<int8_t>(int8_t *);
template __global__ void integers<uint16_t>(uint16_t *);
template __global__ void integers<int32_t>(int32_t *);
template __global__ void integers<uint32_t>(uint32_t *);
template __global__ void integers<int64_t>(int64_t *);
template __global__ void integers<uint64_t>(uint64_t *);

__global__ void bits(uint32_t *w, unsigned long long *d)
{
    uint32_t a = w[0], b = w[1], c = w[2];
    w[3] = __popc(a) + __clz(b) + __ffs(c) + __brev(a) + __byte_perm(a, b, c);
    w[4] = __funnelshift_l(a, b, c) + __funnelshift_rc(a, b, c) + (a & b | ~c) + __sad(a, b, c);
    w[5] = __umulhi(a, b) + __umul24(a, b) + __dp4a(a, b, c) + __vadd4(a, b) + min(a, b);
    d[0] = __umul64hi(d[1], d[2]) + __popcll(d[3]) + __clzll(d[4]) + __brevll(d[5]);
}

__global__ void floats(float *f, double *d, int n)
{
    float a = f[0], b = f[1];
    f[2] = __fadd_rz(a, b) + __fmul_ru(a, b) + __fmaf_rd(a, b, a) + __fdividef(a, b);
    f[3] = sinf(a) + __cosf(b) + expf(a) + __log2f(b) + powf(a, b) + rsqrtf(a) + tanhf(b);
    f[4] =
        fminf(a, b) + fmaxf(a, b) + fabsf(a) + copysignf(a, b) + truncf(a) + rintf(b) + fmodf(a, b);
    f[5] = isnan(a) ? 1.0f : isinf(b) ? -0.0f : 1e-40f;
    d[0] = sqrt(d[1]) + exp(d[2]) + d[3] / d[4] + fma(d[5], d[6], d[7]) + (double)a + (float)d[8];
    d[1] = (double)(long long)d[2] + (double)(unsigned)f[6] + __double2ll_rz(d[3]) + n;
    f[7] = (float)(short)f[8] + (unsigned char)f[9] + __float2int_ru(a) + __saturatef(b);
}
