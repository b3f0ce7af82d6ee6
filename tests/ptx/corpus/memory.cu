// State spaces: shared, constant, local and global variables with initial values, vectors, atomics.
struct pair {
    int key;
    float value;
    const char *name;
};
__device__ int counter = 7;
__device__ double grid_state[3][4] = {{1, 2}, {3}};
__device__ pair pairs[2] = {{1, 2.5f, "one"}, {2, -0.0f, "two"}};
__device__ int *pointer_inside = &counter;
__device__ long long wide[2] = {-1, 1ll << 40};
__device__ short small[5] = {-1, 2, -3};
__device__ float4 vector_value = {1, 2, 3, 4};
__constant__ float coefficients[4] = {1.0f, 0.5f, 0.25f, 0.125f};
__managed__ int shared_with_host = 3;
extern __shared__ unsigned char dynamic[];

__global__ void memory(float4 *v, const float *__restrict__ in, volatile int *flag, int n)
{
    __shared__ float tile[32][33];
    __shared__ double partial;
    int local[16];
    for (int i = 0; i < 16; i++) local[(i * 7) & 15] = i + n;
    tile[threadIdx.x][threadIdx.y] = in[threadIdx.x] * coefficients[n & 3];
    dynamic[threadIdx.x] = (unsigned char)n;
    if (threadIdx.x == 0) partial = grid_state[n & 1][n & 3];
    __syncthreads();
    float4 a = v[threadIdx.x];
    v[threadIdx.x] = make_float4(a.w, tile[threadIdx.y][threadIdx.x], (float)partial, dynamic[n]);
    *flag = local[n & 15] + pairs[n & 1].key + *pointer_inside + pairs[0].name[n] + small[n];
    while (*flag == 0) continue;
    __threadfence();
    vector_value.x += (float)wide[n & 1] + (float)shared_with_host;
}

__global__ void atomics(int *i, unsigned *u, float *f, double *d, unsigned long long *l)
{
    __shared__ int inside;
    atomicAdd(i, 1);
    atomicSub(i, 2);
    atomicMin(i, 3);
    atomicMax(u, 4u);
    atomicAnd(u, 5u);
    atomicOr(u, 6u);
    atomicXor(u, 7u);
    atomicInc(u, 8u);
    atomicDec(u, 9u);
    u[1] = atomicExch(u, 10u) + atomicCAS(u, 11u, 12u);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 1.0);
    l[1] = atomicAdd(l, 1ull) + atomicCAS(l, 2ull, 3ull) + atomicMax(l, 4ull);
    atomicAdd(&inside, 1);
    atomicAdd_block(i, 1);
    atomicAdd_system(u, 2u);
    i[1] = inside;
}
