/* The functions of cudnn.h that the stand-in does not have: each names itself. */
#include "emulator/standins/cudnn/dnn.h"

#define ABSENT(name) STANDIN_ABSENT(name, DNN_NOT_SUPPORTED)
#include "emulator/standins/cudnn/absent.def"
