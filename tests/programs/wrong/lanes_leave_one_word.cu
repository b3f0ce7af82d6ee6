// Wrong: several lanes leave what they have found in one word, on which all rely behind a barrier.
// Found: shared memory race
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void search(const int *values, int wanted, int *out)
{
    __shared__ int found;
    if (threadIdx.x == 0) found = -1;
    __syncthreads();
    const int first = 2 * threadIdx.x;
    if (values[first] == wanted) found = first;
    if (values[first + 1] == wanted) found = first + 1;
    __syncthreads();
    out[threadIdx.x] = found;
}

int main()
{
    int values[64], *in, *out;
    for (int k = 0; k < 64; k++) values[k] = k % 21;
    CHECK(cudaMalloc(&in, sizeof values));
    CHECK(cudaMalloc(&out, 32 * sizeof *out));
    CHECK(cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice));
    search<<<1, 32>>>(in, 5, out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(values, out, 32 * sizeof *out, cudaMemcpyDeviceToHost));
    printf("one is at %d\n", values[0]);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}
