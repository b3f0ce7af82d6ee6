// All-pairs n-body with tiles in shared memory, leapfrog steps, energy as the check.
// nbody [BODIES] [STEPS]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t err = call;                                                                    \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "CUDA error at %s:%d: %s\n", __FILE__, __LINE__,                       \
                    cudaGetErrorString(err));                                                      \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

static const int BLOCK = 128;
static const float SOFTENING = 0.05f;

__device__ float3 pull(float3 acceleration, float4 me, float4 other)
{
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float distance2 = dx * dx + dy * dy + dz * dz + SOFTENING * SOFTENING;
    float inverse = rsqrtf(distance2);
    float strength = other.w * inverse * inverse * inverse;
    acceleration.x += dx * strength;
    acceleration.y += dy * strength;
    acceleration.z += dz * strength;
    return acceleration;
}

__global__ void accelerate(const float4 *position, float3 *acceleration, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? position[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int base = 0; base < n; base += blockDim.x) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? position[j] : make_float4(0, 0, 0, 0); // no mass: no pull
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < BLOCK; k++) sum = pull(sum, me, tile[k]);
        __syncthreads();
    }
    if (i < n) acceleration[i] = sum;
}

__global__ void kick(float3 *velocity, const float3 *acceleration, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    velocity[i].x += dt * acceleration[i].x;
    velocity[i].y += dt * acceleration[i].y;
    velocity[i].z += dt * acceleration[i].z;
}

__global__ void drift(float4 *position, const float3 *velocity, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    position[i].x += dt * velocity[i].x;
    position[i].y += dt * velocity[i].y;
    position[i].z += dt * velocity[i].z;
}

__global__ void energy(const float4 *position, const float3 *velocity, double *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double mine = 0;
    if (i < n) {
        float4 me = position[i];
        float3 v = velocity[i];
        mine = 0.5 * me.w * (v.x * v.x + v.y * v.y + v.z * v.z);
        for (int j = i + 1; j < n; j++) {
            float dx = position[j].x - me.x, dy = position[j].y - me.y, dz = position[j].z - me.z;
            mine -= me.w * position[j].w /
                    sqrt((double)(dx * dx + dy * dy + dz * dz) + SOFTENING * SOFTENING);
        }
    }
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}

class Simulation
{
  public:
    explicit Simulation(int n) : n_(n)
    {
        std::vector<float4> position(n);
        std::vector<float3> velocity(n);
        srand(42);
        for (int i = 0; i < n; i++) {
            position[i] = make_float4(random(), random(), random(), 1.0f / n);
            velocity[i] = make_float3(0.1f * random(), 0.1f * random(), 0.1f * random());
        }
        CUDA_CHECK(cudaMalloc(&position_, n * sizeof(float4)));
        CUDA_CHECK(cudaMalloc(&velocity_, n * sizeof(float3)));
        CUDA_CHECK(cudaMalloc(&acceleration_, n * sizeof(float3)));
        CUDA_CHECK(cudaMalloc(&energy_, sizeof(double)));
        CUDA_CHECK(
            cudaMemcpy(position_, position.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
        CUDA_CHECK(
            cudaMemcpy(velocity_, velocity.data(), n * sizeof(float3), cudaMemcpyHostToDevice));
    }
    ~Simulation()
    {
        cudaFree(position_);
        cudaFree(velocity_);
        cudaFree(acceleration_);
        cudaFree(energy_);
    }
    void step(float dt)
    {
        forces();
        kick<<<blocks(), BLOCK>>>(velocity_, acceleration_, dt / 2, n_);
        drift<<<blocks(), BLOCK>>>(position_, velocity_, dt, n_);
        forces();
        kick<<<blocks(), BLOCK>>>(velocity_, acceleration_, dt / 2, n_);
        CUDA_CHECK(cudaGetLastError());
    }
    double total_energy()
    {
        double result;
        CUDA_CHECK(cudaMemset(energy_, 0, sizeof(double)));
        energy<<<blocks(), BLOCK>>>(position_, velocity_, energy_, n_);
        CUDA_CHECK(cudaMemcpy(&result, energy_, sizeof result, cudaMemcpyDeviceToHost));
        return result;
    }

  private:
    static float random()
    {
        return 2.0f * rand() / (float)RAND_MAX - 1.0f;
    }
    int blocks() const
    {
        return (n_ + BLOCK - 1) / BLOCK;
    }
    void forces()
    {
        accelerate<<<blocks(), BLOCK, BLOCK * sizeof(float4)>>>(position_, acceleration_, n_);
    }
    int n_;
    float4 *position_;
    float3 *velocity_, *acceleration_;
    double *energy_;
};

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300, steps = argc > 2 ? atoi(argv[2]) : 5;
    cudaDeviceProp prop;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    Simulation simulation(n);
    double before = simulation.total_energy();
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(cudaEventRecord(start));
    for (int s = 0; s < steps; s++) simulation.step(0.01f);
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float ms;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    double after = simulation.total_energy();
    printf("%s: %d bodies, %d steps, %.3f ms\n", prop.name, n, steps, ms);
    printf("energy %.6f -> %.6f\n", before, after);
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    bool ok = fabs(after - before) < 1e-3 * fabs(before);
    printf("%s\n", ok ? "PASSED" : "FAILED");
    return ok ? 0 : 1;
}
