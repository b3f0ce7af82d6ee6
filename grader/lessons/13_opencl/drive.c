/* The drive of lesson 13: calls the three functions, on the first device that there is. It is
 * compiled with the submission, because the headers of OpenCL are there only then.
 */
#include "grader/child/drive.h"
#include "grader/child/drive_opencl.h"
#include "grader/lessons/13_opencl/exchange.h"
#include "lesson.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON_FLOATS(to, count) memset(to, DRIVE_POISON, (count) * sizeof(float))

/* A clock has no place for a context, so what it needs lives here. */
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

/* The devices as OpenCL lists them, for their handles alone. */
static cl_uint find_devices(cl_device_id ids[OPENCL_MOST])
{
    cl_platform_id platforms[OPENCL_MOST];
    cl_uint platform_count = 0, found = 0, all = 0;

    if (clGetPlatformIDs(OPENCL_MOST, platforms, &platform_count) != CL_SUCCESS) return 0;
    for (cl_uint p = 0; p < platform_count && p < OPENCL_MOST && all < OPENCL_MOST; p++)
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, OPENCL_MOST - all, &ids[all],
                           &found) == CL_SUCCESS)
            all += found < OPENCL_MOST - all ? found : OPENCL_MOST - all;
    return all;
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

    find_devices(ids);
    for (uint32_t i = 0; i < OPENCL_CALLS; i++) {
        struct opencl_listed *listed = &out->listed[i];
        const cl_uint room = in->rooms[i];
        cl_uint count = 77777;
        memset(devices, DRIVE_POISON, sizeof devices);
        drive_begin(drive, OPENCL_PHASE_DEVICES, i);
        listed->code = opencl_devices(room > 0 ? devices : NULL, room, &count);
        overlap_opencl_settle(listed->code);
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

/* Arrays of the student's function, that it may not find by looking at the input. */
static void fill(float *a, float *b, const float *values, size_t count)
{
    memcpy(a, values, count * sizeof(float));
    memcpy(b, values + count, count * sizeof(float));
}

static void drive_sums(struct drive *drive, cl_device_id device, float *a, float *b)
{
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;
    const float *values = in->values;
    float *c = out->values;

    for (uint32_t i = 0; i < OPENCL_SUMS; i++) {
        const size_t count = in->counts[i];
        fill(a, b, values, count);
        drive_begin(drive, OPENCL_PHASE_SUM, i);
        out->sum_codes[i] = opencl_sum(device, a, b, c, count);
        overlap_opencl_settle(out->sum_codes[i]);
        drive_end(drive, OPENCL_PHASE_SUM, i);
        values += 2 * count;
        c += count;
    }
}

static int compare(struct drive *drive, cl_device_id device, const float *a, const float *b,
                   float *host, float *sums)
{
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;
    struct opencl_times times;

    memset(&times, DRIVE_POISON, sizeof times);
    given.drive = drive;
    given.compared = &out->compared;
    given.zero = in->zero;
    out->compared.reading_count = 0;
    const cl_int code =
        opencl_compare(device, a, b, in->count, in->rounds, host, sums, &times, now);
    out->compared.host = times.host;
    out->compared.written = times.written;
    out->compared.kernel = times.kernel;
    out->compared.read = times.read;
    out->compared.total = times.total;
    return code;
}

static void drive_comparison(struct drive *drive, cl_device_id device, float *a, float *b)
{
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;
    size_t before = 0;

    for (uint32_t i = 0; i < OPENCL_SUMS; i++) before += in->counts[i];
    float *const host = out->values + before;
    fill(a, b, in->values + 2 * before, in->count);
    drive_begin(drive, OPENCL_PHASE_COMPARE, 0);
    out->compared.code = compare(drive, device, a, b, host, host + in->count);
    overlap_opencl_settle(out->compared.code);
    drive_end(drive, OPENCL_PHASE_COMPARE, 0);
}

/* ---- failures ---------------------------------------------------------------------------------
 */

/* One call of a function, in which the `number`-th call that can fail does. */
static int call_failing(struct drive *drive, enum opencl_function function, unsigned number,
                        cl_device_id device, float *buffers[4])
{
    const struct opencl_input *in = drive->input;
    struct opencl_device devices[OPENCL_MOST];
    cl_uint count = 0;
    int code = 0;

    for (int i = 2; i < 4; i++) POISON_FLOATS(buffers[i], in->count);
    overlap_opencl_fail(number);
    switch (function) {
    case OPENCL_DEVICES:
        code = opencl_devices(devices, OPENCL_MOST, &count);
        break;
    case OPENCL_SUM:
        code = opencl_sum(device, buffers[0], buffers[1], buffers[2], in->count);
        break;
    default:
        code = compare(drive, device, buffers[0], buffers[1], buffers[2], buffers[3]);
        break;
    }
    overlap_opencl_settle(code);
    return code;
}

/* Each call once, each in a call of the function of its own: as many as the function made when none
 * did. Which did fail is in the record. */
static void drive_failures(struct drive *drive, cl_device_id device, float *buffers[4])
{
    const struct opencl_input *in = drive->input;
    struct opencl_output *out = drive->output;

    out->failure_count = 0;
    fill(buffers[0], buffers[1], in->values, in->count);
    for (int function = 0; function < OPENCL_FUNCTIONS; function++) {
        for (unsigned number = 0; out->failure_count < OPENCL_FAILURES; number++) {
            const uint32_t index = out->failure_count++;
            out->failures[index].function = (uint32_t)function;
            drive_begin(drive, DRIVE_INJECTIONS, index);
            const int code =
                call_failing(drive, (enum opencl_function)function, number, device, buffers);
            const unsigned left = overlap_opencl_left();
            drive_end(drive, DRIVE_INJECTIONS, index);
            out->failures[index].code = code;
            if (number > 0 && left > 0) break; /* the function made fewer calls than that */
            if (number == 0 && code != 0) break;
        }
    }
}

int drive_main(struct drive *drive)
{
    const struct opencl_input *in = drive->input;
    cl_device_id ids[OPENCL_MOST] = {NULL};
    float *buffers[4];
    uint32_t most = in->count;

    if (strcmp(drive->run, OPENCL_RUN_DEVICES) == 0 || strcmp(drive->run, OPENCL_RUN_NONE) == 0) {
        drive_devices(drive);
        return 0;
    }
    for (int i = 0; i < OPENCL_SUMS; i++)
        if (in->counts[i] > most) most = in->counts[i];
    for (int i = 0; i < 4; i++) {
        buffers[i] = malloc((most + 1) * sizeof(float));
        if (buffers[i] == NULL) {
            fprintf(stderr, "drive: no memory\n");
            return 1;
        }
    }
    if (find_devices(ids) == 0) {
        fprintf(stderr, "drive: OpenCL has no device\n");
        return 1;
    }
    if (strcmp(drive->run, OPENCL_RUN_VALUES) == 0) {
        drive_sums(drive, ids[0], buffers[0], buffers[1]);
        drive_comparison(drive, ids[0], buffers[0], buffers[1]);
    } else {
        drive_failures(drive, ids[0], buffers);
    }
    for (int i = 0; i < 4; i++) free(buffers[i]);
    return 0;
}
