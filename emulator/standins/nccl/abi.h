/* abi: what a program that was compiled with NVIDIA's nccl.h hands over: the numbers behind the
 * names of its enumerations, and its two structures. tests/standins compares them with that header
 * where there is one. This header declares no functions and includes nothing of NVIDIA's.
 *
 * Source: nccl.h of NCCL 2.32.
 */
#ifndef OVERLAP_STANDINS_NCCL_ABI_H
#define OVERLAP_STANDINS_NCCL_ABI_H

#include <stddef.h>

enum nccl_result {
    NCCL_SUCCESS = 0,
    NCCL_CUDA_ERROR = 1,
    NCCL_SYSTEM_ERROR = 2,
    NCCL_INTERNAL_ERROR = 3,
    NCCL_INVALID_ARGUMENT = 4,
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE_ERROR = 6,
    NCCL_IN_PROGRESS = 7,
    NCCL_RESULTS = 8,
};

enum nccl_type {
    NCCL_INT8 = 0,
    NCCL_UINT8 = 1,
    NCCL_INT32 = 2,
    NCCL_UINT32 = 3,
    NCCL_INT64 = 4,
    NCCL_UINT64 = 5,
    NCCL_FLOAT16 = 6,
    NCCL_FLOAT32 = 7,
    NCCL_FLOAT64 = 8,
    NCCL_BFLOAT16 = 9,
    NCCL_FLOAT8_E4M3 = 10,
    NCCL_FLOAT8_E5M2 = 11,
    NCCL_TYPES = 12,
};

enum nccl_operator {
    NCCL_SUM = 0,
    NCCL_PROD = 1,
    NCCL_MAX = 2,
    NCCL_MIN = 3,
    NCCL_AVG = 4,
    NCCL_OPERATORS = 5, /* from here on those that a program has made */
};

enum nccl_residence { NCCL_SCALAR_DEVICE = 0, NCCL_SCALAR_HOST = 1 };

enum { NCCL_NO_COLOUR = -1, NCCL_VERSION = 23203, NCCL_ID_BYTES = 128 };

struct nccl_id {
    char bytes[NCCL_ID_BYTES];
};

/* The beginning of ncclConfig_t, the same in every version. Only `magic` is looked at. */
struct nccl_config {
    size_t size;
    unsigned magic, version;
};
enum { NCCL_MAGIC = (int)0xcafebeef };

/* The beginning of ncclCommProperties_t. What follows says what a communicator supports beyond
 * collectives, and is all zeros here. */
struct nccl_properties {
    struct nccl_config begin;
    int rank, ranks, device, nvml_device;
};

#endif
