// Tensor maps, asked of a GPU: boxes of tensors of one to five dimensions copied to shared memory
// and back, swizzled, over the tensor's edges, with element strides, reduced, multicast, by maps in
// parameters, constant and global memory, changed by kernels; and which maps cannot be encoded.
// Each line is a case: a hash of what came out, and whether it is what the CPU expects. Lines that
// begin with ~ are what NVIDIA's documents leave open, and what a GPU does with a mistake.
// tensor_map.txt has an H100's.
//
//     nvcc -std=c++17 -arch=sm_90a -o tensor_map tests/gpu/tensor_map.cu
//     ./tensor_map > tests/gpu/tensor_map.txt
#include "gpu.cuh"
#include "tensor_map.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

constexpr int ROOM = 1 << 18, SHARED = 64 << 10, THREADS = 128; // bytes, and threads
static unsigned char *tensor, *out, *global_map;
static unsigned char there[ROOM], expected[ROOM], said[SHARED];
static int differing;

static uint64_t hash_of(const unsigned char *bytes, size_t count)
{
    uint64_t hash = 1469598103934665603ull;
    for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 1099511628211ull;
    return hash;
}

static void answer(const char *name, const unsigned char *is, const unsigned char *should,
                   size_t count)
{
    size_t at = 0;
    while (at < count && is[at] == should[at]) at++;
    printf("%s: %016llx ", name, (unsigned long long)hash_of(is, count));
    if (at == count) {
        printf("ok\n");
    } else {
        printf("byte %zu is %02x, not %02x\n", at, is[at], should[at]);
        differing += *name != '~';
    }
}

typedef CUresult replace_function(CUtensorMap *, void *);
static encode_function *encode;
static replace_function *replace;

// ---- what a map may say -----------------------------------------------------------------------

struct Map {
    CUtensorMapDataType type;
    unsigned bytes, rank;
    uint64_t size[5];
    unsigned pad; // bytes behind each row
    uint32_t box[5], step[5] = {1, 1, 1, 1, 1};
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

    uint64_t stride(unsigned k) const // of dimension k, in bytes
    {
        uint64_t stride = bytes;
        for (unsigned i = 0; i < k; i++) {
            stride *= size[i];
            if (i == 0) stride = (stride + 15) / 16 * 16 + pad;
        }
        return stride;
    }
    uint32_t count(unsigned k) const
    {
        return k >= rank ? 1 : (box[k] + step[k] - 1) / step[k];
    }
    unsigned chunks() const
    {
        return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 1 : 1u << swizzle;
    }
    unsigned pitch() const
    {
        return std::max(box[0] * bytes, swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16 * chunks());
    }
    unsigned rows() const
    {
        return count(1) * count(2) * count(3) * count(4);
    }
    unsigned moved() const
    {
        return rows() * count(0) * bytes;
    }
    unsigned shared() const
    {
        return rows() * pitch();
    }

    CUresult make(CUtensorMap *map, void *address) const
    {
        cuuint64_t strides[4];
        for (unsigned k = 0; k + 1 < rank; k++) strides[k] = stride(k + 1);
        return encode(map, type, rank, address, (const cuuint64_t *)size, strides, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                      fill);
    }
    CUtensorMap at(void *address) const
    {
        alignas(128) static CUtensorMap map; // temporaries of the host compiler's are at any place
        const CUresult code = make(&map, address);
        if (code != CUDA_SUCCESS) {
            printf("encode: %d\n", code);
            exit(1);
        }
        return map;
    }

    // For each element of a box: where it is in shared memory that begins at `base`, and in the
    // tensor, or that it is outside.
    template <typename F> void each(const int *first, unsigned base, F f) const
    {
        for (unsigned row = 0; row < rows(); row++)
            for (unsigned i = 0; i < count(0); i++) {
                bool inside =
                    first[0] + (int64_t)i >= 0 && first[0] + (int64_t)i < (int64_t)size[0];
                int64_t from = (first[0] + (int64_t)i) * bytes;
                unsigned rest = row;
                for (unsigned k = 1; k < rank; k++) {
                    const int64_t x = first[k] + (int64_t)(rest % count(k)) * step[k];
                    rest /= count(k);
                    inside &= x >= 0 && x < (int64_t)size[k];
                    from += x * (int64_t)stride(k);
                }
                unsigned to = base + row * pitch() + i * bytes;
                if (chunks() > 1) to ^= to / 128 % chunks() * 16;
                f(to - base, (size_t)from, inside);
            }
    }
};

constexpr CUtensorMapDataType U8 = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                              U16 = CU_TENSOR_MAP_DATA_TYPE_UINT16,
                              U32 = CU_TENSOR_MAP_DATA_TYPE_UINT32,
                              S32 = CU_TENSOR_MAP_DATA_TYPE_INT32,
                              U64 = CU_TENSOR_MAP_DATA_TYPE_UINT64,
                              S64 = CU_TENSOR_MAP_DATA_TYPE_INT64,
                              F16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                              F32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                              F64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
                              BF16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
constexpr CUtensorMapSwizzle S0 = CU_TENSOR_MAP_SWIZZLE_NONE, S1 = CU_TENSOR_MAP_SWIZZLE_32B,
                             S2 = CU_TENSOR_MAP_SWIZZLE_64B, S3 = CU_TENSOR_MAP_SWIZZLE_128B;
constexpr CUtensorMapFloatOOBfill NANS = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;

// ---- the host's side --------------------------------------------------------------------------

static void wait_for(const char *name)
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) return;
    printf("%s: %s\n", name, cudaGetErrorName(error));
    exit(1);
}

// Bytes that differ from their neighbours; every so manieth value of floats is as good as any.
static void fill_tensor(unsigned seed)
{
    for (unsigned i = 0; i < ROOM; i++)
        there[i] = (unsigned char)((i * 2654435761u + seed * 40503u) >> 13);
    CHECK(cudaMemcpy(tensor, there, ROOM, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0xdd, ROOM));
}

static bool is_nan(CUtensorMapDataType type, const unsigned char *at)
{
    uint16_t half;
    float single;
    double twice;
    memcpy(&half, at, sizeof half);
    memcpy(&single, at, sizeof single);
    memcpy(&twice, at, sizeof twice);
    return type == F16    ? (half & 0x7fff) > 0x7c00
           : type == BF16 ? (half & 0x7fff) > 0x7f80
           : type == F32  ? std::isnan(single)
                          : std::isnan(twice);
}

// What a box from `first` on should be in shared memory at `base`. A NaN that is one is as
// expected: which it is, is a line of its own.
static void expect_box(const char *name, const Map &map, const int *first, unsigned base)
{
    bool told = false;
    memset(expected, 0xcc, map.shared());
    map.each(first, base, [&](unsigned to, size_t from, bool inside) {
        if (inside) {
            memcpy(expected + to, there + from, map.bytes);
        } else if (map.fill == NANS && is_nan(map.type, said + to)) {
            if (!told) {
                printf("~nan of %s: ", name);
                for (unsigned k = map.bytes; k-- > 0;) printf("%02x", said[to + k]);
                printf("\n");
            }
            told = true;
            memset(said + to, 0xff, map.bytes);
            memset(expected + to, 0xff, map.bytes);
        } else {
            memset(expected + to, map.fill == NANS ? 0xff : 0, map.bytes);
        }
    });
}

static void load_case(const char *name, const Map &map, Coordinates at, unsigned offset = 0)
{
    fill_tensor(1);
    load<<<1, THREADS, SHARED>>>(map.at(tensor), at, map.rank, offset, map.moved(), map.shared(),
                                 out);
    wait_for(name);
    CHECK(cudaMemcpy(said, out, map.shared(), cudaMemcpyDeviceToHost));
    expect_box(name, map, at.c, offset);
    answer(name, said, expected, map.shared());
}

static void store_case(const char *name, const Map &map, Coordinates at, unsigned offset = 0)
{
    fill_tensor(2);
    for (unsigned i = 0; i < map.shared(); i++) said[i] = (unsigned char)(i * 7 + i / 251);
    CHECK(cudaMemcpy(out, said, map.shared(), cudaMemcpyHostToDevice));
    store<<<1, THREADS, SHARED>>>(map.at(tensor), at, map.rank, offset, map.shared(), out);
    wait_for(name);
    memcpy(expected, there, ROOM);
    map.each(at.c, offset, [&](unsigned from, size_t to, bool inside) {
        if (inside) memcpy(expected + to, said + from, map.bytes);
    });
    CHECK(cudaMemcpy(there, tensor, ROOM, cudaMemcpyDeviceToHost));
    answer(name, there, expected, ROOM);
}

static void shapes()
{
    const Map one = {U8, 1, 1, {3000}, 0, {256}};
    const Map two = {U16, 2, 2, {100, 40}, 16, {32, 12}};
    const Map three = {U32, 4, 3, {36, 10, 7}, 0, {20, 3, 4}};
    const Map four = {U64, 8, 4, {12, 9, 5, 4}, 32, {6, 4, 2, 3}};
    const Map five = {F32, 4, 5, {20, 6, 5, 4, 3}, 0, {8, 3, 2, 3, 2}};
    load_case("load 1d", one, {{528}});
    load_case("load 2d", two, {{24, 9}});
    load_case("load 2d at another column", two, {{8, 9}});
    load_case("load 3d", three, {{4, 2, 1}});
    load_case("load 4d", four, {{2, 2, 1, 0}});
    load_case("load 5d", five, {{4, 1, 2, 0, 1}});
    store_case("store 1d", one, {{528}});
    store_case("store 2d", two, {{24, 9}});
    store_case("store 2d at another column", two, {{8, 9}});
    store_case("store 3d", three, {{4, 2, 1}});
    store_case("store 4d", four, {{2, 2, 1, 0}});
    store_case("store 5d", five, {{4, 1, 2, 0, 1}});
    load_case("load the largest box of a dimension", {F64, 8, 2, {300, 8}, 0, {256, 8}}, {{40, 0}});
    load_case("load a row of each", {S32, 4, 3, {64, 20, 20}, 0, {4, 16, 16}}, {{60, 2, 3}});
    load_case("load s64", {S64, 8, 2, {30, 8}, 0, {4, 8}}, {{10, 0}});
    load_case("load f16", {F16, 2, 2, {64, 64}, 0, {64, 64}}, {{0, 0}});
    load_case("load bf16", {BF16, 2, 2, {64, 64}, 0, {16, 64}}, {{32, 0}});
    load_case("load with padding at the tensor's width", {U8, 1, 2, {33, 9}, 0, {32, 9}},
              {{16, 0}});
}

static void swizzles()
{
    const struct {
        const char *name;
        CUtensorMapSwizzle swizzle;
        uint32_t inner; // halves: as long as a row of the mode
    } modes[] = {{"32B", S1, 16}, {"64B", S2, 32}, {"128B", S3, 64}};
    char name[100];
    for (const auto &mode : modes) {
        const Map map = {F16, 2, 2, {256, 64}, 0, {mode.inner, 32}, {1, 1, 1, 1, 1}, mode.swizzle};
        const Map flat = {F16,         2, 3, {256, 16, 4}, 0, {mode.inner, 5, 3}, {1, 1, 1, 1, 1},
                          mode.swizzle};
        const Map narrow = {F16,         2, 2, {256, 64}, 0, {mode.inner / 2, 16}, {1, 1, 1, 1, 1},
                            mode.swizzle};
        for (unsigned offset = 0; offset < 1024; offset += 128) {
            snprintf(name, sizeof name, "load swizzled by %s at %u", mode.name, offset);
            load_case(name, map, {{64, 3}}, offset);
            snprintf(name, sizeof name, "store swizzled by %s at %u", mode.name, offset);
            store_case(name, map, {{64, 3}}, offset);
        }
        snprintf(name, sizeof name, "load 3d swizzled by %s", mode.name);
        load_case(name, flat, {{32, 2, 1}});
        snprintf(name, sizeof name, "store 3d swizzled by %s over the edge", mode.name);
        store_case(name, flat, {{240, 14, 2}});
        snprintf(name, sizeof name, "~load half a row swizzled by %s", mode.name);
        load_case(name, narrow, {{64, 3}});
    }
}

static void edges()
{
    const Map map = {U32, 4, 2, {50, 30}, 8 * 4, {16, 8}};
    load_case("load over the right edge", map, {{44, 3}});
    load_case("load over the lower edge", map, {{8, 26}});
    load_case("load over the upper left corner", map, {{-4, -3}});
    load_case("load of nothing", map, {{52, 0}});
    load_case("load far out", map, {{-2000000000, 2000000000}});
    store_case("~store over the right edge", map, {{44, 3}});
    store_case("store over the lower edge", map, {{8, 26}});
    store_case("store of nothing", map, {{52, 0}});
    load_case("load a box larger than the tensor", {U16, 2, 2, {5, 3}, 0, {16, 8}}, {{-8, -2}});
    const Map five = {U16, 2, 5, {12, 5, 4, 3, 3}, 0, {8, 3, 3, 2, 2}};
    load_case("load 5d over all edges", five, {{-8, 3, -1, 2, -1}});
    store_case("~store 5d over some edges", five, {{8, 3, 2, 2, 2}});
    const CUtensorMapDataType types[] = {F16, BF16, F32, F64};
    const char *const names[] = {"f16", "bf16", "f32", "f64"};
    const unsigned bytes[] = {2, 2, 4, 8};
    for (int k = 0; k < 4; k++) {
        char name[100];
        snprintf(name, sizeof name, "load %s with NaN outside", names[k]);
        load_case(name, {types[k], bytes[k], 2, {30, 10}, 0, {16, 4}, {1, 1, 1, 1, 1}, S0, NANS},
                  {{-8, 8}});
    }
    load_case("load f16 with NaN outside, swizzled",
              {F16, 2, 2, {30, 10}, 0, {32, 8}, {1, 1, 1, 1, 1}, S2, NANS}, {{-8, 6}});
}

static void steps()
{
    load_case("load every second row", {U16, 2, 2, {64, 64}, 0, {16, 32}, {1, 2}}, {{8, 5}});
    load_case("load every third row of a box that is no multiple",
              {U16, 2, 2, {64, 64}, 0, {16, 32}, {1, 3}}, {{8, 5}});
    load_case("load steps of 1, 2, 3, 1, 8 over edges",
              {U16, 2, 5, {16, 9, 9, 5, 20}, 0, {8, 6, 7, 2, 16}, {1, 2, 3, 1, 8}},
              {{0, 4, 4, 4, 10}});
    store_case("store every second row", {U16, 2, 2, {64, 64}, 0, {16, 32}, {1, 2}}, {{8, 5}});
    load_case("load every second row, swizzled", {F16, 2, 2, {64, 64}, 0, {32, 32}, {1, 2}, S2},
              {{8, 5}});
}

// ---- reductions -------------------------------------------------------------------------------

// Elements as numbers: floats have small integers, for which every sum is exact.
template <typename T> static T apply(Operation operation, T a, T b)
{
    switch (operation) {
    case ADD:
        return a + b;
    case MIN:
        return b < a ? b : a;
    default:
        return a < b ? b : a;
    }
}

template <typename T> static T apply_bits(Operation operation, T a, T b)
{
    switch (operation) {
    case INC:
        return a >= b ? 0 : a + 1;
    case DEC:
        return a == 0 || a > b ? b : a - 1;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    default:
        return apply(operation, a, b);
    }
}

template <typename T> static T combine(Operation operation, T a, T b)
{
    return apply_bits<T>(operation, a, b);
}
template <> float combine(Operation operation, float a, float b)
{
    return apply(operation, a, b);
}
template <> __half combine(Operation operation, __half a, __half b)
{
    return __float2half(apply(operation, __half2float(a), __half2float(b)));
}
template <> __nv_bfloat16 combine(Operation operation, __nv_bfloat16 a, __nv_bfloat16 b)
{
    return __float2bfloat16(apply(operation, __bfloat162float(a), __bfloat162float(b)));
}
template <typename T> static T number(unsigned i)
{
    return (T)(i * 2654435761u >> 7) * (T)3;
}
template <> float number(unsigned i)
{
    return (float)(int)(i % 61) - 30;
}
template <> __half number(unsigned i)
{
    return __float2half(number<float>(i));
}
template <> __nv_bfloat16 number(unsigned i)
{
    return __float2bfloat16(number<float>(i));
}

template <typename T>
static void reduce_case(const char *type_name, CUtensorMapDataType type,
                        std::initializer_list<Operation> operations)
{
    static const char *const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
    const Map map = {type, sizeof(T), 2, {40, 20}, 16, {16, 6}};
    const Coordinates at = {{32, 16}};
    char name[100];
    for (const Operation operation : operations) {
        for (unsigned i = 0; i < ROOM / sizeof(T); i++) ((T *)there)[i] = number<T>(i);
        for (unsigned i = 0; i < map.shared() / sizeof(T); i++)
            ((T *)said)[i] = number<T>(1000 + 3 * i);
        CHECK(cudaMemcpy(tensor, there, ROOM, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(out, said, map.shared(), cudaMemcpyHostToDevice));
        snprintf(name, sizeof name, "reduce %s %s", names[operation], type_name);
        reduce<<<1, THREADS, SHARED>>>(map.at(tensor), at, operation, map.shared(), out);
        wait_for(name);
        memcpy(expected, there, ROOM);
        map.each(at.c, 0, [&](unsigned from, size_t to, bool inside) {
            T a, b;
            if (!inside) return;
            memcpy(&a, expected + to, sizeof a);
            memcpy(&b, said + from, sizeof b);
            a = combine<T>(operation, a, b);
            memcpy(expected + to, &a, sizeof a);
        });
        CHECK(cudaMemcpy(there, tensor, ROOM, cudaMemcpyDeviceToHost));
        answer(name, there, expected, ROOM);
    }
}

static void reductions()
{
    reduce_case<uint32_t>("u32", U32, {ADD, MIN, MAX, INC, DEC, AND, OR, XOR});
    reduce_case<int32_t>("s32", S32, {ADD, MIN, MAX, AND, OR, XOR});
    reduce_case<uint64_t>("u64", U64, {ADD, MIN, MAX, AND, OR, XOR});
    reduce_case<int64_t>("s64", S64, {MIN, MAX});
    reduce_case<float>("f32", F32, {ADD});
    reduce_case<__half>("f16", F16, {ADD, MIN, MAX});
    reduce_case<__nv_bfloat16>("bf16", BF16, {ADD, MIN, MAX});
}

// ---- where maps lie, and what changes them ----------------------------------------------------

static void box_case(const char *name, const Map &map, Coordinates at)
{
    wait_for(name);
    CHECK(cudaMemcpy(said, out, map.shared(), cudaMemcpyDeviceToHost));
    expect_box(name, map, at.c, 0);
    answer(name, said, expected, map.shared());
}

static void places()
{
    const Map map = {U16, 2, 2, {64, 64}, 0, {16, 8}};
    const Coordinates at = {{8, 60}};
    CUtensorMap made = map.at(tensor);
    fill_tensor(3);
    CHECK(cudaMemcpyToSymbol(constant_map, &made, sizeof made));
    load_by_constant<<<1, THREADS, SHARED>>>(at, 2, map.moved(), out);
    box_case("a map in constant memory", map, at);

    fill_tensor(4);
    CHECK(cudaMemcpy(global_map, &made, sizeof made, cudaMemcpyHostToDevice));
    load_by_global<<<1, THREADS, SHARED>>>((CUtensorMap *)global_map, at, 2, map.moved(), out);
    box_case("a map in global memory", map, at);

    made = map.at(out);
    const CUresult code = replace(&made, tensor);
    fill_tensor(5);
    load<<<1, THREADS, SHARED>>>(made, at, 2, 0, map.moved(), map.shared(), out);
    printf("cuTensorMapReplaceAddress: %d\n", code);
    box_case("a map with another address", map, at);

    Map narrower = map;
    narrower.size[0] = 12;
    narrower.pad = 32; // rows of 64 bytes
    made = map.at(out);
    fill_tensor(6);
    change<<<1, THREADS, SHARED>>>(made, (CUtensorMap *)global_map, tensor, 12, narrower.stride(1),
                                   map.moved(), out);
    box_case("a map that a kernel changes", narrower, {{8, 1}});

    const Map triton = {F16, 2, 2, {64, 16}, 0, {32, 8}, {1, 1, 1, 1, 1}, S2};
    fill_tensor(7);
    create<<<1, THREADS, SHARED>>>((CUtensorMap *)global_map, tensor, triton.moved(), out);
    box_case("a map that a kernel makes", triton, {{16, 11}});
}

static void pipelines()
{
    const Map map = {U16, 2, 2, {64, 64}, 0, {16, 8}};
    fill_tensor(8);
    pipeline<<<1, THREADS, SHARED>>>(map.at(tensor), map.moved(), out);
    wait_for("pipeline");
    for (int round = 0; round < 4; round++) {
        const int at[5] = {round * 8, round};
        char name[40];
        snprintf(name, sizeof name, "pipeline, round %d", round);
        CHECK(cudaMemcpy(said, out + round * map.moved(), map.moved(), cudaMemcpyDeviceToHost));
        expect_box(name, map, at, 0);
        answer(name, said, expected, map.moved());
    }
}

static void multicasts()
{
    const Map map = {F16, 2, 2, {64, 64}, 0, {32, 8}, {1, 1, 1, 1, 1}, S2};
    const int at[5] = {8, 2};
    for (unsigned ranks = 1; ranks < 16; ranks += ranks == 3 ? 7 : 2) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = 4;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = 4;
        config.blockDim = THREADS;
        config.dynamicSmemBytes = SHARED;
        config.attrs = &attribute;
        config.numAttrs = 1;
        fill_tensor(9);
        CHECK(cudaLaunchKernelEx(&config, multicast, map.at(tensor), map.moved(),
                                 (unsigned short)ranks, out));
        wait_for("multicast");
        for (unsigned block = 0; block < 4; block++) {
            char name[60];
            snprintf(name, sizeof name, "multicast to %x, block %u", ranks, block);
            CHECK(cudaMemcpy(said, out + block * map.moved(), map.moved(), cudaMemcpyDeviceToHost));
            expect_box(name, map, at, 0);
            if (!(ranks >> block & 1)) memset(expected, 0xcc, map.moved());
            answer(name, said, expected, map.moved());
        }
    }
}

// ---- what cannot be encoded -------------------------------------------------------------------

struct Arguments {
    alignas(128) unsigned char map[256];
    CUtensorMap *to = (CUtensorMap *)map;
    unsigned type = F16, rank = 3;
    void *address = tensor;
    cuuint64_t size[6] = {64, 32, 16, 8, 4, 2}, stride[5] = {128, 4096, 65536, 1 << 20, 1 << 21};
    cuuint32_t box[6] = {32, 8, 4, 2, 2, 1}, step[6] = {1, 1, 1, 1, 1, 1};
    const cuuint64_t *sizes = size, *strides = stride;
    const cuuint32_t *boxes = box, *steps = step;
    unsigned interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

static void encode_case(const char *name, void (*change)(Arguments &))
{
    Arguments a;
    change(a);
    const CUresult code =
        encode(a.to, (CUtensorMapDataType)a.type, a.rank, a.address, a.sizes, a.strides, a.boxes,
               a.steps, (CUtensorMapInterleave)a.interleave, (CUtensorMapSwizzle)a.swizzle,
               (CUtensorMapL2promotion)a.promotion, (CUtensorMapFloatOOBfill)a.fill);
    printf("%s: %d\n", name, code);
}

static void refusals()
{
#define ENCODE(name, change)                                                                       \
    encode_case(name, [](Arguments &a) {                                                           \
        change;                                                                                    \
        (void)a;                                                                                   \
    })
    ENCODE("encode", );
    ENCODE("encode without a map", a.to = nullptr);
    ENCODE("~encode into a map at 32", a.to = (CUtensorMap *)(a.map + 32));
    ENCODE("encode into a map at 64", a.to = (CUtensorMap *)(a.map + 64));
    ENCODE("encode type 16", a.type = 16);
    ENCODE("encode rank 0", a.rank = 0);
    ENCODE("encode rank 1", a.rank = 1);
    ENCODE("encode rank 1 without strides", a.rank = 1; a.strides = nullptr);
    ENCODE("encode rank 5", a.rank = 5);
    ENCODE("encode rank 6", a.rank = 6);
    ENCODE("encode address + 8", a.address = tensor + 8);
    ENCODE("encode address + 16", a.address = tensor + 16);
    ENCODE("encode without sizes", a.sizes = nullptr);
    ENCODE("encode without strides", a.strides = nullptr);
    ENCODE("encode without a box", a.boxes = nullptr);
    ENCODE("encode without steps", a.steps = nullptr);
    ENCODE("encode size 0", a.size[1] = 0);
    ENCODE("encode size 2^32", a.size[1] = 1ull << 32);
    ENCODE("encode size 2^32 + 1", a.size[1] = (1ull << 32) + 1);
    ENCODE("encode stride 120", a.stride[0] = 120);
    ENCODE("encode stride 2^40 - 16", a.stride[1] = (1ull << 40) - 16);
    ENCODE("encode stride 2^40", a.stride[1] = 1ull << 40);
    ENCODE("encode box 0", a.box[2] = 0);
    ENCODE("encode box 256", a.box[1] = 256);
    ENCODE("encode box 257", a.box[1] = 257);
    ENCODE("encode box of 24 bytes", a.box[0] = 12);
    ENCODE("encode box of 16 bytes", a.box[0] = 8);
    ENCODE("encode step 0", a.step[1] = 0);
    ENCODE("encode step 8", a.step[1] = 8);
    ENCODE("encode step 9", a.step[1] = 9);
    ENCODE("encode interleave 3", a.interleave = 3);
    ENCODE("encode swizzle 32B with 32 bytes", a.swizzle = S1; a.box[0] = 16);
    ENCODE("encode swizzle 32B with 48 bytes", a.swizzle = S1; a.box[0] = 24);
    ENCODE("encode swizzle 64B with 64 bytes", a.swizzle = S2; a.box[0] = 32);
    ENCODE("encode swizzle 64B with 80 bytes", a.swizzle = S2; a.box[0] = 40);
    ENCODE("encode swizzle 128B with 128 bytes", a.swizzle = S3; a.box[0] = 64);
    ENCODE("encode swizzle 128B with 144 bytes", a.swizzle = S3; a.box[0] = 72);
    ENCODE("encode swizzle 7", a.swizzle = 7);
    ENCODE("encode promotion 3", a.promotion = 3);
    ENCODE("encode promotion 4", a.promotion = 4);
    ENCODE("encode fill 1", a.fill = 1);
    ENCODE("encode fill 1 of u16", a.fill = 1; a.type = U16);
    ENCODE("encode fill 2", a.fill = 2);
    ENCODE("encode step 0 of dimension 0", a.step[0] = 0);
    ENCODE("encode step 9 of dimension 0", a.step[0] = 9);
    ENCODE("~encode without an address", a.address = nullptr);
    ENCODE("~encode stride 0", a.stride[0] = 0);
    ENCODE("~encode strides that overlap", a.stride[0] = 16);
    ENCODE("~encode interleave 16B", a.interleave = 1);
    ENCODE("~encode interleave 32B", a.interleave = 2; a.swizzle = S1);
    ENCODE("encode f32.ftz", a.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ; a.box[0] = 16);
    ENCODE("encode tf32", a.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32; a.box[0] = 16);
    ENCODE("~encode swizzle 128B in chunks of 32", a.swizzle = 4; a.box[0] = 64);
    alignas(128) CUtensorMap map = Map{U8, 1, 1, {256}, 0, {16}}.at(tensor);
    printf("replace: %d\n", replace(&map, tensor + 16));
    printf("replace by address + 8: %d\n", replace(&map, tensor + 8));
    memset(&map, 0x55, sizeof map);
    printf("~replace in no map: %d\n", replace(&map, tensor));
    int there_are = 0;
    CHECK(cudaDeviceGetAttribute(
        &there_are, (cudaDeviceAttr)CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
    printf("tensor maps: %d\n", there_are);
}

// ---- mistakes ---------------------------------------------------------------------------------

static int mistake(const char *name)
{
    const Map map = {U16, 2, 2, {64, 64}, 0, {16, 8}};
    const unsigned moved = map.moved();
    CUtensorMap made = map.at(tensor);
    unsigned offset = 0, rank = 2;
    int column = 0;
    if (!strcmp(name, "shared address + 16")) offset = 16;
    if (!strcmp(name, "no map")) memset(&made, 0x55, sizeof made);
    if (!strcmp(name, "map of zeros")) memset(&made, 0, sizeof made);
    if (!strcmp(name, "3d with a map of 2d")) rank = 3;
    if (!strcmp(name, "past shared memory")) offset = 300 << 10;
    if (!strcmp(name, "8 bytes into a row")) column = 4;
    const bool left = !strcmp(name, "store left of it");
    if (left || !strcmp(name, "store above it")) {
        store<<<1, THREADS, SHARED>>>(made, Coordinates{{left ? -8 : 8, left ? 8 : -2}}, 2, 0,
                                      moved, out);
    } else if (!strcmp(name, "reduce above it")) {
        Map halves = map;
        halves.type = F16;
        reduce<<<1, THREADS, SHARED>>>(halves.at(tensor), Coordinates{{8, -2}}, ADD, moved, out);
    } else if (!strcmp(name, "past the allocation")) {
        Map large = map;
        large.size[1] = 1 << 24;
        made = large.at(tensor);
        load<<<1, THREADS, SHARED>>>(made, Coordinates{{0, 1 << 23}}, 2, 0, moved, moved, out);
    } else {
        load<<<1, THREADS, SHARED>>>(made, Coordinates{{column}}, rank, offset, moved, moved, out);
    }
    printf("mistake: %s: %s\n", name, cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

static void prepare()
{
    encode = (encode_function *)entry("cuTensorMapEncodeTiled");
    replace = (replace_function *)entry("cuTensorMapReplaceAddress");
    CHECK(cudaMalloc(&tensor, ROOM));
    CHECK(cudaMalloc(&out, ROOM));
    CHECK(cudaMalloc(&global_map, 128));
    CHECK(cudaFuncSetAttribute(load, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    CHECK(cudaFuncSetAttribute(store, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    CHECK(cudaFuncSetAttribute(reduce, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    CHECK(cudaFuncSetAttribute(multicast, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    CHECK(cudaFuncSetAttribute(pipeline, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    CHECK(cudaFuncSetAttribute(change, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    CHECK(cudaFuncSetAttribute(create, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    CHECK(cudaFuncSetAttribute(load_by_constant, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               SHARED));
    CHECK(
        cudaFuncSetAttribute(load_by_global, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
}

int main(int count, char **arguments)
{
    static const char *const mistakes[] = {"shared address + 16", "no map",
                                           "map of zeros",        "3d with a map of 2d",
                                           "past shared memory",  "8 bytes into a row",
                                           "store left of it",    "store above it",
                                           "reduce above it",     "past the allocation"};
    if (count < 2)
        for (const char *name : mistakes) in_process(arguments[0], name);
    prepare();
    if (count > 1) return mistake(arguments[1]);
    refusals();
    shapes();
    swizzles();
    edges();
    steps();
    reductions();
    places();
    pipelines();
    multicasts();
    printf("%d cases are not as expected\n", differing);
    return differing != 0;
}
