/* The functions of cusparse.h that the stand-in does not have: each names itself. */
#include "emulator/standins/cusparse/sparse.h"

#define ABSENT(name) STANDIN_ABSENT(name, SPARSE_NOT_SUPPORTED)
#include "emulator/standins/cusparse/absent.def"
