/* fft: the stand-in for cuFFT. plan.c has the handles and the public functions that make plans,
 * steps.c turns a request into a list of launches, tables.c fills the tables of roots of unity that
 * the launches read, and exec.c launches the list in the plan's stream.
 *
 * A power of two, and every length without a prime factor above FFT_MOST_RADIX, is computed by
 * Stockham's algorithm in mixed radices; the other lengths by Bluestein's algorithm, in double
 * precision. Plans allocate, executions do not: an execution only launches kernels, so that it
 * neither waits nor disturbs a stream capture. The input of an out-of-place transform is never
 * written. Results are never promised to equal NVIDIA's to the last bit.
 *
 * Source: cuFFT 13.0, "Using the cuFFT API" and "cuFFT API Reference".
 */
#ifndef OVERLAP_STANDINS_CUFFT_FFT_H
#define OVERLAP_STANDINS_CUFFT_FFT_H

#include "emulator/standins/cufft/abi.h"
#include "emulator/standins/cufft/parameters.h"
#include "emulator/standins/standins.h"

enum { FFT_MOST_AXES = 3, FFT_MOST_RADIX = 31, FFT_MOST_STEPS = 64 };

/* ---- the bracket around a public function -----------------------------------------------------
 */

/* A public function cufft<name>; `run` is an enum fft_status. */
#define FFT_ROUTINE(name, run, ...)                                                                \
    STANDIN_PUBLIC int cufft##name(__VA_ARGS__)                                                    \
    {                                                                                              \
        standin_call_begin("cufft" #name, __builtin_return_address(0));                            \
        return fft_call_end(run);                                                                  \
    }

/* Ends the bracket and returns `status`. */
int fft_call_end(enum fft_status status);
/* Turns a CUDA error into a status and keeps the error for fft_call_end. `otherwise` is the status
 * of an error that has no status of its own. */
enum fft_status fft_status_of(CUresult error, enum fft_status otherwise);

/* ---- plans ------------------------------------------------------------------------------------
 */

/* The layout of one side, as cufftPlanMany has it. */
struct fft_embedding {
    bool basic; /* the caller gave none: contiguous, with padded real rows in place */
    int64_t embed[FFT_MOST_AXES], stride, distance;
};

/* What a plan is made of; axes are in the caller's order, the last one is contiguous. */
struct fft_request {
    int rank;
    int64_t n[FFT_MOST_AXES];
    struct fft_embedding input, output;
    int type; /* enum fft_type */
    int64_t batch;
};

/* The buffers that passes read and write. */
enum fft_buffer {
    FFT_INPUT,
    FFT_OUTPUT,
    FFT_WORK_0,
    FFT_WORK_1, /* complex elements of the plan's precision, one for each element */
    FFT_WIDE_0,
    FFT_WIDE_1, /* complex double, the longer lines of Bluestein's algorithm */
    FFT_BUFFERS
};

/* One launch. Pointers in `pass` are set when it is launched. */
struct fft_step {
    const char *kernel; /* without "cufft_" and "_f32" or "_f64" */
    bool wide;          /* in double precision, whatever the plan's precision is */
    bool inner;         /* the direction is that of `pass`, not that of the execution */
    bool by_filter;     /* `factors` is the filter's spectrum, not the chirp */
    enum fft_buffer from, to;
    int axis; /* whose tables; 0 is the last axis of the request */
    struct fft_pass pass;
};

struct fft_steps {
    int count;
    struct fft_step step[FFT_MOST_STEPS];
};

/* The tables of one length, in device memory that the plan owns. */
struct fft_axis {
    uint32_t n;
    uint32_t padded;        /* length of the convolution of Bluestein's algorithm, or 0 */
    struct fft_roots roots; /* of `padded` if that is not 0, else of `n` */
    const void *chirp, *filter;
    CUdeviceptr memory; /* 0: another axis of the same length has it */
};

struct fft_plan {
    bool made;
    bool takes_work; /* allocates its work area itself */
    CUstream stream;
    struct fft_request request;
    struct fft_axis axis[FFT_MOST_AXES]; /* the last axis of the request first */
    struct fft_steps *steps;             /* two lists: out of place and in place */
    size_t offset[FFT_BUFFERS], work_size;
    CUdeviceptr work; /* the work area in use */
    bool owns_work;
    int64_t property[2]; /* by enum fft_property, from 1; kept, without effect */
};

/* Fills in the plan's axes (without tables), steps, offsets and size of the work area. The plan
 * owns `steps` afterwards, also when this fails. */
enum fft_status fft_describe(struct fft_plan *plan);
/* Appends the passes that transform `lines` contiguous lines of `n` elements, a power of two, in
 * buffer FFT_WIDE_0; both wide buffers are overwritten. Returns the buffer of the result. */
enum fft_buffer fft_describe_wide(struct fft_steps *steps, uint32_t n, uint32_t lines, int axis,
                                  bool inverse);
/* Fills the tables of the plan's axes. Returns when they are complete: it waits for a stream of its
 * own alone. */
enum fft_status fft_make_tables(struct fft_plan *plan);

/* True for types of double precision, and for types with a real side. */
bool fft_is_double(int type);
bool fft_is_real_input(int type);
bool fft_is_real_output(int type);

/* The plan of a handle, or NULL. */
struct fft_plan *fft_plan_of(int handle);

/* ---- launches ---------------------------------------------------------------------------------
 */

/* Launches kernel cufft_<kernel>_<suffix>, or cufft_<kernel> without a suffix. */
CUresult fft_launch(const char *kernel, const char *suffix, uint64_t threads, CUstream stream,
                    const void *parameter);
/* Launches one step of `plan` in `stream`, between these buffers. */
CUresult fft_launch_step(const struct fft_plan *plan, const struct fft_step *step,
                         void *const buffer[FFT_BUFFERS], bool inverse, CUstream stream);

/* The image that the kernels are loaded from: kernels.cu as PTX. */
extern const char fft_image[];

#endif
