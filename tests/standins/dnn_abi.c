/* Compares the numbers of emulator/standins/cudnn/abi.h with those of NVIDIA's header; to be
 * compiled, there is nothing to run. */
#include "emulator/standins/cudnn/abi.h"

#include <cudnn_graph.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours)
SAME(DNN_SUCCESS, CUDNN_STATUS_SUCCESS);
SAME(DNN_NOT_INITIALIZED, CUDNN_STATUS_NOT_INITIALIZED);
SAME(DNN_BAD_PARAM, CUDNN_STATUS_BAD_PARAM);
SAME(DNN_NULL_POINTER, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
SAME(DNN_NOT_SUPPORTED, CUDNN_STATUS_NOT_SUPPORTED);
SAME(DNN_INTERNAL_ERROR, CUDNN_STATUS_INTERNAL_ERROR);
SAME(DNN_ALLOC_FAILED, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
SAME(DNN_EXECUTION_FAILED, CUDNN_STATUS_EXECUTION_FAILED);
