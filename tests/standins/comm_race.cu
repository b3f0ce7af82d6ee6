// Mistakes on purpose. What a rank sends is overwritten, and a sum is read, in streams that do not
// wait; a collective does not wait for the values that it sends; and the root of a broadcast takes
// its call's end for the others' beginning. The device must report each as a race.
#include "tests/standins/comm.cuh"

__global__ void fill(float *x, int n, float value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}

static void wait_for_all()
{
    for (int i = 0; i < 2; i++) {
        MUST(cudaSetDevice(i));
        MUST(cudaDeviceSynchronize());
    }
}

int main()
{
    const int N = 10000, BLOCK = 256, GRID = (N + BLOCK - 1) / BLOCK;
    ncclComm_t comm[2];
    cudaStream_t stream[2], other[2];
    cudaEvent_t sent;
    float *in[2], *out[2];
    MUST(ncclCommInitAll(comm, 2, nullptr));
    for (int i = 0; i < 2; i++) {
        MUST(cudaSetDevice(i));
        MUST(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        MUST(cudaStreamCreateWithFlags(&other[i], cudaStreamNonBlocking));
        MUST(cudaMalloc(&in[i], N * sizeof(float)));
        MUST(cudaMalloc(&out[i], N * sizeof(float)));
        fill<<<GRID, BLOCK, 0, stream[i]>>>(in[i], N, 1);
    }
    wait_for_all();
    MUST(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        MUST(ncclAllReduce(in[i], out[i], N, ncclFloat32, ncclSum, comm[i], stream[i]));
    MUST(ncclGroupEnd());
    MUST(cudaSetDevice(0));
    fill<<<GRID, BLOCK, 0, other[0]>>>(in[0], N, 2); // does not wait for `stream[0]`
    MUST(cudaSetDevice(1));
    fill<<<GRID, BLOCK, 0, other[1]>>>(out[1], N, 2); // nor this
    wait_for_all();

    fill<<<GRID, BLOCK, 0, other[1]>>>(in[1], N, 4); // for which the sum does not wait
    MUST(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        MUST(ncclAllReduce(in[i], out[i], N, ncclFloat32, ncclSum, comm[i], stream[i]));
    MUST(ncclGroupEnd());
    wait_for_all();

    MUST(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        MUST(ncclBroadcast(in[i], out[i], N, ncclFloat32, 0, comm[i], stream[i]));
    MUST(ncclGroupEnd());
    MUST(cudaSetDevice(0));
    MUST(cudaEventCreateWithFlags(&sent, cudaEventDisableTiming));
    MUST(cudaEventRecord(sent, stream[0]));
    MUST(cudaSetDevice(1));
    MUST(cudaStreamWaitEvent(other[1], sent, 0));
    fill<<<GRID, BLOCK, 0, other[1]>>>(out[1], N, 3); // beside the reception
    wait_for_all();

    float *sums[2], seen = 0;
    for (int i = 0; i < 2; i++) MUST(cudaMallocHost(&sums[i], N * sizeof(float)));
    MUST(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        MUST(ncclAllReduce(in[i], sums[i], N, ncclFloat32, ncclSum, comm[i], stream[i]));
    MUST(ncclGroupEnd());
    for (int i = 0; i < N; i++) seen += ((volatile float *)sums[0])[i]; // before it is there
    wait_for_all();
    for (int i = 0; i < 2; i++) MUST(cudaFreeHost(sums[i]));
    printf("%g\n", seen);
    for (int i = 0; i < 2; i++) {
        MUST(cudaSetDevice(i));
        MUST(ncclCommDestroy(comm[i]));
        MUST(cudaStreamDestroy(stream[i]));
        MUST(cudaStreamDestroy(other[i]));
        MUST(cudaFree(in[i]));
        MUST(cudaFree(out[i]));
    }
    MUST(cudaEventDestroy(sent));
    return 0;
}
