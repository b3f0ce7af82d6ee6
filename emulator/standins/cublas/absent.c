/* The functions of cublas_v2.h, cublas.h and cublasXt.h that the stand-in does not have: each names
 * itself. Without them the dynamic linker would end a program that was linked with them. */
#include "emulator/standins/cublas/blas.h"

#define ABSENT(name) STANDIN_ABSENT(name, BLAS_NOT_SUPPORTED)
/* With an index of 64 bits as well. */
#define ABSENT_BOTH(name) ABSENT(name) ABSENT(name##_64)
#include "emulator/standins/cublas/absent.def"
#include "emulator/standins/cublas/legacy.def"
