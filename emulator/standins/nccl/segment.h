/* segment: the memory that the ranks of a communicator share, in one process or in several of one
 * machine, and by which they find each other. Each rank has slots into which the device copies what
 * the rank sends, and numbers that the ranks' streams write and wait for. So a stream goes on when
 * the other ranks' streams have come as far, and no thread of the host waits but for those that
 * make a communicator.
 *
 * A segment is a file of /dev/shm, named after the communicator's id, until the last rank has come.
 * It submits no work and computes nothing.
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
};

struct segment; /* one for each id in a process, shared by its ranks there */

/* Opens the segment of `id` for `ranks` ranks; the others open the same one. NULL: the system
 * refuses, and errno says why. */
struct segment *segment_open(const struct nccl_id *id, unsigned ranks);
/* Ends when the last rank of the process has called it. The device must have no work that uses the
 * segment. NULL is ignored. */
void segment_close(struct segment *segment);

/* Says that `rank`, on the device with that UUID, has come. Returns false if the rank or the device
 * is there already; *other is who has it. */
bool segment_arrive(struct segment *segment, unsigned rank, const CUuuid *device, unsigned *other);
/* Whether all have come: then the file's name goes. */
bool segment_is_complete(const struct segment *segment);
/* The lowest rank that has not come. */
unsigned segment_missing(const struct segment *segment);

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

/* Says what `rank` says in a split, and copies what all say once they have. Returns false until
 * then. */
bool segment_split(struct segment *segment, unsigned rank, const struct segment_split *mine,
                   struct segment_split all[SEGMENT_RANKS]);

/* A rank has failed, or given up. */
void segment_abort(struct segment *segment);
bool segment_is_aborted(const struct segment *segment);
/* Lets `rank` go on, whatever the piece or message that it waits for. */
void segment_release(struct segment *segment, unsigned rank);

#endif
