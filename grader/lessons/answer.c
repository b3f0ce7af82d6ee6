#include "grader/lessons/answer.h"

#include <stdio.h>

/* The errors that students meet: number, name in the runtime API, name in the driver API. */
// clang-format off
#define ERRORS(ROW)                                                                               \
    ROW(0, "cudaSuccess", "CUDA_SUCCESS")                                                         \
    ROW(1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE")                                   \
    ROW(2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY")                               \
    ROW(3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED")                          \
    ROW(4, "cudaErrorCudartUnloading", "CUDA_ERROR_DEINITIALIZED")                                \
    ROW(9, "cudaErrorInvalidConfiguration", NULL)                                                 \
    ROW(21, "cudaErrorInvalidMemcpyDirection", NULL)                                              \
    ROW(31, "cudaErrorNotYetImplemented", NULL)                                                   \
    ROW(98, "cudaErrorInvalidDeviceFunction", NULL)                                               \
    ROW(100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE")                                         \
    ROW(101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE")                               \
    ROW(200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE")                           \
    ROW(201, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT")                        \
    ROW(209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU")                   \
    ROW(218, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX")                                     \
    ROW(400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE")                       \
    ROW(401, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE")                                 \
    ROW(500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND")                                   \
    ROW(600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY")                                         \
    ROW(700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS")                             \
    ROW(701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")               \
    ROW(702, "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT")                               \
    ROW(709, "cudaErrorContextIsDestroyed", "CUDA_ERROR_CONTEXT_IS_DESTROYED")                    \
    ROW(710, "cudaErrorAssert", "CUDA_ERROR_ASSERT")                                              \
    ROW(712, "cudaErrorHostMemoryAlreadyRegistered", "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED") \
    ROW(713, "cudaErrorHostMemoryNotRegistered", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED")         \
    ROW(716, "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS")                       \
    ROW(719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED")                                \
    ROW(800, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED")                                 \
    ROW(801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED")                                 \
    ROW(999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN")
// clang-format on

static const struct {
    int code;
    const char *names[2]; /* by enum answer_api */
} errors[] = {
#define ROW(code, runtime, driver) {code, {runtime, driver}},
    ERRORS(ROW)
#undef ROW
};

const char *answer_name(enum answer_api api, int code, char text[ANSWER_NAME_SIZE])
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code && errors[i].names[api]) {
            snprintf(text, ANSWER_NAME_SIZE, "%s (%d)", errors[i].names[api], code);
            return text;
        }
    }
    snprintf(text, ANSWER_NAME_SIZE, "error %d", code);
    return text;
}

bool answer_written(struct verdict *verdict, const struct answer *answer)
{
    if (answer->code != ANSWER_NOT_WRITTEN) return true;
    verdict_fail_in(verdict, answer->evidence, answer->function, "%s is not written yet.",
                    answer->function);
    verdict_hint(verdict,
                 "lessons/%s/README.md says what it is to do, lesson.h what it is given "
                 "and what it returns.",
                 answer->evidence->lesson->folder);
    return false;
}

/* The first call in the phase, made by the student's own lines, that gave an error. */
static const struct trace_record *first_failed_call(const struct answer *answer)
{
    const struct query calls = {.phase = answer->phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;

    if (answer->phase == NULL) return NULL;
    while ((call = evidence_next(answer->evidence, &calls, call)) != NULL) {
        if (call->code != 0 && call->code != 600) /* not ready is an answer, not an error */
            return call;
    }
    return NULL;
}

bool answer_succeeded(struct verdict *verdict, const struct answer *answer, const char *doing)
{
    char name[ANSWER_NAME_SIZE], called[ANSWER_NAME_SIZE];
    const struct trace_record *call;

    if (!answer_written(verdict, answer)) return false;
    if (answer->code == 0) return true;

    call = first_failed_call(answer);
    answer_name(answer->api, answer->code, name);
    if (call != NULL) {
        verdict_fail(verdict, answer->evidence, call, "%.*s gave %s, and %s returned %s for %s.",
                     TRACE_NAME_SIZE, call->name, answer_name(answer->api, call->code, called),
                     answer->function, name, doing);
    } else {
        verdict_fail_in(verdict, answer->evidence, answer->function, "%s returned %s for %s.",
                        answer->function, name, doing);
    }
    verdict_why(verdict, "Nothing was wrong with what it was given; it should have succeeded.");
    if (call != NULL)
        verdict_hint(verdict, "Look at the arguments of that call: sizes in bytes, the direction "
                              "of a copy, a pointer or handle that was never set.");
    else
        verdict_hint(verdict, "None of its CUDA calls failed. Is the variable that it returns set "
                              "on every path?");
    return false;
}

bool answer_failed_with(struct verdict *verdict, const struct answer *answer, int expected,
                        const char *because)
{
    char name[ANSWER_NAME_SIZE], wanted[ANSWER_NAME_SIZE];
    const struct trace_record *call;

    if (!answer_written(verdict, answer)) return false;
    /* The call that failed may have another way to say it than the one that we thought of. */
    call = first_failed_call(answer);
    if (call != NULL) expected = call->code;
    if (answer->code == expected) return true;

    answer_name(answer->api, expected, wanted);
    if (answer->code == 0)
        verdict_fail(verdict, answer->evidence, call, "%s returned success, although %s: %s.",
                     answer->function, because, wanted);
    else
        verdict_fail(verdict, answer->evidence, call,
                     "%s returned %s, although the first error was another one: %s, %s.",
                     answer->function, answer_name(answer->api, answer->code, name), because,
                     wanted);
    verdict_why(verdict, "An error that is not returned is met later, by somebody who cannot know "
                         "where it came from.");
    verdict_hint(verdict, "Keep what every call returns, go to the clean-up at the first that is "
                          "not success, and return that one, not the last one.");
    return false;
}
