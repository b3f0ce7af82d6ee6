/* The drive of lesson 13: calls the three functions, on one of the devices. It is compiled with the
 * submission, because the headers of OpenCL are available only then.
 */
#include "grader/child/drive.h"
#include "grader/child/drive_opencl.h"
#include "grader/lessons/13_opencl/exchange.h"
#include "lesson.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON_FLOATS(to, count) memset(to, DRIVE_POISON, (count) * sizeof(float))

/* State of the clock; global, because the clock function has no user pointer. */
static struct {
    struct drive *drive;
    struct opencl_compared *compared;
    uint64_t zero;
} given;

static uint64_t now(void)
{
    const uint32_t number = given.compared->reading_count++;
    const bool kept = number < OPENCL_READINGS;
    uint64_t ns;
    if (kept) drive_begin(given.drive, OPENCL_PHASE_READING, number);
    ns = given.drive->clock() + given.zero;
    if (kept) drive_end(given.drive, OPENCL_PHASE_READING, number);
    if (kept) given.compared->readings[number] = ns;
    return ns;
}

/* ---- step 1 -----------------------------------------------------------------------------------
 */

/* Finds the devices' handles through the layer, because the student's code may define any
 * function. */
static unsigned find_devices(const struct drive *drive, cl_device_id ids[OPENCL_MOST])
{
    void *handles[OPENCL_MOST] = {NULL};
    const unsigned count = drive->opencl->devices(handles, OPENCL_MOST);
    for (int i = 0; i < OPENCL_MOST; i++) ids[i] = handles[i];
    return count;
}

static void take(struct opencl_told *to, const struct opencl_device *from, cl_device_id id)
{
    memcpy(to->platform, from->platform, sizeof to->platform);
    memcpy(to->name, from->name, sizeof to->name);
    memcpy(to->version, from->version, sizeof to->version);
    to->type = from->type;
    to->group = from->group;
    to->memory = from->memory;
    to->local = from->local;
    to->units = from->units;
    to->has_id = from->id == id;
}

static void drive_devices(struct drive *drive)
{
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;
    struct opencl_device devices[OPENCL_MOST];
    cl_device_id ids[OPENCL_MOST] = {NULL};

    find_devices(drive, ids);
    for (uint32_t i = 0; i < OPENCL_CALLS; i++) {
        struct opencl_listed *listed = &out->listed[i];
        const cl_uint room = in->rooms[i];
        cl_uint count = 77777;
        memset(devices, DRIVE_POISON, sizeof devices);
        drive_begin(drive, OPENCL_PHASE_DEVICES, i);
        listed->code = opencl_devices(room > 0 ? devices : NULL, room, &count);
        drive->opencl->settle(listed->code);
        drive_end(drive, OPENCL_PHASE_DEVICES, i);
        listed->count = count;
        listed->beyond = 0;
        const unsigned char *bytes = (const unsigned char *)devices;
        for (size_t at = room * sizeof devices[0]; at < sizeof devices; at++)
            listed->beyond += bytes[at] != DRIVE_POISON;
        for (int d = 0; d < OPENCL_MOST; d++) take(&listed->told[d], &devices[d], ids[d]);
    }
}

/* ---- steps 2 and 3 ----------------------------------------------------------------------------
 */

/* Fills the arguments of the student's function; the copies differ in address from the input. */
static void fill(float *a, float *b, const float *values, size_t count)
{
    memcpy(a, values, count * sizeof(float));
    memcpy(b, values + count, count * sizeof(float));
}

/* Buffers for a, b and the results, each of `room` floats. The student gets no pointer into the
 * output, where other results lie. */
struct buffers {
    size_t room;
    float *a, *b, *c, *d;
};

static void drive_sums(struct drive *drive, cl_device_id device, const struct buffers *buffers)
{
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;
    const float *values = in->values;
    float *kept = out->values, *const a = buffers->a, *const b = buffers->b, *const c = buffers->c;

    for (uint32_t i = 0; i < OPENCL_SUMS; i++) {
        const size_t count = in->counts[i];
        fill(a, b, values, count);
        POISON_FLOATS(c, buffers->room);
        drive_begin(drive, OPENCL_PHASE_SUM, i);
        out->sum_codes[i] = opencl_sum(device, a, b, c, count);
        drive->opencl->settle(out->sum_codes[i]);
        drive_end(drive, OPENCL_PHASE_SUM, i);
        memcpy(kept, c, count * sizeof *c);
        const unsigned char *bytes = (const unsigned char *)c;
        out->sum_beyond[i] = 0;
        for (size_t at = count * sizeof *c; at < buffers->room * sizeof *c; at++)
            out->sum_beyond[i] += bytes[at] != DRIVE_POISON;
        values += 2 * count;
        kept += count;
    }
}

static int compare(struct drive *drive, cl_device_id device, const struct buffers *buffers,
                   size_t count, cl_uint rounds)
{
    /* Not in the output, so that the student's code does not find it. */
    static struct opencl_compared compared;
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;
    struct opencl_times times;

    memset(&times, DRIVE_POISON, sizeof times);
    memset(&compared, 0, sizeof compared);
    given.drive = drive;
    given.compared = &compared;
    given.zero = in->zero;
    compared.code = opencl_compare(device, buffers->a, buffers->b, count, rounds, buffers->c,
                                   buffers->d, &times, now);
    drive->opencl->settle(compared.code);
    compared.host = times.host;
    compared.written = times.written;
    compared.kernel = times.kernel;
    compared.read = times.read;
    compared.total = times.total;
    if (count > 1) out->compared = compared;
    return compared.code;
}

/* Makes one call and copies its results to *kept. */
static int keep_comparison(struct drive *drive, cl_device_id device, const struct buffers *buffers,
                           const float *values, size_t count, cl_uint rounds, float *kept)
{
    const char *phase = count > 1 ? OPENCL_PHASE_COMPARE : OPENCL_PHASE_LEAST;
    fill(buffers->a, buffers->b, values, count);
    POISON_FLOATS(buffers->c, buffers->room);
    POISON_FLOATS(buffers->d, buffers->room);
    drive_begin(drive, phase, 0);
    const int code = compare(drive, device, buffers, count, rounds);
    drive_end(drive, phase, 0);
    memcpy(kept, buffers->c, count * sizeof *kept);
    memcpy(kept + count, buffers->d, count * sizeof *kept);
    return code;
}

static void drive_comparison(struct drive *drive, cl_device_id device,
                             const struct buffers *buffers)
{
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;
    size_t before = 0;

    for (uint32_t i = 0; i < OPENCL_SUMS; i++) before += in->counts[i];
    const float *values = in->values + 2 * before;
    float *kept = out->values + before;
    keep_comparison(drive, device, buffers, values, in->count, in->rounds, kept);
    out->least_code = keep_comparison(drive, device, buffers, values + 2 * (size_t)in->count, 1, 0,
                                      kept + 2 * (size_t)in->count);
}

/* ---- failures ---------------------------------------------------------------------------------
 */

#define RELEASES UINT_MAX

/* Calls a function once while the `number`-th call that can fail, or every release, fails. */
static int call_failing(struct drive *drive, enum opencl_function function, unsigned number,
                        cl_device_id device, const struct buffers *buffers)
{
    const struct opencl_input *in = drive->input;
    struct opencl_device devices[OPENCL_MOST];
    cl_uint count = 0;
    int code = 0;

    POISON_FLOATS(buffers->c, buffers->room);
    POISON_FLOATS(buffers->d, buffers->room);
    if (number == RELEASES)
        drive->opencl->fail_releases();
    else
        drive->opencl->fail(number);
    switch (function) {
    case OPENCL_DEVICES:
        code = opencl_devices(devices, OPENCL_MOST, &count);
        break;
    case OPENCL_SUM:
        code = opencl_sum(device, buffers->a, buffers->b, buffers->c, in->count);
        break;
    default:
        return compare(drive, device, buffers, in->count, in->rounds);
    }
    drive->opencl->settle(code);
    return code;
}

/* Returns the function's result; `left`: how many calls that can fail were still to come. */
static int keep_failure(struct drive *drive, int function, unsigned number, cl_device_id device,
                        const struct buffers *buffers, unsigned *left)
{
    struct opencl_output *out = drive->output;
    const uint32_t index = out->failure_count++;

    out->failures[index].function = (uint32_t)function;
    drive_begin(drive, DRIVE_INJECTIONS, index);
    const int code = call_failing(drive, (enum opencl_function)function, number, device, buffers);
    *left = drive->opencl->left();
    drive_end(drive, DRIVE_INJECTIONS, index);
    out->failures[index].code = code;
    return code;
}

/* Makes each call fail once, each in a call of the function of its own, for as many calls as the
 * function made without a failure. Then makes all releases fail, where there are any. The record
 * says which call failed. */
static void drive_failures(struct drive *drive, cl_device_id device, const struct buffers *buffers)
{
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;
    unsigned left;

    out->failure_count = 0;
    fill(buffers->a, buffers->b, in->values, in->count);
    for (int function = 0; function < OPENCL_FUNCTIONS; function++) {
        for (unsigned number = 0; out->failure_count < OPENCL_FAILURES; number++) {
            const int code = keep_failure(drive, function, number, device, buffers, &left);
            if (number > 0 && left > 0) break; /* the function made fewer calls than `number` */
            if (number == 0 && code != 0) break;
        }
        if (function != OPENCL_DEVICES && out->failure_count < OPENCL_FAILURES)
            keep_failure(drive, function, RELEASES, device, buffers, &left);
    }
}

static bool make_buffers(struct buffers *buffers, const struct opencl_input *in)
{
    size_t most = in->count;
    for (int i = 0; i < OPENCL_SUMS; i++)
        if (in->counts[i] > most) most = in->counts[i];
    /* Room after the end, so that an overrun is found. */
    *buffers = (struct buffers){.room = 2 * most + 64};
    float **const all[] = {&buffers->a, &buffers->b, &buffers->c, &buffers->d};
    for (int i = 0; i < 4; i++) {
        *all[i] = malloc(buffers->room * sizeof(float));
        if (*all[i] == NULL) return false;
    }
    return true;
}

int drive_main(struct drive *drive)
{
    struct opencl_output *out = drive->output;
    cl_device_id ids[OPENCL_MOST] = {NULL};
    struct buffers buffers;

    if (strcmp(drive->run, OPENCL_RUN_DEVICES) == 0 || strcmp(drive->run, OPENCL_RUN_NONE) == 0) {
        drive_devices(drive);
        return 0;
    }
    if (!make_buffers(&buffers, drive->input)) {
        fprintf(stderr, "drive: no memory\n");
        return 1;
    }
    const unsigned count = find_devices(drive, ids);
    if (count == 0) {
        fprintf(stderr, "drive: OpenCL has no device\n");
        return 1;
    }
    /* The last device, so that a submission that searches for a device itself finds another one. */
    out->device = count - 1;
    if (strcmp(drive->run, OPENCL_RUN_VALUES) == 0) {
        drive_sums(drive, ids[out->device], &buffers);
        drive_comparison(drive, ids[out->device], &buffers);
    } else {
        drive_failures(drive, ids[out->device], &buffers);
    }
    free(buffers.a);
    free(buffers.b);
    free(buffers.c);
    free(buffers.d);
    return 0;
}
