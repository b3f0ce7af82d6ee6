// Blocks that stay: a producer and a consumer over a ring, and a server that the host feeds.
#include <cstdio>
#include <cuda_runtime.h>
#define SLOTS 4
#define ITEMS 40

struct Ring {
    volatile int full[SLOTS];
    float data[SLOTS][64];
};

__global__ void pipeline(Ring *r, const float *in, float *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        for (int i = 0; i < ITEMS; i++) {
            int s = i % SLOTS;
            if (t == 0)
                while (r->full[s])
                    ;
            __syncthreads();
            __threadfence();
            r->data[s][t] = in[i * 64 + t] * 2.f;
            __threadfence();
            __syncthreads();
            if (t == 0) r->full[s] = 1;
        }
    } else {
        for (int i = 0; i < ITEMS; i++) {
            int s = i % SLOTS;
            if (t == 0)
                while (!r->full[s])
                    ;
            __syncthreads();
            __threadfence();
            out[i * 64 + t] = r->data[s][t] + 1.f;
            __threadfence();
            __syncthreads();
            if (t == 0) r->full[s] = 0;
        }
    }
}

__global__ void server(volatile int *cmd, volatile int *reply)
{
    int last = 0;
    while (true) {
        int c = *cmd;
        if (c < 0) break;
        if (c != last) {
            last = c;
            reply[1] = c * c;
            __threadfence_system();
            reply[0] = c;
        }
    }
}

int main()
{
    Ring *r;
    float *in, *out, h[ITEMS * 64], g[ITEMS * 64];
    cudaMalloc(&r, sizeof *r);
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemset(r, 0, sizeof *r);
    for (int i = 0; i < ITEMS * 64; i++) h[i] = i * .5f;
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    pipeline<<<2, 64>>>(r, in, out);
    cudaMemcpy(g, out, sizeof g, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < ITEMS * 64; i++) bad += g[i] != h[i] * 2 + 1;
    volatile int *c;
    int *dc;
    cudaSetDeviceFlags(cudaDeviceMapHost);
    cudaHostAlloc((void **)&c, 4 * sizeof(int), cudaHostAllocMapped);
    c[0] = c[1] = c[2] = 0;
    cudaHostGetDevicePointer((void **)&dc, (void *)c, 0);
    server<<<1, 1>>>(dc, dc + 1);
    for (int i = 1; i <= 5; i++) {
        c[0] = i * 3;
        while (c[1] != i * 3)
            ;
        bad += c[2] != i * i * 9;
    }
    c[0] = -1;
    cudaDeviceSynchronize();
    cudaFreeHost((void *)c);
    cudaFree(r);
    cudaFree(in);
    cudaFree(out);
    printf("%d\n", bad);
    return bad != 0;
}
