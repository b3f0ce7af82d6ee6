/* The functions of curand.h that the stand-in lacks: each reports its name. */
#include "emulator/standins/curand/rand.h"

#define ABSENT(name)                                                                               \
    STANDIN_PUBLIC int name(void)                                                                  \
    {                                                                                              \
        standin_absent(#name, __builtin_return_address(0));                                        \
        return RAND_ARCH_MISMATCH;                                                                 \
    }
#include "emulator/standins/curand/absent.def"
