/* Who may access whom after devices_link. */
#include "grader/base/messages.h"
#include "grader/lessons/14_devices/parts.h"

#define ALREADY_ENABLED 704
#define UNSUPPORTED 217 /* of devices that cannot reach each other, and of a device and itself */

static bool in(const uint32_t *bits, uint32_t device, uint32_t peer)
{
    return (bits[device] >> peer & 1) != 0;
}

/* On the software device what can be is known; a GPU was asked by the drive. */
static bool can_access(const struct devices_view *view, uint32_t device, uint32_t peer)
{
    if (view->evidence->device == DRIVE_GPU) return in(view->out->can, device, peer);
    return device != peer && view->in->kinds[device] == view->in->kinds[peer];
}

static bool are_neighbours(const struct devices_call *call, uint32_t device, uint32_t peer)
{
    for (uint32_t i = 0; i + 1 < call->count; i++) {
        const uint32_t one = (uint32_t)call->devices[i], other = (uint32_t)call->devices[i + 1];
        if ((one == device && other == peer) || (one == peer && other == device)) return true;
    }
    return false;
}

/* What the drive had enabled, and what devices_link is to add. */
static bool is_expected(const struct devices_view *view, uint32_t device, uint32_t peer)
{
    return can_access(view, device, peer) &&
           (in(view->call->enabled, device, peer) || are_neighbours(view->call, device, peer));
}

bool devices_linked_right(const struct devices_view *view)
{
    for (uint32_t device = 0; device < view->in->there; device++)
        for (uint32_t peer = 0; peer < view->in->there; peer++)
            if (is_expected(view, device, peer) != in(view->given->enabled, device, peer))
                return false;
    return true;
}

/* Returns the student's last call of that name in the phase, or NULL. */
static const struct trace_record *last_call(const struct devices_view *view, const char *name)
{
    const struct query calls = {
        .phase = &view->phase, .kind = TRACE_CALL, .name = name, .student = true};
    const struct trace_record *call = NULL, *last = NULL;
    while ((call = evidence_next(view->evidence, &calls, call)) != NULL) last = call;
    return last;
}

static bool say_missing(struct verdict *verdict, const struct devices_view *view, uint32_t device,
                        uint32_t peer)
{
    const struct trace_record *taken = last_call(view, "cudaDeviceDisablePeerAccess");
    char words[DEVICES_WORDS];
    if (taken != NULL) {
        verdict_fail(verdict, view->evidence, taken,
                     "For %s: device %u has no access to the memory of device %u, and access is "
                     "disabled here.",
                     devices_words(view, words), device, peer);
        verdict_why(verdict, "Access belongs to the whole process: what is there is for somebody "
                             "who relies on it.");
        verdict_hint(verdict, "Leave enabled what is enabled, and disable nothing.");
        return false;
    }
    verdict_fail(verdict, view->evidence, last_call(view, "cudaDeviceEnablePeerAccess"),
                 in(view->given->enabled, peer, device)
                     ? N_("For %s: device %u has no access to the memory of device %u, only the "
                          "other way round.")
                     : N_("For %s: device %u has no access to the memory of device %u."),
                 devices_words(view, words), device, peer);
    verdict_why(verdict, "cudaDeviceEnablePeerAccess gives access to one device, the current one, "
                         "to the memory of the one that it names: one direction of the two.");
    verdict_hint(verdict, "Two calls for each two neighbours, each with the device current that "
                          "gets access: cudaSetDevice(devices[i]), "
                          "cudaDeviceEnablePeerAccess(devices[i + 1], 0); and the same the other "
                          "way round.");
    return false;
}

/* Returns the student's first call in the phase that was refused for that reason, or NULL. */
static const struct trace_record *refused(const struct devices_view *view, int code)
{
    const struct query calls = {.phase = &view->phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;
    while ((call = evidence_next(view->evidence, &calls, call)) != NULL)
        if (call->code == code) return call;
    return NULL;
}

/* Fails where access is not possible, and was asked for or taken for an error. Returns true when
 * the verdict failed. */
static bool say_impossible(struct verdict *verdict, const struct devices_view *view)
{
    const struct trace_record *call = refused(view, UNSUPPORTED);
    char words[DEVICES_WORDS];
    if (call == NULL && view->given->status != UNSUPPORTED) return false;
    if (call != NULL)
        verdict_fail(verdict, view->evidence, call,
                     "For %s: access was asked for where it is not possible.",
                     devices_words(view, words));
    else
        verdict_fail_in(verdict, view->evidence, DEVICES_LINK_FUNCTION,
                        "For %s, devices_link returned cudaErrorPeerAccessUnsupported (217).",
                        devices_words(view, words));
    verdict_why(verdict, "Devices of different kinds, and many of one kind, do not reach each "
                         "other's memory. That is no error, as long as nobody asks for it.");
    if (call != NULL)
        verdict_hint(verdict, "Ask cudaDeviceCanAccessPeer(&can, device, peer) first, for each "
                              "direction, and go on where it says 0. Is `device` the current one "
                              "then? That is who gets access.");
    else
        verdict_hint(verdict, "Where cudaDeviceCanAccessPeer says 0, go on with the next two.");
    return true;
}

/* What is enabled already is the business of another check. */
static bool failed_for_another_reason(struct verdict *verdict, const struct devices_view *view)
{
    char words[DEVICES_WORDS];
    if (view->given->status == ALREADY_ENABLED) return false;
    if (view->given->status == UNSUPPORTED) return say_impossible(verdict, view);
    return !answer_succeeded(verdict, &view->answer, devices_words(view, words));
}

static bool all_there(struct verdict *verdict, const struct devices_view *view)
{
    for (uint32_t device = 0; device < view->in->there; device++)
        for (uint32_t peer = 0; peer < view->in->there; peer++)
            if (is_expected(view, device, peer) && !in(view->given->enabled, device, peer))
                return say_missing(verdict, view, device, peer);
    return true;
}

void devices_judge_linked(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    for (uint32_t i = 0; devices_next(verdict, evidence, DEVICES_LINK, &i, &view);) {
        if (failed_for_another_reason(verdict, &view)) return;
        if (view.given->status == 0 && !all_there(verdict, &view)) return;
    }
    if (!verdict_failed(verdict)) (void)devices_too_few(verdict, evidence);
}

static bool nothing_more(struct verdict *verdict, const struct devices_view *view)
{
    char words[DEVICES_WORDS];
    if (say_impossible(verdict, view)) return false;
    for (uint32_t device = 0; device < view->in->there; device++)
        for (uint32_t peer = 0; peer < view->in->there; peer++) {
            if (is_expected(view, device, peer) || !in(view->given->enabled, device, peer))
                continue;
            verdict_fail(verdict, view->evidence, last_call(view, "cudaDeviceEnablePeerAccess"),
                         "For %s: device %u has got access to the memory of device %u, and the two "
                         "are no neighbours.",
                         devices_words(view, words), device, peer);
            verdict_why(verdict, "Access has its price: from then on each allocation is mapped on "
                                 "all devices that may use it.");
            verdict_hint(verdict, "devices[i] and devices[i + 1], and no others.");
            return false;
        }
    return true;
}

void devices_judge_nothing_else(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    for (uint32_t i = 0; devices_next(verdict, evidence, DEVICES_LINK, &i, &view);)
        if (!answer_written(verdict, &view.answer) || !nothing_more(verdict, &view)) return;
    if (!verdict_failed(verdict)) (void)devices_too_few(verdict, evidence);
}

static bool no_error_of(struct verdict *verdict, const struct devices_view *view)
{
    char words[DEVICES_WORDS];
    const struct trace_record *call = refused(view, ALREADY_ENABLED);
    if (view->given->status == ALREADY_ENABLED || view->given->remembered == ALREADY_ENABLED)
        verdict_fail(verdict, view->evidence, call,
                     "For %s, of which some had access already, devices_link returned "
                     "cudaErrorPeerAccessAlreadyEnabled (704).",
                     devices_words(view, words));
    else if (view->given->last == ALREADY_ENABLED)
        verdict_fail(verdict, view->evidence, call,
                     "For %s, of which some had access already, devices_link returned success, and "
                     "the runtime still remembers cudaErrorPeerAccessAlreadyEnabled (704).",
                     devices_words(view, words));
    else
        return true;
    if (view->given->status == 0 && view->given->remembered == 0) {
        verdict_why(verdict, "Each call that fails leaves its error behind until somebody asks for "
                             "it. Who asks next, behind a launch, takes it for an error of that "
                             "launch.");
        verdict_hint(verdict, "(void)cudaGetLastError(); where the error has been understood and "
                              "is none.");
    } else {
        verdict_why(verdict, "Access belongs to the whole process: a library may have enabled it, "
                             "or an earlier call. What was to be reached is there.");
        verdict_hint(verdict, "cudaErrorPeerAccessAlreadyEnabled counts as success.");
    }
    return false;
}

void devices_judge_already(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    for (uint32_t i = 0; devices_next(verdict, evidence, DEVICES_LINK, &i, &view);)
        if (!answer_written(verdict, &view.answer) || !no_error_of(verdict, &view) ||
            failed_for_another_reason(verdict, &view))
            return;
    if (!verdict_failed(verdict)) (void)devices_too_few(verdict, evidence);
}
