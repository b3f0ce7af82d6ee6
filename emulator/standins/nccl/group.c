/* Groups: what a thread calls between ncclGroupStart and ncclGroupEnd happens at its end, so that
 * one thread can speak for several ranks. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator/base/array.h"
#include "emulator/standins/nccl/comm.h"

enum { LOOK_NS = 500000, TOLD_AFTER_MS = 5000 };

/* The group of the calling thread. */
static _Thread_local struct group {
    unsigned depth;
    struct nccl_task *tasks;
    size_t task_count, task_room;
    struct nccl_making *makings;
    size_t making_count, making_room;
    enum nccl_result failed; /* of a call inside */
} group;

/* ---- the bracket -----------------------------------------------------------------------------
 */

void nccl_begin(const char *name, const void *caller)
{
    standin_call_begin(name, caller);
}

int nccl_end(enum nccl_result result)
{
    const bool fine = result == NCCL_SUCCESS || result == NCCL_IN_PROGRESS;
    standin_call_end(fine, CUDA_ERROR_INVALID_VALUE);
    if (group.depth > 0 && !fine && group.failed == NCCL_SUCCESS) group.failed = result;
    return (int)result;
}

/* ---- at the end ------------------------------------------------------------------------------
 */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Says, once, for whom the communicators wait. */
static void tell_missing(const struct nccl_making *making)
{
    const struct ncclComm *comm = making->parent != NULL ? making->parent : making->comm;
    standin_call_begin("ncclCommInitRank", making->caller);
    nccl_misuse(
        "rank %u of a communicator of %u waits for rank %u, which has not come. In one "
        "thread, put the calls of its ranks between ncclGroupStart and ncclGroupEnd, or use "
        "ncclCommInitAll",
        comm->rank, comm->ranks, making->missing);
    standin_call_end(true, CUDA_SUCCESS);
}

/* Waits until all communicators of the group are made. */
static enum nccl_result make_all(void)
{
    enum nccl_result result = NCCL_SUCCESS;
    const uint64_t begin = now_ms();
    bool is_told = false;
    for (size_t left = group.making_count; left > 0;) {
        left = 0;
        for (size_t i = 0; i < group.making_count; i++) {
            struct nccl_making *making = &group.makings[i];
            if (making->made == NULL) continue;
            const enum nccl_result step = nccl_making_step(making);
            if (step == NCCL_IN_PROGRESS) {
                left++;
                if (!is_told && now_ms() - begin > TOLD_AFTER_MS) tell_missing(making);
                is_told |= now_ms() - begin > TOLD_AFTER_MS;
                continue;
            }
            making->made = NULL;
            if (result == NCCL_SUCCESS) result = step;
        }
        if (left > 0) nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return result;
}

static bool is_message(const struct nccl_task *task)
{
    return task->call == NCCL_SEND || task->call == NCCL_RECEIVE;
}

/* Submits the collectives in their order, then the messages. */
static enum nccl_result run_all(void)
{
    enum nccl_result result = NCCL_SUCCESS;
    size_t count = 0;
    const struct nccl_task **messages = calloc(group.task_count + 1, sizeof(struct nccl_task *));
    if (messages == NULL) return NCCL_SYSTEM_ERROR;
    for (size_t i = 0; i < group.task_count && result == NCCL_SUCCESS; i++) {
        if (is_message(&group.tasks[i]))
            messages[count++] = &group.tasks[i];
        else
            result = nccl_collect(&group.tasks[i]);
    }
    if (result == NCCL_SUCCESS) result = nccl_exchange(messages, count);
    free((void *)messages);
    return result;
}

static enum nccl_result end_group(void)
{
    enum nccl_result result = make_all();
    if (result == NCCL_SUCCESS) result = group.failed;
    if (result == NCCL_SUCCESS && group.task_count > 0) result = run_all();
    free(group.tasks);
    free(group.makings);
    group = (struct group){.depth = 0};
    return result;
}

/* ---- calls -----------------------------------------------------------------------------------
 */

enum nccl_result nccl_put(const struct nccl_task *task)
{
    if (group.depth == 0) return is_message(task) ? nccl_exchange(&task, 1) : nccl_collect(task);
    if (!array_grow(&group.tasks, group.task_count, &group.task_room, sizeof *group.tasks))
        return NCCL_SYSTEM_ERROR;
    group.tasks[group.task_count++] = *task;
    return NCCL_SUCCESS;
}

enum nccl_result nccl_make(const struct nccl_making *making)
{
    if (!array_grow(&group.makings, group.making_count, &group.making_room, sizeof *group.makings))
        return NCCL_SYSTEM_ERROR;
    *making->made = making->comm;
    group.makings[group.making_count++] = *making;
    return group.depth == 0 ? end_group() : NCCL_SUCCESS;
}

STANDIN_PUBLIC int ncclGroupStart(void)
{
    group.depth++;
    return NCCL_SUCCESS;
}

STANDIN_PUBLIC int ncclGroupEnd(void)
{
    if (group.depth == 0) {
        nccl_begin("ncclGroupEnd", __builtin_return_address(0));
        return nccl_end(nccl_misuse("ncclGroupEnd without an ncclGroupStart before it"));
    }
    if (group.depth > 1) {
        group.depth--;
        return NCCL_SUCCESS;
    }
    const enum nccl_result result = end_group();
    return (int)result;
}
