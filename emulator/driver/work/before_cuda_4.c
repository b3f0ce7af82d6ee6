/* The launch functions from before CUDA 4, still used by old programs: block shape, dynamic shared
 * memory and parameters are set on the function one by one, and a launch uses the latest values. A
 * modern launch clears these settings (submit_launch), since "this state must be re-initialized"
 * then; a program that relies on them afterwards is refused for lack of a block shape. */
#include "emulator/driver/module/module.h"

#include <stdlib.h>
#include <string.h>

CUresult driver_cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
    struct function *function;
    TRY(function_find(hfunc, &function));
    if (x < 1 || y < 1 || z < 1 || x > 1024 || y > 1024 || z > 64 || x * y * z > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    const unsigned block[3] = {(unsigned)x, (unsigned)y, (unsigned)z};
    memcpy(function->told.block, block, sizeof block);
    return CUDA_SUCCESS;
}

CUresult driver_cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
    struct function *function;
    TRY(function_find(hfunc, &function));
    if ((int64_t)bytes > function->max_dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
    function->told.shared = bytes;
    return CUDA_SUCCESS;
}

CUresult driver_cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
    struct function *function;
    TRY(function_find(hfunc, &function));
    if (numbytes > FUNCTION_PARAMETERS_MOST) return CUDA_ERROR_INVALID_VALUE;
    function->told.size = numbytes;
    return CUDA_SUCCESS;
}

CUresult driver_cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes)
{
    struct function *function;
    TRY(function_find(hfunc, &function));
    NEED_POINTER(ptr);
    if (offset < 0 || numbytes > FUNCTION_PARAMETERS_MOST ||
        (unsigned)offset > FUNCTION_PARAMETERS_MOST - numbytes)
        return CUDA_ERROR_INVALID_VALUE;
    struct told_launch *told = &function->told;
    if (told->parameters == NULL) told->parameters = calloc(1, FUNCTION_PARAMETERS_MOST);
    if (told->parameters == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(told->parameters + offset, ptr, numbytes);
    return CUDA_SUCCESS;
}

CUresult driver_cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
    return driver_cuParamSetv(hfunc, offset, &value, sizeof value);
}

CUresult driver_cuParamSetf(CUfunction hfunc, int offset, float value)
{
    return driver_cuParamSetv(hfunc, offset, &value, sizeof value);
}

CUresult driver_cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream)
{
    struct function *function;
    TRY(function_find(f, &function));
    if (grid_width < 1 || grid_height < 1) return CUDA_ERROR_INVALID_VALUE;
    /* Taken out of the function, because the launch below clears its settings. */
    struct told_launch told = function->told;
    function->told = (struct told_launch){.parameters = NULL};
    struct module *module = function->module;
    module_retain(module); /* another thread may unload it while this one waits */
    size_t size = told.size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, told.parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size, CU_LAUNCH_PARAM_END};
    const CUresult code =
        driver_cuLaunchKernel(f, (unsigned)grid_width, (unsigned)grid_height, 1, told.block[0],
                              told.block[1], told.block[2], told.shared, hStream, NULL, extra);
    free(function->told.parameters);
    function->told = told;
    module_release(module);
    return code;
}

CUresult driver_cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
    return driver_cuLaunchGridAsync(f, grid_width, grid_height, NULL);
}

CUresult driver_cuLaunch(CUfunction f)
{
    return driver_cuLaunchGridAsync(f, 1, 1, NULL);
}
