/* The drive of lesson 02: opens the lanes, runs them and closes them; and does the same work in
 * other ways (serially, breadth-first) for comparison. */
#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/02_streams/exchange.h"
#include "kernels/broken.h"
#include "kernels/multiply_divide.h"
#include "lesson.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* All lanes in the serial baseline, by the host's clock; 0: not measured. */
static double baseline_s;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* State of the kernel that the student gets; global, because streams_kernel has no user pointer. */
static struct {
    size_t launches, refused; /* the launch of this index (from 0) fails, */
    int untold;               /* 0: in a CUDA call; 1: the launcher itself returns an error */
} given;

static cudaError_t given_kernel(float *array, size_t length, cudaStream_t stream)
{
    if (given.launches++ != given.refused) return multiply_divide_launch(array, length, stream);
    return given.untold ? (cudaError_t)STREAMS_UNTOLD_ERROR
                        : broken_configuration_launch(array, length, stream);
}

static void give(size_t refused, int untold)
{
    given.launches = 0;
    given.refused = refused;
    given.untold = untold;
}

/* Makes the runtime hold an earlier error that no call of the student's returned. */
static void leave_an_error(void)
{
    void *none;
    (void)cudaMalloc(&none, STREAMS_TOO_MANY);
}

static void lanes_clear(const struct streams_input *input, struct streams_lane *lanes)
{
    memset(lanes, 0, STREAMS_LANES * sizeof *lanes);
    for (uint32_t i = 0; i < input->count; i++) lanes[i].length = input->lanes[i].length;
}

static uint32_t lanes_kept(const struct streams_lane *lanes, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        kept += (lanes[i].host != NULL) + (lanes[i].device != NULL) + (lanes[i].stream != NULL);
    return kept;
}

static uint32_t lanes_busy(const struct streams_lane *lanes, uint32_t count)
{
    uint32_t busy = 0;
    for (uint32_t i = 0; i < count; i++) busy += cudaStreamQuery(lanes[i].stream) != cudaSuccess;
    (void)cudaGetLastError(); /* the runtime stores "not ready" as its last error */
    return busy;
}

/* The GPU waits while the host fills and reads 839 MB, so the loops use the widest registers
 * available. */
#ifdef __x86_64__
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

static WIDE void array_fill(float *array, size_t length, uint64_t seed)
{
    enum { AT_ONCE = 32 };
    size_t k = 0;
    for (; k + AT_ONCE <= length; k += AT_ONCE)
        for (size_t i = 0; i < AT_ONCE; i++) array[k + i] = values_at(seed, k + i);
    for (; k < length; k++) array[k] = values_at(seed, k);
}

static WIDE uint64_t array_digest(const float *array, size_t length)
{
    struct streams_digest digest = {{0}};
    size_t k = 0;
    for (; k + STREAMS_CHAINS <= length; k += STREAMS_CHAINS)
        streams_digest_add(&digest, array + k, STREAMS_CHAINS);
    if (k < length) streams_digest_add(&digest, array + k, length - k);
    return streams_digest_end(&digest);
}

static void lanes_fill(const struct streams_input *input, struct streams_lane *lanes,
                       uint32_t round)
{
    for (uint32_t i = 0; i < input->count; i++)
        array_fill(lanes[i].host, input->lanes[i].length, values_seed(input->lanes[i].seed, round));
}

/* Copies the contents of the host arrays at this moment, even if work on them is pending. */
static void lanes_take(const struct streams_input *input, const struct streams_lane *lanes,
                       uint32_t round, struct streams_output *output)
{
    for (uint32_t i = 0; i < input->count; i++) {
        output->digests[round][i] = array_digest(lanes[i].host, input->lanes[i].length);
        if (input->whole)
            memcpy(output->values + round * input->total + input->lanes[i].offset, lanes[i].host,
                   input->lanes[i].length * sizeof(float));
    }
}

/* Calls streams_run once and stores its results. Returns the seconds that it took. */
static double run(struct drive *drive, struct streams_lane *lanes, uint32_t round)
{
    const struct streams_input *input = drive->input;
    struct streams_output *output = drive->output;

    lanes_fill(input, lanes, round);
    give(SIZE_MAX, 0);
    if (strcmp(drive->run, "failures") == 0) leave_an_error();
    drive_begin(drive, STREAMS_PHASE_RUN, round);
    const double begin = seconds_now();
    output->runs[round] = streams_run(lanes, input->count,
                                      strcmp(drive->run, "slow") == 0 ? multiply_divide_slow_launch
                                      : STREAMS_MARKS(round) == 2     ? multiply_divide_twice_launch
                                                                      : given_kernel);
    if (!input->whole) (void)cudaDeviceSynchronize(); /* timed: includes all work */
    const double seconds = seconds_now() - begin;
    drive_end(drive, STREAMS_PHASE_RUN, round);
    lanes_take(input, lanes, round, output);
    output->busy += lanes_busy(lanes, input->count);
    (void)cudaDeviceSynchronize();
    return seconds;
}

/* ---- the drive's own work ------------------------------------------------------------------- */

struct own {
    float *pageable, *pinned, *device; /* each as long as the longest lane */
    float *pinned_out, *device_out;    /* the same, for copies in the opposite direction */
    void *flush;                       /* device memory; NULL: copied-in data stays in the cache */
    size_t flush_bytes;                /* twice the cache */
    cudaStream_t streams[2];
};

/* Allocates what only the calibration needs. */
static cudaError_t own_open_beside(const struct streams_input *input, size_t bytes, struct own *own)
{
    int device = 0, cache = 0;
    cudaError_t error = cudaMallocHost((void **)&own->pinned_out, bytes);

    if (error == cudaSuccess) error = cudaMalloc((void **)&own->device_out, bytes);
    if (error == cudaSuccess) error = cudaMemset(own->device_out, 0, bytes);
    for (int i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaStreamCreateWithFlags(&own->streams[i], cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device);
    if (error != cudaSuccess || input->total * sizeof(float) <= (size_t)cache) return error;
    own->flush_bytes = 2 * (size_t)cache;
    return cudaMalloc(&own->flush, own->flush_bytes);
}

static cudaError_t own_open(const struct streams_input *input, struct own *own)
{
    size_t longest = 0;
    memset(own, 0, sizeof *own);
    for (uint32_t i = 0; i < input->count; i++)
        if (input->lanes[i].length > longest) longest = input->lanes[i].length;
    own->pageable = malloc(longest * sizeof(float));
    if (own->pageable == NULL) return cudaErrorMemoryAllocation;
    for (size_t k = 0; k < longest; k++) own->pageable[k] = values_at(input->lanes[0].seed, k);
    cudaError_t error = cudaMallocHost((void **)&own->pinned, longest * sizeof(float));
    if (error != cudaSuccess) return error;
    memcpy(own->pinned, own->pageable, longest * sizeof(float));
    error = cudaMalloc((void **)&own->device, longest * sizeof(float));
    return error == cudaSuccess ? own_open_beside(input, longest * sizeof(float), own) : error;
}

static cudaError_t own_close(struct own *own)
{
    free(own->pageable);
    cudaError_t error = cudaFreeHost(own->pinned);
    if (error == cudaSuccess) error = cudaFreeHost(own->pinned_out);
    if (error == cudaSuccess) error = cudaFree(own->device);
    if (error == cudaSuccess) error = cudaFree(own->device_out);
    if (error == cudaSuccess) error = cudaFree(own->flush);
    for (int i = 0; i < 2 && error == cudaSuccess; i++) error = cudaStreamDestroy(own->streams[i]);
    return error;
}

/* The serial baseline: copy in, kernel, copy out, from pageable memory, in the default stream, for
 * enough lanes to extrapolate the time of all. */
static cudaError_t serial(const struct streams_input *input, const struct own *own)
{
    for (uint32_t i = 0; i < input->serial; i++) {
        const size_t length = input->lanes[i].length, bytes = length * sizeof(float);
        cudaError_t error = cudaMemcpy(own->device, own->pageable, bytes, cudaMemcpyHostToDevice);
        if (error == cudaSuccess) error = multiply_divide_launch(own->device, length, NULL);
        if (error == cudaSuccess)
            error = cudaMemcpy(own->pageable, own->device, bytes, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

/* Copies lane 0's array each way, from page-locked memory, with nothing else running: twice, first
 * as warm-up. Where all lanes together exceed the cache, copied-in data has left the cache before
 * its kernel has gone far; here the cache is flushed before the kernel, too. */
static cudaError_t calibrate(const struct streams_input *input, const struct own *own)
{
    const size_t length = input->lanes[0].length, bytes = length * sizeof(float);
    for (int i = 0; i < 2; i++) {
        cudaError_t error =
            cudaMemcpyAsync(own->device, own->pinned, bytes, cudaMemcpyHostToDevice, NULL);
        if (error == cudaSuccess && own->flush != NULL)
            error = cudaMemsetAsync(own->flush, i, own->flush_bytes, NULL);
        if (error == cudaSuccess) error = multiply_divide_launch(own->device, length, NULL);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(own->pinned, own->device, bytes, cudaMemcpyDeviceToHost, NULL);
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

/* Copies the same array both ways at once: both directions share the link and slow each other
 * down. */
static cudaError_t calibrate_both_ways(const struct streams_input *input, const struct own *own)
{
    const size_t bytes = input->lanes[0].length * sizeof(float);
    cudaError_t error = cudaSuccess;

    for (int i = 0; i < STREAMS_BOTH_WAYS && error == cudaSuccess; i++) {
        error = cudaMemcpyAsync(own->device, own->pinned, bytes, cudaMemcpyHostToDevice,
                                own->streams[0]);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(own->pinned_out, own->device_out, bytes, cudaMemcpyDeviceToHost,
                                    own->streams[1]);
    }
    const cudaError_t waited = cudaDeviceSynchronize();
    return error == cudaSuccess ? waited : error;
}

static cudaError_t breadth_first(const struct streams_lane *lanes, uint32_t count)
{
    cudaError_t error = cudaSuccess;
    for (uint32_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemcpyAsync(lanes[i].device, lanes[i].host, lanes[i].length * sizeof(float),
                                cudaMemcpyHostToDevice, lanes[i].stream);
    for (uint32_t i = 0; i < count && error == cudaSuccess; i++)
        error = multiply_divide_launch(lanes[i].device, lanes[i].length, lanes[i].stream);
    for (uint32_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemcpyAsync(lanes[i].host, lanes[i].device, lanes[i].length * sizeof(float),
                                cudaMemcpyDeviceToHost, lanes[i].stream);
    const cudaError_t waited = cudaDeviceSynchronize();
    return error == cudaSuccess ? waited : error;
}

/* Warms up and calibrates the operations that streams_run is to overlap; with `with_serial` also
 * measures the serial baseline. */
static int measure(struct drive *drive, int with_serial)
{
    const struct streams_input *input = drive->input;
    struct own own;
    cudaError_t error = own_open(input, &own);
    if (error != cudaSuccess) return drive_failed("no memory", error);

    drive_begin(drive, STREAMS_PHASE_CALIBRATE, 0);
    error = calibrate(input, &own);
    drive_end(drive, STREAMS_PHASE_CALIBRATE, 0);
    if (error == cudaSuccess) {
        drive_begin(drive, STREAMS_PHASE_BOTH_WAYS, 0);
        error = calibrate_both_ways(input, &own);
        drive_end(drive, STREAMS_PHASE_BOTH_WAYS, 0);
    }
    if (error != cudaSuccess) return drive_failed("calibration", error);

    if (with_serial) {
        drive_begin(drive, STREAMS_PHASE_SERIAL, 0);
        const double begin = seconds_now();
        error = serial(input, &own);
        baseline_s = (seconds_now() - begin) * streams_of_serial(input);
        drive_end(drive, STREAMS_PHASE_SERIAL, 0);
    }
    if (error == cudaSuccess) error = own_close(&own);
    return error == cudaSuccess ? 0 : drive_failed("the serial baseline", error);
}

/* ---- the runs ------------------------------------------------------------------------------- */

/* Calls streams_open with a lane that is too large for any device. */
static void open_fails(struct drive *drive, struct streams_lane *lanes)
{
    const struct streams_input *input = drive->input;
    struct streams_output *output = drive->output;

    lanes_clear(input, lanes);
    lanes[input->impossible].length += STREAMS_TOO_MANY;
    drive_begin(drive, STREAMS_PHASE_OPEN_FAILS, 0);
    output->open_failed = streams_open(lanes, input->count);
    drive_end(drive, STREAMS_PHASE_OPEN_FAILS, 0);
    output->kept = lanes_kept(lanes, input->count);
    (void)cudaGetLastError();
}

/* Calls streams_run with a launch in the middle that fails. */
static cudaError_t run_fails(struct drive *drive, struct streams_lane *lanes, const char *phase)
{
    const struct streams_input *input = drive->input;
    struct streams_output *output = drive->output;

    lanes_fill(input, lanes, 0);
    /* The first launch of a kernel loads it, which may take longer than the lanes' kernels run;
     * those must still be running when the launch in the student's call is refused. */
    (void)broken_configuration_launch(lanes[0].device, 1, NULL);
    (void)cudaGetLastError();
    give(input->refused, strcmp(phase, STREAMS_PHASE_RUN_UNTOLD) == 0);
    drive_begin(drive, phase, 0);
    const cudaError_t error = streams_run(lanes, input->count, given_kernel);
    drive_end(drive, phase, 0);
    output->busy_failed += lanes_busy(lanes, input->count);
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
    return error;
}

/* Opens, runs and closes lanes while a call is made to fail; the drive makes no CUDA call of its
 * own in between. */
static void life_with_a_failure(struct drive *drive, struct streams_lane *lanes)
{
    const struct streams_input *input = drive->input;
    struct streams_output *output = drive->output;

    lanes_clear(input, lanes);
    give(SIZE_MAX, 0);
    drive_begin(drive, DRIVE_INJECTIONS, 0);
    drive_begin(drive, STREAMS_PHASE_OPEN, 0);
    output->open = streams_open(lanes, input->count);
    drive_end(drive, STREAMS_PHASE_OPEN, 0);
    output->kept = lanes_kept(lanes, input->count);
    for (uint32_t i = 0; i < input->count; i++) output->incomplete += lanes[i].host == NULL;
    if (output->open == cudaSuccess && output->incomplete == 0) {
        lanes_fill(input, lanes, 0);
        drive_begin(drive, STREAMS_PHASE_RUN, 0);
        output->runs[0] = streams_run(lanes, input->count, given_kernel);
        drive_end(drive, STREAMS_PHASE_RUN, 0);
        lanes_take(input, lanes, 0, output);
        drive_begin(drive, STREAMS_PHASE_CLOSE, 0);
        output->close = streams_close(lanes, input->count);
        drive_end(drive, STREAMS_PHASE_CLOSE, 0);
    }
    drive_end(drive, DRIVE_INJECTIONS, 0);
}

/* Inserts a lane whose pointers are NULL in the middle; returns the new number of lanes. */
static size_t lanes_with_an_empty_one(struct streams_lane *lanes, size_t count)
{
    const size_t middle = count / 2;
    memmove(&lanes[middle + 1], &lanes[middle], (count - middle) * sizeof *lanes);
    lanes[middle] = (struct streams_lane){.length = 1};
    return count + 1;
}

/* Runs the kernel once, so that the software device knows its duration: it runs a kernel of unknown
 * duration early. */
static int run_slow_kernel(void)
{
    cudaError_t error = multiply_divide_slow_launch(NULL, 0, NULL);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    return error == cudaSuccess ? 0 : drive_failed("the slow kernel", error);
}

/* Runs open and complete lanes in every way that the run asks for. */
static void run_all(struct drive *drive, struct streams_lane *lanes, bool failures, bool comparing)
{
    const struct streams_input *input = drive->input;
    struct streams_output *output = drive->output;

    for (uint32_t i = 0; i < input->count; i++)
        output->hosts[i] = (uint64_t)(uintptr_t)lanes[i].host;
    if (failures) {
        output->busy_failed = 0;
        output->run_failed = run_fails(drive, lanes, STREAMS_PHASE_RUN_FAILS);
        output->run_untold = run_fails(drive, lanes, STREAMS_PHASE_RUN_UNTOLD);
    }
    for (uint32_t round = 0; round < input->rounds; round++) {
        const double seconds = run(drive, lanes, round);
        const double part = baseline_s > 0 ? seconds / baseline_s : 0;
        output->rounds = round + 1;
        if (comparing && (part < input->clearly[0] || part > input->clearly[1])) break;
    }
    if (comparing) {
        drive_begin(drive, STREAMS_PHASE_BREADTH, 0);
        output->breadth_first = breadth_first(lanes, input->count);
        drive_end(drive, STREAMS_PHASE_BREADTH, 0);
    }
}

/* Calls streams_close; with `failures`, an empty lane is among the lanes, and it is called
 * twice. */
static void close_lanes(struct drive *drive, struct streams_lane *lanes, bool failures)
{
    const struct streams_input *input = drive->input;
    struct streams_output *output = drive->output;
    const size_t count = failures ? lanes_with_an_empty_one(lanes, input->count) : input->count;

    if (failures) leave_an_error();
    drive_begin(drive, STREAMS_PHASE_CLOSE, 0);
    output->close = streams_close(lanes, count);
    drive_end(drive, STREAMS_PHASE_CLOSE, 0);
    output->kept_closed = lanes_kept(lanes, (uint32_t)count);
    if (failures) {
        drive_begin(drive, STREAMS_PHASE_CLOSE, 1);
        output->close_again = streams_close(lanes, count);
        drive_end(drive, STREAMS_PHASE_CLOSE, 1);
    }
}

int drive_main(struct drive *drive)
{
    const struct streams_input *input = drive->input;
    struct streams_output *output = drive->output;
    const bool failures = strcmp(drive->run, "failures") == 0;
    const bool comparing = strcmp(drive->run, "compare") == 0;
    static struct streams_lane lanes[STREAMS_LANES + 1];

    output->busy = 0;
    output->rounds = 0;
    output->incomplete = 0;
    cudaError_t error = cudaFree(NULL); /* the device's start-up must not be timed */
    if (error != cudaSuccess) return drive_failed("the device did not start", error);
    if (strcmp(drive->run, "injections") == 0) {
        life_with_a_failure(drive, lanes);
        return 0;
    }
    if (!input->whole && measure(drive, comparing) != 0) return 1;
    if (strcmp(drive->run, "slow") == 0 && run_slow_kernel() != 0) return 1;
    if (failures) {
        open_fails(drive, lanes);
        leave_an_error();
    }

    lanes_clear(input, lanes);
    drive_begin(drive, STREAMS_PHASE_LIFE, 0);
    drive_begin(drive, STREAMS_PHASE_OPEN, 0);
    output->open = streams_open(lanes, input->count);
    drive_end(drive, STREAMS_PHASE_OPEN, 0);
    if (output->open == cudaSuccess) {
        for (uint32_t i = 0; i < input->count; i++) output->incomplete += lanes[i].host == NULL;
        if (output->incomplete == 0) run_all(drive, lanes, failures, comparing);
        close_lanes(drive, lanes, failures);
    }
    drive_end(drive, STREAMS_PHASE_LIFE, 0);
    return 0;
}
