/* Handles, and the public functions that make plans and say how much memory they need. */
#include "emulator/standins/cufft/fft.h"

#include <pthread.h>
#include <stdlib.h>

enum { VERSION_MAJOR = 12, VERSION_MINOR = 0, VERSION_PATCH = 0 }; /* whose ABI abi.h follows */

enum fft_status fft_status_of(CUresult error, enum fft_status otherwise)
{
    if (standin_met(error) == CUDA_SUCCESS) return FFT_SUCCESS;
    return error == CUDA_ERROR_OUT_OF_MEMORY ? FFT_ALLOC_FAILED : otherwise;
}

int fft_call_end(enum fft_status status)
{
    standin_call_end(status == FFT_SUCCESS, status == FFT_NOT_SUPPORTED ? CUDA_ERROR_NOT_SUPPORTED
                                                                        : CUDA_ERROR_INVALID_VALUE);
    return (int)status;
}

/* ---- handles ----------------------------------------------------------------------------------
 */

/* plans[handle]; handle 0 is never given. The number of a destroyed plan is not given again, so
 * that its use is an error. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fft_plan **plans;
static int plans_count = 1, plans_room;

struct fft_plan *fft_plan_of(int handle)
{
    pthread_mutex_lock(&lock);
    struct fft_plan *plan = handle > 0 && handle < plans_count ? plans[handle] : NULL;
    pthread_mutex_unlock(&lock);
    return plan;
}

/* Gives `plan` a handle; false without memory. */
static bool add(struct fft_plan *plan, int *handle)
{
    enum { FIRST_ROOM = 64 };
    pthread_mutex_lock(&lock);
    if (plans_count >= plans_room) {
        const int room = plans_room == 0 ? FIRST_ROOM : 2 * plans_room;
        struct fft_plan **grown = realloc(plans, (size_t)room * sizeof(*grown));
        if (grown != NULL) {
            plans = grown;
            plans_room = room;
        }
    }
    const bool fits = plans_count < plans_room;
    if (fits) {
        *handle = plans_count++;
        plans[*handle] = plan;
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

static enum fft_status create(int *handle)
{
    if (handle == NULL) return FFT_INVALID_VALUE;
    const enum fft_status status = fft_status_of(standin_context(), FFT_SETUP_FAILED);
    if (status != FFT_SUCCESS) return status;
    struct fft_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) return FFT_ALLOC_FAILED;
    plan->takes_work = true;
    if (add(plan, handle)) return FFT_SUCCESS;
    free(plan);
    return FFT_ALLOC_FAILED;
}

static CUresult give_back(CUdeviceptr memory)
{
    return memory == 0 ? CUDA_SUCCESS : cuMemFree(memory);
}

/* Gives back what a plan has: memory of the device and of the host. */
static CUresult strip(struct fft_plan *plan)
{
    CUresult result = give_back(plan->owns_work ? plan->work : 0);
    for (int axis = 0; axis < FFT_MOST_AXES; axis++) {
        const CUresult freed = give_back(plan->axis[axis].memory);
        if (result == CUDA_SUCCESS) result = freed;
    }
    free(plan->steps);
    return result;
}

static enum fft_status destroy(int handle)
{
    enum { NO_PLAN = -1 }; /* CUFFT_PLAN_NULL may be destroyed */
    struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL) return handle == NO_PLAN ? FFT_SUCCESS : FFT_INVALID_PLAN;
    pthread_mutex_lock(&lock);
    plans[handle] = NULL;
    pthread_mutex_unlock(&lock);
    const CUresult result = strip(plan);
    free(plan);
    return fft_status_of(result, FFT_INTERNAL_ERROR);
}

FFT_ROUTINE(Create, create(handle), int *handle)
FFT_ROUTINE(Destroy, destroy(handle), int handle)

/* ---- requests ---------------------------------------------------------------------------------
 */

static bool is_type(int type)
{
    return type == FFT_C2C || type == FFT_R2C || type == FFT_C2R || type == FFT_Z2Z ||
           type == FFT_D2Z || type == FFT_Z2D;
}

static bool is_embedding(const struct fft_embedding *side)
{
    return side->basic || (side->stride > 0 && side->distance > 0);
}

/* The layout of one side alone cannot be given: cuFFT refuses that. */
static enum fft_status check(const struct fft_request *request)
{
    if (request->rank < 1 || request->rank > FFT_MOST_AXES) return FFT_INVALID_VALUE;
    if (!is_type(request->type)) return FFT_INVALID_TYPE;
    for (int axis = 0; axis < request->rank; axis++)
        if (request->n[axis] < 1) return FFT_INVALID_SIZE;
    if (request->batch < 1) return FFT_INVALID_SIZE;
    const bool is_both = request->input.basic == request->output.basic;
    return is_both && is_embedding(&request->input) && is_embedding(&request->output)
               ? FFT_SUCCESS
               : FFT_INVALID_VALUE;
}

static struct fft_request request_of(int rank, int64_t x, int64_t y, int64_t z, int type,
                                     int64_t batch)
{
    return (struct fft_request){.rank = rank,
                                .n = {x, y, z},
                                .input.basic = true,
                                .output.basic = true,
                                .type = type,
                                .batch = batch};
}

/* The arguments of the functions for many transforms. Arrays are of int, or of long long: `wide`.
 */
struct many {
    bool wide;
    int rank;
    const void *n, *input_embed;
    int64_t input_stride, input_distance;
    const void *output_embed;
    int64_t output_stride, output_distance;
    int type;
    int64_t batch;
};

static int64_t element(const struct many *many, const void *array, int k)
{
    return many->wide ? ((const long long *)array)[k] : ((const int *)array)[k];
}

static struct fft_request request_of_many(const struct many *many)
{
    struct fft_request request = request_of(many->rank, 0, 0, 0, many->type, many->batch);
    if (many->n == NULL || many->rank < 1 || many->rank > FFT_MOST_AXES) request.rank = 0;
    request.input = (struct fft_embedding){.basic = many->input_embed == NULL,
                                           .stride = many->input_stride,
                                           .distance = many->input_distance};
    request.output = (struct fft_embedding){.basic = many->output_embed == NULL,
                                            .stride = many->output_stride,
                                            .distance = many->output_distance};
    for (int k = 0; k < request.rank; k++) {
        request.n[k] = element(many, many->n, k);
        if (!request.input.basic) request.input.embed[k] = element(many, many->input_embed, k);
        if (!request.output.basic) request.output.embed[k] = element(many, many->output_embed, k);
    }
    return request;
}

/* The type of a plan from those of its sides, or 0. Where the input is real, NVIDIA's nvmath-python
 * says that type for the execution, too. */
static int type_of(int input, int output, int execution)
{
    static const struct {
        int input, output, execution, type;
    } types[] = {
        {FFT_C_32F, FFT_C_32F, FFT_C_32F, FFT_C2C}, {FFT_R_32F, FFT_C_32F, FFT_C_32F, FFT_R2C},
        {FFT_C_32F, FFT_R_32F, FFT_C_32F, FFT_C2R}, {FFT_C_64F, FFT_C_64F, FFT_C_64F, FFT_Z2Z},
        {FFT_R_64F, FFT_C_64F, FFT_C_64F, FFT_D2Z}, {FFT_C_64F, FFT_R_64F, FFT_C_64F, FFT_Z2D},
        {FFT_R_32F, FFT_C_32F, FFT_R_32F, FFT_R2C}, {FFT_R_64F, FFT_C_64F, FFT_R_64F, FFT_D2Z},
    };
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (types[k].input == input && types[k].output == output && types[k].execution == execution)
            return types[k].type;
    return 0;
}

/* ---- plans ------------------------------------------------------------------------------------
 */

/* What the transform of a request needs. */
static enum fft_status estimate(struct fft_request request, size_t *size)
{
    struct fft_plan plan = {.request = request};
    enum fft_status status = check(&request);
    if (status == FFT_SUCCESS && size == NULL) status = FFT_INVALID_VALUE;
    if (status == FFT_SUCCESS) status = fft_describe(&plan);
    if (status == FFT_SUCCESS) *size = plan.work_size;
    free(plan.steps);
    return status;
}

static enum fft_status estimate_for(int handle, struct fft_request request, size_t *size)
{
    return fft_plan_of(handle) == NULL ? FFT_INVALID_PLAN : estimate(request, size);
}

static enum fft_status take_work(struct fft_plan *plan)
{
    if (!plan->takes_work || plan->work_size == 0) return FFT_SUCCESS;
    const enum fft_status status =
        fft_status_of(cuMemAlloc(&plan->work, plan->work_size), FFT_ALLOC_FAILED);
    plan->owns_work = status == FFT_SUCCESS;
    return status;
}

/* Completes a plan; one that failed is as it was. A plan is completed once. */
static enum fft_status make(int handle, struct fft_request request, size_t *size)
{
    struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL || plan->made) return FFT_INVALID_PLAN;
    if (size == NULL) return FFT_INVALID_VALUE;
    enum fft_status status = check(&request);
    if (status != FFT_SUCCESS) return status;
    struct fft_plan made = *plan;
    made.request = request;
    status = fft_describe(&made);
    if (status == FFT_SUCCESS) status = fft_make_tables(&made);
    if (status == FFT_SUCCESS) status = take_work(&made);
    if (status != FFT_SUCCESS) {
        strip(&made);
        return status;
    }
    made.made = true;
    *size = made.work_size;
    *plan = made;
    return FFT_SUCCESS;
}

static enum fft_status create_and_make(int *handle, struct fft_request request)
{
    enum fft_status status = check(&request);
    if (status == FFT_SUCCESS) status = create(handle);
    if (status != FFT_SUCCESS) return status;
    size_t size;
    status = make(*handle, request, &size);
    if (status != FFT_SUCCESS) destroy(*handle);
    return status;
}

/* Each request has four functions: one that makes a plan, and so on. */
#define FAMILY(dimensions, request, ...)                                                           \
    FFT_ROUTINE(Plan##dimensions, create_and_make(handle, request), int *handle, __VA_ARGS__)      \
    FFT_ROUTINE(MakePlan##dimensions, make(handle, request, size), int handle, __VA_ARGS__,        \
                size_t *size)                                                                      \
    FFT_ROUTINE(GetSize##dimensions, estimate_for(handle, request, size), int handle, __VA_ARGS__, \
                size_t *size)                                                                      \
    FFT_ROUTINE(Estimate##dimensions, estimate(request, size), __VA_ARGS__, size_t *size)
FAMILY(1d, request_of(1, nx, 0, 0, type, batch), int nx, int type, int batch)
FAMILY(2d, request_of(2, nx, ny, 0, type, 1), int nx, int ny, int type)
FAMILY(3d, request_of(3, nx, ny, nz, type, 1), int nx, int ny, int nz, int type)

#define MANY_ARGUMENTS(I)                                                                          \
    int rank, I *n, I *inembed, I istride, I idist, I *onembed, I ostride, I odist, int type,      \
        I batch
#define MANY(is_wide)                                                                              \
    request_of_many(&(struct many){is_wide, rank, n, inembed, istride, idist, onembed, ostride,    \
                                   odist, type, batch})
FAMILY(Many, MANY(false), MANY_ARGUMENTS(int))
FFT_ROUTINE(MakePlanMany64, make(handle, MANY(true), size), int handle, MANY_ARGUMENTS(long long),
            size_t *size)
FFT_ROUTINE(GetSizeMany64, estimate_for(handle, MANY(true), size), int handle,
            MANY_ARGUMENTS(long long), size_t *size)

#define XT_ARGUMENTS                                                                               \
    int rank, long long *n, long long *inembed, long long istride, long long idist,                \
        int input_type, long long *onembed, long long ostride, long long odist, int output_type,   \
        long long batch, size_t *size, int execution_type
#define XT_MANY(type)                                                                              \
    request_of_many(&(struct many){true, rank, n, inembed, istride, idist, onembed, ostride,       \
                                   odist, type, batch})

/* Half precision is a type that cuFFT has and the stand-in lacks. */
#define XT_ROUTINE(name, run)                                                                      \
    STANDIN_PUBLIC int cufft##name(int handle, XT_ARGUMENTS)                                       \
    {                                                                                              \
        const int type = type_of(input_type, output_type, execution_type);                         \
        if (type == 0) {                                                                           \
            standin_absent("cufft" #name " of these types", __builtin_return_address(0));          \
            return FFT_NOT_SUPPORTED;                                                              \
        }                                                                                          \
        standin_call_begin("cufft" #name, __builtin_return_address(0));                            \
        return fft_call_end(run(handle, XT_MANY(type), size));                                     \
    }
XT_ROUTINE(XtMakePlanMany, make)
XT_ROUTINE(XtGetSizeMany, estimate_for)

/* ---- settings ---------------------------------------------------------------------------------
 */

static enum fft_status set_stream(int handle, CUstream stream)
{
    struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL) return FFT_INVALID_PLAN;
    plan->stream = stream;
    return FFT_SUCCESS;
}

/* The caller's work area takes the place of the plan's own. */
static enum fft_status set_work(int handle, void *work)
{
    struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL) return FFT_INVALID_PLAN;
    const CUresult result = give_back(plan->owns_work ? plan->work : 0);
    plan->owns_work = false;
    plan->work = (CUdeviceptr)(uintptr_t)work;
    return fft_status_of(result, FFT_INTERNAL_ERROR);
}

static enum fft_status set_takes_work(int handle, int takes_work)
{
    struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL) return FFT_INVALID_PLAN;
    plan->takes_work = takes_work != 0;
    return FFT_SUCCESS;
}

static enum fft_status get_size(int handle, size_t *size)
{
    const struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL || !plan->made) return FFT_INVALID_PLAN;
    if (size == NULL) return FFT_INVALID_VALUE;
    *size = plan->work_size;
    return FFT_SUCCESS;
}

FFT_ROUTINE(SetStream, set_stream(handle, stream), int handle, CUstream stream)
FFT_ROUTINE(SetWorkArea, set_work(handle, work), int handle, void *work)
FFT_ROUTINE(SetAutoAllocation, set_takes_work(handle, takes_work), int handle, int takes_work)
FFT_ROUTINE(GetSize, get_size(handle, size), int handle, size_t *size)

/* Properties steer how NVIDIA compiles kernels; here they are kept, and have no effect. */
static enum fft_status property(int handle, int which, int64_t **at)
{
    struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL) return FFT_INVALID_PLAN;
    if (which < FFT_PATIENT_JIT || which >= FFT_PROPERTIES) return FFT_INVALID_VALUE;
    *at = &plan->property[which - 1];
    return FFT_SUCCESS;
}

static enum fft_status set_property(int handle, int which, int64_t value)
{
    int64_t *at;
    const enum fft_status status = property(handle, which, &at);
    if (status == FFT_SUCCESS) *at = value;
    return status;
}

static enum fft_status get_property(int handle, int which, long long *value)
{
    int64_t *at;
    const enum fft_status status = property(handle, which, &at);
    if (status == FFT_SUCCESS && value == NULL) return FFT_INVALID_VALUE;
    if (status == FFT_SUCCESS) *value = *at;
    return status;
}

FFT_ROUTINE(SetPlanPropertyInt64, set_property(handle, which, value), int handle, int which,
            long long value)
FFT_ROUTINE(GetPlanPropertyInt64, get_property(handle, which, value), int handle, int which,
            long long *value)
FFT_ROUTINE(ResetPlanProperty, set_property(handle, which, 0), int handle, int which)

/* ---- of the library ---------------------------------------------------------------------------
 */

STANDIN_PUBLIC int cufftGetVersion(int *version)
{
    if (version == NULL) return FFT_INVALID_VALUE;
    *version = VERSION_MAJOR * 1000 + VERSION_MINOR * 100 + VERSION_PATCH;
    return FFT_SUCCESS;
}

STANDIN_PUBLIC int cufftGetProperty(int which, int *value)
{
    static const int parts[] = {VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH};
    if (which < 0 || which > 2) return FFT_INVALID_TYPE;
    if (value == NULL) return FFT_INVALID_VALUE;
    *value = parts[which];
    return FFT_SUCCESS;
}

#define ABSENT(name) STANDIN_ABSENT(cufft##name, FFT_NOT_SUPPORTED)
#include "emulator/standins/cufft/absent.def"
