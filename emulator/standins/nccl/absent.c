/* The functions of nccl.h that the stand-in lacks: each reports its name. */
#include "emulator/standins/nccl/comm.h"

#define ABSENT(name) STANDIN_ABSENT(name, NCCL_INVALID_USAGE)
#include "emulator/standins/nccl/absent.def"
