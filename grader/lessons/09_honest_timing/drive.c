/* The drive of lesson 09: arrays, the clock that the student's function is given, and the calls. */
#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/09_honest_timing/exchange.h"
#include "lesson.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* ---- the clock ----------------------------------------------------------------------------- */

/* State of the clock; global, because the clock function has no user pointer. */
static struct {
    struct drive *drive;
    struct timing_measured *measured; /* NULL: readings are not recorded */
    uint64_t zero;
    atomic_uint readings;
} given;

/* A reading's place among the calls is in the record; its value and caller are in the output. */
static uint64_t now(void)
{
    const unsigned number = atomic_fetch_add(&given.readings, 1);
    uint64_t ns;
    if (number >= TIMING_READINGS || given.measured == NULL)
        return given.drive->clock() + given.zero;
    drive_begin(given.drive, TIMING_PHASE_READING, number);
    ns = given.drive->clock() + given.zero;
    drive_end(given.drive, TIMING_PHASE_READING, number);
    given.measured->reading[number].ns = ns;
    given.measured->reading[number].caller = (uint64_t)(uintptr_t)__builtin_return_address(0);
    return ns;
}

/* ---- arrays -------------------------------------------------------------------------------- */

enum { A, B, C, ARRAYS };

static bool hosts_make(float *hosts[ARRAYS], const struct timing_call *call)
{
    const size_t bytes = call->n * sizeof(float);
    for (int k = 0; k < ARRAYS; k++)
        if (!drive_succeeds(cudaMallocHost((void **)&hosts[k], bytes), "cudaMallocHost"))
            return false;
    for (size_t i = 0; i < call->n; i++) {
        hosts[A][i] = values_at(values_seed(call->seed, 0), i);
        hosts[B][i] = values_at(values_seed(call->seed, 1), i);
    }
    memset(hosts[C], DRIVE_POISON, bytes);
    return true;
}

static void hosts_free(float *hosts[ARRAYS])
{
    for (int k = 0; k < ARRAYS; k++) cudaFreeHost(hosts[k]);
}

/* The copies are still pending on return. On a GPU the result's memory is poisoned, because reads
 * of uninitialised memory are not detected there. */
static bool devices_make(float *devices[ARRAYS], float *const hosts[ARRAYS],
                         const struct drive *drive, size_t n, cudaStream_t stream)
{
    const size_t bytes = n * sizeof(float);
    for (int k = 0; k < ARRAYS; k++)
        if (n > 0 && !drive_succeeds(cudaMalloc((void **)&devices[k], bytes), "cudaMalloc"))
            return false;
    if (n == 0) return true;
    if (drive->device == DRIVE_GPU &&
        !drive_succeeds(cudaMemsetAsync(devices[C], DRIVE_POISON, bytes, stream),
                        "cudaMemsetAsync"))
        return false;
    for (int k = A; k <= B; k++)
        if (!drive_succeeds(
                cudaMemcpyAsync(devices[k], hosts[k], bytes, cudaMemcpyHostToDevice, stream),
                "cudaMemcpyAsync"))
            return false;
    return true;
}

static void take_samples(float samples[TIMING_SAMPLES], const float *c, size_t n)
{
    for (size_t k = 0; k < timing_samples(n); k++) samples[k] = c[timing_sample(n, k)];
}

/* ---- timing_add ---------------------------------------------------------------------------- */

static void mark(struct drive *drive, const struct timing_call *call, uint32_t index, bool again,
                 bool begins)
{
    if (again) {
        drive_remember(drive, index, begins);
        return;
    }
    const char *name = call->repeats > 0 ? TIMING_PHASE_TIME : TIMING_PHASE_ADD;
    const uint32_t number = call->repeats > 0 ? 0 : index;
    if (begins) {
        drive_begin(drive, DRIVE_INJECTIONS, index);
        drive_begin(drive, name, number);
    } else {
        drive_end(drive, name, number);
        drive_end(drive, DRIVE_INJECTIONS, index);
    }
}

/* Waits for the device if the call is timed, so that all its work is timed. After any other call
 * the drive must not wait, which would hide a missing wait.
 */
static void call_add(struct drive *drive, const struct timing_call *call, uint32_t index,
                     float *const devices[ARRAYS], cudaStream_t stream, bool again,
                     struct timing_added *added)
{
    const uint32_t times = call->repeats > 0 ? call->repeats : 1;
    cudaError_t error = cudaSuccess;
    mark(drive, call, index, again, true);
    for (uint32_t r = 0; r < times && error == cudaSuccess; r++)
        error = timing_add(devices[A], devices[B], devices[C], call->n, stream);
    added->status = (int32_t)error;
    if (call->repeats > 0) added->later = (int32_t)cudaDeviceSynchronize();
    mark(drive, call, index, again, false);
}

static bool make_add(struct drive *drive, uint32_t index, cudaStream_t stream, bool again,
                     struct timing_added *added)
{
    const struct timing_input *input = drive->input;
    const struct timing_call *call = &input->add[index];
    float *hosts[ARRAYS] = {NULL}, *devices[ARRAYS] = {NULL};
    const size_t n = call->n;

    bool ok = hosts_make(hosts, call) && devices_make(devices, hosts, drive, n, stream);
    if (ok && call->repeats > 0)
        ok = drive_succeeds(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (ok) {
        call_add(drive, call, index, devices, stream, again, added);
        if (added->status == 0 && added->later == 0 && n > 0) {
            cudaMemcpyAsync(hosts[C], devices[C], n * sizeof(float), cudaMemcpyDeviceToHost,
                            stream);
            added->later = (int32_t)cudaStreamSynchronize(stream);
        }
        const cudaError_t elsewhere = cudaDeviceSynchronize(); /* a fault in another stream */
        if (added->later == 0) added->later = (int32_t)elsewhere;
        if (added->status == 0 && added->later == 0) take_samples(added->samples, hosts[C], n);
    }
    cudaDeviceSynchronize();
    for (int k = 0; k < ARRAYS; k++) cudaFree(devices[k]);
    hosts_free(hosts);
    return ok;
}

/* ---- timing_measure ------------------------------------------------------------------------ */

/* Measures once more, while the runtime holds an error of the caller's; of the result, only what it
 * returns is kept. */
static void measure_again(struct drive *drive, float *const hosts[ARRAYS],
                          struct timing_measured *measured)
{
    const struct timing_input *input = drive->input;
    struct timing_report report;
    given.measured = NULL;
    drive_remember(drive, input->adds, true);
    measured->remembered =
        (int32_t)timing_measure(hosts[A], hosts[B], hosts[C], input->measure.n, now, &report);
    drive_remember(drive, input->adds, false);
    cudaDeviceSynchronize();
}

/* More than any memory holds: the pointers must not be dereferenced. */
#define TOO_MANY ((uint64_t)1 << 40)

static bool make_measure(struct drive *drive)
{
    const struct timing_input *input = drive->input;
    struct timing_output *output = drive->output;
    struct timing_measured *measured = &output->measured;
    const struct timing_call *call = &input->measure;
    const bool huge = call->n >= TOO_MANY;
    const struct timing_call some = {.n = huge ? 1024 : call->n, .seed = call->seed};
    float *hosts[ARRAYS] = {NULL};
    struct timing_report report;

    memset(&report, DRIVE_POISON, sizeof report);
    if (!hosts_make(hosts, &some)) return false;
    given.drive = drive;
    given.measured = measured;
    given.zero = input->zero;
    drive_begin(drive, DRIVE_INJECTIONS, input->adds);
    drive_begin(drive, TIMING_PHASE_MEASURE, 0);
    measured->status = (int32_t)timing_measure(hosts[A], hosts[B], hosts[C], call->n, now, &report);
    drive_end(drive, TIMING_PHASE_MEASURE, 0);
    drive_end(drive, DRIVE_INJECTIONS, input->adds);
    if (!huge && measured->status == 0) take_samples(measured->samples, hosts[C], call->n);
    const struct timing_time *times[TIMING_COUNT] = {
        [TIMING_FIRST] = &report.first,   [TIMING_LAUNCH] = &report.launch,
        [TIMING_WAITED] = &report.waited, [TIMING_TRANSFERS] = &report.transfers,
        [TIMING_EVENTS] = &report.kernel,
    };
    for (int t = 0; t < TIMING_COUNT; t++) {
        measured->microseconds[t] = times[t]->microseconds;
        measured->includes[t] = times[t]->includes;
    }
    measured->readings = atomic_load(&given.readings);
    cudaDeviceSynchronize();
    measured->remembered = 0;
    if (call->again && measured->status == 0) measure_again(drive, hosts, measured);
    hosts_free(hosts);
    return true;
}

/* A fault in one call makes the context, and with it the later calls, unusable. */
int drive_main(struct drive *drive)
{
    const struct timing_input *input = drive->input;
    struct timing_output *output = drive->output;
    cudaStream_t stream = NULL;
    bool broken = false;

    /* Makes a context, whose cost must not be part of the student's first call. */
    if (!drive_succeeds(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream"))
        return 1;
    for (uint32_t i = 0; i < input->adds; i++) {
        struct timing_added *added = &output->added[i], again = {.status = 0};
        added->status = added->later = added->remembered = 0;
        added->lost = broken;
        if (broken) continue;
        if (!make_add(drive, i, stream, false, added)) return 1;
        if (input->add[i].again && added->status == 0 && added->later == 0) {
            if (!make_add(drive, i, stream, true, &again)) return 1;
            added->remembered = again.status;
            added->later = again.later;
        }
        broken = added->later != 0;
    }
    atomic_store(&given.readings, 0);
    if (input->measures > 0 && !broken && !make_measure(drive)) return 1;
    cudaStreamDestroy(stream);
    return 0;
}
