/* Handles, and what else a program makes and sets: parameters of the functions of 64 bits, settings
 * of the functions that sweep. */
#include "emulator/standins/cusolver/solver.h"

#include <stdlib.h>

/* ---- handles -----------------------------------------------------------------------------------
 */

static enum solver_status create(struct cusolverDnContext **made)
{
    if (made == NULL) return SOLVER_INVALID_VALUE;
    const enum solver_status status = solver_status_of(standin_context());
    if (status != SOLVER_SUCCESS) return status;
    if ((*made = calloc(1, sizeof **made)) == NULL) return SOLVER_ALLOC_FAILED;
    (*made)->determinism = SOLVER_DETERMINISTIC;
    (*made)->math_mode = SOLVER_DEFAULT_MATH;
    return SOLVER_SUCCESS;
}

STANDIN_PUBLIC int cusolverDnCreate(struct cusolverDnContext **made)
{
    standin_call_begin("cusolverDnCreate", __builtin_return_address(0));
    return solver_call_end(create(made));
}

STANDIN_PUBLIC int cusolverDnDestroy(struct cusolverDnContext *handle)
{
    free(handle);
    return handle == NULL ? SOLVER_NOT_INITIALIZED : SOLVER_SUCCESS;
}

static enum solver_status set(int *setting, int value, int least, int most)
{
    if (value < least || value > most) return SOLVER_INVALID_VALUE;
    *setting = value;
    return SOLVER_SUCCESS;
}

static enum solver_status get(const int *setting, int *value)
{
    if (value == NULL) return SOLVER_INVALID_VALUE;
    *value = *setting;
    return SOLVER_SUCCESS;
}

static enum solver_status set_stream(struct cusolverDnContext *handle, CUstream stream)
{
    handle->stream = stream;
    return SOLVER_SUCCESS;
}

static enum solver_status get_stream(const struct cusolverDnContext *handle, CUstream *stream)
{
    if (stream == NULL) return SOLVER_INVALID_VALUE;
    *stream = handle->stream;
    return SOLVER_SUCCESS;
}

SOLVER_ROUTINE(SetStream, set_stream(handle, stream), CUstream stream)
SOLVER_ROUTINE(GetStream, get_stream(handle, stream), CUstream *stream)
/* The results are the same each time, whatever is set. */
SOLVER_ROUTINE(SetDeterministicMode,
               set(&handle->determinism, mode, SOLVER_DETERMINISTIC, SOLVER_NOT_DETERMINISTIC),
               int mode)
SOLVER_ROUTINE(GetDeterministicMode, get(&handle->determinism, mode), int *mode)
SOLVER_ROUTINE(SetMathMode,
               set(&handle->math_mode, mode, SOLVER_DEFAULT_MATH, SOLVER_EMULATED_MATH), int mode)
SOLVER_ROUTINE(GetMathMode, get(&handle->math_mode, mode), int *mode)

/* ---- parameters: there is one algorithm for each function ---------------------------------------
 */

struct cusolverDnParams {
    int algorithm;
};

STANDIN_PUBLIC int cusolverDnCreateParams(struct cusolverDnParams **made)
{
    if (made == NULL) return SOLVER_INVALID_VALUE;
    *made = calloc(1, sizeof **made);
    return *made == NULL ? SOLVER_ALLOC_FAILED : SOLVER_SUCCESS;
}

STANDIN_PUBLIC int cusolverDnDestroyParams(struct cusolverDnParams *params)
{
    free(params);
    return SOLVER_SUCCESS;
}

STANDIN_PUBLIC int cusolverDnSetAdvOptions(struct cusolverDnParams *params, int function,
                                           int algorithm)
{
    (void)function;
    if (params == NULL) return SOLVER_INVALID_VALUE;
    return (int)set(&params->algorithm, algorithm, SOLVER_ALGORITHM_0, SOLVER_ALGORITHM_2);
}

/* ---- settings of what sweeps --------------------------------------------------------------------
 */

static enum solver_status create_settings(struct solver_settings **made)
{
    enum { MOST_SWEEPS = 100 };
    if (made == NULL) return SOLVER_INVALID_VALUE;
    if ((*made = calloc(1, sizeof **made)) == NULL) return SOLVER_ALLOC_FAILED;
    (*made)->most_sweeps = MOST_SWEEPS;
    (*made)->sorts = 1;
    return SOLVER_SUCCESS;
}

static enum solver_status destroy_settings(struct solver_settings *settings)
{
    CUresult error = CUDA_SUCCESS;
    if (settings == NULL) return SOLVER_SUCCESS;
    if (settings->report != NULL) error = cuMemFree((CUdeviceptr)(uintptr_t)settings->report);
    free(settings);
    return solver_status_of(error);
}

static enum solver_status set_tolerance(struct solver_settings *settings, double tolerance)
{
    settings->tolerance = tolerance;
    return SOLVER_SUCCESS;
}

/* Nothing has run. */
static enum solver_status none_yet(double *residual, int *sweeps)
{
    if (residual != NULL) *residual = 0;
    if (sweeps != NULL) *sweeps = 0;
    return SOLVER_SUCCESS;
}

/* Waits for the stream of the handle, and takes the report from the device. */
static enum solver_status take_report(const struct cusolverDnContext *handle,
                                      const struct solver_settings *settings, double *residual,
                                      int *sweeps)
{
    struct solver_report report;
    if (settings == NULL) return SOLVER_INVALID_VALUE;
    if (settings->of_many) return SOLVER_NOT_SUPPORTED;
    if (settings->report == NULL) return none_yet(residual, sweeps);
    CUresult error = cuMemcpyDtoHAsync(&report, (CUdeviceptr)(uintptr_t)settings->report,
                                       sizeof report, handle->stream);
    if (error == CUDA_SUCCESS) error = cuStreamSynchronize(handle->stream);
    if (error != CUDA_SUCCESS) return solver_status_of(error);
    if (residual != NULL) *residual = report.residual;
    if (sweeps != NULL) *sweeps = report.sweeps;
    return SOLVER_SUCCESS;
}

#define SETTER(name, run, value)                                                                   \
    STANDIN_PUBLIC int cusolverDnX##name(struct solver_settings *settings, value)                  \
    {                                                                                              \
        return settings == NULL ? SOLVER_INVALID_VALUE : (int)(run);                               \
    }
/* `Kind` of settings, of the functions `kind`. */
#define SETTINGS(Kind, kind)                                                                       \
    STANDIN_PUBLIC int cusolverDnCreate##Kind##Info(struct solver_settings **made)                 \
    {                                                                                              \
        return (int)create_settings(made);                                                         \
    }                                                                                              \
    STANDIN_PUBLIC int cusolverDnDestroy##Kind##Info(struct solver_settings *settings)             \
    {                                                                                              \
        standin_call_begin("cusolverDnDestroy" #Kind "Info", __builtin_return_address(0));         \
        return solver_call_end(destroy_settings(settings));                                        \
    }                                                                                              \
    SETTER(kind##SetTolerance, set_tolerance(settings, tolerance), double tolerance)               \
    SETTER(kind##SetMaxSweeps, set(&settings->most_sweeps, most, 0, 1 << 20), int most)            \
    SETTER(kind##SetSortEig, (settings->sorts = sorts != 0, SOLVER_SUCCESS), int sorts)            \
    SOLVER_ROUTINE(X##kind##GetResidual,                                                           \
                   residual == NULL ? SOLVER_INVALID_VALUE                                         \
                                    : take_report(handle, settings, residual, NULL),               \
                   const struct solver_settings *settings, double *residual)                       \
    SOLVER_ROUTINE(X##kind##GetSweeps,                                                             \
                   sweeps == NULL ? SOLVER_INVALID_VALUE                                           \
                                  : take_report(handle, settings, NULL, sweeps),                   \
                   const struct solver_settings *settings, int *sweeps)
SETTINGS(Syevj, syevj)
SETTINGS(Gesvdj, gesvdj)

/* ---- of the library ---------------------------------------------------------------------------
 */

STANDIN_PUBLIC int cusolverGetVersion(int *version)
{
    if (version == NULL) return SOLVER_INVALID_VALUE;
    *version = SOLVER_MAJOR * 1000 + SOLVER_MINOR * 100 + SOLVER_PATCH;
    return SOLVER_SUCCESS;
}

STANDIN_PUBLIC int cusolverGetProperty(int which, int *value)
{
    static const int parts[] = {SOLVER_MAJOR, SOLVER_MINOR, SOLVER_PATCH};
    if (which < 0 || which > 2 || value == NULL) return SOLVER_INVALID_VALUE;
    *value = parts[which];
    return SOLVER_SUCCESS;
}
