/* dnn: the inside of the stand-in for cuDNN, which has handles and a version and computes nothing.
 * XLA, which compiles for JAX, makes a handle before it compiles anything, and for most programs
 * asks no more. Every other function names itself (absent.def).
 */
#ifndef OVERLAP_STANDINS_CUDNN_DNN_H
#define OVERLAP_STANDINS_CUDNN_DNN_H

#include "emulator/standins/cudnn/abi.h"
#include "emulator/standins/standins.h"

struct cudnnContext {
    CUstream stream;
};

#endif
