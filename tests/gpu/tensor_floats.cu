// Tensor maps whose elements change when they are copied, asked of a GPU: floats whose denormal
// numbers become zero (FLOAT32_FTZ) and floats of 19 bits (TFLOAT32, TFLOAT32_FTZ). Each line is
// what becomes of one word, or a hash of what becomes of many; where a copy is refused, the error.
//
//     nvcc -std=c++17 -arch=sm_90a -o tensor_floats tests/gpu/tensor_floats.cu
//     ./tensor_floats > tests/gpu/tensor_floats.txt
#include "gpu.cuh"
#include "tensor_map.cuh"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr unsigned WORDS = 256, BYTES = WORDS * 4, SHARED = 8 << 10, BOXES = 64;

// Zeros, denormal numbers, numbers on, above and below the middle between two of 19 bits, the
// largest of both lengths, infinities and NaNs: positive ones; negative ones are made of them.
const uint32_t values[] = {
    0x00000000, 0x00000001, 0x00000fff, 0x00001000, 0x00001001, 0x00001fff, 0x00002000, 0x00003000,
    0x00400000, 0x007fe000, 0x007fefff, 0x007ff000, 0x007fffff, 0x00800000, 0x00800fff, 0x00801000,
    0x00801001, 0x00803000, 0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f801fff, 0x3f802000,
    0x3f802fff, 0x3f803000, 0x3f803001, 0x3fffefff, 0x3ffff000, 0x3fffffff, 0x40490fdb, 0x7f7fe000,
    0x7f7fefff, 0x7f7ff000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7f801000, 0x7f802000, 0x7fa00000,
    0x7fbfffff, 0x7fc00000, 0x7fc01234, 0x7fffe000, 0x7fffffff};
constexpr unsigned VALUES = sizeof values / sizeof *values;

const struct {
    const char *name;
    CUtensorMapDataType type;
} types[] = {{"f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
             {"f32.ftz", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ},
             {"tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32},
             {"tf32.ftz", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ}};

static uint32_t in[WORDS], out[WORDS];
static unsigned char *tensor, *tile;

static uint32_t word(unsigned i)
{
    uint32_t x = i * 2654435761u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

// All words in rows of `width`, of which one box has all.
static CUtensorMap map_of(CUtensorMapDataType type, unsigned rank, unsigned width,
                          CUtensorMapFloatOOBfill fill)
{
    alignas(128) CUtensorMap map;
    encode_function *encode = (encode_function *)entry("cuTensorMapEncodeTiled");
    const cuuint64_t size[] = {width, WORDS / width}, stride[] = {width * 4};
    const cuuint32_t box[] = {width, WORDS / width}, step[] = {1, 1};
    const CUresult code =
        encode(&map, type, rank, tensor, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    if (code != CUDA_SUCCESS) printf("encode: %d\n", code);
    if (code != CUDA_SUCCESS) exit(1);
    return map;
}

static bool ended(const char *what)
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) printf("%s: %s\n", what, cudaGetErrorName(error));
    return error == cudaSuccess;
}

// Takes `in` through the tensor map once, either way, to `out`.
static bool move(const CUtensorMap &map, bool loads, const char *what)
{
    unsigned char *from = loads ? tensor : tile, *to = loads ? tile : tensor;
    CHECK(cudaMemcpy(from, in, BYTES, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(to, 0xdd, BYTES));
    if (loads)
        load<<<1, 128, SHARED>>>(map, Coordinates{{0}}, 1, 0, BYTES, BYTES, tile);
    else
        store<<<1, 128, SHARED>>>(map, Coordinates{{0}}, 1, 0, BYTES, tile);
    if (!ended(what)) return false;
    CHECK(cudaMemcpy(out, to, BYTES, cudaMemcpyDeviceToHost));
    return true;
}

static void each_value(const CUtensorMap &map, bool loads, const char *what)
{
    for (unsigned i = 0; i < WORDS; i++) in[i] = values[i % VALUES] | (i < VALUES ? 0 : 1u << 31);
    if (!move(map, loads, what)) return;
    for (unsigned i = 0; i < 2 * VALUES; i++) printf("%s %08x: %08x\n", what, in[i], out[i]);
}

static void many_values(const CUtensorMap &map, bool loads, const char *what)
{
    uint64_t hash = 1469598103934665603ull;
    unsigned changed = 0;
    for (unsigned k = 0; k < BOXES; k++) {
        for (unsigned i = 0; i < WORDS; i++) in[i] = word(k * WORDS + i);
        if (!move(map, loads, what)) return;
        for (unsigned i = 0; i < WORDS; i++) {
            hash = (hash ^ out[i]) * 1099511628211ull;
            changed += in[i] != out[i];
        }
    }
    printf("%s %u words: %u change, hash %016llx\n", what, BOXES * WORDS, changed,
           (unsigned long long)hash);
}

// What is outside of the tensor.
static void outside(unsigned type)
{
    char name[60];
    for (int nan = 0; nan < 2; nan++) {
        const CUtensorMap map = map_of(types[type].type, 1, WORDS,
                                       nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                           : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        snprintf(name, sizeof name, "load %s outside%s", types[type].name, nan ? ", NaN" : "");
        for (unsigned i = 0; i < WORDS; i++) in[i] = 0x3f801001;
        CHECK(cudaMemcpy(tensor, in, BYTES, cudaMemcpyHostToDevice));
        load<<<1, 128, SHARED>>>(map, Coordinates{{4}}, 1, 0, BYTES, BYTES, tile);
        if (!ended(name)) return;
        CHECK(cudaMemcpy(out, tile, BYTES, cudaMemcpyDeviceToHost));
        printf("%s: %08x %08x\n", name, out[WORDS - 5], out[WORDS - 4]);
    }
}

// 16 rows of 16, so that the two-dimensional reductions of tensor_map.cuh serve.
static void reductions(unsigned type, Operation operation, const char *operation_name)
{
    char name[60];
    const CUtensorMap map = map_of(types[type].type, 2, 16, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    // There: what is added to; here: what is added.
    const uint32_t there[] = {0x3f800000, 0x3f801000, 0x3f801001, 0x00000001, 0x00000001,
                              0x80001000, 0x007fffff, 0x7f7fffff, 0x00000000, 0x3f800000},
                   here[] = {0x3f800fff, 0x34000000, 0x00000000, 0x00000001, 0x3f801001,
                             0x00000fff, 0x00000001, 0x3f801001, 0x3f801001, 0x00001fff};
    constexpr unsigned PAIRS = sizeof here / sizeof *here;
    for (unsigned i = 0; i < WORDS; i++) in[i] = there[i % PAIRS];
    CHECK(cudaMemcpy(tensor, in, BYTES, cudaMemcpyHostToDevice));
    for (unsigned i = 0; i < WORDS; i++) in[i] = here[i % PAIRS];
    CHECK(cudaMemcpy(tile, in, BYTES, cudaMemcpyHostToDevice));
    snprintf(name, sizeof name, "%s %s", operation_name, types[type].name);
    reduce<<<1, 128, SHARED>>>(map, Coordinates{{0, 0}}, operation, BYTES, tile);
    if (!ended(name)) return;
    CHECK(cudaMemcpy(out, tensor, BYTES, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < PAIRS; i++)
        printf("%s %08x %08x: %08x\n", name, there[i], here[i], out[i]);
}

// A fault ends a process's use of the device, so each part has a process.
int main(int argc, char **argv)
{
    constexpr unsigned TYPES = sizeof types / sizeof *types;
    static const char *const parts[] = {"load", "store", "outside", "add", "min", "max"};
    if (argc == 1) {
        for (unsigned k = 0; k < TYPES; k++)
            for (const char *part : parts) {
                char argument[20];
                snprintf(argument, sizeof argument, "%u%s", k, part);
                in_process(argv[0], argument);
            }
        return 0;
    }
    const unsigned type = (unsigned)(argv[1][0] - '0');
    const char *part = argv[1] + 1;
    char name[40];
    if (type >= TYPES) return 1;
    CHECK(cudaMalloc(&tensor, BYTES));
    CHECK(cudaMalloc(&tile, BYTES));
    snprintf(name, sizeof name, "%s %s", part, types[type].name);
    if (!strcmp(part, "load") || !strcmp(part, "store")) {
        const CUtensorMap map =
            map_of(types[type].type, 1, WORDS, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        each_value(map, *part == 'l', name);
        many_values(map, *part == 'l', name);
    } else if (!strcmp(part, "outside")) {
        outside(type);
    } else {
        reductions(type, *part == 'a' ? ADD : part[1] == 'i' ? MIN : MAX, part);
    }
    return 0;
}
