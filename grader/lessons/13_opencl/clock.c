#include "grader/lessons/13_opencl/clock.h"
#include "grader/lessons/13_opencl/exchange.h"
#include "grader/lessons/13_opencl/words.h"

#include <string.h>

/* Floats that a processor adds per nanosecond, at most. */
#define MOST_ADDITIONS 400

typedef unsigned long long wide;

/* ---- the device's own times -------------------------------------------------------------------
 */

/* The commands of the phase, by the device's own record. */
struct commands {
    uint64_t bytes_in, bytes_out, in_ns, out_ns, kernel_ns;
    size_t kernels, queues;
    const struct trace_record *in, *out, *kernel, *outside; /* the last of each */
};

static struct commands look(const struct evidence *evidence, const struct phase *phase)
{
    const struct query all = {.phase = phase, .kind = TRACE_OPERATION, .student = true};
    struct commands found = {0};
    uint64_t queue = 0;

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &all, r)) != NULL;) {
        const uint64_t took = r->end_ns - r->start_ns;
        if (r->stream == 0) found.outside = r;
        if (r->stream != 0 && r->stream != queue) found.queues++;
        if (r->stream != 0) queue = r->stream;
        if (r->what == TRACE_KERNEL) {
            found.kernels++;
            found.kernel_ns += took;
            found.kernel = r;
        } else if (r->what == TRACE_COPY && r->from == TRACE_PAGEABLE) {
            found.bytes_in += r->bytes;
            found.in_ns += took;
            found.in = r;
        } else if (r->what == TRACE_COPY && r->to == TRACE_PAGEABLE) {
            found.bytes_out += r->bytes;
            found.out_ns += took;
            found.out = r;
        }
    }
    return found;
}

static void say_bytes(struct verdict *verdict, const struct evidence *evidence,
                      const struct trace_record *at, bool back, uint64_t found, uint64_t wanted)
{
    if (back)
        verdict_fail(verdict, evidence, at, "%llu bytes are copied to the host, and not %llu.",
                     (wide)found, (wide)wanted);
    else
        verdict_fail(verdict, evidence, at, "%llu bytes are copied to the device, and not %llu.",
                     (wide)found, (wide)wanted);
    verdict_why(verdict, "Copies are often what a device's gain is lost by: what goes twice costs "
                         "twice, and what does not go is not in the time.");
    verdict_hint(verdict, "a and b go to the device and the sums come back, each once, with sizes "
                          "in bytes.");
}

void clock_copies(struct verdict *verdict, const struct evidence *evidence,
                  const struct phase *phase, uint32_t count)
{
    const struct commands found = look(evidence, phase);
    const uint64_t bytes = (uint64_t)count * sizeof(float);

    if (found.outside != NULL) {
        verdict_fail(verdict, evidence, found.outside,
                     "Here a buffer is given the host's data by no command of a queue.");
        verdict_why(verdict, "What no command does has no event, and so no time.");
        verdict_hint(verdict, "Make the buffer without data, and queue clEnqueueWriteBuffer.");
    } else if (found.bytes_in != 2 * bytes) {
        say_bytes(verdict, evidence, found.in, false, found.bytes_in, 2 * bytes);
    } else if (found.bytes_out != bytes) {
        say_bytes(verdict, evidence, found.out, true, found.bytes_out, bytes);
    } else if (found.queues != 1) {
        verdict_fail(verdict, evidence, found.kernel,
                     "The commands are in several queues, and are to be in one.");
        verdict_why(verdict, "Commands of different queues run in any order.");
        verdict_hint(verdict, "Queue the copies and the kernel in the same one.");
    }
}

static bool time_agrees(struct verdict *verdict, const struct evidence *evidence,
                        const struct trace_record *at, const char *field, uint64_t found,
                        uint64_t wanted, size_t number)
{
    if (found == wanted) return true;
    if (number > 1)
        verdict_fail(verdict, evidence, at,
                     "times->%s is %llu ns, and the device's own record says %llu ns, of %zu "
                     "kernels together.",
                     field, (wide)found, (wide)wanted, number);
    else
        verdict_fail(verdict, evidence, at,
                     "times->%s is %llu ns, and the device's own record says %llu ns.", field,
                     (wide)found, (wide)wanted);
    verdict_why(verdict, "An event knows when its command was queued, submitted, started and "
                         "ended, by the device's clock. Only from start to end did the device work "
                         "on it.");
    verdict_hint(verdict, "CL_PROFILING_COMMAND_END less CL_PROFILING_COMMAND_START, of the events "
                          "of these commands, in nanoseconds as they are.");
    return false;
}

void clock_events(struct verdict *verdict, const struct evidence *evidence,
                  const struct phase *phase)
{
    const struct opencl_output *out = evidence->output;
    const struct commands found = look(evidence, phase);

    if (!time_agrees(verdict, evidence, found.kernel, "kernel", out->compared.kernel,
                     found.kernel_ns, found.kernels) ||
        !time_agrees(verdict, evidence, found.in, "written", out->compared.written, found.in_ns,
                     1) ||
        !time_agrees(verdict, evidence, found.out, "read", out->compared.read, found.out_ns, 1))
        return;
    verdict_figure(verdict, "device", "copies in %.1f us, kernel %.1f us, copy out %.1f us",
                   (double)found.in_ns / 1e3, (double)found.kernel_ns / 1e3,
                   (double)found.out_ns / 1e3);
}

/* ---- the host's clock -------------------------------------------------------------------------
 */

struct reading {
    uint64_t ns;
    size_t at; /* index in the record */
};

/* The output may be forged, the record may not: a reading is accepted when it lies between its
 * phase's begin and end. */
static bool was_read(const struct evidence *evidence, const struct phase *phase, uint64_t ns)
{
    const struct opencl_input *in = evidence->input;
    return ns - in->zero >= phase->begin_ns && ns - in->zero <= phase->end_ns;
}

/* Collects the readings that are accepted. Returns how many. */
static size_t readings_of(const struct evidence *evidence, struct reading readings[OPENCL_READINGS])
{
    const struct opencl_output *out = evidence->output;
    size_t count = 0;
    for (uint32_t i = 0; i < OPENCL_READINGS && i < out->compared.reading_count; i++) {
        struct phase phase;
        if (!evidence_phase(evidence, OPENCL_PHASE_READING, i, &phase)) break;
        if (!was_read(evidence, &phase, out->compared.readings[i])) break;
        readings[count++] = (struct reading){out->compared.readings[i], phase.first};
    }
    return count;
}

/* The two readings of which a time is the difference. */
struct stretch {
    bool found;
    struct reading from, to;
};

static struct stretch stretch_of(const struct evidence *evidence, uint64_t ns)
{
    struct reading all[OPENCL_READINGS];
    const size_t count = readings_of(evidence, all);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (all[k].ns - all[i].ns == ns) return (struct stretch){true, all[i], all[k]};
    return (struct stretch){.found = false};
}

static bool stretch_known(struct verdict *verdict, const struct evidence *evidence,
                          const struct stretch *stretch, const char *field, uint64_t ns)
{
    if (stretch->found) return true;
    verdict_fail_in(
        verdict, evidence, OPENCL_FUNCTION_COMPARE,
        "times->%s is %llu ns, which is the difference of no two readings of the clock.", field,
        (wide)ns);
    verdict_why(verdict, "A time is what passed between two moments, read from one clock.");
    verdict_hint(verdict, "Read now() before and behind what is timed, and subtract, in "
                          "nanoseconds. No other clock is asked.");
    return false;
}

/* Returns the first OpenCL call in the stretch, or command that ended in it; NULL: none. */
static const struct trace_record *call_in(const struct evidence *evidence,
                                          const struct stretch *stretch, const char *name)
{
    for (size_t i = stretch->from.at; i < stretch->to.at; i++) {
        const struct trace_record *r = &evidence->trace.records[i];
        if (r->kind == TRACE_CALL && (name == NULL || strncmp(r->name, name, strlen(name)) == 0))
            return r;
    }
    return NULL;
}

void clock_host(struct verdict *verdict, const struct evidence *evidence, const struct phase *phase)
{
    const struct opencl_input *in = evidence->input;
    const struct opencl_output *out = evidence->output;
    const uint64_t ns = out->compared.host, additions = (uint64_t)in->count * in->rounds;
    const struct stretch stretch = stretch_of(evidence, ns);
    (void)phase;

    if (!stretch_known(verdict, evidence, &stretch, "host", ns)) return;
    const struct trace_record *call = call_in(evidence, &stretch, NULL);
    if (call != NULL) {
        verdict_fail(verdict, evidence, call,
                     "%.*s is called between the two readings that times->host is made of.",
                     TRACE_NAME_SIZE, call->name);
        verdict_why(verdict, "The host's time is then not that of its loop alone, and the device "
                             "looks better than it is.");
        verdict_hint(verdict, "Read the clock right before the loop and right behind it.");
        return;
    }
    if (ns < additions / MOST_ADDITIONS) {
        verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_COMPARE,
                        "times->host is %llu ns for %llu additions, which no processor can do.",
                        (wide)ns, (wide)additions);
        verdict_why(verdict, "The loop is not between the two readings.");
        verdict_hint(verdict, "Read the clock right before the loop and right behind it.");
        return;
    }
    verdict_figure(verdict, "host", "the host's loop %.1f us", (double)ns / 1e3);
}

static const struct trace_record *not_in(const struct evidence *evidence, const struct phase *phase,
                                         const struct stretch *stretch, bool *late)
{
    const struct trace_record *records = evidence->trace.records;
    const struct query all = {.phase = phase, .kind = TRACE_OPERATION, .student = true};

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &all, r)) != NULL;) {
        const struct trace_record *call = evidence_call_of(evidence, r);
        *late = (size_t)(r - records) > stretch->to.at;
        if (*late || (call != NULL && (size_t)(call - records) < stretch->from.at)) return r;
    }
    return NULL;
}

/* Fails when the host's loop is timed within the total, or overlaps it. Returns true when the
 * verdict failed. */
static bool host_is_in(struct verdict *verdict, const struct evidence *evidence,
                       const struct stretch *total)
{
    const struct opencl_output *out = evidence->output;
    const struct stretch host = stretch_of(evidence, out->compared.host);
    if (!host.found || host.from.at >= total->to.at || host.to.at <= total->from.at) return false;
    verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_COMPARE,
                    "The host's loop is in the time of times->total.");
    verdict_why(verdict, "The total is what the device costs: its copies, its kernel, and the wait "
                         "for them. What the host computes meanwhile makes it longer.");
    verdict_hint(verdict, "Let the host's loop come before the first command, or behind the last.");
    return true;
}

/* Fails when work other than the wait follows the end of the last command. Returns true when the
 * verdict failed. */
static bool is_late(struct verdict *verdict, const struct evidence *evidence,
                    const struct phase *phase, const struct stretch *stretch)
{
    static const char *const later[] = {"clGetEventProfilingInfo", "clReleaseMemObject",
                                        "clReleaseKernel",         "clReleaseProgram",
                                        "clReleaseCommandQueue",   "clReleaseContext"};
    const struct trace_record *records = evidence->trace.records;
    const struct query all = {.phase = phase, .kind = TRACE_OPERATION, .student = true};
    size_t last = stretch->to.at;

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &all, r)) != NULL;)
        last = (size_t)(r - records);
    for (size_t i = last; i < stretch->to.at; i++) {
        const struct trace_record *r = &records[i];
        for (size_t k = 0; r->kind == TRACE_CALL && k < sizeof later / sizeof later[0]; k++) {
            if (strncmp(r->name, later[k], sizeof r->name) != 0) continue;
            verdict_fail(verdict, evidence, r,
                         "%.*s is called in the time of times->total, when the last command had "
                         "ended.",
                         TRACE_NAME_SIZE, r->name);
            verdict_why(verdict, "The total is of the commands: asking for their times, and "
                                 "releasing what they used, is no part of them.");
            verdict_hint(verdict, "Read now() when clFinish, or a read that blocks, has returned.");
            return true;
        }
    }
    return false;
}

void clock_total(struct verdict *verdict, const struct evidence *evidence,
                 const struct phase *phase)
{
    const struct opencl_output *out = evidence->output;
    const struct stretch stretch = stretch_of(evidence, out->compared.total);
    bool late = false;

    if (!stretch_known(verdict, evidence, &stretch, "total", out->compared.total)) return;
    const struct trace_record *once = call_in(evidence, &stretch, "clBuildProgram");
    if (once == NULL) once = call_in(evidence, &stretch, "clCreate");
    if (once != NULL) {
        verdict_fail(verdict, evidence, once, "%.*s is called in the time of times->total.",
                     TRACE_NAME_SIZE, once->name);
        verdict_why(verdict, "What is done once, and for all later calls, is not what a "
                             "computation costs: a build takes longer than thousands of kernels.");
        verdict_hint(verdict, "Read the clock when all is built and made, before the first command "
                              "is queued.");
        return;
    }
    const struct trace_record *outside = not_in(evidence, phase, &stretch, &late);
    if (outside != NULL) {
        if (late)
            verdict_fail(verdict, evidence, outside,
                         "The clock of times->total is read before this command had ended.");
        else
            verdict_fail(verdict, evidence, outside,
                         "The clock of times->total is read after this command was queued.");
        verdict_why(verdict, "A command is queued in a moment, and ends when it ends: who does not "
                             "wait times the queue.");
        verdict_hint(verdict, "Read now() before the first clEnqueue..., and when clFinish, or a "
                              "read that blocks, has returned.");
        return;
    }
    if (host_is_in(verdict, evidence, &stretch) || is_late(verdict, evidence, phase, &stretch))
        return;
    verdict_figure(verdict, "total", "all commands %.1f us by the host's clock",
                   (double)out->compared.total / 1e3);
}
