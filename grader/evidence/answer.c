#include "grader/evidence/answer.h"
#include "grader/base/messages.h"
#include "grader/evidence/evidence.h"
#include "trace/sentence.h"

#include <stdio.h>
#include <string.h>

#define NOT_READY 600 /* "not ready" is a query's result, not an error */

/* The errors that students meet: number, name in the runtime API, name in the driver API, and a
 * hint for a call that should have succeeded but returned it (NULL: no hint). An OpenCL error has
 * one name. */
// clang-format off
#define ERRORS(ROW, CL)                                                                            \
    ROW(0, "cudaSuccess", "CUDA_SUCCESS", NULL)                                                    \
    ROW(1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE",                                    \
        N_("An argument of that call is wrong: sizes in bytes, the direction of a copy, a pointer "   \
        "that is not initialised or of the other side, the grid or the block of a launch."))        \
    ROW(2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY",                                \
        N_("There was room for what was needed. How many bytes were asked for, and is everything "    \
        "released that was allocated before?"))                                                     \
    ROW(3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED",                           \
        N_("cuInit(0) comes before every other call of the driver API; and a process that has been "  \
        "forked after CUDA was started cannot use it."))                                            \
    ROW(4, "cudaErrorCudartUnloading", "CUDA_ERROR_DEINITIALIZED", NULL)                           \
    ROW(9, "cudaErrorInvalidConfiguration", NULL, N_("The grid or the block has an impossible size.")) \
    ROW(13, "cudaErrorInvalidSymbol", NULL, NULL)                                                  \
    ROW(21, "cudaErrorInvalidMemcpyDirection", NULL, N_("Is the direction of the copy right?"))        \
    ROW(31, "cudaErrorNotYetImplemented", NULL, NULL)                                              \
    ROW(46, "cudaErrorDeviceUnavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE", NULL)                   \
    ROW(98, "cudaErrorInvalidDeviceFunction", NULL, NULL)                                          \
    ROW(100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", NULL)                                    \
    ROW(101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE",                                \
        N_("Is that an ordinal from the arguments, or a device got with cuDeviceGet?"))                \
    ROW(200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE", NULL)                      \
    ROW(201, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT",                         \
        N_("No context is current to the thread, or it is gone: was it popped or destroyed before "   \
        "its work was done?"))                                                                      \
    ROW(209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU", NULL)              \
    ROW(218, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX", NULL)                                \
    ROW(304, "cudaErrorOperatingSystem", "CUDA_ERROR_OPERATING_SYSTEM", NULL)                      \
    ROW(400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE",                        \
        N_("A stream, event, module or context in that call was never made, has been destroyed, or "  \
        "belongs to another context; or an event has no time (never recorded, or made without)."))  \
    ROW(401, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE", NULL)                            \
    ROW(500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", NULL)                              \
    ROW(600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY",                                          \
        N_("Not ready is an answer, \"not yet\", and not a failure. From a query it is one of the "   \
        "two good answers; from cudaEventElapsedTime it says that a wait is missing."))             \
    ROW(700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS",                              \
        N_("Work that ran earlier touched memory that is not its own, or no longer: a length in the " \
        "wrong unit, or memory released while the device was at work on it."))                      \
    ROW(701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", NULL)          \
    ROW(702, "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT", NULL)                          \
    ROW(709, "cudaErrorContextIsDestroyed", "CUDA_ERROR_CONTEXT_IS_DESTROYED",                     \
        N_("The context was destroyed while a thread still had it as its current one."))               \
    ROW(710, "cudaErrorAssert", "CUDA_ERROR_ASSERT", NULL)                                         \
    ROW(711, "cudaErrorTooManyPeers", "CUDA_ERROR_TOO_MANY_PEERS", NULL)                           \
    ROW(712, "cudaErrorHostMemoryAlreadyRegistered",                                               \
        "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", NULL)                                         \
    ROW(713, "cudaErrorHostMemoryNotRegistered", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", NULL)    \
    ROW(716, "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS", NULL)                  \
    ROW(719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED", NULL)                           \
    ROW(720, "cudaErrorCooperativeLaunchTooLarge", "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",      \
        N_("A grid that waits for itself has to be on the device as a whole: no more blocks than a "  \
        "multiprocessor holds (cudaOccupancyMaxActiveBlocksPerMultiprocessor), times those."))      \
    ROW(800, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED",                                  \
        N_("A host function, or a callback, makes no CUDA call: what it would do comes after the wait."))                            \
    ROW(801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED",                                  \
        N_("The software device does not have what was asked of it; what was printed says what."))     \
    ROW(803, "cudaErrorSystemDriverMismatch", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", NULL)           \
    ROW(999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", NULL)                                      \
    /* OpenCL's errors are below 0. */                                                             \
    CL(-1, "CL_DEVICE_NOT_FOUND",                                                                  \
        N_("A platform without a device of that type answers so: it is an answer, and no failure."))\
    CL(-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", NULL)                                               \
    CL(-5, "CL_OUT_OF_RESOURCES",                                                                  \
        N_("A command failed on the device: look at the kernel's index, and at the sizes of its "  \
        "buffers."))                                                                               \
    CL(-6, "CL_OUT_OF_HOST_MEMORY", NULL)                                                          \
    CL(-7, "CL_PROFILING_INFO_NOT_AVAILABLE",                                                      \
        N_("An event has times when its command has ended and was waited for, in a queue that was "\
        "made with CL_QUEUE_PROFILING_ENABLE."))                                                   \
    CL(-11, "CL_BUILD_PROGRAM_FAILURE",                                                            \
        N_("The kernel's source does not compile: clGetProgramBuildInfo with CL_PROGRAM_BUILD_LOG "\
        "has what the compiler says."))                                                            \
    CL(-12, "CL_MAP_FAILURE", NULL)                                                                \
    CL(-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", NULL)                                  \
    CL(-30, "CL_INVALID_VALUE",                                                                    \
        N_("An argument of that call is wrong: a size of 0 or one that is more than there is, a "  \
        "pointer that is NULL, room for fewer bytes than the answer has."))                        \
    CL(-33, "CL_INVALID_DEVICE", NULL)                                                             \
    CL(-34, "CL_INVALID_CONTEXT", NULL)                                                            \
    CL(-36, "CL_INVALID_COMMAND_QUEUE", NULL)                                                      \
    CL(-38, "CL_INVALID_MEM_OBJECT", NULL)                                                         \
    CL(-44, "CL_INVALID_PROGRAM", NULL)                                                            \
    CL(-45, "CL_INVALID_PROGRAM_EXECUTABLE",                                                       \
        N_("A program has kernels only when clBuildProgram has built it."))                        \
    CL(-46, "CL_INVALID_KERNEL_NAME",                                                              \
        N_("The name is that of a function in the source that begins with __kernel."))             \
    CL(-48, "CL_INVALID_KERNEL", NULL)                                                             \
    CL(-50, "CL_INVALID_ARG_VALUE", NULL)                                                          \
    CL(-51, "CL_INVALID_ARG_SIZE",                                                                 \
        N_("The size is that of the kernel's own parameter: of a buffer that of a cl_mem, of a ulong "\
        "8."))                                                                                     \
    CL(-52, "CL_INVALID_KERNEL_ARGS",                                                              \
        N_("Each argument is set by clSetKernelArg, and its buffer is there when the kernel is "   \
        "queued."))                                                                                \
    CL(-54, "CL_INVALID_WORK_GROUP_SIZE",                                                          \
        N_("In OpenCL 1.2 the global size is a multiple of the group's: round it up, and let the " \
        "items that are too many do nothing."))                                                    \
    CL(-57, "CL_INVALID_EVENT_WAIT_LIST", NULL)                                                    \
    CL(-58, "CL_INVALID_EVENT", NULL)                                                              \
    CL(-59, "CL_INVALID_OPERATION", NULL)                                                          \
    CL(-61, "CL_INVALID_BUFFER_SIZE",                                                              \
        N_("A buffer has at least one byte: where there is nothing to compute, make none."))       \
    CL(-1001, "CL_PLATFORM_NOT_FOUND_KHR",                                                         \
        N_("The ICD loader says so where no OpenCL is installed: it is an answer, and no failure."))
// clang-format on

static const struct error {
    int code;
    const char *names[2]; /* by enum answer_api */
    const char *hint;
} errors[] = {
#define ROW(code, runtime, driver, hint) {code, {runtime, driver}, hint},
#define CL(code, name, hint) ROW(code, name, name, hint)
    ERRORS(ROW, CL)
#undef CL
#undef ROW
};

static const struct error *error_find(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code) return &errors[i];
    }
    return NULL;
}

const char *answer_name(enum answer_api api, int code, char text[ANSWER_NAME_SIZE])
{
    const struct error *error = error_find(code);
    if (error != NULL && error->names[api] != NULL)
        snprintf(text, ANSWER_NAME_SIZE, "%s (%d)", error->names[api], code);
    else
        snprintf(text, ANSWER_NAME_SIZE, "error %d", code);
    return text;
}

bool answer_written(struct verdict *verdict, const struct answer *answer)
{
    if (answer->code != ANSWER_NOT_WRITTEN) return true;
    verdict_fail_in(verdict, answer->evidence, answer->function,
                    "Not judged: %s is not written yet.", answer->function);
    return false;
}

static void say_not_written(struct verdict *verdict, const struct answer *answer)
{
    verdict_fail_in(verdict, answer->evidence, answer->function, "%s is not written yet.",
                    answer->function);
    verdict_hint(verdict,
                 "lessons/%s/README.md says what it is to do, lesson.h what it is given "
                 "and what it returns.",
                 answer->evidence->lesson->folder);
}

struct answer answer_in(const struct evidence *evidence, const char *phase_name, uint32_t index,
                        const char *function, enum answer_api api, int code, struct phase *phase)
{
    const bool known = evidence_phase(evidence, phase_name, index, phase);
    return (struct answer){evidence, known ? phase : NULL, function, api, code};
}

/* "No platform" and "no device of that type" are valid results of an OpenCL query, not failures. */
static bool is_answer_of_opencl(int code)
{
    return code == -1 || code == -1001;
}

const struct trace_record *answer_first_failed(const struct answer *answer)
{
    const struct query calls = {.phase = answer->phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;

    if (answer->phase == NULL) return NULL;
    while ((call = evidence_next(answer->evidence, &calls, call)) != NULL) {
        if (call->code == 0 || call->code == NOT_READY) continue;
        if (call->code != answer->code && is_answer_of_opencl(call->code)) continue;
        return call;
    }
    return NULL;
}

/* Returns the last query whose "not ready" the function returned as if it were an error. */
static const struct trace_record *last_not_ready(const struct answer *answer)
{
    const struct query calls = {.phase = answer->phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL, *last = NULL;

    if (answer->phase == NULL) return NULL;
    while ((call = evidence_next(answer->evidence, &calls, call)) != NULL)
        if (call->code == NOT_READY) last = call;
    return last;
}

/* Finds the call that caused an error which no call on the student's own lines returned: a call
 * that the project's code made for the student, through kernel(...) or work(...), or with
 * by_launcher a call of the code that launches the kernel elsewhere in the run. */
static const struct trace_record *made_for_the_student(const struct answer *answer,
                                                       bool by_launcher)
{
    const struct query calls = {.phase = answer->phase, .kind = TRACE_CALL},
                       kernels = {.kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const struct trace_record *r = NULL;
    struct place place;

    if (answer->phase == NULL) return NULL;
    while ((r = evidence_next(answer->evidence, &calls, r)) != NULL)
        if (r->code != 0 && evidence_student_place(answer->evidence, r, &place)) return r;
    while (by_launcher && (r = evidence_next(answer->evidence, &kernels, r)) != NULL)
        if (!evidence_by_submission(answer->evidence, r) &&
            evidence_student_place(answer->evidence, r, &place) &&
            strcmp(place.function, answer->function) == 0)
            return r;
    return NULL;
}

/* Returns the first finding that the device reported with this error code. */
static const struct trace_record *finding_of(const struct evidence *evidence, int code)
{
    const struct query findings = {.kind = TRACE_FINDING};
    const struct trace_record *finding = NULL;

    while ((finding = evidence_next(evidence, &findings, finding)) != NULL) {
        if (finding->code == code) return finding;
    }
    return NULL;
}

/* Does the student launch kernels, perhaps by <<<>>>? */
static bool writes_kernels(const struct evidence *evidence)
{
    const struct lesson *lesson = evidence->lesson;
    return lesson != NULL && strstr(lesson->files[0], ".cu") != NULL;
}

/* The function itself chose the error. A host function may have misled it. */
static void hint_at_itself(struct verdict *verdict, const struct answer *answer)
{
    const struct query host = {
        .phase = answer->phase, .kind = TRACE_OPERATION, .what = TRACE_HOST_FUNCTION};
    if (answer->phase != NULL && evidence_next(answer->evidence, &host, NULL) != NULL)
        verdict_hint(verdict, "None of its CUDA calls failed. But a host function runs when its "
                              "stream comes to it: what its argument leads to must be there then, "
                              "and as it was, which a loop's variable is not.");
    else
        verdict_hint(verdict, "None of its CUDA calls failed. Is the variable that it returns set "
                              "on every path?");
}

bool answer_succeeded(struct verdict *verdict, const struct answer *answer, const char *doing)
{
    char name[ANSWER_NAME_SIZE], called[ANSWER_NAME_SIZE];
    const struct trace_record *call, *finding;
    const struct error *error;

    if (answer->code == 0) return true;
    doing = _(doing);
    if (answer->code == ANSWER_NOT_WRITTEN) {
        say_not_written(verdict, answer);
        return false;
    }

    call = answer_first_failed(answer);
    if (call == NULL && answer->code == NOT_READY) call = last_not_ready(answer);
    if (call == NULL) call = made_for_the_student(answer, false);
    answer_name(answer->api, answer->code, name);
    if (call != NULL) {
        verdict_fail(verdict, answer->evidence, call, "%.*s gave %s, and %s returned %s for %s.",
                     TRACE_NAME_SIZE, call->name, answer_name(answer->api, call->code, called),
                     answer->function, name, doing);
    } else {
        verdict_fail_in(verdict, answer->evidence, answer->function, "%s returned %s for %s.",
                        answer->function, name, doing);
    }
    if (call != NULL && strstr(call->name, "LastError") != NULL) {
        verdict_why(verdict, "cudaGetLastError and cudaPeekAtLastError report an error of any "
                             "earlier call of the thread, not only of yours.");
        if (writes_kernels(answer->evidence))
            verdict_hint(verdict, "Keep what each of your own calls returns. A launch by <<<>>> "
                                  "returns nothing: launch by cudaLaunchKernel or "
                                  "cudaLaunchKernelEx, or call cudaGetLastError once before the "
                                  "launch and once behind it.");
        else
            verdict_hint(verdict, "Keep what each of your own calls returns.");
        return false;
    }
    finding = finding_of(answer->evidence, answer->code);
    if (finding != NULL) {
        char sentence[TRACE_SENTENCE_SIZE];
        evidence_sentence(answer->evidence, finding, sentence, sizeof sentence);
        verdict_why(verdict, "The device said: %s.", sentence);
    } else
        verdict_why(verdict, "What %s was given is valid: it should have succeeded.",
                    answer->function);
    error = error_find(call != NULL ? call->code : answer->code);
    if (error != NULL && error->hint != NULL)
        verdict_hint(verdict, "%s", _(error->hint));
    else if (call != NULL)
        verdict_hint(verdict, "Look at the arguments of that call, and at what the calls before it "
                              "returned.");
    else
        hint_at_itself(verdict, answer);
    return false;
}

bool answer_judgeable(struct verdict *verdict, const struct answer *answer, const char *where)
{
    char name[ANSWER_NAME_SIZE];

    if (!answer_written(verdict, answer)) return false;
    if (answer->code == 0) return true;
    verdict_fail_in(verdict, answer->evidence, answer->function,
                    "Not judged: %s returned %s (see %s).", answer->function,
                    answer_name(answer->api, answer->code, name), where);
    verdict_not_judged(verdict, where);
    return false;
}

static bool failed_with(struct verdict *verdict, const struct answer *answer, int expected,
                        const char *because, bool by_launcher)
{
    char name[ANSWER_NAME_SIZE], wanted[ANSWER_NAME_SIZE];
    const struct trace_record *call;

    if (!answer_written(verdict, answer)) return false;
    if (answer->code == expected) return true;
    /* The failed call may have returned another error than `expected` for the same cause. */
    call = answer_first_failed(answer);
    if (call != NULL) expected = call->code;
    if (answer->code == expected) return true;
    because = _(because);
    if (call == NULL) call = made_for_the_student(answer, by_launcher);

    answer_name(answer->api, expected, wanted);
    if (answer->code == 0)
        verdict_fail(verdict, answer->evidence, call, "%s returned success, although %s: %s.",
                     answer->function, because, wanted);
    else
        verdict_fail(verdict, answer->evidence, call,
                     "%s returned %s, although the first error was another one: %s, %s.",
                     answer->function, answer_name(answer->api, answer->code, name), because,
                     wanted);
    verdict_why(verdict,
                "An error that is not returned shows up later, where its cause cannot be found.");
    if (by_launcher && answer->code != 0)
        verdict_hint(verdict, "Begin every call without the error of an earlier one, and return "
                              "the first that a call, or kernel(...), gives in this one.");
    else if (by_launcher)
        verdict_hint(verdict, "Keep what kernel(...) returned, and return that: it is no call of "
                              "CUDA's, and what cudaGetLastError says, or a later call, need not "
                              "be the same.");
    else if (call == NULL)
        verdict_hint(verdict,
                     "No CUDA call failed in it. Either something else that it calls says so, "
                     "and is to be looked at; or it has to look itself at what it was "
                     "given, or to hand that, uncut, to the call that refuses it.");
    else
        verdict_hint(verdict, "Keep what every call returns, go to the clean-up at the first that "
                              "is not success, and return that one, not the last one.");
    return false;
}

bool answer_failed_with(struct verdict *verdict, const struct answer *answer, int expected,
                        const char *because)
{
    return failed_with(verdict, answer, expected, because, false);
}

bool answer_launch_failed_with(struct verdict *verdict, const struct answer *answer, int expected,
                               const char *because)
{
    return failed_with(verdict, answer, expected, because, true);
}
