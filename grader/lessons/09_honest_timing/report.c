#include "grader/lessons/09_honest_timing/report.h"

#include "grader/base/messages.h"
#include "grader/evidence/timing.h"
#include "grader/evidence/waits.h"

#include <stdio.h>
#include <string.h>

#define READINGS_CHECK "HonestTiming.EveryTimeIsTwoReadings"
#define MEASURE "timing_measure"
#define WORDS 32 /* of a time */

static const char *in_words(double ns, char text[WORDS])
{
    return timing_in_words(ns * 1e-9, text, WORDS);
}

static double claimed_ns(const struct stretches *all, enum timing_which which)
{
    return all->out->microseconds[which] * 1e3;
}

/* Returns false for a poisoned double, or a value that no clock could give. */
static bool is_written(double microseconds)
{
    double poison;
    memset(&poison, DRIVE_POISON, sizeof poison);
    return memcmp(&poison, &microseconds, sizeof poison) != 0;
}

bool report_is_filled(const struct timing_measured *measured)
{
    for (int which = 0; which < TIMING_COUNT; which++)
        if (!is_written(measured->microseconds[which])) return false;
    return true;
}

/* ---- EveryTimeIsTwoReadings ---------------------------------------------------------------- */

static const struct {
    double factor;
    const char *unit;
} units[] = {{1e3, N_("nanoseconds")}, {1e-3, N_("milliseconds")}, {1e-6, N_("seconds")}};

static void explain_reading(struct verdict *verdict, const struct stretches *all,
                            enum timing_which which)
{
    if (all->readings < 2) {
        verdict_why(verdict,
                    "The clock that timing_measure is given was read %u times. No other "
                    "clock tells these times.",
                    (unsigned)all->readings);
        verdict_hint(verdict, "uint64_t begin = now(); in front of what is timed, "
                              "uint64_t end = now(); behind it.");
        return;
    }
    if (all->out->readings > TIMING_READINGS) {
        verdict_why(verdict, "The clock was read %u times; %u are looked at, and are enough.",
                    (unsigned)all->out->readings, (unsigned)TIMING_READINGS);
        verdict_hint(verdict, "A clock tells how long it took, and not whether the device is done: "
                              "wait with cudaStreamSynchronize.");
        return;
    }
    if (stretches_cut_off(all, which)) {
        verdict_why(verdict,
                    "It is a difference without what comes behind the point: whole numbers "
                    "were divided.");
        verdict_hint(verdict, "First make the difference a double, then divide: "
                              "(double)(end - begin) / 1000.0.");
        return;
    }
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        if (!stretches_off_by(all, which, units[u].factor)) continue;
        verdict_why(verdict, "It is a time in %s.", _(units[u].unit));
        verdict_hint(verdict, "The clock says nanoseconds, and microseconds are asked for: "
                              "(double)(end - begin) / 1000.0.");
        return;
    }
    verdict_why(verdict, "Each of the four is what the clock said at one moment less what it said "
                         "at another, and nothing else: not a mean, not a sum, not another clock's "
                         "time. And a reading is a number that no float holds.");
    verdict_hint(verdict, "Keep both readings in uint64_t, subtract them, and only then make the "
                          "difference a double: (double)(end - begin) / 1000.0.");
}

void report_readings(struct verdict *verdict, const struct stretches *all)
{
    for (int which = 0; which < TIMING_CLOCKED; which++) {
        if (all->of[which].found) continue;
        if (is_written(all->out->microseconds[which]))
            verdict_fail_in(verdict, all->evidence, MEASURE,
                            "report->%s is %.3f us, and no two readings of the clock are that far "
                            "apart.",
                            timing_names[which], all->out->microseconds[which]);
        else
            verdict_fail_in(verdict, all->evidence, MEASURE, "report->%s was not filled in.",
                            timing_names[which]);
        explain_reading(verdict, all, (enum timing_which)which);
        return;
    }
}

/* Returns the stretch of a time, for the checks of what lies between the readings. */
static const struct stretch *stretch_of(struct verdict *verdict, const struct stretches *all,
                                        enum timing_which which)
{
    if (all->of[which].found) return &all->of[which];
    verdict_fail_in(verdict, all->evidence, MEASURE,
                    "Not judged: report->%s is no difference of two readings (see %s).",
                    timing_names[which], READINGS_CHECK);
    verdict_not_judged(verdict, READINGS_CHECK);
    return NULL;
}

/* ---- EveryTimeStandsAlone ------------------------------------------------------------------ */

static bool stands_alone(struct verdict *verdict, const struct stretches *all,
                         enum timing_which which)
{
    const struct stretch *stretch = stretch_of(verdict, all, which);
    if (stretch == NULL) return false;
    if (stretch->busy != NULL) {
        verdict_fail(verdict, all->evidence, &stretch->from_at,
                     "When the time of report->%s begins, here, the device may still be at work: "
                     "nothing has waited for work of before.",
                     timing_names[which]);
        verdict_why(verdict, "Work of one stream is done in turn. What is left of before comes "
                             "first, and its time is in this one.");
        verdict_hint(verdict, "cudaStreamSynchronize behind each launch that is timed without a "
                              "wait, and behind the first copies: outside of every time, before "
                              "the next one begins.");
        return false;
    }
    if (stretch->foreign != NULL) {
        verdict_fail(verdict, all->evidence, stretch->foreign,
                     "%.*s is called between the two readings of report->%s.", TRACE_NAME_SIZE,
                     stretch->foreign->name, timing_names[which]);
        verdict_why(verdict, "What the host does there is part of the time, and this is none of "
                             "what the time is of.");
        verdict_hint(verdict, "Make everything before the first reading of all, and release it "
                              "behind the last.");
        return false;
    }
    if (stretch->launches == 1) return true;
    verdict_fail(verdict, all->evidence, &stretch->at,
                 "Between the two readings of report->%s, of which this is the second, %zu kernels "
                 "are launched, must be 1.",
                 timing_names[which], stretch->launches);
    verdict_why(verdict, "A second launch waits for the first, and finds in the caches what that "
                         "has left there: the mean of many is not the time of one.");
    verdict_hint(verdict, "begin = now(); one launch; end = now();");
    return false;
}

void report_calls(struct verdict *verdict, const struct stretches *all)
{
    for (int which = 0; which < TIMING_CLOCKED; which++)
        if (!stands_alone(verdict, all, (enum timing_which)which)) return;
}

/* ---- work that was over by the second reading ----------------------------------------------- */

/* Checks that the work of the stretch was over, and that the time is at least the device's. */
static bool covers(struct verdict *verdict, const struct stretches *all, enum timing_which which)
{
    const struct stretch *stretch = &all->of[which];
    const double device = (double)stretches_device_ns(all, stretch), own = claimed_ns(all, which);
    char a[WORDS], b[WORDS];
    if (stretch->left == NULL && own >= (1.0 - limit_honest_timing_agreement) * device) return true;
    verdict_fail(verdict, all->evidence, &stretch->at,
                 "report->%s is %s. When the clock is read here nothing has waited for this work, "
                 "and the device's own record says %s.",
                 timing_names[which], in_words(own, a), in_words(device, b));
    verdict_why(verdict, "A launch asks for a kernel and returns; so does an asynchronous copy. "
                         "Who reads the clock then has timed the asking, which takes as long for "
                         "one sum as for ten million: that is where \"200 times faster\" comes "
                         "from.");
    verdict_hint(verdict, "cudaStreamSynchronize in front of this reading, for the stream that the "
                          "work is in. A wait for another stream, or for the default one, says "
                          "nothing about it.");
    return false;
}

/* ---- TheFirstLaunchStandsApart ------------------------------------------------------------- */

void report_first(struct verdict *verdict, const struct stretches *all)
{
    const struct trace_record *first = stretches_first_kernel(all);
    const struct stretch *stretch = stretch_of(verdict, all, TIMING_FIRST);
    char a[WORDS], b[WORDS];
    if (stretch == NULL) return;
    if (first == NULL || stretch->kernel != first) {
        verdict_fail(verdict, all->evidence, first,
                     "The first kernel of all is launched here, and not between the two readings "
                     "of report->first.");
        verdict_why(verdict, "The first launch pays for what is done once: the kernel's code goes "
                             "to the device. Whoever launches it before has nothing left to time, "
                             "and whoever mixes the two compares a first with a second.");
        verdict_hint(verdict, "No launch in front of begin = now(); of report->first.");
        return;
    }
    if (!covers(verdict, all, TIMING_FIRST)) return;
    if (all->of[TIMING_WAITED].found)
        verdict_figure(verdict, "first", "%s, and %s for the same again",
                       in_words(claimed_ns(all, TIMING_FIRST), a),
                       in_words(claimed_ns(all, TIMING_WAITED), b));
}

/* ---- ALaunchIsNotAKernel ------------------------------------------------------------------- */

/* Checks that only report->first contains the first launch of all. */
static bool is_no_first(struct verdict *verdict, const struct stretches *all,
                        enum timing_which which)
{
    const struct stretch *stretch = &all->of[which];
    if (stretch->kernel == NULL || stretch->kernel != stretches_first_kernel(all)) return true;
    verdict_fail(verdict, all->evidence, &stretch->at,
                 "The first kernel of all is launched between the two readings of report->%s, of "
                 "which this is the second.",
                 timing_names[which]);
    verdict_why(verdict, "So the time has in it what is done once. It belongs into report->first, "
                         "and only there.");
    verdict_hint(verdict, "Each of the four times has a launch of its own, and report->first has "
                          "the first of them.");
    return false;
}

void report_launch(struct verdict *verdict, const struct stretches *all)
{
    const struct stretch *stretch = stretch_of(verdict, all, TIMING_LAUNCH);
    char a[WORDS];
    if (stretch == NULL || !is_no_first(verdict, all, TIMING_LAUNCH)) return;
    if (stretch->wait != NULL) {
        verdict_fail(verdict, all->evidence, stretch->wait,
                     "%.*s waits between the two readings of report->launch.", TRACE_NAME_SIZE,
                     stretch->wait->name);
        verdict_why(verdict, "This time is to be of the request alone, so that one can see how "
                             "little of the work is in it.");
        verdict_hint(verdict, "begin = now(); launch; end = now(); and only then the wait.");
        return;
    }
    verdict_figure(verdict, "launch", "%s, however long the kernel takes",
                   in_words(claimed_ns(all, TIMING_LAUNCH), a));
}

/* ---- TheWaitCoversTheKernel, TransfersAreTimedToo ------------------------------------------ */

void report_waited(struct verdict *verdict, const struct stretches *all)
{
    const struct stretch *stretch = stretch_of(verdict, all, TIMING_WAITED);
    const double own = claimed_ns(all, TIMING_WAITED), launch = claimed_ns(all, TIMING_LAUNCH);
    char a[WORDS], b[WORDS];
    if (stretch == NULL || !is_no_first(verdict, all, TIMING_WAITED) ||
        !covers(verdict, all, TIMING_WAITED))
        return;
    in_words(own, a);
    in_words((double)stretches_device_ns(all, stretch), b);
    if (launch > 0.0)
        verdict_figure(verdict, "waited",
                       "%s, of which the device's own record gives the kernel %s; %.1f times the "
                       "launch alone",
                       a, b, own / launch);
}

void report_transfers(struct verdict *verdict, const struct stretches *all)
{
    const struct stretch *stretch = stretch_of(verdict, all, TIMING_TRANSFERS);
    const uint64_t bytes = all->in->measure.n * sizeof(float);
    char a[WORDS], b[WORDS];
    if (stretch == NULL || !is_no_first(verdict, all, TIMING_TRANSFERS)) return;
    if (stretch->bytes_in != 2 * bytes || stretch->bytes_out != bytes) {
        verdict_fail(verdict, all->evidence, &stretch->at,
                     "Between the two readings of report->transfers, of which this is the second, "
                     "%zu bytes go to the device and %zu come back; must be %zu and %zu.",
                     (size_t)stretch->bytes_in, (size_t)stretch->bytes_out, (size_t)(2 * bytes),
                     (size_t)bytes);
        verdict_why(verdict, "Whoever has the numbers on the host pays for the way there and back: "
                             "for a sum, by far the most of it.");
        verdict_hint(verdict, "begin = now(); a and b in, launch, c out, wait; end = now();");
        return;
    }
    if (!covers(verdict, all, TIMING_TRANSFERS)) return;
    in_words(claimed_ns(all, TIMING_TRANSFERS), a);
    if (all->of[TIMING_WAITED].found && claimed_ns(all, TIMING_WAITED) > 0.0)
        verdict_figure(verdict, "transfers", "%s, %.1f times what a launch and its wait take (%s)",
                       a, claimed_ns(all, TIMING_TRANSFERS) / claimed_ns(all, TIMING_WAITED),
                       in_words(claimed_ns(all, TIMING_WAITED), b));
}

/* ---- TheDevicesOwnTimeAgrees --------------------------------------------------------------- */

/* A kernel, its launch, the last event recorded in its stream before the launch, and the first
 * after it. */
struct around {
    const struct trace_record *kernel, *launch, *before, *after;
    const struct trace_record *between; /* a call between the events that should not be there */
};

static bool records(const struct trace_record *call)
{
    return call->code == 0 && (strncmp(call->name, "cudaEventRecord", 15) == 0 ||
                               strncmp(call->name, "cuEventRecord", 13) == 0);
}

static struct around around_kernel(const struct stretches *all, const struct trace_record *kernel)
{
    const struct query calls = {.phase = &all->measure, .kind = TRACE_CALL, .student = true};
    struct around around = {.kernel = kernel, .launch = evidence_call_of(all->evidence, kernel)};
    const struct trace_record *call = NULL;
    if (around.launch == NULL) return around;
    while ((call = evidence_next(all->evidence, &calls, call)) != NULL) {
        if (!records(call) || call->stream != kernel->stream) continue;
        if (call < around.launch)
            around.before = call;
        else if (around.after == NULL)
            around.after = call;
    }
    if (around.before == NULL || around.after == NULL) return around;
    call = around.before;
    while ((call = evidence_next(all->evidence, &calls, call)) != NULL && call < around.after)
        if (call != around.launch && around.between == NULL && !stretches_asks_for_an_error(call))
            around.between = call;
    return around;
}

static bool agrees(double own, const struct around *around)
{
    const struct trace_record *const kernel = around->kernel;
    const double device = (double)(kernel->end_ns - kernel->start_ns);
    double most = device + limit_honest_timing_events * 1e3;
    if (around->before != NULL && around->after != NULL) {
        const double said = timing_most_between_events(around->before, kernel, around->after);
        if (said > most) most = said;
    }
    return own >= (1.0 - limit_honest_timing_agreement) * device &&
           own <= most + limit_honest_timing_agreement * device;
}

/* Returns how many records lie between the launch and the nearer of its events. */
static size_t distance(const struct around *around)
{
    size_t nearest = SIZE_MAX;
    if (around->before != NULL) nearest = (size_t)(around->launch - around->before);
    if (around->after != NULL && (size_t)(around->after - around->launch) < nearest)
        nearest = (size_t)(around->after - around->launch);
    return nearest;
}

/* Returns a kernel between two events with nothing else; where there is none, the best other
 * one. */
static struct around best_around(const struct stretches *all)
{
    const struct query kernels = {
        .phase = &all->measure, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const struct trace_record *kernel = NULL;
    struct around best = {.launch = NULL};
    int most = -1;
    while ((kernel = evidence_next(all->evidence, &kernels, kernel)) != NULL) {
        const struct around around = around_kernel(all, kernel);
        const bool both = around.before != NULL && around.after != NULL;
        const int points = (around.before != NULL) + (around.after != NULL) +
                           4 * (both && around.between == NULL) +
                           2 * agrees(claimed_ns(all, TIMING_EVENTS), &around);
        if (points < most || (points == most && distance(&around) >= distance(&best))) continue;
        most = points;
        best = around;
    }
    return best;
}

/* Returns the call that should give the time: one that succeeded, else one that failed; NULL:
 * none. */
static const struct trace_record *elapsed(const struct stretches *all)
{
    static const char *const names[] = {"cudaEventElapsedTime*", "cuEventElapsedTime*"};
    const struct trace_record *found = NULL;
    for (int n = 0; n < 2; n++) {
        const struct query calls = {
            .phase = &all->measure, .kind = TRACE_CALL, .name = names[n], .student = true};
        const struct trace_record *call = NULL;
        while ((call = evidence_next(all->evidence, &calls, call)) != NULL)
            if (found == NULL || found->code != 0) found = call;
    }
    return found;
}

static void say_disagrees(struct verdict *verdict, const struct stretches *all,
                          const struct around *around, const struct trace_record *time)
{
    const double device = (double)(around->kernel->end_ns - around->kernel->start_ns),
                 own = claimed_ns(all, TIMING_EVENTS);
    char a[WORDS], b[WORDS];
    verdict_fail(verdict, all->evidence, time,
                 "report->kernel is %s; the device's own record of the kernel says %s.",
                 in_words(own, a), in_words(device, b));
    if (agrees(own * 1e3, around))
        verdict_hint(verdict, "cudaEventElapsedTime gives milliseconds, and microseconds are asked "
                              "for.");
    else
        verdict_hint(verdict, "Record the start, launch, record the end, all three in the kernel's "
                              "stream; wait for the end; then ask for the time.");
}

void report_events(struct verdict *verdict, const struct stretches *all)
{
    const struct trace_record *time = elapsed(all);
    const struct around around = best_around(all);
    char a[WORDS], b[WORDS];

    if (time == NULL || time->code != 0) {
        if (time == NULL)
            verdict_fail_in(verdict, all->evidence, MEASURE,
                            "report->kernel does not come from events: none was asked for a time.");
        else
            verdict_fail(verdict, all->evidence, time,
                         "No event gave a time: this call returned %d.", time->code);
        verdict_why(verdict, "The host's clock has the request in it and the way back. The device "
                             "stamps its events itself.");
        verdict_hint(verdict, "cudaEventRecord(start, stream); launch; cudaEventRecord(end, "
                              "stream); wait; cudaEventElapsedTime.");
    } else if (around.before == NULL || around.after == NULL) {
        verdict_fail(verdict, all->evidence, around.kernel != NULL ? around.kernel : time,
                     around.before == NULL
                         ? N_("No event is recorded in the kernel's stream before its launch.")
                         : N_("No event is recorded in the kernel's stream after its launch."));
        verdict_why(verdict, "An event completes when the work before it in its own stream has. In "
                             "another stream it says nothing about this kernel.");
        verdict_hint(verdict,
                     "The second argument of cudaEventRecord is the stream of the launch.");
    } else if (around.between != NULL) {
        verdict_fail(verdict, all->evidence, around.between,
                     "%.*s is called between the two events of report->kernel.", TRACE_NAME_SIZE,
                     around.between->name);
        verdict_why(verdict, "A time between two events is the time of all that the device, and "
                             "the host, did between them.");
        verdict_hint(verdict, "Record the start, launch, record the end: with nothing between.");
    } else if (around.kernel->end_ns <= around.kernel->start_ns) {
        verdict_skip(verdict, "the device did not say how long the kernel took");
    } else if (!agrees(claimed_ns(all, TIMING_EVENTS), &around)) {
        say_disagrees(verdict, all, &around, time);
    } else {
        verdict_figure(verdict, "kernel", "%s by the events, %s by the device's own record",
                       in_words(claimed_ns(all, TIMING_EVENTS), a),
                       in_words((double)(around.kernel->end_ns - around.kernel->start_ns), b));
    }
}

/* ---- EveryTimeSaysWhatItIncludes ----------------------------------------------------------- */

/* enum timing_part of lesson.h. */
static const char *const parts[] = {N_("the request"), N_("what is done once"), N_("the kernel"),
                                    N_("the copies in"), N_("the copy out")};
enum { REQUEST = 1, LOADING = 2, KERNEL = 4, COPY_IN = 8, COPY_OUT = 16, ALL = 31 };

static const uint32_t right_parts[TIMING_COUNT] = {
    [TIMING_FIRST] = REQUEST | LOADING | KERNEL,
    [TIMING_LAUNCH] = REQUEST,
    [TIMING_WAITED] = REQUEST | KERNEL,
    [TIMING_TRANSFERS] = REQUEST | KERNEL | COPY_IN | COPY_OUT,
    [TIMING_EVENTS] = KERNEL,
};

static const char *list(uint32_t of, char text[240])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        if (of >> p & 1u)
            used += (size_t)snprintf(text + used, 240 - used, "%s%s", used > 0 ? ", " : "",
                                     _(parts[p]));
    if (used == 0) snprintf(text, 240, "%s", _("nothing"));
    return text;
}

void report_parts(struct verdict *verdict, const struct stretches *all)
{
    char said[240], right[240];
    for (int which = 0; which < TIMING_COUNT; which++) {
        const uint32_t includes = all->out->includes[which];
        if (includes == right_parts[which]) continue;
        if ((includes & ~(uint32_t)ALL) != 0)
            verdict_fail_in(verdict, all->evidence, MEASURE,
                            "report->%s.includes is %#x, which is no sum of parts; it includes: "
                            "%s.",
                            timing_names[which], (unsigned)includes,
                            list(right_parts[which], right));
        else
            verdict_fail_in(verdict, all->evidence, MEASURE,
                            "report->%s.includes says: %s. It includes: %s.", timing_names[which],
                            list(includes, said), list(right_parts[which], right));
        verdict_why(verdict, "Two times can be compared when they include the same. A number that "
                             "does not say what is in it is compared with everything.");
        verdict_hint(verdict, "Ask of each part: does it begin behind the first reading, and has "
                              "it ended by the second?");
        return;
    }
}
