// Wrong: after each product the ring's parity is waited for, not that of the product's
// own barrier object. As in tile-ai/tilelang, pull request 3087.
// Found: copy not awaited, barrier object never complete
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
const int STAGES = 3, TILES = 12, WORDS = 256;

__device__ unsigned shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void init(u64 *bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(bar)), "r"(count)
                 : "memory");
}

__device__ void arrive(u64 *bar)
{
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(shared(bar))
                 : "memory");
}

__device__ void wait(u64 *bar, int parity)
{
    asm volatile(
        "{ .reg .pred p; w: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra w; }" ::
            "r"(shared(bar)),
        "r"(parity)
        : "memory");
}

__device__ void load(float *to, const float *from, u64 *bar)
{
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(
                     shared(bar)),
                 "r"(WORDS * 4)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared(to)),
        "l"(from), "r"(WORDS * 4), "r"(shared(bar))
        : "memory");
}

__global__ void pipelined(const float *in, float *out)
{
    __shared__ alignas(128) float stage[STAGES][WORDS];
    __shared__ u64 full[STAGES], start, done;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) init(&full[s], 1);
        init(&start, 1);
        init(&done, 32);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32) { // issues the copies and the products
        if (lane == 0) {
            for (int k = 0; k < STAGES - 1; k++) load(stage[k], in + k * WORDS, &full[k]);
            for (int k = 0; k < TILES; k++) {
                if (k + STAGES - 1 < TILES) {
                    int next = k + STAGES - 1;
                    load(stage[next % STAGES], in + next * WORDS, &full[next % STAGES]);
                }
                wait(&full[k % STAGES], k / STAGES & 1);
                arrive(&start);
                wait(&done, k / STAGES & 1);
            }
        }
    } else { // stands for the unit that multiplies
        float sum = 0;
        for (int k = 0; k < TILES; k++) {
            wait(&start, k & 1);
            for (int i = lane; i < WORDS; i += 32) sum += stage[k % STAGES][i] * (k + 1);
            arrive(&done);
        }
        out[lane] = sum;
    }
}

int main()
{
    static float in[TILES * WORDS];
    float out[32];
    for (int i = 0; i < TILES * WORDS; i++) in[i] = i % 17;
    float *di, *dout;
    check(cudaMalloc(&di, sizeof in));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
    pipelined<<<1, 64>>>(di, dout);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int l = 0; l < 32; l++) {
        float sum = 0;
        for (int k = 0; k < TILES; k++)
            for (int i = l; i < WORDS; i += 32) sum += in[k * WORDS + i] * (k + 1);
        wrong += sum != out[l];
    }
    check(cudaFree(di));
    check(cudaFree(dout));
    return report(wrong);
}
