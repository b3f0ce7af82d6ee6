// Programs that put device memory together themselves (cuMemAddressReserve, cuMemCreate, cuMemMap),
// and calls that do many copies at once.
#include "tests/programs/driver_program.cuh"

#include <vector>

__global__ void add_index(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += i;
}

static CUmemAllocationProp on_device()
{
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return prop;
}

static void give_access(CUdeviceptr address, size_t size, CUmemAccess_flags flags)
{
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = flags;
    CHECK_DRIVER(cuMemSetAccess(address, size, &access, 1));
}

// An array that grows in place: its addresses stay, its contents too.
static void growing_array()
{
    use_primary_context();
    const CUmemAllocationProp prop = on_device();
    size_t piece;
    CHECK_DRIVER(cuMemGetAllocationGranularity(&piece, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT(piece > 0 && piece % 4096 == 0);
    const int pieces = 3, per_piece = static_cast<int>(piece / sizeof(int));
    CUdeviceptr base;
    CUmemGenericAllocationHandle handles[pieces];
    std::vector<int> in(per_piece * pieces), out(per_piece * pieces);
    for (size_t i = 0; i < in.size(); i++) in[i] = value_at(static_cast<int>(i));
    CHECK_DRIVER(cuMemAddressReserve(&base, piece * pieces, 0, 0, 0));
    for (int k = 0; k < pieces; k++) {
        CHECK_DRIVER(cuMemCreate(&handles[k], piece, &prop, 0));
        CHECK_DRIVER(cuMemMap(base + k * piece, piece, 0, handles[k], 0));
        give_access(base + k * piece, piece, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        CHECK_DRIVER(cuMemcpyHtoD(base + k * piece, in.data() + k * per_piece, piece));
    }
    // One kernel and one copy over all pieces.
    const int n = per_piece * pieces;
    add_index<<<(n + 255) / 256, 256>>>(reinterpret_cast<int *>(base), n);
    CHECK(cudaGetLastError());
    CHECK_DRIVER(cuMemcpyDtoH(out.data(), base, n * sizeof(int)));
    for (int i = 0; i < n; i++) EXPECT(out[i] == in[i] + i);
    unsigned long long flags;
    CHECK_DRIVER(cuMemGetAccess(&flags, &prop.location, base + piece));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CHECK_DRIVER(cuMemUnmap(base, piece * pieces));
    for (CUmemGenericAllocationHandle handle : handles) CHECK_DRIVER(cuMemRelease(handle));
    CHECK_DRIVER(cuMemAddressFree(base, piece * pieces));
}

// The same memory at two addresses; and memory that outlives its handle while it is mapped.
static void two_addresses()
{
    use_primary_context();
    const CUmemAllocationProp prop = on_device();
    size_t piece;
    CUdeviceptr first, second;
    CUmemGenericAllocationHandle handle;
    CHECK_DRIVER(
        cuMemGetAllocationGranularity(&piece, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    CHECK_DRIVER(cuMemCreate(&handle, piece, &prop, 0));
    CHECK_DRIVER(cuMemAddressReserve(&first, piece, 0, 0, 0));
    CHECK_DRIVER(cuMemAddressReserve(&second, piece, 0, 0, 0));
    CHECK_DRIVER(cuMemMap(first, piece, 0, handle, 0));
    CHECK_DRIVER(cuMemMap(second, piece, 0, handle, 0));
    CHECK_DRIVER(cuMemRelease(handle));
    give_access(first, piece, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    give_access(second, piece, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CHECK_DRIVER(cuMemsetD32(first, 1000, 64));
    add_index<<<1, 64>>>(reinterpret_cast<int *>(second), 64);
    int out[64];
    CHECK_DRIVER(cuMemcpyDtoH(out, first, sizeof out));
    for (int i = 0; i < 64; i++) EXPECT(out[i] == 1000 + i);
    CHECK_DRIVER(cuMemUnmap(first, piece));
    CHECK_DRIVER(cuMemcpyDtoH(out, second, sizeof out));
    EXPECT(out[63] == 1063);
    CHECK_DRIVER(cuMemUnmap(second, piece));
    CHECK_DRIVER(cuMemAddressFree(first, piece));
    CHECK_DRIVER(cuMemAddressFree(second, piece));
}

static void refused_maps()
{
    use_primary_context();
    const CUmemAllocationProp prop = on_device();
    size_t piece;
    CUdeviceptr base;
    CUmemGenericAllocationHandle handle;
    CHECK_DRIVER(cuMemGetAllocationGranularity(&piece, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT_RESULT(cuMemCreate(&handle, piece + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_RESULT(cuMemAddressReserve(&base, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_DRIVER(cuMemAddressReserve(&base, 2 * piece, 0, 0, 0));
    CHECK_DRIVER(cuMemCreate(&handle, piece, &prop, 0));
    CHECK_DRIVER(cuMemMap(base, piece, 0, handle, 0));
    EXPECT_RESULT(cuMemMap(base, piece, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_RESULT(cuMemUnmap(base, piece / 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_RESULT(cuMemAddressFree(base, 2 * piece), CUDA_ERROR_INVALID_VALUE);
    CHECK_DRIVER(cuMemUnmap(base, piece));
    CHECK_DRIVER(cuMemRelease(handle));
    EXPECT_RESULT(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    CHECK_DRIVER(cuMemAddressFree(base, 2 * piece));
}

// ---- many copies in one call ----------------------------------------------------------------

static void batch_of_copies()
{
    const int copies = 5, n = 100;
    cudaStream_t stream;
    int *device, *host;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, copies * n * sizeof(int)));
    CHECK(cudaMallocHost(&host, 2 * copies * n * sizeof(int)));
    void *to[copies];
    const void *from[copies];
    size_t sizes[copies], first[2] = {0, 2};
    cudaMemcpyAttributes attributes[2] = {};
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    for (int i = 0; i < copies * n; i++) host[i] = value_at(i);
    for (int k = 0; k < copies; k++) {
        to[k] = device + k * n;
        from[k] = host + k * n;
        sizes[k] = (n - 3 * k) * sizeof(int);
    }
    CHECK(cudaMemsetAsync(device, 0, copies * n * sizeof(int), stream));
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, copies, attributes, first, 2, stream));
    for (int i = 2 * n; i < copies * n; i++) host[i] = -1; // read already
    for (int k = 0; k < copies; k++) {
        from[k] = device + k * n;
        to[k] = host + (copies + k) * n;
        sizes[k] = n * sizeof(int);
    }
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, copies, attributes, first, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int k = 0; k < copies; k++)
        for (int i = 0; i < n; i++)
            EXPECT(host[(copies + k) * n + i] == (i < n - 3 * k ? value_at(k * n + i) : 0));
    EXPECT_ERROR(cudaMemcpyBatchAsync(to, from, sizes, copies, attributes, first, 0, stream),
                 cudaErrorInvalidValue);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(host));
    CHECK(cudaStreamDestroy(stream));
}

// Boxes between an array and memory, in one call.
static void batch_of_boxes()
{
    const int width = 12, height = 5, depth = 3;
    cudaStream_t stream;
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<short>();
    short *in, *out;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, depth), 0));
    CHECK(cudaMallocHost(&in, width * height * depth * sizeof(short)));
    CHECK(cudaMallocHost(&out, width * height * depth * sizeof(short)));
    for (int i = 0; i < width * height * depth; i++) {
        in[i] = static_cast<short>(value_at(i));
        out[i] = 0;
    }
    cudaMemcpy3DBatchOp op = {};
    op.src.type = cudaMemcpyOperandTypePointer;
    op.src.op.ptr.ptr = in;
    op.dst.type = cudaMemcpyOperandTypeArray;
    op.dst.op.array.array = array;
    op.extent = make_cudaExtent(width, height, depth);
    op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpy3DBatchAsync(1, &op, 0, stream));
    cudaMemcpy3DBatchOp back[2] = {};
    for (int k = 0; k < 2; k++) {
        back[k].src.type = cudaMemcpyOperandTypeArray;
        back[k].src.op.array.array = array;
        back[k].src.op.array.offset = {static_cast<size_t>(3 + k), 1, static_cast<size_t>(2 * k)};
        back[k].dst.type = cudaMemcpyOperandTypePointer;
        back[k].dst.op.ptr.ptr = out + k * 16;
        back[k].extent = make_cudaExtent(8, 2, 1);
        back[k].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    }
    CHECK(cudaMemcpy3DBatchAsync(2, back, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 16; i++)
            EXPECT(out[k * 16 + i] == in[(2 * k * height + 1 + i / 8) * width + 3 + k + i % 8]);
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    CHECK(cudaStreamDestroy(stream));
}

static void batch_of_prefetches()
{
    int *a, *b;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocManaged(&a, 4096));
    CHECK(cudaMallocManaged(&b, 8192));
    void *ranges[2] = {a, b};
    size_t sizes[2] = {4096, 8192}, first[2] = {0, 1};
    cudaMemLocation places[2] = {{cudaMemLocationTypeDevice, 0}, {cudaMemLocationTypeHost, 0}};
    for (int i = 0; i < 1024; i++) a[i] = b[i] = i;
    CHECK(cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, first, 2, 0, stream));
    add_index<<<8, 128, 0, stream>>>(a, 1024);
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 1024; i++) EXPECT(a[i] == 2 * i && b[i] == i);
    CHECK(cudaMemDiscardBatchAsync(ranges, sizes, 1, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemset(a, 0, 4096));
    CHECK(cudaDeviceSynchronize());
    EXPECT(a[1023] == 0 && b[1023] == 1023);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaStreamDestroy(stream));
}

// Memory of the host with an address of the device's: both use it there.
static void host_memory()
{
    use_primary_context();
    CUmemAllocationProp prop = on_device();
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    const size_t size = 2 << 20;
    const int n = 1000;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CHECK_DRIVER(cuMemCreate(&handle, size, &prop, 0));
    CHECK_DRIVER(cuMemAddressReserve(&address, size, 0, 0, 0));
    CHECK_DRIVER(cuMemMap(address, size, 0, handle, 0));
    CUmemAccessDesc access[2] = {};
    access[0].location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    access[1].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access[0].flags = access[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK_DRIVER(cuMemSetAccess(address, size, access, 2));
    int *data = reinterpret_cast<int *>(address), copy[2];
    for (int i = 0; i < n; i++) data[i] = 7;
    add_index<<<8, 128>>>(data, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(data[i] == 7 + i);
    unsigned type = 0;
    CHECK_DRIVER(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    EXPECT(type == CU_MEMORYTYPE_HOST);
    CHECK(cudaMemcpy(copy, data + 1, sizeof copy, cudaMemcpyHostToHost));
    EXPECT(copy[0] == 8 && copy[1] == 9);
    CHECK_DRIVER(cuMemUnmap(address, size));
    CHECK_DRIVER(cuMemAddressFree(address, size));
    CHECK_DRIVER(cuMemRelease(handle));
    prop.location.id = 5; // there is no such node
    EXPECT(cuMemCreate(&handle, size, &prop, 0) == CUDA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv)
{
    static const Program programs[] = {
        {"growing_array", growing_array},   {"two_addresses", two_addresses},
        {"refused_maps", refused_maps},     {"batch_of_copies", batch_of_copies},
        {"batch_of_boxes", batch_of_boxes}, {"batch_of_prefetches", batch_of_prefetches},
        {"host_memory", host_memory},
    };
    return run_programs(argc, argv, programs);
}
