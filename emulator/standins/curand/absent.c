/* The functions of curand.h that the stand-in lacks: each reports its name. */
#include "emulator/standins/curand/rand.h"

#define ABSENT(name) STANDIN_ABSENT(name, RAND_ARCH_MISMATCH)
#include "emulator/standins/curand/absent.def"
