/* Executions: the launches of a plan, in its stream. */
#include "emulator/standins/cufft/fft.h"

#include <stdio.h>

static struct standin_kernels kernels = {.ptx = fft_image};

CUresult fft_launch(const char *kernel, const char *suffix, uint64_t threads, CUstream stream,
                    const void *parameter)
{
    enum { LONGEST = 64, BLOCK = 256 };
    const struct standin_size size = {.x = threads, .y = 1, .z = 1, .block_x = BLOCK, .block_y = 1};
    char name[LONGEST];
    snprintf(name, sizeof name, suffix == NULL ? "cufft_%s" : "cufft_%s_%s", kernel, suffix);
    return standin_launch(&kernels, name, &size, stream, parameter);
}

CUresult fft_launch_step(const struct fft_plan *plan, const struct fft_step *step,
                         void *const buffer[FFT_BUFFERS], bool inverse, CUstream stream)
{
    const struct fft_axis *axis = &plan->axis[step->axis];
    struct fft_pass pass = step->pass;
    uint64_t threads = 1;
    for (int k = 0; k < FFT_COORDINATES; k++) threads *= pass.size[k];
    pass.from.first = buffer[step->from];
    pass.to.first = buffer[step->to];
    pass.roots = axis->roots;
    pass.factors = step->by_filter ? axis->filter : axis->chirp;
    if (!step->inner) pass.inverse = inverse;
    return fft_launch(step->kernel, step->wide || fft_is_double(plan->request.type) ? "f64" : "f32",
                      threads, stream, &pass);
}

static enum fft_status run(struct fft_plan *plan, void *input, void *output, bool inverse)
{
    const struct fft_steps *steps = &plan->steps[input == output];
    void *buffer[FFT_BUFFERS] = {[FFT_INPUT] = input, [FFT_OUTPUT] = output};
    CUresult result = CUDA_SUCCESS;
    if (plan->work == 0 && plan->work_size > 0) return FFT_NO_WORKSPACE;
    for (int k = FFT_WORK_0; k < FFT_BUFFERS; k++)
        buffer[k] = (unsigned char *)(uintptr_t)plan->work + plan->offset[k];
    for (int k = 0; k < steps->count && result == CUDA_SUCCESS; k++)
        result = fft_launch_step(plan, &steps->step[k], buffer, inverse, plan->stream);
    return fft_status_of(result, FFT_EXEC_FAILED);
}

/* Data is aligned to complex numbers of the plan's precision, real data too. */
static bool is_data(const struct fft_plan *plan, const void *data)
{
    const size_t size = 2 * (fft_is_double(plan->request.type) ? sizeof(double) : sizeof(float));
    return data != NULL && (uintptr_t)data % size == 0;
}

/* Types with a real side have one direction. */
static bool is_direction(int type, int direction)
{
    return (direction == FFT_FORWARD && !fft_is_real_output(type)) ||
           (direction == FFT_INVERSE && !fft_is_real_input(type));
}

/* An execution of a plan, whose type must be `type`. NVIDIA's library ignores the type that the
 * function's name says; its documentation does not allow another. */
static enum fft_status execute(int handle, int type, void *input, void *output, int direction)
{
    struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL || !plan->made) return FFT_INVALID_PLAN;
    if (plan->request.type != type) return FFT_INVALID_TYPE;
    if (!is_data(plan, input) || !is_data(plan, output)) return FFT_INVALID_VALUE;
    if (!is_direction(type, direction)) return FFT_INVALID_VALUE;
    return run(plan, input, output, direction == FFT_INVERSE);
}

/* An execution of a plan of any type. */
static enum fft_status execute_any(int handle, void *input, void *output, int direction)
{
    const struct fft_plan *plan = fft_plan_of(handle);
    if (plan == NULL) return FFT_INVALID_PLAN;
    return execute(handle, plan->request.type, input, output, direction);
}

#define DIRECTED(name, type)                                                                       \
    FFT_ROUTINE(name, execute(handle, type, input, output, direction), int handle, void *input,    \
                void *output, int direction)
#define UNDIRECTED(name, type, direction)                                                          \
    FFT_ROUTINE(name, execute(handle, type, input, output, direction), int handle, void *input,    \
                void *output)
DIRECTED(ExecC2C, FFT_C2C)
DIRECTED(ExecZ2Z, FFT_Z2Z)
UNDIRECTED(ExecR2C, FFT_R2C, FFT_FORWARD)
UNDIRECTED(ExecD2Z, FFT_D2Z, FFT_FORWARD)
UNDIRECTED(ExecC2R, FFT_C2R, FFT_INVERSE)
UNDIRECTED(ExecZ2D, FFT_Z2D, FFT_INVERSE)
FFT_ROUTINE(XtExec, execute_any(handle, input, output, direction), int handle, void *input,
            void *output, int direction)
