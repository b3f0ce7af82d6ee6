// Cooperative groups: reductions and scans of tiles, partitions, and tiles wider than a warp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstring>
namespace cg = cooperative_groups;

__global__ void k(const int *in, int *out)
{
    auto b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b);
    auto t8 = cg::tiled_partition<8>(w);
    int v = in[b.thread_rank()], *o = out + b.thread_rank() * 12;
    o[0] = cg::reduce(w, v, cg::plus<int>());
    o[1] = cg::reduce(t8, v, cg::greater<int>());
    o[2] = cg::reduce(w, v, cg::bit_xor<int>());
    o[3] = cg::inclusive_scan(t8, v);
    o[4] = cg::exclusive_scan(w, v, cg::plus<int>());
    auto p = cg::binary_partition(w, v % 2 == 0);
    o[5] = p.size();
    o[6] = cg::reduce(p, v, cg::less<int>());
    o[7] = t8.shfl_down(v, 2);
    o[8] = w.match_any(v % 4);
    o[9] = w.any(v == 17) * 2 + w.all(v >= 0);
    auto c = cg::coalesced_threads();
    if (v & 1) {
        auto d = cg::coalesced_threads();
        o[10] = cg::exclusive_scan(d, 1);
    } else
        o[10] = -1;
    int q = 0;
    cg::invoke_one(w, [&] { q = 1; });
    o[11] = w.size() - 32 + cg::reduce(w, q, cg::plus<int>());
}

__global__ void big(int *out)
{
    __shared__ cg::block_tile_memory<256> mem;
    auto b = cg::this_thread_block(mem);
    auto t = cg::tiled_partition<128>(b);
    int s = cg::reduce(t, (int)b.thread_rank(), cg::plus<int>());
    int x = t.shfl(s + (int)t.thread_rank(), 5);
    if (t.thread_rank() == 0) {
        out[t.meta_group_rank() * 2] = s;
        out[t.meta_group_rank() * 2 + 1] = x;
    }
}

__global__ void upd(int *counter, int *got)
{
    auto g = cg::coalesced_threads();
    cuda::atomic_ref<int, cuda::thread_scope_device> a(*counter);
    if (threadIdx.x % 3)
        got[threadIdx.x] = cg::exclusive_scan_update(cg::coalesced_threads(), a, (int)threadIdx.x,
                                                     cg::plus<int>());
}

int main()
{
    int h[64], g[64 * 12], *d, *o, bad = 0;
    for (int i = 0; i < 64; i++) h[i] = (i * 29 + 3) % 97;
    cudaMalloc(&d, 256);
    cudaMalloc(&o, sizeof g);
    cudaMemcpy(d, h, 256, cudaMemcpyHostToDevice);
    k<<<1, 64>>>(d, o);
    cudaMemcpy(g, o, sizeof g, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) {
        int w = i / 32 * 32, t = i / 8 * 8, e[12] = {};
        for (int j = w; j < w + 32; j++) {
            e[0] += h[j];
            e[2] ^= h[j];
            if (j < i) e[4] += h[j];
            if (h[j] % 2 == h[i] % 2) {
                e[5]++;
            }
            if (h[j] % 4 == h[i] % 4) e[8] |= 1u << (j - w);
        }
        e[6] = 1000;
        for (int j = w; j < w + 32; j++)
            if (h[j] % 2 == h[i] % 2 && h[j] < e[6]) e[6] = h[j];
        for (int j = t; j < t + 8; j++) {
            if (h[j] > e[1]) e[1] = h[j];
            if (j <= i) e[3] += h[j];
        }
        e[7] = i % 8 < 6 ? h[i + 2] : h[i];
        int any = 0;
        for (int j = w; j < w + 32; j++) any |= h[j] == 17;
        e[9] = any * 2 + 1;
        e[10] = -1;
        if (h[i] & 1) {
            e[10] = 0;
            for (int j = w; j < i; j++) e[10] += h[j] & 1;
        }
        e[11] = 1;
        for (int q = 0; q < 12; q++)
            if (g[i * 12 + q] != e[q]) {
                if (bad++ < 5) printf("thread %d value %d: %d not %d\n", i, q, g[i * 12 + q], e[q]);
            }
    }
    big<<<1, 256>>>(o);
    cudaMemcpy(g, o, 16, cudaMemcpyDeviceToHost);
    bad += g[0] != 127 * 64 || g[1] != 127 * 64 + 5 || g[2] != 127 * 64 + 128 * 128 ||
           g[3] != g[2] + 5;
    int z = 100;
    cudaMemcpy(d, &z, 4, cudaMemcpyHostToDevice);
    upd<<<1, 32>>>(d, o);
    cudaMemcpy(g, o, 128, cudaMemcpyDeviceToHost);
    int run = 100;
    for (int i = 0; i < 32; i++)
        if (i % 3) {
            bad += g[i] != run;
            run += i;
        }
    cudaMemcpy(&z, d, 4, cudaMemcpyDeviceToHost);
    bad += z != run;
    cudaFree(d);
    cudaFree(o);
    printf("%d bad %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
