// Managed memory, asked of a GPU: what a range knows of the advice it was given, where its
// variables are, and attributes of addresses. Each line is a case and its answer. managed.txt has
// an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o managed tests/gpu/managed.cu -lcuda
//     ./managed > tests/gpu/managed.txt
#include "gpu.cuh"

constexpr size_t PAGE = 4096, BYTES = 32 * PAGE, HALF = BYTES / 2;
constexpr CUmemLocation DEVICE = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                        HOST = {CU_MEM_LOCATION_TYPE_HOST, 0},
                        NODE = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};

static CUdeviceptr range;

// All attributes of a part, in their order.
static void show(const char *name, size_t from, size_t size)
{
    printf("%s:", name);
    for (int attribute = 1; attribute <= 8; attribute++) {
        int answer = 77;
        const CUresult code = cuMemRangeGetAttribute(
            &answer, sizeof answer, (CUmem_range_attribute)attribute, range + from, size);
        if (code == CUDA_SUCCESS)
            printf(" %d", answer);
        else
            printf(" (error %d)", (int)code);
    }
    printf("\n");
}

static void show_all()
{
    show("all", 0, BYTES);
    show("first half", 0, HALF);
    show("second half", HALF, HALF);
}

static void advise(const char *name, size_t from, size_t size, CUmem_advise advice,
                   CUmemLocation where)
{
    say(name, cuMemAdvise(range + from, size, advice, where));
    show_all();
}

static void prefetch(const char *name, size_t from, size_t size, CUmemLocation where)
{
    say(name, cuMemPrefetchAsync(range + from, size, where, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
    show_all();
}

static void advice()
{
    show("new", 0, BYTES);
    advise("read mostly", 0, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, DEVICE);
    advise("not a part of a page", 100, 100, CU_MEM_ADVISE_UNSET_READ_MOSTLY, DEVICE);
    show("the same page", 200, 100);
    show("the next page", PAGE, PAGE);
    show("a far page", 16 * PAGE, PAGE);
    advise("on the host", 0, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, HOST);
    advise("half on the device", 0, HALF, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, DEVICE);
    advise("half on a node", HALF, HALF, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, NODE);
    advise("anywhere", 0, BYTES, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, HOST);
    advise("for the device", 0, BYTES, CU_MEM_ADVISE_SET_ACCESSED_BY, DEVICE);
    advise("half for the host", HALF, HALF, CU_MEM_ADVISE_SET_ACCESSED_BY, HOST);
    advise("half not for the device", HALF, HALF, CU_MEM_ADVISE_UNSET_ACCESSED_BY, DEVICE);
    advise("not for the host", 0, BYTES, CU_MEM_ADVISE_UNSET_ACCESSED_BY, HOST);
    advise("not for the device", 0, BYTES, CU_MEM_ADVISE_UNSET_ACCESSED_BY, DEVICE);
    prefetch("to the device", 0, BYTES, DEVICE);
    prefetch("half to the host", 0, HALF, HOST);
    prefetch("half to a node", HALF, HALF, NODE);
    prefetch("to the device again", 0, BYTES, DEVICE);
    prefetch("a page to the host", PAGE, PAGE, HOST);
    show("the page before", 0, PAGE);
    show("the page", PAGE, PAGE);
}

static void questions()
{
    int answers[4] = {77, 77, 77, 77};
    CUdeviceptr device;
    const auto ask = [&](int attribute, size_t size, size_t bytes) {
        printf("attribute %d, %zu bytes, ", attribute, size);
        say("answer",
            cuMemRangeGetAttribute(answers, size, (CUmem_range_attribute)attribute, range, bytes));
    };
    cuMemAdvise(range, BYTES, CU_MEM_ADVISE_SET_ACCESSED_BY, DEVICE);
    cuMemAdvise(range, BYTES, CU_MEM_ADVISE_SET_ACCESSED_BY, HOST);
    for (int attribute = 1; attribute <= 8; attribute++)
        for (size_t size : {2, 6, 8, 16}) ask(attribute, size, BYTES);
    printf("accessed by %d %d %d %d\n", answers[0], answers[1], answers[2], answers[3]);
    int mostly = 7, preferred = 7;
    void *both[] = {&mostly, &preferred};
    size_t sizes[] = {4, 8};
    CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                     CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    say("two at once, the second too large",
        cuMemRangeGetAttributes(both, sizes, which, 2, range, PAGE));
    printf("they are %d %d\n", mostly, preferred);
    say("none at once", cuMemRangeGetAttributes(both, sizes, which, 0, range, PAGE));
    ask(0, 4, BYTES);
    ask(9, 4, BYTES);
    ask(1, 4, BYTES + 1);
    CHECK(cudaMalloc((void **)&device, 64));
    say("of device memory",
        cuMemRangeGetAttribute(answers, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, device, 16));
    CHECK(cudaFree((void *)device));
}

// ---- variables
// -----------------------------------------------------------------------------------

__managed__ int numbers[16];

__global__ void add()
{
    numbers[threadIdx.x] += 2;
}

static void symbols()
{
    int words[20];
    size_t size = 0;
    void *address;
    for (int i = 0; i < 20; i++) words[i] = i;
    say("size", cudaGetSymbolSize(&size, numbers));
    say("copy into it", cudaMemcpyToSymbol(numbers, words, 64));
    add<<<1, 16>>>();
    say("run", cudaDeviceSynchronize());
    say("copy out of it", cudaMemcpyFromSymbol(words, numbers, 8, 56));
    printf("bytes %zu, copied %d %d, the host reads %d\n", size, words[0], words[1], numbers[3]);
    say("copy too much", cudaMemcpyFromSymbol(words, numbers, 65));
    say("address of an element", cudaGetSymbolAddress(&address, numbers[1]));
}

static void variables()
{
    void *address = nullptr;
    cudaPointerAttributes of = {};
    say("address of a variable", cudaGetSymbolAddress(&address, numbers));
    CHECK(cudaPointerGetAttributes(&of, address));
    printf("its own %d, type %d, device %d, for the device %d, for the host %d\n",
           address == (void *)numbers, (int)of.type, of.device, of.devicePointer == address,
           of.hostPointer == address);
}

// ---- addresses
// -----------------------------------------------------------------------------------

// Whether synchronous calls wait for what they do to the memory.
static void waits(const char *name, void *p)
{
    unsigned char is = 9;
    cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)p);
    printf("%s: %d\n", name, is);
    for (unsigned wanted : {1, 0}) {
        unsigned now = 9;
        say("set",
            cuPointerSetAttribute(&wanted, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)p));
        cuPointerGetAttribute(&now, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)p);
        printf("%u is then %u\n", wanted, now & 255);
    }
}

static void ask_unknown(const char *name, CUdeviceptr p)
{
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_HOST_POINTER,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    unsigned type = 77;
    int ordinal = 77;
    CUdeviceptr host = 7, device = 7;
    void *answers[] = {&type, &host, &ordinal, &device};
    say(name, cuPointerGetAttributes(4, which, answers, p));
    printf("type %u, ordinal %d, itself for the host %d, none for the device %d\n", type, ordinal,
           host == p, device == 0);
    say("no attributes", cuPointerGetAttributes(0, which, answers, p));
}

static void addresses()
{
    void *device, *managed, *pinned, *pooled, *plain = malloc(64);
    const unsigned wanted = 1;
    CHECK(cudaMalloc(&device, 64));
    CHECK(cudaMallocHost(&pinned, 64));
    CHECK(cudaMallocManaged(&managed, 64));
    CHECK(cudaMallocAsync(&pooled, 64, 0));
    waits("device memory", device);
    waits("pinned memory", pinned);
    waits("managed memory", managed);
    waits("memory of a pool", pooled);
    say("set from inside",
        cuPointerSetAttribute(&wanted, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)device + 16));
    say("set on plain memory",
        cuPointerSetAttribute(&wanted, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)plain));
    ask_unknown("plain memory", (CUdeviceptr)plain);
    ask_unknown("an address", 0x1234);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
    CHECK(cudaFreeAsync(pooled, 0));
    CHECK(cudaDeviceSynchronize());
    free(plain);
}

int main()
{
    CHECK(cudaMallocManaged((void **)&range, BYTES));
    advice();
    questions();
    CHECK(cudaFree((void *)range));
    variables();
    symbols();
    addresses();
    return 0;
}
