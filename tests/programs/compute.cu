// Programs about what the compiler makes of ordinary code: arrays in local memory, switches, vector
// types, intrinsics, inline PTX, memory allocated by threads, fences.
#include "tests/programs/program.cuh"

#include <utility>
#include <vector>

// ---- control and local memory ---------------------------------------------------------------

__host__ __device__ inline int shuffled(int seed, int rounds)
{
    int cards[50], sum = 0;
    for (int i = 0; i < 50; i++) cards[i] = i * i;
    for (int r = 0; r < rounds; r++)
        for (int i = 1; i < 50; i++) {
            int j = (cards[i] + r + seed) % 50, card = cards[i];
            cards[i] = cards[j];
            cards[j] = card;
        }
    for (int i = 0; i < 50; i++) sum = sum * 3 % 100003 + cards[i];
    return sum;
}

__global__ void shuffle_cards(int *out, int rounds)
{
    out[threadIdx.x] = shuffled(threadIdx.x, rounds);
}

static void local_arrays()
{
    int out[70], *device;
    CHECK(cudaMalloc(&device, sizeof out));
    shuffle_cards<<<1, 70>>>(device, 7);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 70; i++) EXPECT(out[i] == shuffled(i, 7));
    CHECK(cudaFree(device));
}

__host__ __device__ inline int interpreted(int program)
{
    int r = 0;
    for (int k = 0; k < 20; k++) {
        switch ((program * 7 + k) % 11) {
        case 0:
            r += 3;
            break;
        case 1:
            r ^= program;
            [[fallthrough]];
        case 2:
            r *= 3;
            break;
        case 3:
            continue;
        case 4:
            r -= k;
            break;
        case 5:
            r = r & 1 ? r / 3 : r + 7;
            break;
        case 6:
            r <<= 1;
            break;
        case 7:
            r = ~r;
            break;
        case 8:
            for (int z = 0; z < program % 4; z++) r += z;
            [[fallthrough]];
        default:
            r++;
        }
        if (r > 100000) break;
    }
    return r;
}

__global__ void interpret(int *out)
{
    out[threadIdx.x] = interpreted(threadIdx.x);
}

static void switches()
{
    int out[256], *device;
    CHECK(cudaMalloc(&device, sizeof out));
    interpret<<<1, 256>>>(device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) EXPECT(out[i] == interpreted(i));
    CHECK(cudaFree(device));
}

// ---- vector types ---------------------------------------------------------------------------

struct Matrix {
    float m[4][4];
};

__constant__ Matrix matrices[2];

__host__ __device__ inline float4 product(const Matrix &a, float4 v)
{
    float r[4];
    for (int i = 0; i < 4; i++)
        r[i] = a.m[i][0] * v.x + a.m[i][1] * v.y + a.m[i][2] * v.z + a.m[i][3] * v.w;
    return make_float4(r[0], r[1], r[2], r[3]);
}

__global__ void __launch_bounds__(128, 4) transform(const float4 *in, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = product(matrices[i & 1], in[i]);
}

static void vector_types()
{
    const int n = 300;
    Matrix host[2];
    std::vector<float4> in(n), out(n);
    float4 *device;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 16; i++) host[k].m[i / 4][i % 4] = static_cast<float>(k * 5 + i - 3);
    for (int i = 0; i < n; i++) in[i] = make_float4(static_cast<float>(i), 1.0f, -2.0f, 0.5f);
    CHECK(cudaMemcpyToSymbol(matrices, host, sizeof host));
    CHECK(cudaMalloc(&device, 2 * n * sizeof(float4)));
    CHECK(cudaMemcpy(device, in.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    transform<<<3, 128>>>(device, device + n, n);
    CHECK(cudaMemcpy(out.data(), device + n, n * sizeof(float4), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        float4 wanted = product(host[i & 1], in[i]);
        EXPECT(out[i].x == wanted.x && out[i].y == wanted.y);
        EXPECT(out[i].z == wanted.z && out[i].w == wanted.w);
    }
    CHECK(cudaFree(device));
}

// ---- intrinsics and inline PTX --------------------------------------------------------------

const int answers = 10;

__global__ void ask(unsigned *out)
{
    unsigned i = threadIdx.x, lane, chosen, *mine = out + i * answers;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("{ .reg .pred p; setp.lt.u32 p, %1, 7; selp.u32 %0, 11, 22, p; }" : "=r"(chosen) : "r"(i));
    mine[0] = lane * 1000 + chosen;
    mine[1] = __match_any_sync(0xffffffffu, i % 5);
    mine[2] = __brev(i);
    mine[3] = __byte_perm(i, 0x12345678u, 0x5140);
    mine[4] = __funnelshift_l(i, 77, 5);
    mine[5] = static_cast<unsigned>(__mulhi(static_cast<int>(i) * 12345678, 987654321));
    mine[6] = static_cast<unsigned>(__popcll(i * 0x123456789abcull) + __ffsll(1ll << i % 63));
    mine[7] = static_cast<unsigned>(__float2int_rd(static_cast<float>(i) * -1.5f));
    mine[8] = static_cast<unsigned>(__double2ll_rn(i * 1.5));
    long long before = clock64();
    __nanosleep(100);
    mine[9] = clock64() >= before &&
              __dp4a(static_cast<int>(i), 0x01020304, 3) == static_cast<int>(i) * 4 + 3;
}

static void intrinsics()
{
    const unsigned n = 64;
    static unsigned out[n][answers];
    unsigned *device;
    CHECK(cudaMalloc(&device, sizeof out));
    ask<<<1, n>>>(device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++) {
        unsigned equal = 0, reversed = 0;
        for (unsigned lane = 0; lane < 32; lane++)
            equal |= static_cast<unsigned>((i / 32 * 32 + lane) % 5 == i % 5) << lane;
        for (unsigned bit = 0; bit < 32; bit++) reversed |= (i >> bit & 1) << (31 - bit);
        EXPECT(out[i][0] == i % 32 * 1000 + (i < 7 ? 11 : 22));
        EXPECT(out[i][1] == equal);
        EXPECT(out[i][2] == reversed);
        EXPECT(out[i][3] == ((0x56u << 24) | (i >> 8 & 0xff) << 16 | (0x78u << 8) | (i & 0xff)));
        EXPECT(out[i][4] == (77u << 5 | i >> 27));
        long long wide = static_cast<long long>(static_cast<int>(i) * 12345678) * 987654321;
        EXPECT(out[i][5] == static_cast<unsigned>(wide >> 32));
        EXPECT(out[i][6] ==
               static_cast<unsigned>(__builtin_popcountll(i * 0x123456789abcull)) + i % 63 + 1);
        EXPECT(out[i][7] == 0u - (i * 3 + 1) / 2);
        EXPECT(out[i][8] == (i % 2 == 0 ? i * 3 / 2 : (i * 3 + 1) / 2 / 2 * 2)); // half to even
        EXPECT(out[i][9] == 1);
    }
    CHECK(cudaFree(device));
}

// ---- memory of threads and between blocks ---------------------------------------------------

__global__ void allocate(int **slots, int *sum)
{
    int n = threadIdx.x + 1;
    int *mine = static_cast<int *>(malloc(n * sizeof(int)));
    if (mine == nullptr) {
        atomicAdd(sum, 1000000);
        return;
    }
    for (int i = 0; i < n; i++) mine[i] = i;
    slots[threadIdx.x] = mine;
    __syncthreads();
    int other = (threadIdx.x + 1) % blockDim.x, s = 0; // another thread's
    for (int i = 0; i <= other; i++) s += slots[other][i];
    atomicAdd(sum, s);
    __syncthreads();
    free(slots[other]);
}

static void allocation_by_threads()
{
    int **slots, *sum, host, wanted = 0;
    CHECK(cudaMalloc(&slots, 64 * sizeof(int *)));
    CHECK(cudaMalloc(&sum, sizeof host));
    for (int n = 1; n <= 64; n++) wanted += n * (n - 1) / 2;
    for (int round = 0; round < 3; round++) {
        CHECK(cudaMemset(sum, 0, sizeof host));
        allocate<<<1, 64>>>(slots, sum);
        CHECK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
        EXPECT(host == wanted);
    }
    CHECK(cudaFree(slots));
    CHECK(cudaFree(sum));
}

// The block that finishes last adds up what the others left, in one launch.
__global__ void sum_in_one_launch(const float *in, int n, volatile float *partial, float *out,
                                  unsigned *finished)
{
    __shared__ float sums[128];
    __shared__ bool is_last;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        is_last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x > 0) return;
    sum = 0.0f;
    for (int b = 0; b < gridDim.x; b++) sum += partial[b];
    *out = sum;
}

static void last_block_finishes()
{
    const int n = 50000, blocks = 50;
    std::vector<float> in(n);
    float wanted = 0.0f, sum, *device, *partial, *out;
    unsigned *finished;
    for (int i = 0; i < n; i++) wanted += in[i] = static_cast<float>(i % 7); // exact
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    CHECK(cudaMalloc(&partial, blocks * sizeof(float)));
    CHECK(cudaMalloc(&out, sizeof(float)));
    CHECK(cudaMalloc(&finished, sizeof(unsigned)));
    CHECK(cudaMemset(finished, 0, sizeof(unsigned)));
    CHECK(cudaMemcpy(device, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    for (int round = 0; round < 3; round++) { // the counter is left at 0
        sum_in_one_launch<<<blocks, 128>>>(device, n, partial, out, finished);
        CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
        EXPECT(sum == wanted);
    }
    CHECK(cudaFree(device));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(out));
    CHECK(cudaFree(finished));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {{"local_arrays", local_arrays},
                                       {"switches", switches},
                                       {"vector_types", vector_types},
                                       {"intrinsics", intrinsics},
                                       {"allocation_by_threads", allocation_by_threads},
                                       {"last_block_finishes", last_block_finishes}};
    return run_programs(argc, argv, programs);
}
