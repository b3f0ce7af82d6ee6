/* Collectives, messages, and operators: the public functions, and what is wrong with a call. */
#include <string.h>

#include "emulator/standins/nccl/comm.h"

/* ---- checks ----------------------------------------------------------------------------------
 */

static bool is_sender(const struct nccl_task *task)
{
    const struct nccl_call_row *row = &nccl_calls[task->call];
    if (task->call == NCCL_RECEIVE) return false;
    return !row->root_sends || task->root == (int)task->comm->rank;
}

static bool is_taker(const struct nccl_task *task)
{
    const struct nccl_call_row *row = &nccl_calls[task->call];
    if (task->call == NCCL_SEND) return false;
    return !row->root_takes || task->root == (int)task->comm->rank;
}

/* Memory that a device of the process can use. */
static bool is_reachable(const void *memory)
{
    unsigned kind;
    return cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 (CUdeviceptr)(uintptr_t)memory) == CUDA_SUCCESS;
}

static enum nccl_result check_buffer(const struct nccl_task *task, const void *buffer,
                                     const char *which)
{
    if (task->count == 0 || is_reachable(buffer)) return NCCL_SUCCESS;
    return nccl_fail(NCCL_INVALID_ARGUMENT,
                     "the buffer to %s is no memory of a device, nor page-locked: %p", which,
                     buffer);
}

static enum nccl_result check_operator(const struct nccl_task *task)
{
    if (!nccl_calls[task->call].reduces || (task->op >= 0 && task->op < NCCL_OPERATORS))
        return NCCL_SUCCESS;
    const int made = task->op - NCCL_OPERATORS;
    if (made < 0 || made >= NCCL_SCALARS || !task->comm->scalars[made].used)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "no such operator: %d", task->op);
    if (task->comm->scalars[made].type != task->type)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "the operator is for values of %s",
                         nccl_types[task->comm->scalars[made].type].name);
    return NCCL_SUCCESS;
}

/* The stream's own device, and whether its work is only recorded. */
static enum nccl_result check_stream(const struct nccl_task *task)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUdevice device = task->comm->device;
    if (task->stream != NULL && cuStreamGetDevice(task->stream, &device) != CUDA_SUCCESS)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "the stream is none");
    if (device != task->comm->device)
        return nccl_misuse("rank %u of the communicator is on device %d, and the stream on device "
                           "%d",
                           task->comm->rank, task->comm->device, device);
    if (task->stream != NULL && cuStreamIsCapturing(task->stream, &capture) == CUDA_SUCCESS &&
        capture != CU_STREAM_CAPTURE_STATUS_NONE) {
        standin_lacks("a collective of NCCL in a stream that is being captured");
        return nccl_fail(NCCL_INVALID_USAGE, "the stream is being captured");
    }
    return NCCL_SUCCESS;
}

static enum nccl_result check(const struct nccl_task *task)
{
    enum nccl_result result = NCCL_SUCCESS;
    if (nccl_usable(task->comm) != NCCL_SUCCESS) return nccl_usable(task->comm);
    if (segment_is_aborted(task->comm->segment)) return nccl_given_up();
    if ((int)task->type < 0 || task->type >= NCCL_TYPES)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "no such type: %d", (int)task->type);
    if (task->root < 0 || task->root >= (int)task->comm->ranks)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "rank %d of a communicator of %u", task->root,
                         task->comm->ranks);
    result = check_operator(task);
    if (result == NCCL_SUCCESS) result = check_stream(task);
    if (result == NCCL_SUCCESS && is_sender(task))
        result = check_buffer(task, task->send, "send from");
    if (result == NCCL_SUCCESS && is_taker(task))
        result = check_buffer(task, task->receive, "receive into");
    return result;
}

/* ---- what the ranks say -----------------------------------------------------------------------
 */

/* Names of what another rank has noted, which may be anything. */
static const char *call_name(const struct segment_note *note)
{
    return note->call < NCCL_CALLS ? nccl_calls[note->call].name : "what is no function";
}

static const char *type_name(const struct segment_note *note)
{
    return note->type >= 0 && note->type < NCCL_TYPES ? nccl_types[note->type].name : "no type";
}

/* The end of a sentence: what of two notes differs. */
static enum nccl_result differs(const struct ncclComm *comm, const struct segment_note *mine,
                                const struct segment_note *theirs, unsigned who)
{
    const char *name = call_name(mine);
    const unsigned long long number = mine->number;
    if (mine->call != theirs->call)
        return nccl_misuse("%s by rank %u, as collective %llu of the communicator, where rank %u "
                           "calls %s: all ranks call the same ones in the same order",
                           name, comm->rank, number, who, call_name(theirs));
    if (mine->count != theirs->count)
        return nccl_misuse(
            "%s by rank %u, as collective %llu of the communicator, of %llu elements, "
            "where rank %u has %llu",
            name, comm->rank, number, (unsigned long long)mine->count, who,
            (unsigned long long)theirs->count);
    if (mine->type != theirs->type)
        return nccl_misuse(
            "%s by rank %u, as collective %llu of the communicator, of %s, where rank "
            "%u has %s",
            name, comm->rank, number, type_name(mine), who, type_name(theirs));
    return nccl_misuse("%s by rank %u, as collective %llu of the communicator, with root %d and "
                       "operator %d, where rank %u has root %d and operator %d",
                       name, comm->rank, number, mine->root, mine->op, who, theirs->root,
                       theirs->op);
}

static struct segment_note note_of(const struct nccl_task *task, uint64_t number)
{
    const bool combines = nccl_calls[task->call].reduces;
    return (struct segment_note){.number = number,
                                 .count = task->count,
                                 .call = (uint32_t)task->call,
                                 .type = (int32_t)task->type,
                                 /* the numbers of a program's own operators are a rank's own */
                                 .op = !combines                   ? 0
                                       : task->op < NCCL_OPERATORS ? task->op
                                                                   : NCCL_OPERATORS,
                                 .root = task->root};
}

static enum nccl_result agree(const struct nccl_task *task)
{
    struct ncclComm *comm = task->comm;
    struct segment_note other;
    unsigned who;
    const struct segment_note note = note_of(task, ++comm->collectives);
    if (segment_agree(comm->segment, comm->rank, &note, &other, &who)) return NCCL_SUCCESS;
    return differs(comm, &note, &other, who);
}

/* A message is compared by its bytes: sender and receiver may name its type differently. */
static enum nccl_result agree_pair(const struct nccl_task *task)
{
    struct ncclComm *comm = task->comm;
    struct segment_note other;
    const bool sends = task->call == NCCL_SEND;
    const unsigned rank = comm->rank, peer = (unsigned)task->root;
    const uint64_t number = sends ? ++comm->sent[peer].messages : ++comm->received[peer].messages;
    const struct segment_note note = {.number = number,
                                      .count = task->count * nccl_types[task->type].bytes};
    if (segment_agree_pair(comm->segment, sends ? rank : peer, sends ? peer : rank, sends, &note,
                           &other))
        return NCCL_SUCCESS;
    return nccl_misuse("%s by rank %u, message %llu %s rank %u, of %llu bytes, where that rank has "
                       "%llu",
                       nccl_calls[task->call].name, rank, (unsigned long long)number,
                       sends ? "to" : "from", peer, (unsigned long long)note.count,
                       (unsigned long long)other.count);
}

/* The other ranks must not wait for ever for one that has been told of a mistake. */
static enum nccl_result give_up(struct ncclComm *comm, enum nccl_result why)
{
    comm->failed = why;
    segment_abort(comm->segment);
    for (unsigned k = 0; k < comm->ranks; k++) segment_release(comm->segment, k);
    return why;
}

static enum nccl_result run(const struct nccl_task *task)
{
    enum nccl_result result = check(task);
    if (result != NCCL_SUCCESS) return result;
    result = task->call == NCCL_SEND || task->call == NCCL_RECEIVE ? agree_pair(task) : agree(task);
    if (result != NCCL_SUCCESS) return give_up(task->comm, result);
    return nccl_put(task);
}

static int call(const struct nccl_task *task)
{
    nccl_begin(nccl_calls[task->call].name, task->caller);
    return nccl_end(run(task));
}

/* ---- the functions ---------------------------------------------------------------------------
 */

#define TASK(what, ...)                                                                            \
    call(&(struct nccl_task){.comm = comm,                                                         \
                             .call = (what),                                                       \
                             .caller = __builtin_return_address(0),                                \
                             .count = count,                                                       \
                             .type = (enum nccl_type)type,                                         \
                             .stream = stream,                                                     \
                             __VA_ARGS__})

STANDIN_PUBLIC int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op,
                                 struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_ALL_REDUCE, .send = send, .receive = receive, .op = op);
}

STANDIN_PUBLIC int ncclReduce(const void *send, void *receive, size_t count, int type, int op,
                              int root, struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_REDUCE, .send = send, .receive = receive, .op = op, .root = root);
}

STANDIN_PUBLIC int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root,
                                 struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_BROADCAST, .send = send, .receive = receive, .root = root);
}

STANDIN_PUBLIC int ncclBcast(void *buffer, size_t count, int type, int root, struct ncclComm *comm,
                             CUstream stream)
{
    return TASK(NCCL_BROADCAST, .send = buffer, .receive = buffer, .root = root);
}

STANDIN_PUBLIC int ncclReduceScatter(const void *send, void *receive, size_t count, int type,
                                     int op, struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_REDUCE_SCATTER, .send = send, .receive = receive, .op = op);
}

STANDIN_PUBLIC int ncclAllGather(const void *send, void *receive, size_t count, int type,
                                 struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_ALL_GATHER, .send = send, .receive = receive);
}

STANDIN_PUBLIC int ncclAlltoAll(const void *send, void *receive, size_t count, int type,
                                struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_ALL_TO_ALL, .send = send, .receive = receive);
}

STANDIN_PUBLIC int ncclGather(const void *send, void *receive, size_t count, int type, int root,
                              struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_GATHER, .send = send, .receive = receive, .root = root);
}

STANDIN_PUBLIC int ncclScatter(const void *send, void *receive, size_t count, int type, int root,
                               struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_SCATTER, .send = send, .receive = receive, .root = root);
}

STANDIN_PUBLIC int ncclSend(const void *send, size_t count, int type, int peer,
                            struct ncclComm *comm, CUstream stream)
{
    return TASK(NCCL_SEND, .send = send, .root = peer);
}

STANDIN_PUBLIC int ncclRecv(void *receive, size_t count, int type, int peer, struct ncclComm *comm,
                            CUstream stream)
{
    return TASK(NCCL_RECEIVE, .receive = receive, .root = peer);
}

/* ---- operators -------------------------------------------------------------------------------
 */

static enum nccl_result make_operator(int *op, const void *scalar, int type, int residence,
                                      struct ncclComm *comm)
{
    if (op == NULL || scalar == NULL || comm == NULL || type < 0 || type >= NCCL_TYPES ||
        (residence != NCCL_SCALAR_DEVICE && residence != NCCL_SCALAR_HOST))
        return nccl_fail(NCCL_INVALID_ARGUMENT, "an operator needs a scalar and a type");
    for (int k = 0; k < NCCL_SCALARS; k++) {
        struct nccl_scalar *made = &comm->scalars[k];
        if (made->used) continue;
        *made = (struct nccl_scalar){.type = (enum nccl_type)type, .used = true};
        if (residence == NCCL_SCALAR_HOST)
            memcpy(&made->value, scalar, nccl_types[type].bytes);
        else
            made->device = scalar;
        *op = NCCL_OPERATORS + k;
        return NCCL_SUCCESS;
    }
    standin_lacks("more than 64 operators of a communicator at once");
    return nccl_fail(NCCL_SYSTEM_ERROR, "too many operators");
}

STANDIN_PUBLIC int ncclRedOpCreatePreMulSum(int *op, const void *scalar, int type, int residence,
                                            struct ncclComm *comm)
{
    nccl_begin("ncclRedOpCreatePreMulSum", __builtin_return_address(0));
    return nccl_end(make_operator(op, scalar, type, residence, comm));
}

STANDIN_PUBLIC int ncclRedOpDestroy(int op, struct ncclComm *comm)
{
    const int k = op - NCCL_OPERATORS;
    nccl_begin("ncclRedOpDestroy", __builtin_return_address(0));
    if (comm == NULL || k < 0 || k >= NCCL_SCALARS || !comm->scalars[k].used)
        return nccl_end(nccl_fail(NCCL_INVALID_ARGUMENT, "no such operator: %d", op));
    comm->scalars[k].used = false;
    return nccl_end(NCCL_SUCCESS);
}
