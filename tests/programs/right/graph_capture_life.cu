// Right: Game of Life in a captured graph (fork and join inside), replayed, then updated with
// another rule by cudaGraphExecUpdate.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(e)                                                                                   \
    do {                                                                                           \
        cudaError_t r = (e);                                                                       \
        if (r != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s(%d): %s: %s\n", __FILE__, __LINE__, #e, cudaGetErrorString(r));    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int W = 96, H = 64, BX = 32, BY = 8;

__global__ void lifeStep(const unsigned char *cur, unsigned char *next, unsigned birth,
                         unsigned survive)
{
    __shared__ unsigned char t[BY + 2][BX + 2];
    const int x0 = blockIdx.x * BX, y0 = blockIdx.y * BY;
    for (int i = threadIdx.y * BX + threadIdx.x; i < (BX + 2) * (BY + 2); i += BX * BY) {
        int tx = i % (BX + 2), ty = i / (BX + 2);
        t[ty][tx] = cur[((y0 + ty - 1 + H) % H) * W + (x0 + tx - 1 + W) % W];
    }
    __syncthreads();
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    int sum = t[y - 1][x - 1] + t[y - 1][x] + t[y - 1][x + 1] + t[y][x - 1] + t[y][x + 1] +
              t[y + 1][x - 1] + t[y + 1][x] + t[y + 1][x + 1];
    unsigned rule = t[y][x] ? survive : birth;
    next[(y0 + threadIdx.y) * W + x0 + threadIdx.x] = (rule >> sum) & 1u;
}

// adds the population to slot 2 * (*step) + which
__global__ void population(const unsigned char *grid, int *pop, const int *step, int which)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int alive = __syncthreads_count(i < W * H && grid[i]);
    if (threadIdx.x == 0) atomicAdd(&pop[2 * *step + which], alive);
}

__global__ void bump(int *step)
{
    ++*step;
}

struct Sim {
    unsigned char *a, *b;
    int *pop, *step;
    cudaStream_t main, side;
    cudaEvent_t fork1, fork2, join;
};

// two generations a -> b -> a; the populations are counted beside them
static cudaGraph_t capture(Sim &s, unsigned birth, unsigned survive)
{
    dim3 block(BX, BY), grid(W / BX, H / BY);
    cudaGraph_t g;
    CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeGlobal));
    lifeStep<<<grid, block, 0, s.main>>>(s.a, s.b, birth, survive);
    CHECK(cudaEventRecord(s.fork1, s.main));
    CHECK(cudaStreamWaitEvent(s.side, s.fork1, 0));
    population<<<W * H / 256, 256, 0, s.side>>>(s.b, s.pop, s.step,
                                                0); // reads b beside the next step
    lifeStep<<<grid, block, 0, s.main>>>(s.b, s.a, birth, survive);
    CHECK(cudaEventRecord(s.fork2, s.main));
    CHECK(cudaStreamWaitEvent(s.side, s.fork2, 0));
    population<<<W * H / 256, 256, 0, s.side>>>(s.a, s.pop, s.step, 1);
    CHECK(cudaEventRecord(s.join, s.side));
    CHECK(cudaStreamWaitEvent(s.main, s.join, 0));
    bump<<<1, 1, 0, s.main>>>(s.step);
    CHECK(cudaStreamEndCapture(s.main, &g));
    return g;
}

static void refStep(std::vector<unsigned char> &g, unsigned birth, unsigned survive)
{
    std::vector<unsigned char> o(g.size());
    for (int y = 0; y < H; ++y)
        for (int x = 0; x < W; ++x) {
            int sum = 0;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    if (dx || dy) sum += g[((y + dy + H) % H) * W + (x + dx + W) % W];
            o[y * W + x] = ((g[y * W + x] ? survive : birth) >> sum) & 1u;
        }
    g.swap(o);
}

int main()
{
    const int n = W * H, replays = 6;
    std::vector<unsigned char> grid(n), got(n);
    unsigned r = 31415;
    for (auto &c : grid) {
        r = r * 1103515245u + 12345u;
        c = (r >> 16) % 10 < 3;
    }

    Sim s;
    CHECK(cudaStreamCreateWithFlags(&s.main, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&s.side, cudaStreamNonBlocking));
    for (cudaEvent_t *e : {&s.fork1, &s.fork2, &s.join})
        CHECK(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
    CHECK(cudaMalloc(&s.a, n));
    CHECK(cudaMalloc(&s.b, n));
    CHECK(cudaMalloc(&s.pop, 4 * replays * sizeof(int)));
    CHECK(cudaMalloc(&s.step, sizeof(int)));
    CHECK(cudaMemsetAsync(s.pop, 0, 4 * replays * sizeof(int), s.main));
    CHECK(cudaMemsetAsync(s.step, 0, sizeof(int), s.main));
    CHECK(cudaMemcpyAsync(s.a, grid.data(), n, cudaMemcpyHostToDevice, s.main));
    CHECK(cudaStreamSynchronize(s.main));

    const unsigned conway[2] = {1u << 3, 1u << 2 | 1u << 3};
    const unsigned highlife[2] = {1u << 3 | 1u << 6, 1u << 2 | 1u << 3};
    cudaGraph_t g1 = capture(s, conway[0], conway[1]);
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(g1, nullptr, &nodes));
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, g1, 0));
    for (int i = 0; i < replays; ++i) CHECK(cudaGraphLaunch(exec, s.main));

    cudaGraph_t g2 = capture(s, highlife[0], highlife[1]);
    cudaGraphExecUpdateResultInfo info;
    if (cudaGraphExecUpdate(exec, g2, &info) != cudaSuccess) {
        (void)cudaGetLastError();
        CHECK(cudaStreamSynchronize(s.main));
        CHECK(cudaGraphExecDestroy(exec));
        CHECK(cudaGraphInstantiate(&exec, g2, 0));
    }
    for (int i = 0; i < replays; ++i) CHECK(cudaGraphLaunch(exec, s.main));
    CHECK(cudaStreamSynchronize(s.main));

    std::vector<int> pop(4 * replays);
    CHECK(cudaMemcpy(got.data(), s.a, n, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(pop.data(), s.pop, pop.size() * sizeof(int), cudaMemcpyDeviceToHost));
    bool ok = nodes == 5;
    if (!ok) printf("the graph has %zu nodes instead of 5\n", nodes);
    for (int gen = 0; gen < 4 * replays; ++gen) {
        const unsigned *rule = gen < 2 * replays ? conway : highlife;
        refStep(grid, rule[0], rule[1]);
        int alive = 0;
        for (auto c : grid) alive += c;
        if (pop[gen] != alive) {
            printf("generation %d: %d alive, expected %d\n", gen, pop[gen], alive);
            ok = false;
        }
    }
    if (got != grid) {
        printf("the final board differs\n");
        ok = false;
    }

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(g1));
    CHECK(cudaGraphDestroy(g2));
    for (cudaEvent_t e : {s.fork1, s.fork2, s.join}) CHECK(cudaEventDestroy(e));
    CHECK(cudaStreamDestroy(s.main));
    CHECK(cudaStreamDestroy(s.side));
    cudaFree(s.a);
    cudaFree(s.b);
    cudaFree(s.pop);
    cudaFree(s.step);
    puts(ok ? "PASS" : "FAIL");
    return !ok;
}
