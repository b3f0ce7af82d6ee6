// What the stand-in for NCCL lacks names itself.
#include "tests/standins/comm.cuh"

int main()
{
    ncclComm_t comm;
    cudaStream_t stream;
    float *values;
    MUST(ncclCommInitAll(&comm, 1, nullptr));
    MUST(cudaMalloc(&values, 16));
    MUST(cudaMemset(values, 0, 16));
    MUST(cudaStreamCreate(&stream));
    ncclSignal(0, 0, 0, 0, comm, stream);
    cudaGraph_t graph;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    ncclAllReduce(values, values, 4, ncclFloat32, ncclSum, comm, stream);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaDeviceSynchronize());
    MUST(cudaGraphDestroy(graph));
    MUST(cudaFree(values));
    MUST(cudaStreamDestroy(stream));
    MUST(ncclCommDestroy(comm));
    return 0;
}
