/* The functions of cudnn.h that the stand-in does not have: each names itself. */
#include "emulator/standins/cudnn/dnn.h"

static int absent(const char *name, const char *what, const void *caller)
{
    standin_call_begin(name, caller);
    standin_lacks(what);
    standin_call_end(false, CUDA_ERROR_NOT_SUPPORTED);
    return DNN_NOT_SUPPORTED;
}

#define ABSENT(name)                                                                               \
    STANDIN_PUBLIC int name(void)                                                                  \
    {                                                                                              \
        return absent(#name,                                                                       \
                      #name ", which is machine code: do this step on the CPU (in JAX "            \
                            "jax.default_device), or in a kernel of your own",                     \
                      __builtin_return_address(0));                                                \
    }
#include "emulator/standins/cudnn/absent.def"
