// Right: n-body with body tiles in shared memory, leapfrog steps over double-buffered positions,
// momentum checked.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CUDA(x)                                                                                    \
    if (cudaError_t err_ = (x)) {                                                                  \
        fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(err_));                           \
        exit(1);                                                                                   \
    }

constexpr int TILE = 64;
constexpr float SOFT2 = 0.01f;

__device__ float3 interact(float3 acc, float4 me, float4 other)
{
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float d2 = dx * dx + dy * dy + dz * dz + SOFT2;
    float inv = rsqrtf(d2);
    float s = other.w * inv * inv * inv;
    acc.x += dx * s;
    acc.y += dy * s;
    acc.z += dz * s;
    return acc;
}

__global__ void step(const float4 *__restrict__ oldPos, float4 *__restrict__ newPos, float4 *vel,
                     int n, float dt)
{
    __shared__ float4 tile[TILE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? oldPos[i] : make_float4(0, 0, 0, 0);
    float3 acc = make_float3(0, 0, 0);
    for (int base = 0; base < n; base += TILE) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? oldPos[j] : make_float4(0, 0, 0, 0); // massless beyond the end
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; ++k) acc = interact(acc, me, tile[k]);
        __syncthreads();
    }
    if (i >= n) return;
    float4 v = vel[i];
    v.x += acc.x * dt;
    v.y += acc.y * dt;
    v.z += acc.z * dt;
    vel[i] = v;
    me.x += v.x * dt;
    me.y += v.y * dt;
    me.z += v.z * dt;
    newPos[i] = me;
}

// total momentum (xyz) and mass in one pass, atomics on the four components
__global__ void momentum(const float4 *pos, const float4 *vel, int n, float *out)
{
    float4 p = make_float4(0, 0, 0, 0);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float m = pos[i].w;
        p.x += m * vel[i].x;
        p.y += m * vel[i].y;
        p.z += m * vel[i].z;
        p.w += m;
    }
    for (int o = 16; o > 0; o >>= 1) {
        p.x += __shfl_down_sync(0xffffffffu, p.x, o);
        p.y += __shfl_down_sync(0xffffffffu, p.y, o);
        p.z += __shfl_down_sync(0xffffffffu, p.z, o);
        p.w += __shfl_down_sync(0xffffffffu, p.w, o);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out + 0, p.x);
        atomicAdd(out + 1, p.y);
        atomicAdd(out + 2, p.z);
        atomicAdd(out + 3, p.w);
    }
}

int main()
{
    const int n = 300, steps = 4;
    const float dt = 0.005f;
    std::vector<float4> pos(n), vel(n), p2(n);
    unsigned s = 42;
    auto rnd = [&] {
        s = s * 1664525u + 1013904223u;
        return (float)(s >> 8) / 16777216.0f - 0.5f;
    };
    for (int i = 0; i < n; ++i) {
        pos[i] = make_float4(4 * rnd(), 4 * rnd(), 4 * rnd(), 0.01f + 0.02f * (rnd() + 0.5f));
        vel[i] = make_float4(rnd(), rnd(), rnd(), 0);
    }
    float4 *d[2], *dv;
    float *dm;
    CUDA(cudaMalloc(&d[0], n * sizeof(float4)));
    CUDA(cudaMalloc(&d[1], n * sizeof(float4)));
    CUDA(cudaMalloc(&dv, n * sizeof(float4)));
    CUDA(cudaMalloc(&dm, 4 * sizeof(float)));
    CUDA(cudaMemcpy(d[0], pos.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(dv, vel.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    int cur = 0;
    for (int k = 0; k < steps; ++k) {
        step<<<(n + TILE - 1) / TILE, TILE>>>(d[cur], d[cur ^ 1], dv, n, dt);
        CUDA(cudaGetLastError());
        cur ^= 1;
    }
    CUDA(cudaMemset(dm, 0, 4 * sizeof(float)));
    momentum<<<3, 64>>>(d[cur], dv, n, dm);
    CUDA(cudaGetLastError());

    // reference in double
    std::vector<double> P(3 * n), V(3 * n), A(3 * n);
    for (int i = 0; i < n; ++i) {
        P[3 * i] = pos[i].x;
        P[3 * i + 1] = pos[i].y;
        P[3 * i + 2] = pos[i].z;
        V[3 * i] = vel[i].x;
        V[3 * i + 1] = vel[i].y;
        V[3 * i + 2] = vel[i].z;
    }
    for (int k = 0; k < steps; ++k) {
        for (int i = 0; i < n; ++i) {
            double a[3] = {0, 0, 0};
            for (int j = 0; j < n; ++j) {
                double dx = P[3 * j] - P[3 * i], dy = P[3 * j + 1] - P[3 * i + 1],
                       dz = P[3 * j + 2] - P[3 * i + 2];
                double d2 = dx * dx + dy * dy + dz * dz + SOFT2;
                double f = pos[j].w / (d2 * std::sqrt(d2));
                a[0] += dx * f;
                a[1] += dy * f;
                a[2] += dz * f;
            }
            for (int c = 0; c < 3; ++c) A[3 * i + c] = a[c];
        }
        for (int q = 0; q < 3 * n; ++q) {
            V[q] += A[q] * dt;
            P[q] += V[q] * dt;
        }
    }
    float m[4];
    CUDA(cudaMemcpy(p2.data(), d[cur], n * sizeof(float4), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(m, dm, sizeof(m), cudaMemcpyDeviceToHost));
    int bad = 0;
    double M[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) {
        double e = std::fabs(p2[i].x - P[3 * i]) + std::fabs(p2[i].y - P[3 * i + 1]) +
                   std::fabs(p2[i].z - P[3 * i + 2]);
        if (!(e < 1e-3) && bad++ < 5) printf("body %d is off by %g\n", i, e);
        for (int c = 0; c < 3; ++c) M[c] += pos[i].w * V[3 * i + c];
        M[3] += pos[i].w;
    }
    for (int c = 0; c < 4; ++c)
        if (!(std::fabs(m[c] - M[c]) < 1e-3) && bad++ < 9)
            printf("total %d: %f, expected %f\n", c, m[c], M[c]);
    CUDA(cudaFree(d[0]));
    CUDA(cudaFree(d[1]));
    CUDA(cudaFree(dv));
    CUDA(cudaFree(dm));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
