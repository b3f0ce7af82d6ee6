// Wrong: the copies of a stage are committed behind the wait that is meant for them. As
// in csarofeen/pytorch, issue 2463.
// Found: copy not awaited
#include <cstdio>
#include <cstdlib>
#include <cuda_pipeline.h>
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

const int STAGES = 3, TILES = 10, T = 64;

__global__ void pipelined(const float4 *in, float4 *out)
{
    __shared__ float4 stage[STAGES][T];
    int t = threadIdx.x;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < STAGES - 1; k++) {
        __pipeline_memcpy_async(&stage[k][t], &in[k * T + t], 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    for (int k = 0; k < TILES; k++) {
        int next = k + STAGES - 1;
        if (next < TILES) __pipeline_memcpy_async(&stage[next % STAGES][t], &in[next * T + t], 16);
        float4 v = stage[k % STAGES][T - 1 - t];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
        __pipeline_wait_prior(STAGES - 2);
        __pipeline_commit();
        __syncthreads();
    }
    out[t] = sum;
}

int main()
{
    static float in[TILES * T * 4];
    float out[T * 4];
    for (int i = 0; i < TILES * T * 4; i++) in[i] = i % 37;
    float4 *di, *dout;
    check(cudaMalloc(&di, sizeof in));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
    pipelined<<<1, T>>>(di, dout);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int t = 0; t < T; t++)
        for (int c = 0; c < 4; c++) {
            float sum = 0;
            for (int k = 0; k < TILES; k++) sum += in[(k * T + T - 1 - t) * 4 + c];
            wrong += sum != out[t * 4 + c];
        }
    check(cudaFree(di));
    check(cudaFree(dout));
    return report(wrong);
}
