/* Communicators: made, split, asked about, and ended. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator/standins/nccl/comm.h"

/* ---- ids -------------------------------------------------------------------------------------
 */

static enum nccl_result make_id(struct nccl_id *id)
{
    return segment_make_id(id) ? NCCL_SUCCESS
                               : nccl_fail(NCCL_SYSTEM_ERROR,
                                           "no memory for the ranks to share: %s", strerror(errno));
}

STANDIN_PUBLIC int ncclGetUniqueId(struct nccl_id *id)
{
    nccl_begin("ncclGetUniqueId", __builtin_return_address(0));
    return nccl_end(id == NULL ? nccl_fail(NCCL_INVALID_ARGUMENT, "the id is NULL") : make_id(id));
}

/* ---- making ----------------------------------------------------------------------------------
 */

static void comm_free(struct ncclComm *comm)
{
    if (comm == NULL) return;
    if (comm->has_come) segment_leave(comm->segment, comm->rank);
    segment_close(comm->segment);
    free(comm);
}

/* Makes the rank on the thread's current device. NULL: nccl_last_error says why. */
static struct ncclComm *comm_new(enum nccl_result *result)
{
    struct ncclComm *comm = calloc(1, sizeof *comm);
    *result = NCCL_SYSTEM_ERROR;
    if (comm == NULL) return NULL;
    *result = nccl_of_cuda(standin_context());
    if (*result == NCCL_SUCCESS) *result = nccl_of_cuda(cuCtxGetCurrent(&comm->context));
    if (*result == NCCL_SUCCESS) *result = nccl_of_cuda(cuCtxGetDevice(&comm->device));
    if (*result == NCCL_SUCCESS) return comm;
    free(comm);
    return NULL;
}

/* Why the segment was not opened. */
static enum nccl_result not_opened(const struct ncclComm *comm, unsigned others)
{
    if (errno == ESRCH)
        return nccl_fail(NCCL_SYSTEM_ERROR,
                         "the process that made the id has ended, or a communicator of that id "
                         "has: an id is for one communicator, and its process has to live until "
                         "all ranks have come");
    if (errno == EDOM)
        return nccl_misuse("rank %u was told of %u ranks, and another one of %u", comm->rank,
                           comm->ranks, others);
    return nccl_fail(NCCL_SYSTEM_ERROR, "the ranks' memory: %s", strerror(errno));
}

/* The ranks have an id and numbers: opens their segment and says that this one has come. */
static enum nccl_result come(struct ncclComm *comm)
{
    CUuuid device;
    unsigned other = 0;
    enum nccl_result result = nccl_of_cuda(cuDeviceGetUuid(&device, comm->device));
    if (result != NCCL_SUCCESS) return result;
    comm->segment = segment_open(&comm->id, comm->ranks, &other);
    if (comm->segment == NULL) return not_opened(comm, other);
    result = nccl_of_cuda(segment_register(comm->segment));
    if (result != NCCL_SUCCESS) return result;
    const enum segment_arrival arrival = segment_arrive(comm->segment, comm->rank, &device, &other);
    comm->has_come = arrival != SEGMENT_RANK_TAKEN;
    if (arrival == SEGMENT_ARRIVED) return NCCL_SUCCESS;
    if (arrival == SEGMENT_RANK_TAKEN)
        return nccl_misuse("rank %u of the communicator has come before: each rank has a number "
                           "of its own",
                           comm->rank);
    segment_abort(comm->segment); /* the others are not to wait for this one */
    return nccl_misuse("rank %u and rank %u of the communicator are on the same device, %d: "
                       "each needs one of its own (cudaSetDevice before ncclCommInitRank)",
                       comm->rank, other, comm->device);
}

static enum nccl_result lost(unsigned rank)
{
    return nccl_fail(NCCL_REMOTE_ERROR,
                     "rank %u has left the communicator, or its process has ended", rank);
}

/* Finds the new rank's place among those of its colour, and the id that the first of them made. */
static void take_place(struct nccl_making *making, const struct segment_split all[])
{
    struct ncclComm *comm = making->comm;
    const struct segment_split *mine = &making->split, *first = mine;
    comm->rank = comm->ranks = 0;
    for (unsigned k = 0; k < making->parent->ranks; k++) {
        if (all[k].colour != mine->colour) continue;
        const bool is_before =
            all[k].key < mine->key || (all[k].key == mine->key && k < making->parent->rank);
        comm->ranks++;
        comm->rank += is_before;
        if (is_before && (first == mine || all[k].key < first->key)) first = &all[k];
    }
    comm->id = first->id;
    if (first != mine || mine->colour == NCCL_NO_COLOUR) segment_drop_id(&mine->id);
}

/* Gives the rank its place, once all have said their colours. */
static enum nccl_result divide(struct nccl_making *making)
{
    const struct ncclComm *parent = making->parent;
    const struct segment_split *mine = &making->split;
    struct segment_split all[SEGMENT_RANKS];
    enum nccl_result result = NCCL_IN_PROGRESS;
    const unsigned missing = segment_split(parent->segment, parent->rank, mine, all);
    const bool is_over = missing < parent->ranks && segment_is_over(parent->segment, missing);
    /* It may have said it before it ended. */
    making->missing = segment_split(parent->segment, parent->rank, mine, all);
    if (making->missing == parent->ranks) {
        take_place(making, all);
        making->parent = NULL;
        return NCCL_SUCCESS;
    }
    if (is_over && making->missing == missing)
        result = lost(missing);
    else if (segment_is_aborted(parent->segment))
        result = nccl_given_up();
    if (result != NCCL_IN_PROGRESS) segment_drop_id(&mine->id);
    return result;
}

static enum nccl_result step(struct nccl_making *making)
{
    struct ncclComm *comm = making->comm;
    if (making->parent != NULL) {
        const enum nccl_result result = divide(making);
        if (result != NCCL_SUCCESS) return result;
        if (making->split.colour == NCCL_NO_COLOUR) {
            *making->made = NULL;
            comm_free(comm);
            return NCCL_SUCCESS;
        }
    }
    if (comm->segment == NULL) {
        const enum nccl_result result = come(comm);
        if (result != NCCL_SUCCESS) return result;
    }
    const unsigned over = segment_first_over(comm->segment);
    making->missing = segment_missing(comm->segment);
    if (making->missing == comm->ranks) return NCCL_SUCCESS;
    if (over < comm->ranks) return lost(over);
    return segment_is_aborted(comm->segment) ? nccl_given_up() : NCCL_IN_PROGRESS;
}

enum nccl_result nccl_making_step(struct nccl_making *making)
{
    CUcontext popped;
    nccl_begin("ncclCommInitRank", making->caller);
    enum nccl_result result = nccl_of_cuda(cuCtxPushCurrent(making->comm->context));
    if (result == NCCL_SUCCESS) {
        result = step(making);
        cuCtxPopCurrent(&popped);
    }
    if (result != NCCL_SUCCESS && result != NCCL_IN_PROGRESS) {
        comm_free(making->comm);
        *making->made = NULL;
    }
    return (enum nccl_result)nccl_end(result);
}

/* Begins to make rank `rank` of `ranks`. */
static enum nccl_result make(struct ncclComm **made, int ranks, const struct nccl_id *id, int rank,
                             const void *caller)
{
    enum nccl_result result;
    if (made == NULL) return nccl_fail(NCCL_INVALID_ARGUMENT, "the communicator is NULL");
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "rank %d of %d ranks", rank, ranks);
    if (ranks > SEGMENT_RANKS) {
        standin_lacks("a communicator of more than 64 ranks");
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%d ranks, of at most %d", ranks, SEGMENT_RANKS);
    }
    if (!segment_is_id(id))
        return nccl_fail(NCCL_INVALID_ARGUMENT, "the id is not one of ncclGetUniqueId's");
    struct ncclComm *comm = comm_new(&result);
    if (comm == NULL) return result;
    comm->id = *id;
    comm->rank = (unsigned)rank;
    comm->ranks = (unsigned)ranks;
    return nccl_make(&(struct nccl_making){.comm = comm, .made = made, .caller = caller});
}

static enum nccl_result check_config(const struct nccl_config *config)
{
    return config == NULL || config->magic == (unsigned)NCCL_MAGIC
               ? NCCL_SUCCESS
               : nccl_fail(NCCL_INVALID_ARGUMENT,
                           "the configuration was not begun with NCCL_CONFIG_INITIALIZER");
}

STANDIN_PUBLIC int ncclCommInitRankConfig(struct ncclComm **made, int ranks, struct nccl_id id,
                                          int rank, const struct nccl_config *config)
{
    const void *caller = __builtin_return_address(0);
    nccl_begin("ncclCommInitRankConfig", caller);
    const enum nccl_result result = check_config(config);
    return nccl_end(result == NCCL_SUCCESS ? make(made, ranks, &id, rank, caller) : result);
}

STANDIN_PUBLIC int ncclCommInitRank(struct ncclComm **made, int ranks, struct nccl_id id, int rank)
{
    const void *caller = __builtin_return_address(0);
    nccl_begin("ncclCommInitRank", caller);
    return nccl_end(make(made, ranks, &id, rank, caller));
}

/* The first of the ids serves all ranks. */
STANDIN_PUBLIC int ncclCommInitRankScalable(struct ncclComm **made, int ranks, int rank, int count,
                                            const struct nccl_id *ids,
                                            const struct nccl_config *config)
{
    const void *caller = __builtin_return_address(0);
    nccl_begin("ncclCommInitRankScalable", caller);
    enum nccl_result result = check_config(config);
    if (result == NCCL_SUCCESS && (ids == NULL || count < 1))
        result = nccl_fail(NCCL_INVALID_ARGUMENT, "no ids");
    return nccl_end(result == NCCL_SUCCESS ? make(made, ranks, &ids[0], rank, caller) : result);
}

/* ---- all devices of a process ----------------------------------------------------------------
 */

static bool is_twice(const int *devices, int at)
{
    for (int k = 0; k < at; k++)
        if (devices[k] == devices[at]) return true;
    return false;
}

/* Begins to make the rank of a device. */
static enum nccl_result make_on(struct ncclComm **made, int count, const struct nccl_id *id,
                                int rank, int device, const void *caller)
{
    CUcontext context, popped;
    enum nccl_result result = nccl_of_cuda(cuDevicePrimaryCtxRetain(&context, device));
    if (result != NCCL_SUCCESS) return result;
    result = nccl_of_cuda(cuCtxPushCurrent(context));
    if (result == NCCL_SUCCESS) {
        result = make(made, count, id, rank, caller);
        cuCtxPopCurrent(&popped);
    }
    return result;
}

static enum nccl_result make_each(struct ncclComm **made, int count, const int *devices,
                                  const void *caller)
{
    struct nccl_id id;
    int present = 0;
    if (made == NULL || count < 1) return nccl_fail(NCCL_INVALID_ARGUMENT, "no communicators");
    enum nccl_result result = nccl_of_cuda(standin_context());
    if (result == NCCL_SUCCESS) result = nccl_of_cuda(cuDeviceGetCount(&present));
    if (result == NCCL_SUCCESS) result = make_id(&id);
    for (int k = 0; k < count && result == NCCL_SUCCESS; k++) {
        const int device = devices != NULL ? devices[k] : k;
        if (device < 0 || device >= present)
            result = nccl_fail(NCCL_INVALID_ARGUMENT, "device %d of %d devices", device, present);
        else if (devices != NULL && is_twice(devices, k))
            result =
                nccl_misuse("device %d is given twice: each rank needs one of its own", device);
    }
    if (result != NCCL_SUCCESS) return result;
    ncclGroupStart();
    for (int k = 0; k < count && result == NCCL_SUCCESS; k++)
        result = make_on(&made[k], count, &id, k, devices != NULL ? devices[k] : k, caller);
    const enum nccl_result ended = (enum nccl_result)ncclGroupEnd();
    return result != NCCL_SUCCESS ? result : ended;
}

STANDIN_PUBLIC int ncclCommInitAll(struct ncclComm **made, int count, const int *devices)
{
    const void *caller = __builtin_return_address(0);
    nccl_begin("ncclCommInitAll", caller);
    return nccl_end(make_each(made, count, devices, caller));
}

/* ---- of one that exists ----------------------------------------------------------------------
 */

/* Makes a function's body that asks a communicator. */
#define ASK(name, type, what)                                                                      \
    STANDIN_PUBLIC int name(const struct ncclComm *comm, type *answer)                             \
    {                                                                                              \
        nccl_begin(#name, __builtin_return_address(0));                                            \
        const enum nccl_result usable =                                                            \
            answer != NULL ? nccl_usable(comm)                                                     \
                           : nccl_fail(NCCL_INVALID_ARGUMENT, #name " was given NULL");            \
        if (usable != NCCL_SUCCESS) return nccl_end(usable);                                       \
        *answer = (type)(what);                                                                    \
        return nccl_end(NCCL_SUCCESS);                                                             \
    }
ASK(ncclCommCount, int, comm->ranks)
ASK(ncclCommUserRank, int, comm->rank)
ASK(ncclCommCuDevice, int, comm->device)
ASK(ncclCommGetAsyncError, int,
    comm->failed != NCCL_SUCCESS        ? comm->failed
    : segment_is_aborted(comm->segment) ? NCCL_REMOTE_ERROR
                                        : NCCL_SUCCESS)

enum { MOST_PROPERTIES = 4096 }; /* bytes; the structure grows with NCCL's version */

static enum nccl_result tell_properties(const struct ncclComm *comm, struct nccl_properties *told)
{
    if (comm == NULL || told == NULL || told->begin.magic != (unsigned)NCCL_MAGIC ||
        told->begin.size < sizeof *told || told->begin.size > MOST_PROPERTIES)
        return nccl_fail(NCCL_INVALID_ARGUMENT,
                         "the properties were not begun with NCCL_COMM_PROPERTIES_INITIALIZER");
    memset((char *)told + sizeof *told, 0, told->begin.size - sizeof *told);
    told->rank = (int)comm->rank;
    told->ranks = (int)comm->ranks;
    told->device = told->nvml_device = comm->device;
    return NCCL_SUCCESS;
}

STANDIN_PUBLIC int ncclCommQueryProperties(const struct ncclComm *comm,
                                           struct nccl_properties *told)
{
    nccl_begin("ncclCommQueryProperties", __builtin_return_address(0));
    return nccl_end(tell_properties(comm, told));
}

static enum nccl_result split(struct ncclComm *comm, int colour, int key, struct ncclComm **made,
                              const void *caller)
{
    if (nccl_usable(comm) != NCCL_SUCCESS) return nccl_usable(comm);
    if (made == NULL || colour < NCCL_NO_COLOUR)
        return nccl_fail(NCCL_INVALID_ARGUMENT,
                         "no place for the communicator, or a colour below 0");
    struct ncclComm *child = calloc(1, sizeof *child);
    if (child == NULL) return NCCL_SYSTEM_ERROR;
    child->context = comm->context;
    child->device = comm->device;
    struct nccl_making making = {.comm = child,
                                 .made = made,
                                 .caller = caller,
                                 .parent = comm,
                                 .split = {.colour = colour, .key = key}};
    enum nccl_result result = make_id(&making.split.id);
    if (result == NCCL_SUCCESS) {
        making.split.number = ++comm->splits;
        return nccl_make(&making);
    }
    free(child);
    return result;
}

STANDIN_PUBLIC int ncclCommSplit(struct ncclComm *comm, int colour, int key, struct ncclComm **made,
                                 const struct nccl_config *config)
{
    const void *caller = __builtin_return_address(0);
    nccl_begin("ncclCommSplit", caller);
    const enum nccl_result result = check_config(config);
    return nccl_end(result == NCCL_SUCCESS ? split(comm, colour, key, made, caller) : result);
}

/* ---- the end ---------------------------------------------------------------------------------
 */

enum { LOOK_NS = 500000 };

/* Waits for the rank's work, which itself waits for other ranks no more where one has given up:
 * they may go on writing their numbers, so it is let go on again and again. */
static CUresult finish(const struct ncclComm *comm)
{
    if (!segment_is_aborted(comm->segment)) return cuEventSynchronize(comm->last);
    for (;;) {
        segment_release(comm->segment, comm->rank);
        const CUresult result = cuEventQuery(comm->last);
        if (result != CUDA_ERROR_NOT_READY) return result;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

/* Waits for the rank's work, and ends it. */
static enum nccl_result end(struct ncclComm *comm)
{
    CUcontext popped;
    enum nccl_result result = nccl_of_cuda(cuCtxPushCurrent(comm->context));
    if (result == NCCL_SUCCESS && comm->last != NULL) {
        result = nccl_of_cuda(finish(comm));
        cuEventDestroy(comm->last);
    }
    segment_leave(comm->segment, comm->rank);
    segment_close(comm->segment);
    if (result == NCCL_SUCCESS) cuCtxPopCurrent(&popped);
    comm->segment = NULL; /* the rest is kept for ever, so that a later use is named */
    return result;
}

#define COMM_FUNCTION(name, body)                                                                  \
    STANDIN_PUBLIC int name(struct ncclComm *comm)                                                 \
    {                                                                                              \
        nccl_begin(#name, __builtin_return_address(0));                                            \
        const enum nccl_result usable = nccl_usable(comm);                                         \
        return nccl_end(usable == NCCL_SUCCESS ? (body) : usable);                                 \
    }

/* This rank waits for the others no more. Who waits for this one is told, and goes on waiting until
 * it gives up as well: what it waits for never comes. */
static enum nccl_result abandon(struct ncclComm *comm)
{
    segment_abort(comm->segment);
    return end(comm);
}

COMM_FUNCTION(ncclCommFinalize, NCCL_SUCCESS)
COMM_FUNCTION(ncclCommDestroy, end(comm))
COMM_FUNCTION(ncclCommAbort, abandon(comm))

/* ---- of the library --------------------------------------------------------------------------
 */

STANDIN_PUBLIC int ncclGetVersion(int *version)
{
    if (version == NULL) return NCCL_INVALID_ARGUMENT;
    *version = NCCL_VERSION;
    return NCCL_SUCCESS;
}

STANDIN_PUBLIC int ncclMemAlloc(void **memory, size_t size)
{
    CUdeviceptr made = 0;
    nccl_begin("ncclMemAlloc", __builtin_return_address(0));
    if (memory == NULL) return nccl_end(nccl_fail(NCCL_INVALID_ARGUMENT, "the pointer is NULL"));
    enum nccl_result result = nccl_of_cuda(standin_context());
    if (result == NCCL_SUCCESS) result = nccl_of_cuda(cuMemAlloc(&made, size));
    *memory = (void *)(uintptr_t)made;
    return nccl_end(result);
}

STANDIN_PUBLIC int ncclMemFree(void *memory)
{
    nccl_begin("ncclMemFree", __builtin_return_address(0));
    return nccl_end(memory == NULL ? NCCL_SUCCESS
                                   : nccl_of_cuda(cuMemFree((CUdeviceptr)(uintptr_t)memory)));
}

/* Nothing is gained by it here. */
STANDIN_PUBLIC int ncclCommRegister(struct ncclComm *comm, void *buffer, size_t size, void **handle)
{
    (void)size;
    if (comm == NULL || buffer == NULL || handle == NULL) return NCCL_INVALID_ARGUMENT;
    *handle = buffer;
    return NCCL_SUCCESS;
}

STANDIN_PUBLIC int ncclCommDeregister(const struct ncclComm *comm, const void *handle)
{
    (void)handle;
    return comm == NULL ? NCCL_INVALID_ARGUMENT : NCCL_SUCCESS;
}
