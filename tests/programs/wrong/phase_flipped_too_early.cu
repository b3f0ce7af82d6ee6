// Wrong: one thread flips the phase in shared memory while others have yet to read it. As
// in triton-lang/triton, pull request 11334.
// Found: shared memory race
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
const int T = 128, ROUNDS = 4;

__device__ unsigned shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void barrier(u64 *bar, int *phase)
{
    int now = *phase;
    if (threadIdx.x == 0) *phase = now ^ 1;
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(shared(bar))
                 : "memory");
    asm volatile(
        "{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra w; }" ::"r"(
            shared(bar)),
        "r"(now)
        : "memory");
}

__global__ void shifts(const int *in, int *out)
{
    __shared__ u64 bar;
    __shared__ int phase, value[2][T];
    int t = threadIdx.x, v = in[t];
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(&bar)), "r"(T) : "memory");
        phase = 0;
    }
    __syncthreads();
    for (int r = 0; r < ROUNDS; r++) {
        value[r & 1][t] = v;
        barrier(&bar, &phase);
        v = value[r & 1][(t + 1) % T];
    }
    out[t] = v;
}

int main()
{
    int in[T], out[T];
    for (int i = 0; i < T; i++) in[i] = i;
    int *di, *dout;
    check(cudaMalloc(&di, sizeof in));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
    shifts<<<1, T>>>(di, dout);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int i = 0; i < T; i++) wrong += out[i] != (i + ROUNDS) % T;
    check(cudaFree(di));
    check(cudaFree(dout));
    return report(wrong);
}
