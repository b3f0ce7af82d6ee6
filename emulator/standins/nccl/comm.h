/* comm: the stand-in for NCCL: communicators of ranks that are devices of one process, or processes
 * of one machine. A public function checks its arguments (collectives.c, comms.c) and becomes a
 * task of the calling thread's group (group.c); a group of its own, where the program has none.
 * When the group ends, each task submits what its rank does to the caller's stream (moves.c):
 * copies to and from a segment that the ranks share (segment.h), numbers to write and to wait for,
 * and kernels that combine what the ranks have sent. So all that holds for copies and kernels holds
 * for a collective: streams order it, and what others do to its buffers meanwhile is a race, named
 * at the caller's line. All ranks combine in the order of ranks, so that all get the same bits.
 *
 * What NVIDIA's library leaves to a hang or to chance is named: ranks that call different
 * collectives, or with other arguments, and a communicator whose ranks do not all come.
 *
 * Never: algorithms, channels or speed of NVIDIA's; several machines; windows, one-sided
 * communication and captured collectives, which are refused by name.
 *
 * Source: nccl.h of NCCL 2.32 and NVIDIA's documentation of NCCL.
 */
#ifndef OVERLAP_STANDINS_NCCL_COMM_H
#define OVERLAP_STANDINS_NCCL_COMM_H

#include "emulator/standins/nccl/abi.h"
#include "emulator/standins/nccl/parameters.h"
#include "emulator/standins/nccl/segment.h"
#include "emulator/standins/standins.h"

/* A product by which a rank's values are multiplied before they are added up. */
struct nccl_scalar {
    enum nccl_type type;
    const void *device; /* NULL: `value` has its bytes */
    uint64_t value;
    bool used;
};
enum { NCCL_SCALARS = 64 }; /* operators of a communicator that a program has made and not ended */

/* A rank of a communicator. Owned by the program from ncclCommInit* until ncclCommDestroy. */
struct ncclComm {
    struct nccl_id id;
    struct segment *segment;
    unsigned rank, ranks;
    bool has_come; /* into the segment */
    int device;
    CUcontext context;
    uint32_t pieces;      /* of collectives so far */
    uint64_t collectives; /* so far */
    uint32_t splits;
    struct {
        uint32_t pieces;
        uint64_t messages;
    } sent[SEGMENT_RANKS], received[SEGMENT_RANKS];
    CUstream stream; /* of the latest task ... */
    CUevent last;    /* ... behind which this is recorded; NULL: there was none */
    struct nccl_scalar scalars[NCCL_SCALARS];
    enum nccl_result failed; /* what ncclCommGetAsyncError says */
};

/* ---- types and functions ---------------------------------------------------------------------
 */

struct nccl_type_row {
    const char *name, *suffix; /* as a program writes it; in the kernels' names */
    unsigned bytes;
    bool is_whole; /* a whole number */
};
extern const struct nccl_type_row nccl_types[NCCL_TYPES];

/* The collectives: which ranks send and take what. */
enum nccl_call {
    NCCL_ALL_REDUCE,
    NCCL_REDUCE,
    NCCL_BROADCAST,
    NCCL_ALL_GATHER,
    NCCL_REDUCE_SCATTER,
    NCCL_ALL_TO_ALL,
    NCCL_GATHER,
    NCCL_SCATTER,
    NCCL_SEND, /* the two are no collectives */
    NCCL_RECEIVE,
    NCCL_CALLS,
};

struct nccl_call_row {
    const char *name;
    bool root_sends, root_takes; /* only the root does */
    bool sends_parts;            /* the sender's buffer has a part for each rank */
    bool takes_parts;            /* the taker's has one of each rank */
    bool reduces;                /* what is sent is combined */
};
extern const struct nccl_call_row nccl_calls[NCCL_CALLS];

/* ---- errors ----------------------------------------------------------------------------------
 */

/* Keeps the sentence for ncclGetLastError, and returns `result`. */
enum nccl_result nccl_fail(enum nccl_result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, and a finding at the thread's present call. */
enum nccl_result nccl_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum nccl_result nccl_of_cuda(CUresult error);
const char *nccl_last_error(void);

/* A rank of the communicator has failed, or calls no more. */
enum nccl_result nccl_given_up(void);

/* Whether a communicator is made and not ended. */
enum nccl_result nccl_usable(const struct ncclComm *comm);

/* ---- tasks (group.c) --------------------------------------------------------------------------
 */

/* A call that waits for the end of its group. */
struct nccl_task {
    struct ncclComm *comm;
    enum nccl_call call;
    const void *caller; /* the program's call */
    const void *send;
    void *receive;
    uint64_t count; /* elements: of a part, where there are parts */
    enum nccl_type type;
    int op, root; /* `root`: the other rank of a message */
    CUstream stream;
};

/* Begins and ends the public function `name`; `result` is returned, once as an int. */
void nccl_begin(const char *name, const void *caller);
int nccl_end(enum nccl_result result);

/* Public; ncclCommInitAll makes a group of its own. */
int ncclGroupStart(void);
int ncclGroupEnd(void);

/* Runs the task, or adds it to the thread's group. */
enum nccl_result nccl_put(const struct nccl_task *task);

/* A communicator that is being made, alone or in a group. *made is set at once, and is of use when
 * the group has ended. */
struct nccl_making {
    struct ncclComm *comm;
    struct ncclComm **made;
    const void *caller;
    struct ncclComm *parent; /* of a split; NULL: none */
    struct segment_split split;
    unsigned missing; /* the rank, of `parent` if there is one, that it waits for */
};
enum nccl_result nccl_make(const struct nccl_making *making);

/* ---- communicators (comms.c) ------------------------------------------------------------------
 */

/* Goes one step in making it. NCCL_IN_PROGRESS: the other ranks have not come. A failure frees the
 * communicator. */
enum nccl_result nccl_making_step(struct nccl_making *making);

/* ---- moves (moves.c) --------------------------------------------------------------------------
 */

/* Submits a collective to its stream. */
enum nccl_result nccl_collect(const struct nccl_task *task);
/* Submits messages, piece by piece of all, so that none waits for one behind it. */
enum nccl_result nccl_exchange(const struct nccl_task *const tasks[], size_t count);

extern const char comm_image[];

#endif
