/* What a task submits: copies into slots, numbers, and what comes out of the others' slots. */
#include "emulator/standins/nccl/comm.h"

#include <stdio.h>
#include <string.h>

static struct standin_kernels kernels = {.ptx = comm_image};

/* ---- parts of a stream's work -----------------------------------------------------------------
 */

static CUresult copy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes, CUstream stream)
{
    return cuMemcpyAsync(to, from, bytes, stream);
}

static CUresult write(CUstream stream, CUdeviceptr number, uint32_t value)
{
    return cuStreamWriteValue32(stream, number, value, CU_STREAM_WRITE_VALUE_DEFAULT);
}

/* Waits until `rank` has written the number. */
static CUresult wait_for(const struct nccl_task *task, unsigned rank, CUdeviceptr number,
                         uint32_t value)
{
    standin_waits(task->comm->rank, rank);
    return cuStreamWaitValue32(task->stream, number, value, CU_STREAM_WAIT_VALUE_GEQ);
}

/* Finds the number that one rank writes and another one waits for. */
typedef CUdeviceptr number_place(const struct segment *segment, unsigned rank, unsigned reader);

/* Writes `value` for all ranks. */
static CUresult write_all(const struct ncclComm *comm, CUstream stream, number_place *place,
                          uint32_t value)
{
    CUstreamBatchMemOpParams all[SEGMENT_RANKS];
    for (unsigned k = 0; k < comm->ranks; k++)
        all[k] = (CUstreamBatchMemOpParams){
            .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                           .address = place(comm->segment, comm->rank, k),
                           .value = value}};
    return cuStreamBatchMemOp(stream, comm->ranks, all, 0);
}

static CUresult launch(const char *what, enum nccl_type type, uint64_t count, CUstream stream,
                       const void *parameter)
{
    char name[32];
    const struct standin_size size = {count, 1, 1, NCCL_BLOCK, 1};
    snprintf(name, sizeof name, "nccl_%s_%s", what, nccl_types[type].suffix);
    return standin_launch(&kernels, name, &size, stream, parameter);
}

/* All of a communicator's tasks run in order, whatever their streams. */
static CUresult follow(struct ncclComm *comm, CUstream stream)
{
    if (comm->last == NULL || comm->stream == stream) return CUDA_SUCCESS;
    return cuStreamWaitEvent(stream, comm->last, CU_EVENT_WAIT_DEFAULT);
}

static CUresult lead(struct ncclComm *comm, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    if (comm->last == NULL) result = cuEventCreate(&comm->last, CU_EVENT_DISABLE_TIMING);
    comm->stream = stream;
    return result == CUDA_SUCCESS ? cuEventRecord(comm->last, stream) : result;
}

/* ---- collectives ------------------------------------------------------------------------------
 */

/* A piece of a collective: `count` elements, from element `at` of a part on. In each round the
 * senders put the piece of one of their parts into their slots. */
struct piece {
    const struct nccl_task *task;
    const struct nccl_call_row *row;
    struct nccl_scalar scalar; /* of this rank's values */
    uint32_t op;               /* of the kernels */
    uint64_t at, count;
    unsigned round;
};

static bool sends(const struct piece *piece, unsigned rank)
{
    return !piece->row->root_sends || rank == (unsigned)piece->task->root;
}

static bool takes(const struct piece *piece, unsigned rank)
{
    if (piece->row->sends_parts) return rank == piece->round;
    return !piece->row->root_takes || rank == (unsigned)piece->task->root;
}

static uint64_t bytes_of(const struct piece *piece, uint64_t elements)
{
    return elements * nccl_types[piece->task->type].bytes;
}

/* Puts this rank's piece into its slot, once all have taken what was there. */
static CUresult post(const struct piece *piece)
{
    const struct nccl_task *task = piece->task;
    const struct ncclComm *comm = task->comm;
    const uint32_t number = comm->pieces;
    const uint64_t part = piece->row->sends_parts ? piece->round * task->count : 0;
    const CUdeviceptr slot = segment_slot(comm->segment, comm->rank, number);
    const CUdeviceptr from = (CUdeviceptr)(uintptr_t)task->send + bytes_of(piece, part + piece->at);
    CUresult result = CUDA_SUCCESS;
    for (unsigned k = 0; k < comm->ranks && number > SEGMENT_SLOTS && result == CUDA_SUCCESS; k++)
        if (k != comm->rank)
            result = wait_for(task, k, segment_taken(comm->segment, k, comm->rank),
                              number - SEGMENT_SLOTS);
    if (result == CUDA_SUCCESS && piece->scalar.used) {
        const struct nccl_scale scale = {.out = (void *)(uintptr_t)slot,
                                         .in = (const void *)(uintptr_t)from,
                                         .count = piece->count,
                                         .scalar = piece->scalar.device,
                                         .value = piece->scalar.value};
        result = launch("scale", task->type, piece->count, task->stream, &scale);
    } else if (result == CUDA_SUCCESS) {
        result = copy(slot, from, bytes_of(piece, piece->count), task->stream);
    }
    if (result != CUDA_SUCCESS) return result;
    return write_all(comm, task->stream, segment_posted, number);
}

/* Takes the piece out of the senders' slots. */
static CUresult take(const struct piece *piece)
{
    const struct nccl_task *task = piece->task;
    const struct ncclComm *comm = task->comm;
    const CUdeviceptr to = (CUdeviceptr)(uintptr_t)task->receive;
    CUresult result = CUDA_SUCCESS;
    for (unsigned k = 0; k < comm->ranks && result == CUDA_SUCCESS; k++)
        if (k != comm->rank && sends(piece, k))
            result = wait_for(task, k, segment_posted(comm->segment, k, comm->rank), comm->pieces);
    if (result == CUDA_SUCCESS && piece->row->reduces) {
        const struct nccl_combine combine = {
            .out = (void *)(uintptr_t)(to + bytes_of(piece, piece->at)),
            .slots = (const void *)(uintptr_t)segment_slot(comm->segment, 0, comm->pieces),
            .count = piece->count,
            .stride = SEGMENT_SLOT / nccl_types[task->type].bytes,
            .ranks = comm->ranks,
            .op = piece->op};
        return launch("combine", task->type, piece->count, task->stream, &combine);
    }
    for (unsigned k = 0; k < comm->ranks && result == CUDA_SUCCESS; k++) {
        const uint64_t part = piece->row->takes_parts ? k * task->count : 0;
        if (sends(piece, k))
            result = copy(to + bytes_of(piece, part + piece->at),
                          segment_slot(comm->segment, k, comm->pieces),
                          bytes_of(piece, piece->count), task->stream);
    }
    return result;
}

static CUresult move(const struct piece *piece)
{
    struct ncclComm *comm = piece->task->comm;
    CUresult result = CUDA_SUCCESS;
    comm->pieces++;
    if (sends(piece, comm->rank)) result = post(piece);
    if (result == CUDA_SUCCESS && takes(piece, comm->rank)) result = take(piece);
    if (result != CUDA_SUCCESS) return result;
    return write_all(comm, piece->task->stream, segment_taken, comm->pieces);
}

/* Finds how the values are combined. */
static void choose_operator(struct piece *piece)
{
    const struct nccl_task *task = piece->task;
    piece->op = (uint32_t)task->op;
    if (!piece->row->reduces || task->op < NCCL_OPERATORS) return;
    piece->scalar = task->comm->scalars[task->op - NCCL_OPERATORS];
    piece->op = NCCL_SUM;
}

static CUresult collect(const struct nccl_task *task, uint64_t at, bool *more)
{
    (void)at;
    (void)more;
    struct piece piece = {.task = task, .row = &nccl_calls[task->call]};
    const uint64_t most = SEGMENT_SLOT / nccl_types[task->type].bytes;
    const unsigned rounds = piece.row->sends_parts ? task->comm->ranks : 1;
    CUresult result = follow(task->comm, task->stream);
    choose_operator(&piece);
    for (; piece.at < task->count && result == CUDA_SUCCESS; piece.at += piece.count) {
        const uint64_t left = task->count - piece.at;
        piece.count = left < most ? left : most;
        for (piece.round = 0; piece.round < rounds && result == CUDA_SUCCESS; piece.round++)
            result = move(&piece);
    }
    return result == CUDA_SUCCESS ? lead(task->comm, task->stream) : result;
}

/* Runs `part` of a task, as a part of the program's call and in the context of its rank. */
static enum nccl_result run_part(const struct nccl_task *task,
                                 CUresult (*part)(const struct nccl_task *task, uint64_t at,
                                                  bool *more),
                                 uint64_t at, bool *more)
{
    CUcontext popped;
    nccl_begin(nccl_calls[task->call].name, task->caller);
    enum nccl_result result = nccl_of_cuda(cuCtxPushCurrent(task->comm->context));
    if (result == NCCL_SUCCESS) {
        result = nccl_of_cuda(part(task, at, more));
        cuCtxPopCurrent(&popped);
    }
    return (enum nccl_result)nccl_end(result);
}

enum nccl_result nccl_collect(const struct nccl_task *task)
{
    return run_part(task, collect, 0, NULL);
}

/* ---- messages --------------------------------------------------------------------------------
 */

/* Submits the bytes of the message from `at` on, as far as one slot has room. */
static CUresult send_piece(const struct nccl_task *task, uint64_t at, uint64_t bytes)
{
    struct ncclComm *comm = task->comm;
    const unsigned to = (unsigned)task->root;
    const uint32_t number = ++comm->sent[to].pieces;
    CUresult result = CUDA_SUCCESS;
    if (number > SEGMENT_SLOTS)
        result = wait_for(task, to, segment_received(comm->segment, comm->rank, to),
                          number - SEGMENT_SLOTS);
    if (result == CUDA_SUCCESS)
        result = copy(segment_pair_slot(comm->segment, comm->rank, to, number),
                      (CUdeviceptr)(uintptr_t)task->send + at, bytes, task->stream);
    if (result != CUDA_SUCCESS) return result;
    return write(task->stream, segment_sent(comm->segment, comm->rank, to), number);
}

static CUresult receive_piece(const struct nccl_task *task, uint64_t at, uint64_t bytes)
{
    struct ncclComm *comm = task->comm;
    const unsigned from = (unsigned)task->root;
    const uint32_t number = ++comm->received[from].pieces;
    CUresult result = wait_for(task, from, segment_sent(comm->segment, from, comm->rank), number);
    if (result == CUDA_SUCCESS)
        result =
            copy((CUdeviceptr)(uintptr_t)task->receive + at,
                 segment_pair_slot(comm->segment, from, comm->rank, number), bytes, task->stream);
    if (result != CUDA_SUCCESS) return result;
    return write(task->stream, segment_received(comm->segment, from, comm->rank), number);
}

/* Submits piece `at` of the message; sets *more if another one follows. */
static CUresult message_piece(const struct nccl_task *task, uint64_t at, bool *more)
{
    const uint64_t bytes = task->count * nccl_types[task->type].bytes;
    if (at >= bytes) return CUDA_SUCCESS;
    const uint64_t left = bytes - at;
    *more |= left > SEGMENT_PAIR_SLOT;
    return (task->call == NCCL_SEND ? send_piece : receive_piece)(
        task, at, left < SEGMENT_PAIR_SLOT ? left : SEGMENT_PAIR_SLOT);
}

static CUresult message_begins(const struct nccl_task *task, uint64_t at, bool *more)
{
    (void)at;
    (void)more;
    return follow(task->comm, task->stream);
}

static CUresult message_ends(const struct nccl_task *task, uint64_t at, bool *more)
{
    (void)at;
    (void)more;
    return lead(task->comm, task->stream);
}

enum nccl_result nccl_exchange(const struct nccl_task *const tasks[], size_t count)
{
    enum nccl_result result = NCCL_SUCCESS;
    bool more = true;
    for (size_t i = 0; i < count && result == NCCL_SUCCESS; i++)
        result = run_part(tasks[i], message_begins, 0, NULL);
    for (uint64_t at = 0; more && result == NCCL_SUCCESS; at += SEGMENT_PAIR_SLOT) {
        more = false;
        for (int receives = 0; receives < 2; receives++)
            for (size_t i = 0; i < count && result == NCCL_SUCCESS; i++)
                if ((tasks[i]->call == NCCL_RECEIVE) == receives)
                    result = run_part(tasks[i], message_piece, at, &more);
    }
    for (size_t i = 0; i < count && result == NCCL_SUCCESS; i++)
        result = run_part(tasks[i], message_ends, 0, NULL);
    return result;
}
