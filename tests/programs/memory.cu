// Programs about memory: copies, pinned and managed memory, variables, strides, fills.
#include "tests/programs/program.cuh"

#include <vector>

static const int ragged = 100003; // off every block, warp and page size

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

static std::vector<float> numbers(int n, int seed)
{
    std::vector<float> values(n);
    for (int i = 0; i < n; i++) values[i] = static_cast<float>(value_at(i + seed));
    return values;
}

static void vector_add()
{
    const size_t bytes = ragged * sizeof(float);
    std::vector<float> a = numbers(ragged, 1), b = numbers(ragged, 7), c(ragged, -1.0f);
    float *da, *db, *dc;
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
    add<<<(ragged + 255) / 256, 256>>>(da, db, dc, ragged);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ragged; i++) EXPECT(c[i] == a[i] + b[i]);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
}

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

// Pinned buffers, one stream per piece, everything asynchronous until the end.
static void pinned_pieces()
{
    const int pieces = 5, piece = 20011;
    const size_t bytes = piece * sizeof(float);
    float *x, *y, *dx, *dy;
    cudaStream_t streams[pieces];
    CHECK(cudaMallocHost(&x, pieces * bytes));
    CHECK(cudaHostAlloc(&y, pieces * bytes, cudaHostAllocDefault));
    CHECK(cudaMalloc(&dx, pieces * bytes));
    CHECK(cudaMalloc(&dy, pieces * bytes));
    for (int i = 0; i < pieces * piece; i++) {
        x[i] = static_cast<float>(value_at(i));
        y[i] = static_cast<float>(value_at(i + 3));
    }
    for (int s = 0; s < pieces; s++) CHECK(cudaStreamCreate(&streams[s]));
    for (int s = 0; s < pieces; s++) {
        size_t at = static_cast<size_t>(s) * piece;
        CHECK(cudaMemcpyAsync(dx + at, x + at, bytes, cudaMemcpyHostToDevice, streams[s]));
        CHECK(cudaMemcpyAsync(dy + at, y + at, bytes, cudaMemcpyHostToDevice, streams[s]));
        saxpy<<<8, 128, 0, streams[s]>>>(2.0f, dx + at, dy + at, piece);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(y + at, dy + at, bytes, cudaMemcpyDeviceToHost, streams[s]));
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < pieces * piece; i++)
        EXPECT(y[i] ==
               2.0f * static_cast<float>(value_at(i)) + static_cast<float>(value_at(i + 3)));
    for (int s = 0; s < pieces; s++) CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaFreeHost(x));
    CHECK(cudaFreeHost(y));
    CHECK(cudaFree(dx));
    CHECK(cudaFree(dy));
}

// Memory of the host that the device reads and writes in place: mapped, and registered later.
static void mapped_memory()
{
    const int n = 4099;
    float *x, *dx, *dy;
    std::vector<float> y = numbers(n, 5);
    CHECK(cudaHostAlloc(&x, n * sizeof(float), cudaHostAllocMapped));
    for (int i = 0; i < n; i++) x[i] = static_cast<float>(i);
    CHECK(cudaHostGetDevicePointer(&dx, x, 0));
    CHECK(cudaHostRegister(y.data(), n * sizeof(float), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&dy, y.data(), 0));
    saxpy<<<4, 64>>>(3.0f, dx, dy, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(y[i] == 3.0f * static_cast<float>(i) + static_cast<float>(value_at(i + 5)));
    CHECK(cudaHostUnregister(y.data()));
    CHECK(cudaFreeHost(x));
}

__managed__ int managed_counter = 40;
__managed__ float managed_table[100];

__global__ void count_up(int *also)
{
    managed_table[threadIdx.x] = managed_table[threadIdx.x] * 2.0f + threadIdx.x;
    if (threadIdx.x == 0) managed_counter += 2;
    also[threadIdx.x] += static_cast<int>(threadIdx.x);
}

static void managed_memory()
{
    int *also;
    CHECK(cudaMallocManaged(&also, 100 * sizeof(int)));
    for (int i = 0; i < 100; i++) {
        also[i] = 1000;
        managed_table[i] = static_cast<float>(i);
    }
    EXPECT(managed_counter == 40);
    count_up<<<1, 100>>>(also);
    CHECK(cudaDeviceSynchronize());
    EXPECT(managed_counter == 42);
    for (int i = 0; i < 100; i++) {
        EXPECT(also[i] == 1000 + i);
        EXPECT(managed_table[i] == 3.0f * static_cast<float>(i));
    }
    CHECK(cudaFree(also));
}

// ---- variables ------------------------------------------------------------------------------

__constant__ float polynomial[5];
__device__ unsigned long long total;
__device__ int grid_of_numbers[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
static __device__ double hidden = 2.5;

__global__ void evaluate(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 4; k >= 0; k--) sum = sum * x[i] + polynomial[k];
    y[i] = sum;
    atomicAdd(&total, 1ull);
}

static void constant_memory()
{
    const int n = 1000;
    const float coefficients[5] = {1.0f, -2.0f, 0.5f, 4.0f, -1.0f};
    std::vector<float> x(n), y(n);
    float *dx, *dy, back[5];
    unsigned long long counted = 5;
    for (int i = 0; i < n; i++) x[i] = static_cast<float>(i % 9 - 4);
    CHECK(cudaMemcpyToSymbol(polynomial, coefficients, sizeof coefficients));
    CHECK(cudaMemcpyToSymbol(total, &counted, sizeof counted));
    CHECK(cudaMalloc(&dx, n * sizeof(float)));
    CHECK(cudaMalloc(&dy, n * sizeof(float)));
    CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    evaluate<<<8, 128>>>(dx, dy, n);
    CHECK(cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&counted, total, sizeof counted));
    CHECK(cudaMemcpyFromSymbol(back, polynomial, 2 * sizeof(float), 3 * sizeof(float)));
    EXPECT(counted == 5ull + n);
    EXPECT(back[0] == 4.0f && back[1] == -1.0f);
    for (int i = 0; i < n; i++) {
        float v = x[i], wanted = (((-1.0f * v + 4.0f) * v + 0.5f) * v - 2.0f) * v + 1.0f;
        EXPECT(y[i] == wanted); // small integers and halves: exact in any order
    }
    CHECK(cudaFree(dx));
    CHECK(cudaFree(dy));
}

__global__ void touch_variables()
{
    int x = threadIdx.x, y = threadIdx.y;
    grid_of_numbers[y][x] += 100 * y + 10 * x;
    if (x == 0 && y == 0) hidden *= 3.0;
}

static void device_variables()
{
    int numbers[3][4];
    double value;
    void *address;
    size_t size;
    touch_variables<<<1, dim3(4, 3)>>>();
    CHECK(cudaMemcpyFromSymbol(numbers, grid_of_numbers, sizeof numbers));
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++)
            EXPECT(numbers[y][x] == (y < 2 ? 4 * y + x + 1 : 0) + 100 * y + 10 * x);
    CHECK(cudaGetSymbolAddress(&address, hidden));
    CHECK(cudaGetSymbolSize(&size, hidden));
    EXPECT(size == sizeof value);
    CHECK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == 7.5);
    EXPECT_ERROR(cudaMemcpyToSymbol(hidden, &value, sizeof value, 1), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemcpyToSymbol("hidden", &value, sizeof value), cudaErrorInvalidSymbol);
    EXPECT(cudaGetLastError() == cudaErrorInvalidSymbol);
}

// ---- more than one dimension ----------------------------------------------------------------

__global__ void transpose(const int *from, size_t from_pitch, int *to, size_t to_pitch, int width,
                          int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int *row =
        reinterpret_cast<const int *>(reinterpret_cast<const char *>(from) + y * from_pitch);
    int *column = reinterpret_cast<int *>(reinterpret_cast<char *>(to) + x * to_pitch);
    column[y] = row[x];
}

static void rows_with_pitch()
{
    const int width = 131, height = 67;
    std::vector<int> in(width * height), out(width * height, -1);
    int *from, *to;
    size_t from_pitch, to_pitch;
    for (int i = 0; i < width * height; i++) in[i] = value_at(i);
    CHECK(cudaMallocPitch(&from, &from_pitch, width * sizeof(int), height));
    CHECK(cudaMallocPitch(&to, &to_pitch, height * sizeof(int), width));
    EXPECT(from_pitch >= width * sizeof(int) && from_pitch % 32 == 0);
    CHECK(cudaMemcpy2D(from, from_pitch, in.data(), width * sizeof(int), width * sizeof(int),
                       height, cudaMemcpyHostToDevice));
    transpose<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(
        from, from_pitch, to, to_pitch, width, height);
    CHECK(cudaMemcpy2D(out.data(), height * sizeof(int), to, to_pitch, height * sizeof(int), width,
                       cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) EXPECT(out[x * height + y] == in[y * width + x]);
    EXPECT_ERROR(cudaMemcpy2D(out.data(), 4, to, to_pitch, 8, 2, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidPitchValue);
    EXPECT_ERROR(cudaMemcpy2D(out.data(), 4, to, to_pitch, 8, 1, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidValue);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
}

static void boxes()
{
    const size_t w = 20, h = 7, d = 5;
    unsigned char in[d][h][w], out[d][h][w];
    cudaPitchedPtr box;
    for (size_t i = 0; i < sizeof in; i++) (&in[0][0][0])[i] = static_cast<unsigned char>(i % 64);
    std::memset(out, 0, sizeof out);
    CHECK(cudaMalloc3D(&box, make_cudaExtent(w, h, d)));
    CHECK(cudaMemset3D(box, 0x5a, make_cudaExtent(w, h, d)));
    cudaMemcpy3DParms parts = {};
    parts.srcPtr = make_cudaPitchedPtr(in, w, w, h);
    parts.dstPtr = box;
    parts.srcPos = parts.dstPos = make_cudaPos(3, 2, 1);
    parts.extent = make_cudaExtent(10, 4, 3);
    parts.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&parts));
    cudaMemcpy3DParms whole = {};
    whole.srcPtr = box;
    whole.dstPtr = make_cudaPitchedPtr(out, w, w, h);
    whole.extent = make_cudaExtent(w, h, d);
    whole.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&whole));
    for (size_t z = 0; z < d; z++)
        for (size_t y = 0; y < h; y++)
            for (size_t x = 0; x < w; x++) {
                bool inside = x >= 3 && x < 13 && y >= 2 && y < 6 && z >= 1 && z < 4;
                EXPECT(out[z][y][x] == (inside ? in[z][y][x] : 0x5a));
            }
    CHECK(cudaMemset3D(box, 0x77, make_cudaExtent(w - 1, h - 2, d - 1)));
    CHECK(cudaMemcpy3DAsync(&whole, 0));
    CHECK(cudaStreamSynchronize(0));
    for (size_t z = 0; z < d; z++)
        for (size_t y = 0; y < h; y++)
            for (size_t x = 0; x < w; x++) {
                bool inside = x < w - 1 && y < h - 2 && z < d - 1;
                EXPECT((out[z][y][x] == 0x77) == inside);
            }
    CHECK(cudaFree(box.ptr));
}

static void fills()
{
    const int n = 1000;
    unsigned char *device, host[n];
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, n));
    CHECK(cudaMemset(device, 0x11, n));
    CHECK(cudaDeviceSynchronize()); // the fill above is in the legacy stream
    CHECK(cudaMemsetAsync(device + 100, 0x122, 300, stream));
    CHECK(cudaMemset2DAsync(device + 500, 100, 0x33, 10, 4, stream));
    CHECK(cudaMemcpyAsync(host, device, n, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++) {
        int wanted = 0x11;
        if (i >= 100 && i < 400) wanted = 0x22; // the value is cut to a byte
        if (i >= 500 && i < 900 && i % 100 < 10) wanted = 0x33;
        EXPECT(host[i] == wanted);
    }
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
}

static void stream_ordered()
{
    const int n = 5000;
    float *x, *y;
    std::vector<float> in = numbers(n, 0), out(n);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocAsync(&x, n * sizeof(float), stream));
    CHECK(cudaMallocAsync(&y, n * sizeof(float), stream));
    CHECK(cudaMemcpyAsync(x, in.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(y, 0, n * sizeof(float), stream));
    saxpy<<<16, 64, 0, stream>>>(4.0f, x, y, n);
    CHECK(cudaFreeAsync(x, stream));
    CHECK(cudaMemcpyAsync(out.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(y, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++) EXPECT(out[i] == 4.0f * in[i]);
    CHECK(cudaStreamDestroy(stream));
}

static void pointers()
{
    cudaPointerAttributes attributes;
    void *device, *pinned, *managed;
    size_t free_before, free_after, all;
    int local = 0;
    CHECK(cudaMemGetInfo(&free_before, &all));
    CHECK(cudaMalloc(&device, 64 << 20));
    CHECK(cudaMallocHost(&pinned, 1000));
    CHECK(cudaMallocManaged(&managed, 1000));
    CHECK(cudaPointerGetAttributes(&attributes, static_cast<char *>(device) + 10));
    EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    EXPECT(attributes.devicePointer == static_cast<char *>(device) + 10);
    CHECK(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaPointerGetAttributes(&attributes, &local));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
    CHECK(cudaMemGetInfo(&free_after, &all));
    EXPECT(free_after <= free_before - (64 << 20) && free_before <= all);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {
        {"vector_add", vector_add},
        {"pinned_pieces", pinned_pieces},
        {"mapped_memory", mapped_memory},
        {"managed_memory", managed_memory},
        {"constant_memory", constant_memory},
        {"device_variables", device_variables},
        {"rows_with_pitch", rows_with_pitch},
        {"boxes", boxes},
        {"fills", fills},
        {"stream_ordered", stream_ordered},
        {"pointers", pointers},
    };
    return run_programs(argc, argv, programs);
}
