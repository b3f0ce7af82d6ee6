/* What the types and the functions are. */
#include "emulator/standins/nccl/comm.h"

const struct nccl_type_row nccl_types[NCCL_TYPES] = {
    [NCCL_INT8] = {"ncclInt8", "i8", 1, true},
    [NCCL_UINT8] = {"ncclUint8", "u8", 1, true},
    [NCCL_INT32] = {"ncclInt32", "i32", 4, true},
    [NCCL_UINT32] = {"ncclUint32", "u32", 4, true},
    [NCCL_INT64] = {"ncclInt64", "i64", 8, true},
    [NCCL_UINT64] = {"ncclUint64", "u64", 8, true},
    [NCCL_FLOAT16] = {"ncclFloat16", "f16", 2, false},
    [NCCL_FLOAT32] = {"ncclFloat32", "f32", 4, false},
    [NCCL_FLOAT64] = {"ncclFloat64", "f64", 8, false},
    [NCCL_BFLOAT16] = {"ncclBfloat16", "bf16", 2, false},
    [NCCL_FLOAT8_E4M3] = {"ncclFloat8e4m3", "e4m3", 1, false},
    [NCCL_FLOAT8_E5M2] = {"ncclFloat8e5m2", "e5m2", 1, false},
};

const struct nccl_call_row nccl_calls[NCCL_CALLS] = {
    [NCCL_ALL_REDUCE] = {"ncclAllReduce", .reduces = true},
    [NCCL_REDUCE] = {"ncclReduce", .root_takes = true, .reduces = true},
    [NCCL_BROADCAST] = {"ncclBroadcast", .root_sends = true},
    [NCCL_ALL_GATHER] = {"ncclAllGather", .takes_parts = true},
    [NCCL_REDUCE_SCATTER] = {"ncclReduceScatter", .sends_parts = true, .reduces = true},
    [NCCL_ALL_TO_ALL] = {"ncclAlltoAll", .sends_parts = true, .takes_parts = true},
    [NCCL_GATHER] = {"ncclGather", .root_takes = true, .takes_parts = true},
    [NCCL_SCATTER] = {"ncclScatter", .root_sends = true, .sends_parts = true},
    [NCCL_SEND] = {"ncclSend"},
    [NCCL_RECEIVE] = {"ncclRecv"},
};
