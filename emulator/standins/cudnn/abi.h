/* abi: what a program that was compiled with NVIDIA's cudnn.h hands over: the numbers behind the
 * names of its enumerations. tests/standins compares them with that header where there is one. This
 * header declares no functions and includes nothing of NVIDIA's.
 *
 * Source: cudnn_graph.h of cuDNN 9.28.
 */
#ifndef OVERLAP_STANDINS_CUDNN_ABI_H
#define OVERLAP_STANDINS_CUDNN_ABI_H

enum dnn_status {
    DNN_SUCCESS = 0,
    DNN_NOT_INITIALIZED = 1001,
    DNN_BAD_PARAM = 2000,
    DNN_NULL_POINTER = 2002,
    DNN_NOT_SUPPORTED = 3000,
    DNN_INTERNAL_ERROR = 4000,
    DNN_ALLOC_FAILED = 4003,
    DNN_EXECUTION_FAILED = 5000,
};

enum { DNN_MAJOR = 9, DNN_MINOR = 28, DNN_PATCH = 1 };

#endif
