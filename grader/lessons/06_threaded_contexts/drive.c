/* The child side of lesson 06. It makes no CUDA call of its own, not even to clean up: the parent
 * of forked children must not have initialised CUDA, and that is what the check is about. */
#include "grader/lessons/06_threaded_contexts/exchange.h"

#include "grader/child/drive.h"
#include "kernels/image.h"
#include "lesson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char no_image[] = ".version 8.0\nthis is not a kernel\n";

/* Makes a child of the caller's that has ended and for which no other code may wait. Returns -1 if
 * there is no process. */
static pid_t ended_child(void)
{
    siginfo_t info;
    const pid_t child = vfork(); /* copies nothing of the parent */
    if (child == 0) _exit(0);
    if (child > 0 && waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0) return -1;
    return child;
}

static int run_call(struct drive *drive, uint32_t index)
{
    const struct threaded_input *input = drive->input;
    const struct threaded_call *call = &input->calls[index];
    struct threaded_output *output = drive->output;
    struct threaded_answer *answer = &output->answers[index];

    /* Private memory on purpose: the parent does not see what a child process writes there. */
    size_t bytes = (size_t)threaded_room(call) * sizeof(float);
    float *values = malloc(bytes);
    if (!values) {
        perror("drive: malloc");
        return 1;
    }
    memcpy(values, input->values + call->offset, bytes);

    struct threaded_array arrays[THREADED_ARRAYS];
    struct threaded_result results[THREADED_ARRAYS];
    memset(results, DRIVE_POISON, sizeof results);
    for (uint32_t i = 0; i < call->count; i++) {
        arrays[i].values = values + (threaded_offset(call, i) - call->offset);
        arrays[i].length = (size_t)call->lengths[i];
    }
    if (call->slip == THREADED_TOO_LONG) {
        arrays[call->slip_array].length += (size_t)THREADED_TOO_LONG_LENGTH;
        if (call->second_slip != call->slip_array)
            arrays[call->second_slip].length = (size_t)THREADED_UNCOUNTABLE_LENGTH;
    }
    const pid_t own = call->way == THREADED_BY_PROCESSES ? ended_child() : 0;
    if (own < 0) {
        perror("drive: fork");
        free(values);
        return 1;
    }

    const char *image = call->slip == THREADED_BAD_IMAGE ? no_image : multiply_divide_image;
    drive_begin(drive, DRIVE_INJECTIONS, index);
    drive_begin(drive, THREADED_PHASE, index);
    answer->error = (int32_t)(call->way == THREADED_BY_PROCESSES
                                  ? threaded_contexts_processes(image, arrays, call->count, results)
                                  : threaded_contexts_threads(image, arrays, call->count, results));
    drive_end(drive, THREADED_PHASE, index);
    drive_end(drive, DRIVE_INJECTIONS, index);

    memcpy(output->values + call->offset, values, bytes);
    for (uint32_t i = 0; i < call->count; i++) {
        answer->results[i].error = (int32_t)results[i].error;
        answer->results[i].sum = results[i].sum;
    }
    answer->child_taken = own > 0 && waitpid(own, NULL, 0) != own;
    answer->children_left = waitpid(-1, NULL, WNOHANG) >= 0;
    free(values);
    return 0;
}

int drive_main(struct drive *drive)
{
    const struct threaded_input *input = drive->input;
    for (uint32_t i = 0; i < input->call_count; i++)
        if (run_call(drive, i)) return 1;
    return 0;
}
