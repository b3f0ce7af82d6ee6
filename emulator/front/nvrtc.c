/* nvrtc: in front of NVIDIA's run-time compiler. Where the program asks for machine code it gets
 * the PTX of the same compilation, which is there as well, and the compiler is asked for the lines
 * of the source, as a finding names them; all else is the compiler's own.
 *
 * Source: nvrtc.h of CUDA 13.0; that the PTX is there when -arch names a real architecture is
 * NVRTC's behaviour, which tests/front holds to.
 */
#include "emulator/front/behind.h"

#include <stdlib.h>
#include <string.h>

/* As nvrtc.h has them, which not every toolkit has. */
typedef enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_INTERNAL_ERROR = 11,
} nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
PUBLIC nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions,
                                       const char *const *options);
PUBLIC nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet);
PUBLIC nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin);

typedef nvrtcResult compile_function(nvrtcProgram, int, const char *const *);
typedef nvrtcResult size_function(nvrtcProgram, size_t *);
typedef nvrtcResult text_function(nvrtcProgram, char *);

/* Asks for lines already, or for what has none. */
static bool settles_lines(const char *option)
{
    static const char *const options[] = {
        "-lineinfo", "--generate-line-info", "-G", "--device-debug", "-dlto", "--dlink-time-opt"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (option != NULL && strcmp(option, options[i]) == 0) return true;
    return false;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options)
{
    compile_function *compile;
    *(void **)&compile = behind_function(NVRTC_BEHIND, "nvrtcCompileProgram");
    if (compile == NULL) return NVRTC_ERROR_INTERNAL_ERROR;
    bool settled = numOptions < 0 || (numOptions > 0 && options == NULL);
    for (int i = 0; i < numOptions && !settled; i++) settled = settles_lines(options[i]);
    if (settled) return compile(prog, numOptions, options);
    const size_t count = (size_t)numOptions;
    const char **with_lines = malloc((count + 1) * sizeof *with_lines);
    if (with_lines == NULL) return NVRTC_ERROR_OUT_OF_MEMORY;
    if (count > 0) memcpy(with_lines, options, count * sizeof *options);
    with_lines[count] = "-lineinfo";
    const nvrtcResult result = compile(prog, numOptions + 1, with_lines);
    free(with_lines);
    return result;
}

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
