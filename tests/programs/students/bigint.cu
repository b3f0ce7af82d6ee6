// Integers of 256 bits: carry chains in PTX, Montgomery's product, powers modulo a prime.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

struct u256 {
    uint32_t w[8];
};

__device__ u256 add(u256 a, const u256 &b, uint32_t &carry)
{
    asm("add.cc.u32 %0,%0,%9; addc.cc.u32 %1,%1,%10; addc.cc.u32 %2,%2,%11; addc.cc.u32 %3,%3,%12; "
        "addc.cc.u32 %4,%4,%13; addc.cc.u32 %5,%5,%14; addc.cc.u32 %6,%6,%15; addc.cc.u32 "
        "%7,%7,%16; addc.u32 %8,0,0;"
        : "+r"(a.w[0]), "+r"(a.w[1]), "+r"(a.w[2]), "+r"(a.w[3]), "+r"(a.w[4]), "+r"(a.w[5]),
          "+r"(a.w[6]), "+r"(a.w[7]), "=r"(carry)
        : "r"(b.w[0]), "r"(b.w[1]), "r"(b.w[2]), "r"(b.w[3]), "r"(b.w[4]), "r"(b.w[5]), "r"(b.w[6]),
          "r"(b.w[7]));
    return a;
}

__device__ u256 sub(u256 a, const u256 &b, uint32_t &borrow)
{
    asm("sub.cc.u32 %0,%0,%9; subc.cc.u32 %1,%1,%10; subc.cc.u32 %2,%2,%11; subc.cc.u32 %3,%3,%12; "
        "subc.cc.u32 %4,%4,%13; subc.cc.u32 %5,%5,%14; subc.cc.u32 %6,%6,%15; subc.cc.u32 "
        "%7,%7,%16; subc.u32 %8,0,0;"
        : "+r"(a.w[0]), "+r"(a.w[1]), "+r"(a.w[2]), "+r"(a.w[3]), "+r"(a.w[4]), "+r"(a.w[5]),
          "+r"(a.w[6]), "+r"(a.w[7]), "=r"(borrow)
        : "r"(b.w[0]), "r"(b.w[1]), "r"(b.w[2]), "r"(b.w[3]), "r"(b.w[4]), "r"(b.w[5]), "r"(b.w[6]),
          "r"(b.w[7]));
    return a;
}

__device__ void mulrow(uint32_t *r, const u256 &a, uint32_t b)
{
    uint32_t c = 0;
    for (int i = 0; i < 8; i++) {
        uint32_t lo, hi;
        asm("mad.lo.cc.u32 %0,%2,%3,%4; madc.hi.u32 %1,%2,%3,0;"
            : "=r"(lo), "=r"(hi)
            : "r"(a.w[i]), "r"(b), "r"(r[i]));
        asm("add.cc.u32 %0,%0,%2; addc.u32 %1,%1,0;" : "+r"(lo), "+r"(hi) : "r"(c));
        r[i] = lo;
        c = hi;
    }
    asm("add.cc.u32 %0,%0,%2; addc.u32 %1,%1,0;" : "+r"(r[8]), "+r"(r[9]) : "r"(c));
}

__device__ u256 mont(const u256 &a, const u256 &b, const u256 &m, uint32_t inv)
{
    uint32_t r[18] = {0};
    for (int i = 0; i < 8; i++) {
        mulrow(r + i, a, b.w[i]);
        uint32_t q = r[i] * inv;
        mulrow(r + i, m, q);
    }
    u256 t;
    for (int i = 0; i < 8; i++) t.w[i] = r[8 + i];
    uint32_t br;
    u256 s = sub(t, m, br);
    return (r[16] || !br) ? s : t;
}

__global__ void modexp(const u256 *base, const uint32_t *e, u256 *out, u256 m, u256 r2,
                       uint32_t inv, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u256 one = {{1}}, x = mont(base[i], r2, m, inv), y = mont(one, r2, m, inv);
    for (int b = 31; b >= 0; b--) {
        y = mont(y, y, m, inv);
        if (e[i] >> b & 1) y = mont(y, x, m, inv);
    }
    out[i] = mont(y, one, m, inv);
}

__global__ void sums(const u256 *a, u256 *s, uint32_t *c, int n)
{
    int i = threadIdx.x;
    if (i < n - 1) s[i] = add(a[i], a[i + 1], c[i]);
}

typedef unsigned __int128 u128;

struct H {
    uint64_t w[4];
};

static bool ge(const H &a, const H &b)
{
    for (int i = 3; i >= 0; i--)
        if (a.w[i] != b.w[i]) return a.w[i] > b.w[i];
    return true;
}

static uint64_t addh(H &a, const H &b)
{
    u128 c = 0;
    for (int i = 0; i < 4; i++) {
        c += (u128)a.w[i] + b.w[i];
        a.w[i] = c;
        c >>= 64;
    }
    return c;
}

static void subh(H &a, const H &b)
{
    __int128 c = 0;
    for (int i = 0; i < 4; i++) {
        c += (__int128)a.w[i] - b.w[i];
        a.w[i] = c;
        c >>= 64;
    }
}

static H addm(H a, const H &b, const H &m)
{
    if (addh(a, b) || ge(a, m)) subh(a, m);
    return a;
}

static H mulm(const H &a, const H &b, const H &m)
{
    H r = {};
    for (int i = 255; i >= 0; i--) {
        r = addm(r, r, m);
        if (b.w[i / 64] >> (i % 64) & 1) r = addm(r, a, m);
    }
    return r;
}

int main()
{
    H m = {{0xFFFFFFFEFFFFFC2Full, ~0ull, ~0ull, ~0ull}};
    uint32_t inv = 1, m0 = (uint32_t)m.w[0];
    for (int i = 0; i < 5; i++) inv *= 2 - m0 * inv;
    inv = -inv;
    H r2 = {{1}};
    for (int i = 0; i < 512; i++) r2 = addm(r2, r2, m);
    const int n = 40;
    std::vector<H> b(n), g(n);
    std::vector<uint32_t> e(n);
    uint64_t s = 88172645463325252ull;
    for (int i = 0; i < n; i++) {
        for (auto &w : b[i].w) {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            w = s;
        }
        if (ge(b[i], m)) subh(b[i], m);
        e[i] = i < 3 ? i : (uint32_t)s;
    }
    u256 *db, *dg;
    uint32_t *de;
    cudaMalloc(&db, n * 32);
    cudaMalloc(&dg, n * 32);
    cudaMalloc(&de, n * 4);
    cudaMemcpy(db, b.data(), n * 32, cudaMemcpyHostToDevice);
    cudaMemcpy(de, e.data(), n * 4, cudaMemcpyHostToDevice);
    u256 M, R;
    memcpy(&M, &m, 32);
    memcpy(&R, &r2, 32);
    modexp<<<2, 32>>>(db, de, dg, M, R, inv, n);
    cudaMemcpy(g.data(), dg, n * 32, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < n; i++) {
        H y = {{1}};
        for (int k = 31; k >= 0; k--) {
            y = mulm(y, y, m);
            if (e[i] >> k & 1) y = mulm(y, b[i], m);
        }
        bad += memcmp(&y, &g[i], 32) != 0;
    }
    sums<<<1, 64>>>(db, dg, de, n);
    cudaMemcpy(g.data(), dg, n * 32, cudaMemcpyDeviceToHost);
    cudaMemcpy(e.data(), de, n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i + 1 < n; i++) {
        H t = b[i];
        bad += addh(t, b[i + 1]) != e[i];
        bad += memcmp(&t, &g[i], 32) != 0;
    }
    cudaFree(db);
    cudaFree(dg);
    cudaFree(de);
    printf("%d\n", bad);
    return bad != 0;
}
