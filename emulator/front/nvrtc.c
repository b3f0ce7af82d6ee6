/* nvrtc: in front of NVIDIA's run-time compiler. Where the program asks for machine code it gets
 * the PTX of the same compilation, which is there as well; all else is the compiler's own.
 *
 * Source: nvrtc.h of CUDA 13.0; that the PTX is there when -arch names a real architecture is
 * NVRTC's behaviour, which tests/front holds to.
 */
#include "emulator/front/behind.h"

/* As nvrtc.h has them, which not every toolkit has. */
typedef enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_INTERNAL_ERROR = 11 } nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
PUBLIC nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet);
PUBLIC nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin);

typedef nvrtcResult size_function(nvrtcProgram, size_t *);
typedef nvrtcResult text_function(nvrtcProgram, char *);

/* How long the PTX is of a compilation that made machine code; 0: it made none. */
static nvrtcResult ptx_size(nvrtcProgram program, size_t *size)
{
    size_function *of_cubin, *of_ptx;
    *(void **)&of_cubin = behind_function(NVRTC_BEHIND, "nvrtcGetCUBINSize");
    *(void **)&of_ptx = behind_function(NVRTC_BEHIND, "nvrtcGetPTXSize");
    if (of_cubin == NULL || of_ptx == NULL) return NVRTC_ERROR_INTERNAL_ERROR;
    const nvrtcResult result = of_cubin(program, size);
    return result == NVRTC_SUCCESS && size != NULL && *size > 0 ? of_ptx(program, size) : result;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet)
{
    return ptx_size(prog, cubinSizeRet);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)
{
    size_t size = 0;
    const nvrtcResult result = ptx_size(prog, &size);
    const char *name = result == NVRTC_SUCCESS && size > 0 ? "nvrtcGetPTX" : "nvrtcGetCUBIN";
    text_function *text;
    *(void **)&text = behind_function(NVRTC_BEHIND, name);
    return text != NULL ? text(prog, cubin) : NVRTC_ERROR_INTERNAL_ERROR;
}
