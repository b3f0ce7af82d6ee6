// Conway's game of life on a torus, cut into bands: a stream per band, halo rows by events.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(x)                                                                                   \
    if ((x) != cudaSuccess) {                                                                      \
        printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(cudaGetLastError()));          \
        return 1;                                                                                  \
    }

const int WIDTH = 150, HEIGHT = 96, BANDS = 4, ROWS = HEIGHT / BANDS, STEPS = 12;

__global__ void life_step(const unsigned char *in, unsigned char *out, int first, int rows)
{
    __shared__ unsigned char tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = first + blockIdx.y * 8 + threadIdx.y;
    for (int dy = threadIdx.y; dy < 10; dy += 8)
        for (int dx = threadIdx.x; dx < 34; dx += 32) {
            int sx = (blockIdx.x * 32 + dx - 1 + WIDTH) % WIDTH;
            int sy = (first + (int)blockIdx.y * 8 + dy - 1 + HEIGHT) % HEIGHT;
            tile[dy][dx] = in[sy * WIDTH + sx];
        }
    __syncthreads();
    if (x >= WIDTH || y >= first + rows) return;
    int around = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            if (dx != 1 || dy != 1) around += tile[threadIdx.y + dy][threadIdx.x + dx];
    unsigned char alive = tile[threadIdx.y + 1][threadIdx.x + 1];
    out[y * WIDTH + x] = around == 3 || (alive && around == 2);
}

static void host_step(const std::vector<unsigned char> &in, std::vector<unsigned char> &out)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int around = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (dx || dy)
                        around += in[(y + dy + HEIGHT) % HEIGHT * WIDTH + (x + dx + WIDTH) % WIDTH];
            out[y * WIDTH + x] = around == 3 || (in[y * WIDTH + x] && around == 2);
        }
}

int main()
{
    std::vector<unsigned char> world(WIDTH * HEIGHT), next(WIDTH * HEIGHT);
    unsigned seed = 7;
    for (auto &cell : world) {
        seed = seed * 1664525u + 1013904223u;
        cell = seed >> 30 == 0;
    }
    unsigned char *device[2], *host;
    cudaStream_t stream[BANDS];
    cudaEvent_t done[2][BANDS], loaded;
    CHECK(cudaMallocHost(&host, WIDTH * HEIGHT));
    memcpy(host, world.data(), world.size());
    for (int i = 0; i < 2; i++) CHECK(cudaMalloc(&device[i], WIDTH * HEIGHT));
    for (int b = 0; b < BANDS; b++) {
        CHECK(cudaStreamCreateWithFlags(&stream[b], cudaStreamNonBlocking));
        for (int i = 0; i < 2; i++)
            CHECK(cudaEventCreateWithFlags(&done[i][b], cudaEventDisableTiming));
    }
    CHECK(cudaEventCreateWithFlags(&loaded, cudaEventDisableTiming));
    CHECK(cudaMemcpyAsync(device[0], host, WIDTH * HEIGHT, cudaMemcpyHostToDevice, stream[0]));
    CHECK(cudaEventRecord(loaded, stream[0]));
    for (int b = 1; b < BANDS; b++) CHECK(cudaStreamWaitEvent(stream[b], loaded, 0));

    dim3 block(32, 8), grid((WIDTH + 31) / 32, (ROWS + 7) / 8);
    for (int s = 0; s < STEPS; s++)
        for (int b = 0; b < BANDS; b++) {
            // A band needs its neighbours' last step: to read its halo, and to write over what
            // they read.
            if (s > 0) {
                CHECK(cudaStreamWaitEvent(stream[b], done[(s + 1) % 2][(b + 1) % BANDS], 0));
                CHECK(
                    cudaStreamWaitEvent(stream[b], done[(s + 1) % 2][(b + BANDS - 1) % BANDS], 0));
            }
            life_step<<<grid, block, 0, stream[b]>>>(device[s % 2], device[(s + 1) % 2], b * ROWS,
                                                     ROWS);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(done[s % 2][b], stream[b]));
        }
    for (int b = 0; b < BANDS; b++)
        CHECK(cudaMemcpyAsync(host + b * ROWS * WIDTH, device[STEPS % 2] + b * ROWS * WIDTH,
                              ROWS * WIDTH, cudaMemcpyDeviceToHost, stream[b]));
    CHECK(cudaDeviceSynchronize());

    for (int s = 0; s < STEPS; s++) {
        host_step(world, next);
        world.swap(next);
    }
    int wrong = 0, alive = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) wrong += host[i] != world[i], alive += host[i];
    printf("%d cells alive, %d wrong\n", alive, wrong);
    for (int b = 0; b < BANDS; b++) {
        CHECK(cudaStreamDestroy(stream[b]));
        for (int i = 0; i < 2; i++) CHECK(cudaEventDestroy(done[i][b]));
    }
    CHECK(cudaEventDestroy(loaded));
    for (int i = 0; i < 2; i++) CHECK(cudaFree(device[i]));
    CHECK(cudaFreeHost(host));
    return wrong != 0 || alive == 0;
}
