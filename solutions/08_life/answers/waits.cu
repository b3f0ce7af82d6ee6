/* Questions 1 to 3 of lesson 08: what the wait between two generations costs, and who runs beside
 * whom. Times are the device's own. */
#include "../life.cu"

#include <cstdio>

constexpr int LATTICES = 4, LARGEST = 2048;

static cudaStream_t streams[LATTICES], clock_stream;
static cudaEvent_t first, last, done[LATTICES];
static int *lattices[LATTICES][2];

/* Question 1: with two lattices, the barrier behind the reads is not needed. */
__global__ void one_barrier(int *first_cells, int *second, Torus torus, int generations)
{
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int *now = first_cells, *next = second;
    for (int g = 0; g < generations; g++) {
        next[y * torus.width + x] = next_cell(now, torus, x, y);
        __syncthreads();
        int *const written = next;
        next = now;
        now = written;
    }
}

/* Milliseconds from before the first to behind the last of what `work` queues in `count` streams.
 */
template <typename Work> static float measure(int count, Work work)
{
    float milliseconds;
    cudaDeviceSynchronize();
    cudaEventRecord(first, clock_stream);
    for (int i = 0; i < count; i++) cudaStreamWaitEvent(streams[i], first, 0);
    work();
    for (int i = 0; i < count; i++) {
        cudaEventRecord(done[i], streams[i]);
        cudaStreamWaitEvent(clock_stream, done[i], 0);
    }
    cudaEventRecord(last, clock_stream);
    cudaEventSynchronize(last);
    cudaEventElapsedTime(&milliseconds, first, last);
    return milliseconds;
}

static void question_1(int generations)
{
    const Torus torus = {SIDE, SIDE};
    const float two = measure(1, [=] {
        in_one_block<<<1, dim3(SIDE, SIDE), 0, streams[0]>>>(lattices[0][0], torus, generations);
    });
    const float one = measure(1, [=] {
        one_barrier<<<1, dim3(SIDE, SIDE), 0, streams[0]>>>(lattices[0][0], lattices[0][1], torus,
                                                            generations);
    });
    std::printf("1  %d generations, one lattice and two barriers   %.3f ms\n", generations, two);
    std::printf("1  %d generations, two lattices and one barrier   %.3f ms\n", generations, one);
}

static void question_2(int generations)
{
    for (int count = 1; count <= LATTICES; count *= 4) {
        const float launches = measure(count, [=] {
            for (int i = 0; i < count; i++)
                life_launches(lattices[i], 128, 128, generations, streams[i]);
        });
        const float shared = measure(count, [=] {
            for (int i = 0; i < count; i++)
                life_shared(lattices[i][0], SIDE, SIDE, 10 * generations, streams[i]);
        });
        std::printf("2  %d x (128 x 128), a launch each                 %.3f ms\n", count,
                    launches);
        std::printf("2  %d x (32 x 32), ten times as many, one launch   %.3f ms\n", count, shared);
    }
}

static void question_3(int generations, int largest)
{
    for (int side = 32; side <= largest; side *= 4) {
        const float launches =
            measure(1, [=] { life_launches(lattices[0], side, side, generations, streams[0]); });
        const float grid =
            measure(1, [=] { life_grid(lattices[0], side, side, generations, streams[0]); });
        std::printf("3  %4d x %4d  launches %8.3f ms   one grid %8.3f ms\n", side, side, launches,
                    grid);
    }
}

/* waits [GENERATIONS [LARGEST]] */
int main(int count, char **arguments)
{
    const int generations = count > 1 ? atoi(arguments[1]) : 100;
    const int largest = count > 2 ? atoi(arguments[2]) : 512;
    const size_t cells = (size_t)LARGEST * LARGEST;

    if (generations < 1 || largest < 32 || largest > LARGEST) return 1;
    cudaStreamCreateWithFlags(&clock_stream, cudaStreamNonBlocking);
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    for (int i = 0; i < LATTICES; i++) {
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
        for (int k = 0; k < 2; k++) {
            cudaMalloc((void **)&lattices[i][k], cells * sizeof(int));
            cudaMemset(lattices[i][k], 0, cells * sizeof(int));
        }
    }
    question_1(2); /* a warm-up */
    question_2(2);
    question_3(2, 32);
    std::printf("\n");
    question_1(generations);
    question_2(generations);
    question_3(generations, largest);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorString(error));
    cudaDeviceReset();
    return error != cudaSuccess;
}
