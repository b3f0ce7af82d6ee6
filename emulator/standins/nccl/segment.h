/* segment: the memory that the ranks of a communicator share, in one process or in several of one
 * machine, and by which they find each other. Each rank has slots into which the device copies what
 * the rank sends, and numbers that the ranks' streams write and wait for. So a stream goes on when
 * the other ranks' streams have come as far, and no thread of the host waits but for those that
 * make a communicator.
 *
 * A segment is a file without a name (emulator/base/memfd.h) of the process that made the id, which
 * says where it is; it goes with the last process that has it open, however that ends. Who opens it
 * first sets its size, and nobody can change that. What is in it another process may have written,
 * or written over: what it says is compared, and never used as an index. A process locks a byte for
 * each of its ranks: the system takes the locks away when it ends.
 *
 * A segment submits no work and computes nothing.
 *
 * A collective is cut into pieces of at most SEGMENT_SLOT bytes, which all ranks count alike. A
 * rank puts piece k into its slot k % SEGMENT_SLOTS once every rank has taken piece k -
 * SEGMENT_SLOTS, then writes `posted`; the others take it from there, and write `taken`. What one
 * rank sends to another goes the same way by a slot of that pair. There is a number for each rank
 * that waits for it, so that one that gives up can let its own streams go on and nobody else's.
 * The numbers are compared cyclically, as by CU_STREAM_WAIT_VALUE_GEQ.
 */
#ifndef OVERLAP_STANDINS_NCCL_SEGMENT_H
#define OVERLAP_STANDINS_NCCL_SEGMENT_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/standins/nccl/abi.h"

enum {
    SEGMENT_RANKS = 64,
    SEGMENT_SLOTS = 2,
    SEGMENT_SLOT = 1 << 20, /* bytes; a multiple of every type's size */
    SEGMENT_PAIR_SLOT = 256 << 10,
    SEGMENT_NOTES = 64,
};

/* What a rank's nth collective, or message to another rank, is: the others have to say the same. */
struct segment_note {
    uint64_t number; /* n, from 1 on; 0: none yet */
    uint64_t count;
    uint32_t call; /* index of the function, for names */
    int32_t type, op, root;
};

/* What a rank has said in ncclCommSplit. */
struct segment_split {
    uint32_t number; /* of the split, from 1 on */
    int32_t colour, key;
    struct nccl_id id; /* of the new communicator, if this rank is its first */
};

struct segment; /* one for each id in a process, shared by its ranks there */

/* Makes an id, and an empty file for its segment, which goes with the last segment that this
 * process opens by the id. Returns false with errno. */
bool segment_make_id(struct nccl_id *id);
/* Ends the file of an id that this process has made and nobody has used. */
void segment_drop_id(const struct nccl_id *id);
bool segment_is_id(const struct nccl_id *id);

/* Opens the segment of `id` for `ranks` ranks; the others open the same one. NULL: errno says why.
 * ESRCH: the process that made the id has ended it, or itself. EDOM: others have opened it for
 * *others ranks, or for a number that cannot be (0); they are told that this one does not come. */
struct segment *segment_open(const struct nccl_id *id, unsigned ranks, unsigned *others);
/* Ends when the last rank of the process has called it. The device must have no work that uses the
 * segment. NULL is ignored. */
void segment_close(struct segment *segment);

enum segment_arrival {
    SEGMENT_ARRIVED,
    SEGMENT_RANK_TAKEN,   /* the rank is there already */
    SEGMENT_DEVICE_TAKEN, /* the device is: *other has it */
};
/* Says that `rank`, on the device with that UUID, has come. */
enum segment_arrival segment_arrive(struct segment *segment, unsigned rank, const CUuuid *device,
                                    unsigned *other);
/* Says that an arrived rank does nothing any more. */
void segment_leave(struct segment *segment, unsigned rank);
/* The lowest rank that has not come; the number of ranks if all have. */
unsigned segment_missing(const struct segment *segment);
/* Whether a rank that has come has left, or its process has ended. What it has not written by then
 * it never will. */
bool segment_is_over(const struct segment *segment, unsigned rank);
/* The lowest rank that is over; the number of ranks if none is. */
unsigned segment_first_over(const struct segment *segment);

/* Makes the segment known to CUDA, for all contexts of the process; once is enough. */
CUresult segment_register(struct segment *segment);

/* Addresses for the device. */
CUdeviceptr segment_slot(const struct segment *segment, unsigned rank, uint32_t piece);
CUdeviceptr segment_posted(const struct segment *segment, unsigned rank, unsigned reader);
CUdeviceptr segment_taken(const struct segment *segment, unsigned rank, unsigned reader);
CUdeviceptr segment_pair_slot(const struct segment *segment, unsigned from, unsigned to,
                              uint32_t piece);
CUdeviceptr segment_sent(const struct segment *segment, unsigned from, unsigned to);
CUdeviceptr segment_received(const struct segment *segment, unsigned from, unsigned to);

/* Notes what `rank` does as its collective note->number. Returns false if another rank has noted
 * something else there, which is copied to *other, and the rank to *who. */
bool segment_agree(struct segment *segment, unsigned rank, const struct segment_note *note,
                   struct segment_note *other, unsigned *who);
/* The same for message note->number from one rank to another; `sends`: which of the two notes. */
bool segment_agree_pair(struct segment *segment, unsigned from, unsigned to, bool sends,
                        const struct segment_note *note, struct segment_note *other);

/* Says what `rank` says in a split, and copies what all say. Returns the lowest rank that has not
 * said it; the number of ranks if all have. */
unsigned segment_split(struct segment *segment, unsigned rank, const struct segment_split *mine,
                       struct segment_split all[SEGMENT_RANKS]);

/* A rank has failed, or given up. */
void segment_abort(struct segment *segment);
bool segment_is_aborted(const struct segment *segment);
/* Lets `rank` go on, whatever the piece or message that it waits for. */
void segment_release(struct segment *segment, unsigned rank);

#endif
