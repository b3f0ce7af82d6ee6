/* Compares the numbers of emulator/standins/nccl/abi.h with those of NVIDIA's header; to be
 * compiled, there is nothing to run. */
#include "emulator/standins/nccl/abi.h"

#include <nccl.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours)
SAME(NCCL_SUCCESS, ncclSuccess);
SAME(NCCL_CUDA_ERROR, ncclUnhandledCudaError);
SAME(NCCL_SYSTEM_ERROR, ncclSystemError);
SAME(NCCL_INTERNAL_ERROR, ncclInternalError);
SAME(NCCL_INVALID_ARGUMENT, ncclInvalidArgument);
SAME(NCCL_INVALID_USAGE, ncclInvalidUsage);
SAME(NCCL_REMOTE_ERROR, ncclRemoteError);
SAME(NCCL_IN_PROGRESS, ncclInProgress);
SAME(NCCL_INT8, ncclInt8);
SAME(NCCL_UINT8, ncclUint8);
SAME(NCCL_INT32, ncclInt32);
SAME(NCCL_UINT32, ncclUint32);
SAME(NCCL_INT64, ncclInt64);
SAME(NCCL_UINT64, ncclUint64);
SAME(NCCL_FLOAT16, ncclFloat16);
SAME(NCCL_FLOAT32, ncclFloat32);
SAME(NCCL_FLOAT64, ncclFloat64);
SAME(NCCL_BFLOAT16, ncclBfloat16);
SAME(NCCL_FLOAT8_E4M3, ncclFloat8e4m3);
SAME(NCCL_FLOAT8_E5M2, ncclFloat8e5m2);
SAME(NCCL_SUM, ncclSum);
SAME(NCCL_PROD, ncclProd);
SAME(NCCL_MAX, ncclMax);
SAME(NCCL_MIN, ncclMin);
SAME(NCCL_AVG, ncclAvg);
SAME(NCCL_OPERATORS, ncclNumOps);
SAME(NCCL_SCALAR_DEVICE, ncclScalarDevice);
SAME(NCCL_SCALAR_HOST, ncclScalarHostImmediate);
SAME(NCCL_NO_COLOUR, NCCL_SPLIT_NOCOLOR);
SAME(NCCL_ID_BYTES, NCCL_UNIQUE_ID_BYTES);
SAME(offsetof(struct nccl_config, magic), offsetof(ncclConfig_t, magic));
