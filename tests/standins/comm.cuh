// What the programs call of NCCL, declared by themselves: its header is no part of the toolkit. The
// same programs run on GPUs with NVIDIA's library: comm.cu but for abandoned() has passed on
// two H200s with NCCL 2.28.9.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

struct ncclComm;
typedef ncclComm *ncclComm_t;
struct ncclUniqueId {
    char bytes[128];
};

enum { ncclInvalidArgument = 4, ncclInvalidUsage = 5 };
enum {
    ncclInt8,
    ncclUint8,
    ncclInt32,
    ncclUint32,
    ncclInt64,
    ncclUint64,
    ncclFloat16,
    ncclFloat32
};
enum { ncclFloat64 = 8, ncclBfloat16 };
enum { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg };

extern "C" {
int ncclGetVersion(int *);
const char *ncclGetErrorString(int);
const char *ncclGetLastError(ncclComm_t);
int ncclGetUniqueId(ncclUniqueId *);
int ncclCommInitRank(ncclComm_t *, int, ncclUniqueId, int);
int ncclCommInitAll(ncclComm_t *, int, const int *);
int ncclCommSplit(ncclComm_t, int, int, ncclComm_t *, void *);
int ncclCommDestroy(ncclComm_t);
int ncclCommAbort(ncclComm_t);
int ncclCommFinalize(ncclComm_t);
int ncclCommCount(ncclComm_t, int *);
int ncclCommUserRank(ncclComm_t, int *);
int ncclCommCuDevice(ncclComm_t, int *);
int ncclCommGetAsyncError(ncclComm_t, int *);
int ncclGroupStart();
int ncclGroupEnd();
int ncclRedOpCreatePreMulSum(int *, void *, int, int, ncclComm_t);
int ncclRedOpDestroy(int, ncclComm_t);
int ncclAllReduce(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclReduce(const void *, void *, size_t, int, int, int, ncclComm_t, cudaStream_t);
int ncclBroadcast(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclBcast(void *, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclAllGather(const void *, void *, size_t, int, ncclComm_t, cudaStream_t);
int ncclReduceScatter(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclAlltoAll(const void *, void *, size_t, int, ncclComm_t, cudaStream_t);
int ncclGather(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclScatter(const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclSend(const void *, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclRecv(void *, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclSignal(int, int, int, unsigned, ncclComm_t, cudaStream_t);
}

// Checks an error code of the runtime or of NCCL.
#define MUST(call)                                                                                 \
    do {                                                                                           \
        const int failed = (int)(call);                                                            \
        if (failed == 0) break;                                                                    \
        printf("%s, line %d: error %d\n", #call, __LINE__, failed);                                \
        exit(1);                                                                                   \
    } while (0)

// A rank: its device, stream and communicator.
struct Rank {
    int rank, ranks;
    cudaStream_t stream;
    ncclComm_t comm;

    void here() const
    {
        MUST(cudaSetDevice(rank));
    }
};
