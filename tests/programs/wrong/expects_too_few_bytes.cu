// Wrong: a phase expects fewer bytes than the copy brings. As in mirage-project/mirage,
// pull request 705.
// Found: barrier object never complete
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static int report(long wrong)
{
    printf(wrong ? "%ld wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}

typedef unsigned long long u64;
const int TILES = 4, WORDS = 512;

__device__ unsigned shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__global__ void load(const float *in, float *out)
{
    __shared__ alignas(128) float tile[WORDS];
    __shared__ u64 full;
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full)) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    for (int k = 0; k < TILES; k++) {
        if (t == 0) {
            unsigned bytes = WORDS * 2;
            asm volatile(
                "{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(
                    shared(&full)),
                "r"(bytes)
                : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                         "[%1], %2, [%3];" ::"r"(shared(tile)),
                         "l"(in + k * WORDS), "r"(WORDS * 4), "r"(shared(&full))
                         : "memory");
        }
        asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p "
                     "bra w; }" ::"r"(shared(&full)),
                     "r"(k & 1)
                     : "memory");
        for (int i = t; i < WORDS; i += blockDim.x) out[k * WORDS + i] = tile[i] * 2;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
    }
}

int main()
{
    static float in[TILES * WORDS], out[TILES * WORDS];
    for (int i = 0; i < TILES * WORDS; i++) in[i] = i;
    float *di, *dout;
    check(cudaMalloc(&di, sizeof in));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
    load<<<1, 128>>>(di, dout);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int i = 0; i < TILES * WORDS; i++) wrong += out[i] != 2 * in[i];
    check(cudaFree(di));
    check(cudaFree(dout));
    return report(wrong);
}
