// Right: a graph that only allocates, launched again and again; what it allocated is given back
// each time, by cudaFree, by cudaFreeAsync, or by a graph with a free node.
#include "tests/programs/program.cuh"
#include <cstdio>

int main()
{
    const size_t bytes = 1 << 16;
    cudaGraph_t allocates, frees;
    cudaGraphExec_t allocate, give_back;
    cudaGraphNode_t node;
    cudaStream_t stream;
    cudaMemAllocNodeParams memory = {};
    memory.bytesize = bytes;
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphCreate(&allocates, 0));
    CHECK(cudaGraphAddMemAllocNode(&node, allocates, nullptr, 0, &memory));
    CHECK(cudaGraphInstantiate(&allocate, allocates, 0));
    CHECK(cudaGraphCreate(&frees, 0));
    CHECK(cudaGraphAddMemFreeNode(&node, frees, nullptr, 0, memory.dptr));
    CHECK(cudaGraphInstantiate(&give_back, frees, 0));
    for (int round = 0; round < 6; round++) {
        unsigned char first = 0;
        CHECK(cudaGraphLaunch(allocate, stream));
        CHECK(cudaMemsetAsync(memory.dptr, round, bytes, stream));
        CHECK(cudaMemcpyAsync(&first, memory.dptr, 1, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        if (first != round) return 1;
        switch (round % 3) {
        case 0:
            CHECK(cudaFree(memory.dptr));
            break;
        case 1:
            CHECK(cudaFreeAsync(memory.dptr, stream));
            break;
        case 2:
            CHECK(cudaGraphLaunch(give_back, stream));
            break;
        }
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaGraphExecDestroy(allocate));
    CHECK(cudaGraphExecDestroy(give_back));
    CHECK(cudaGraphDestroy(allocates));
    CHECK(cudaGraphDestroy(frees));
    CHECK(cudaStreamDestroy(stream));
    puts("PASS");
    return 0;
}
