/* What wgmma.mma_async reads where: products of four warps of shared memory full of small integers,
 * by descriptors of every kind. Each line is a checksum of the sum that all lanes hold, so that a
 * line is the same only if every lane has the same elements.
 *
 * Exact in every type, whatever the order of the additions; but for the last lines, which ask how
 * sums are rounded. wgmma.txt has an H100's. */
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

enum { THREADS = 128, BYTES = 96 << 10, PATTERN = 1024 };

struct Case {
    uint32_t a, b; /* where they begin, in bytes */
    uint32_t a_leading, a_stride, b_leading, b_stride;
    uint32_t swizzle, a_base, b_base;
    int keep; /* scale-d */
};

__device__ uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

__device__ uint64_t descriptor(uint32_t at, uint32_t leading, uint32_t stride, uint32_t swizzle,
                               uint32_t base)
{
    return (uint64_t)(at >> 4 & 0x3fff) | (uint64_t)(leading >> 4 & 0x3fff) << 16 |
           (uint64_t)(stride >> 4 & 0x3fff) << 32 | (uint64_t)base << 49 | (uint64_t)swizzle << 62;
}

/* An element of each type, small and whole. */
__device__ void put(__half *p, uint32_t i)
{
    *p = __int2half_rn((int)(hash(i) % 7) - 3);
}
__device__ void put(__nv_bfloat16 *p, uint32_t i)
{
    *p = __int2bfloat16_rn((int)(hash(i) % 7) - 3);
}
__device__ void put(float *p, uint32_t i)
{
    *p = (float)((int)(hash(i) % 7) - 3);
}
// Of many exponents, so that sums are rounded.
struct AnyHalf {
    __half value;
};
struct AnyBrain {
    __nv_bfloat16 value;
};
struct AnyFloat {
    float value;
};
__device__ float any(uint32_t i)
{
    return ldexpf((float)((int)(hash(i) % 4001) - 2000), (int)(hash(i + 77777u) % 13) - 16);
}
__device__ void put(AnyHalf *p, uint32_t i)
{
    p->value = __float2half_rn(any(i));
}
__device__ void put(AnyBrain *p, uint32_t i)
{
    p->value = __float2bfloat16_rn(any(i));
}
__device__ void put(AnyFloat *p, uint32_t i)
{
    p->value = any(i) * 1.0001f;
}
__device__ void put(int8_t *p, uint32_t i)
{
    *p = (int8_t)hash(i);
}

__device__ void put(__nv_fp8_e4m3 *p, uint32_t i)
{
    *p = __nv_fp8_e4m3((float)((int)(hash(i) % 7) - 3));
}
__device__ void put(__nv_fp8_e5m2 *p, uint32_t i)
{
    *p = __nv_fp8_e5m2((float)((int)(hash(i) % 7) - 3));
}
struct AnyE4 {
    __nv_fp8_e4m3 value;
};
struct AnyE5 {
    __nv_fp8_e5m2 value;
};
__device__ void put(AnyE4 *p, uint32_t i)
{
    p->value = __nv_fp8_e4m3(any(i));
}
__device__ void put(AnyE5 *p, uint32_t i)
{
    p->value = __nv_fp8_e5m2(any(i));
}

#define D4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define D12 D4(0), D4(4), D4(8)
#define D32 D12, D4(12), D4(16), D4(20), D4(24), D4(28)
#define R4 "{%0,%1,%2,%3}"
#define R12 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11}"
#define R32                                                                                        \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"  \
    "%25,%26,%27,%28,%29,%30,%31}"
#define R2 "{%0,%1}"
#define D2 "+r"(d[0]), "+r"(d[1])

/* FORM(name, shape and types, registers of d: text, constraints and how many, flags; then the
 * numbers of the operands behind d) */
#define FORM(name, kind, text, constraints, count, flags, a, b, p)                                 \
    struct name {                                                                                  \
        enum { COUNT = count };                                                                    \
        static __device__ void run(uint32_t *d, uint64_t da, uint64_t db, int keep)                \
        {                                                                                          \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %" p ", 0;\n"                             \
                         "wgmma.mma_async.sync.aligned." kind " " text ", %" a ", %" b ", p" flags \
                         "; }\n"                                                                   \
                         : constraints                                                             \
                         : "l"(da), "l"(db), "r"(keep));                                           \
        }                                                                                          \
    };
FORM(Half8, "m64n8k16.f32.f16.f16", R4, D4(0), 4, ", 1, 1, 0, 0", "4", "5", "6")
FORM(Half8A, "m64n8k16.f32.f16.f16", R4, D4(0), 4, ", 1, 1, 1, 0", "4", "5", "6")
FORM(Half8B, "m64n8k16.f32.f16.f16", R4, D4(0), 4, ", 1, 1, 0, 1", "4", "5", "6")
FORM(Half24, "m64n24k16.f32.f16.f16", R12, D12, 12, ", 1, 1, 0, 0", "12", "13", "14")
FORM(Half64, "m64n64k16.f32.f16.f16", R32, D32, 32, ", 1, 1, 0, 0", "32", "33", "34")
FORM(Half64A, "m64n64k16.f32.f16.f16", R32, D32, 32, ", 1, 1, 1, 0", "32", "33", "34")
FORM(Half64B, "m64n64k16.f32.f16.f16", R32, D32, 32, ", 1, 1, 0, 1", "32", "33", "34")
FORM(Half64AB, "m64n64k16.f32.f16.f16", R32, D32, 32, ", 1, 1, 1, 1", "32", "33", "34")
FORM(Half64Minus, "m64n64k16.f32.f16.f16", R32, D32, 32, ", -1, 1, 0, 0", "32", "33", "34")
FORM(Half64Twice, "m64n64k16.f32.f16.f16", R32, D32, 32, ", -1, -1, 0, 0", "32", "33", "34")
FORM(Short8, "m64n8k16.f16.f16.f16", R2, D2, 2, ", 1, 1, 0, 0", "2", "3", "4")
FORM(Short24, "m64n48k16.f16.f16.f16", R12, D12, 12, ", 1, -1, 0, 0", "12", "13", "14")
FORM(Brain64, "m64n64k16.f32.bf16.bf16", R32, D32, 32, ", 1, 1, 0, 0", "32", "33", "34")
FORM(Brain64AB, "m64n64k16.f32.bf16.bf16", R32, D32, 32, ", 1, 1, 1, 1", "32", "33", "34")
FORM(Tf64, "m64n64k8.f32.tf32.tf32", R32, D32, 32, ", 1, 1", "32", "33", "34")
FORM(Tf64Minus, "m64n64k8.f32.tf32.tf32", R32, D32, 32, ", 1, -1", "32", "33", "34")
FORM(Byte64, "m64n64k32.s32.s8.s8", R32, D32, 32, "", "32", "33", "34")
FORM(Byte64Mixed, "m64n64k32.s32.s8.u8", R32, D32, 32, "", "32", "33", "34")
FORM(Byte64Clamps, "m64n64k32.s32.u8.u8.satfinite", R32, D32, 32, "", "32", "33", "34")
FORM(E4E4, "m64n64k32.f32.e4m3.e4m3", R32, D32, 32, ", 1, 1", "32", "33", "34")
FORM(E4E5, "m64n64k32.f32.e4m3.e5m2", R32, D32, 32, ", 1, 1", "32", "33", "34")
FORM(E5E4Minus, "m64n64k32.f32.e5m2.e4m3", R32, D32, 32, ", -1, 1", "32", "33", "34")
FORM(E5E5, "m64n64k32.f32.e5m2.e5m2", R32, D32, 32, ", 1, 1", "32", "33", "34")
FORM(ShortE4E5, "m64n48k32.f16.e4m3.e5m2", R12, D12, 12, ", 1, 1", "12", "13", "14")
FORM(ShortE5E4, "m64n48k32.f16.e5m2.e4m3", R12, D12, 12, ", 1, -1", "12", "13", "14")
FORM(Bits64, "m64n64k256.s32.b1.b1.and.popc", R32, D32, 32, "", "32", "33", "34")
#undef FORM

/* The first factor in registers. */
#define FORM(name, kind, flags)                                                                    \
    struct name {                                                                                  \
        enum { COUNT = 12 };                                                                       \
        static __device__ void run(uint32_t *d, const uint32_t *a, uint64_t db, int keep)          \
        {                                                                                          \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %17, 0;\n"                                \
                         "wgmma.mma_async.sync.aligned." kind " " R12                              \
                         ", {%12, %13, %14, %15}, %16, p" flags "; }\n"                            \
                         : D12                                                                     \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db), "r"(keep));        \
        }                                                                                          \
    };
FORM(HalfR, "m64n24k16.f32.f16.f16", ", 1, 1, 0")
FORM(HalfRB, "m64n24k16.f32.f16.f16", ", -1, 1, 1")
FORM(TfR, "m64n24k8.f32.tf32.tf32", ", 1, 1")
FORM(ByteR, "m64n24k32.s32.s8.s8", "")
FORM(E4R, "m64n24k32.f32.e4m3.e4m3", ", 1, 1")
FORM(E5R, "m64n24k32.f32.e5m2.e4m3", ", 1, -1")
FORM(BitsR, "m64n24k256.s32.b1.b1.and.popc", "")
#undef FORM

template <typename T> __device__ void fill(T *shared)
{
    for (uint32_t i = threadIdx.x; i < BYTES / sizeof(T); i += THREADS) put(&shared[i], i);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

__device__ void begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void end()
{
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/* A sum to begin with that is a number in every type, f16 in both halves too. */
template <typename Form> __device__ void start(uint32_t *d)
{
    for (int i = 0; i < Form::COUNT; i++) d[i] = 0;
}

template <typename Form> __device__ void tell(const uint32_t *d, unsigned long long *sum)
{
    unsigned long long mine = 0;
    for (int i = 0; i < Form::COUNT; i++)
        mine += (unsigned long long)hash(d[i] + i * 977u) * (threadIdx.x * 2u + 1u);
    atomicAdd(sum, mine);
}

template <typename Form, typename T>
__global__ void multiply(const Case *cases, int count, unsigned long long *sums)
{
    extern __shared__ __align__(PATTERN) unsigned char shared[];
    fill((T *)shared);
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(shared);
    for (int k = 0; k < count; k++) {
        const Case c = cases[k];
        uint32_t d[Form::COUNT];
        start<Form>(d);
        begin();
        for (int twice = 0; twice < 2; twice++) /* the second adds to the first's, or not */
            Form::run(
                d,
                descriptor(at + c.a + twice * 2048, c.a_leading, c.a_stride, c.swizzle, c.a_base),
                descriptor(at + c.b, c.b_leading, c.b_stride, c.swizzle, c.b_base), c.keep);
        end();
        tell<Form>(d, &sums[k]);
    }
}

template <typename Form, typename T>
__global__ void multiply_registers(const Case *cases, int count, unsigned long long *sums)
{
    extern __shared__ __align__(PATTERN) unsigned char shared[];
    fill((T *)shared);
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(shared);
    for (int k = 0; k < count; k++) {
        const Case c = cases[k];
        uint32_t d[Form::COUNT], a[4];
        start<Form>(d);
        for (int i = 0; i < 4; i++) a[i] = ((const uint32_t *)shared)[threadIdx.x * 4 + i];
        begin();
        Form::run(d, a, descriptor(at + c.b, c.b_leading, c.b_stride, c.swizzle, c.b_base), c.keep);
        end();
        tell<Form>(d, &sums[k]);
    }
}

static const Case cases[] = {
    /* no swizzle */
    {0, 32768, 128, 256, 128, 256, 0, 0, 0, 1},
    {256, 32784, 1024, 128, 2048, 128, 0, 0, 0, 1},
    {4096, 40960, 272, 544, 144, 288, 0, 0, 0, 0},
    /* 128 bytes */
    {0, 32768, 16, 1024, 16, 1024, 1, 0, 0, 1},
    {32, 32768 + 64, 16, 1024, 16, 1024, 1, 0, 0, 1},
    {96, 32768 + 32, 4096, 1024, 2048, 2048, 1, 0, 0, 0},
    {1024, 33792, 8192, 2048, 8192, 1024, 1, 0, 0, 1},
    {128, 32768 + 384, 16, 1024, 16, 1024, 1, 1, 3, 1}, /* a pattern that begins elsewhere */
    {640, 32768 + 896, 16, 1024, 16, 1024, 1, 5, 7, 1},
    /* 64 bytes */
    {0, 32768, 16, 512, 16, 512, 2, 0, 0, 1},
    {32, 32768 + 32, 2048, 512, 1024, 1024, 2, 0, 0, 1},
    {512, 32768 + 1536, 4096, 1024, 512, 512, 2, 0, 0, 0},
    {128, 32768 + 384, 16, 512, 16, 512, 2, 1, 3, 1},
    /* 32 bytes */
    {0, 32768, 16, 256, 16, 256, 3, 0, 0, 1},
    {256, 32768 + 768, 2048, 512, 1024, 256, 3, 0, 0, 1},
    {128, 32768 + 128, 512, 256, 512, 256, 3, 1, 1, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

template <typename Kernel> static void run(const char *name, Kernel kernel)
{
    Case *given;
    unsigned long long *sums;
    cudaMallocManaged(&given, sizeof cases);
    cudaMallocManaged(&sums, CASES * sizeof *sums);
    for (int k = 0; k < CASES; k++) {
        given[k] = cases[k];
        sums[k] = 0;
    }
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES + PATTERN);
    kernel<<<1, THREADS, BYTES + PATTERN>>>(given, CASES, sums);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) printf("%s: %s\n", name, cudaGetErrorString(error));
    for (int k = 0; error == cudaSuccess && k < CASES; k++)
        printf("%s %2d: %016llx\n", name, k, sums[k]);
    cudaFree(given);
    cudaFree(sums);
}

#define RUN(form, type) run(#form, multiply<form, type>)
#define RUN_REGISTERS(form, type) run(#form, multiply_registers<form, type>)

int main()
{
    RUN(Half8, __half);
    RUN(Half8A, __half);
    RUN(Half8B, __half);
    RUN(Half24, __half);
    RUN(Half64, __half);
    RUN(Half64A, __half);
    RUN(Half64B, __half);
    RUN(Half64AB, __half);
    RUN(Half64Minus, __half);
    RUN(Half64Twice, __half);
    RUN(Short8, __half);
    RUN(Short24, __half);
    RUN(Brain64, __nv_bfloat16);
    RUN(Brain64AB, __nv_bfloat16);
    RUN(Tf64, float);
    RUN(Tf64Minus, float);
    RUN(Byte64, int8_t);
    RUN(Byte64Mixed, int8_t);
    RUN(Byte64Clamps, int8_t);
    RUN_REGISTERS(HalfR, __half);
    RUN_REGISTERS(HalfRB, __half);
    RUN_REGISTERS(TfR, float);
    RUN_REGISTERS(ByteR, int8_t);
    run("Half64, rounded", multiply<Half64, AnyHalf>);
    run("Short24, rounded", multiply<Short24, AnyHalf>);
    run("Brain64, rounded", multiply<Brain64, AnyBrain>);
    run("Tf64, rounded", multiply<Tf64, AnyFloat>);
    RUN(E4E4, __nv_fp8_e4m3);
    RUN(E4E5, __nv_fp8_e5m2);
    RUN(E5E4Minus, __nv_fp8_e5m2);
    RUN(E5E5, __nv_fp8_e5m2);
    RUN(ShortE4E5, __nv_fp8_e4m3);
    RUN_REGISTERS(E4R, __nv_fp8_e4m3);
    RUN_REGISTERS(E5R, __nv_fp8_e5m2);
    run("E4E4, rounded", multiply<E4E4, AnyE4>);
    run("E4E5, rounded", multiply<E4E5, AnyE5>);
    run("E5E4Minus, rounded", multiply<E5E4Minus, AnyE4>);
    run("E5E5, rounded", multiply<E5E5, AnyE5>);
    run("ShortE4E5, rounded", multiply<ShortE4E5, AnyE4>);
    run("ShortE5E4, rounded", multiply<ShortE5E4, AnyE5>);
    run("E4R, rounded", multiply_registers<E4R, AnyE4>);
    RUN(Bits64, int8_t);
    RUN_REGISTERS(BitsR, int8_t);
    return 0;
}
