// More kernels for test_exec_watch, as watch_kernels.cu has them, with what came after sm_75:
// asynchronous copies and barrier objects. Their names have "async" in them.

#define KERNEL extern "C" __global__ void

__device__ int index()
{
    return threadIdx.x + blockIdx.x * blockDim.x;
}

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void copy_in(int *target, const int *from)
{
    unsigned to = shared_address(target);
    // clang-format off
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from)); // async_copy_without_a_barrier
    // clang-format on
}

__device__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ void arrive_and_wait(unsigned long long *object, unsigned parity)
{
    unsigned over = 0;
    asm volatile(
        "{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(shared_address(object))
        : "memory");
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                     "  selp.u32 %0, 1, 0, p; }"
                     : "=r"(over)
                     : "r"(shared_address(object)), "r"(parity)
                     : "memory");
}

__device__ void make(unsigned long long *object)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(shared_address(object))
                     : "memory");
    __syncthreads();
}

KERNEL right_async_copy(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    copy_in(&tile[threadIdx.x], &in[index()]);
    wait_for_copies();
    __syncthreads();
    out[index()] = tile[127 - threadIdx.x];
}

KERNEL right_async_phases(const int *in, int *out, int n)
{
    __shared__ unsigned long long object;
    __shared__ int tile[128];
    make(&object);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        tile[threadIdx.x] = in[(index() + round) % n];
        arrive_and_wait(&object, 0);
        sum += tile[127 - threadIdx.x];
        arrive_and_wait(&object, 1);
    }
    out[index()] = sum;
}

KERNEL async_copy_without_a_barrier(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    copy_in(&tile[threadIdx.x], &in[index()]);
    wait_for_copies();
    out[index()] = tile[127 - threadIdx.x]; // async_copy_without_a_barrier
}

KERNEL async_phase_not_awaited(const int *in, int *out, int n)
{
    __shared__ unsigned long long object;
    __shared__ int tile[128];
    make(&object);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        tile[threadIdx.x] = in[(index() + round) % n]; // async_phase_not_awaited
        arrive_and_wait(&object, round & 1);
        sum += tile[127 - threadIdx.x]; // async_phase_not_awaited
    }
    out[index()] = sum;
}
