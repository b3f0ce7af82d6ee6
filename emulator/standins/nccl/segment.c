#include "emulator/standins/nccl/segment.h"
#include "emulator/standins/standins.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOLDER "/dev/shm/"

enum { PAGE = 4096, LINE = 64 };

/* The file, from its first byte on. All zeros: nobody has come. What is written by one rank and
 * read by another is atomic. */
struct rank {
    /* By the rank's streams, for each rank that waits for it. */
    _Alignas(LINE) uint32_t posted[SEGMENT_RANKS], taken[SEGMENT_RANKS];
    _Alignas(LINE) uint32_t present;
    CUuuid device;
    struct segment_split splits[2]; /* a rank is at most one split ahead of another */
    struct segment_note notes[SEGMENT_NOTES];
};

struct pair {
    _Alignas(LINE) uint32_t sent, received;
    struct segment_note notes[2][SEGMENT_NOTES]; /* of the receiver, of the sender */
};

struct shared {
    uint32_t aborted;
    struct rank rank[SEGMENT_RANKS];
    struct pair pair[]; /* [from * ranks + to]; behind them, at a page, the slots */
};

struct segment {
    struct segment *next;
    struct nccl_id id;
    unsigned ranks, users;
    struct shared *shared;
    size_t size;
    CUdeviceptr address; /* 0: not registered */
};

static struct {
    pthread_mutex_t lock;
    struct segment *first;
} segments = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t slots_at(unsigned ranks)
{
    const size_t end = offsetof(struct shared, pair) + (size_t)ranks * ranks * sizeof(struct pair);
    return (end + PAGE - 1) / PAGE * PAGE;
}

static size_t pair_slots_at(unsigned ranks)
{
    return slots_at(ranks) + (size_t)ranks * SEGMENT_SLOTS * SEGMENT_SLOT;
}

static size_t size_of(unsigned ranks)
{
    return pair_slots_at(ranks) + (size_t)ranks * ranks * SEGMENT_SLOTS * SEGMENT_PAIR_SLOT;
}

/* ---- opening and closing ----------------------------------------------------------------------
 */

static void path_of(const struct nccl_id *id, char *path, size_t room)
{
    snprintf(path, room, FOLDER "%.*s", NCCL_ID_BYTES - 1, id->bytes);
}

/* Maps the file, which whoever comes first makes. */
static struct shared *map(const struct nccl_id *id, size_t size)
{
    char path[sizeof FOLDER + NCCL_ID_BYTES];
    path_of(id, path, sizeof path);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct shared *shared = MAP_FAILED;
    if (file < 0) return NULL;
    if (ftruncate(file, (off_t)size) == 0)
        shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return shared == MAP_FAILED ? NULL : shared;
}

struct segment *segment_open(const struct nccl_id *id, unsigned ranks)
{
    pthread_mutex_lock(&segments.lock);
    struct segment *segment = segments.first;
    while (segment != NULL && memcmp(&segment->id, id, sizeof *id) != 0) segment = segment->next;
    if (segment == NULL && (segment = calloc(1, sizeof *segment)) != NULL) {
        *segment = (struct segment){
            .id = *id, .ranks = ranks, .size = size_of(ranks), .next = segments.first};
        segment->shared = map(id, segment->size);
        if (segment->shared != NULL) {
            segments.first = segment;
        } else {
            free(segment);
            segment = NULL;
        }
    }
    if (segment != NULL) segment->users++;
    pthread_mutex_unlock(&segments.lock);
    return segment;
}

void segment_close(struct segment *segment)
{
    if (segment == NULL) return;
    pthread_mutex_lock(&segments.lock);
    const bool is_last = --segment->users == 0;
    struct segment **link = &segments.first;
    while (is_last && *link != segment) link = &(*link)->next;
    if (is_last) *link = segment->next;
    pthread_mutex_unlock(&segments.lock);
    if (!is_last) return;
    /* Of a context that is gone nothing is registered any more. */
    if (segment->address != 0) cuMemHostUnregister(segment->shared);
    munmap(segment->shared, segment->size);
    free(segment);
}

CUresult segment_register(struct segment *segment)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&segments.lock);
    if (segment->address == 0)
        result = cuMemHostRegister(segment->shared, segment->size,
                                   CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    if (result == CUDA_SUCCESS && segment->address == 0) {
        standin_private(segment->shared);
        result = cuMemHostGetDevicePointer(&segment->address, segment->shared, 0);
    }
    pthread_mutex_unlock(&segments.lock);
    return result;
}

/* ---- arriving --------------------------------------------------------------------------------
 */

static uint32_t read_of(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

enum { ABSENT, COMING, PRESENT };

bool segment_arrive(struct segment *segment, unsigned rank, const CUuuid *device, unsigned *other)
{
    struct rank *mine = &segment->shared->rank[rank];
    uint32_t before = ABSENT;
    *other = rank;
    if (!__atomic_compare_exchange_n(&mine->present, &before, COMING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false;
    mine->device = *device;
    __atomic_store_n(&mine->present, PRESENT, __ATOMIC_SEQ_CST);
    for (unsigned k = 0; k < segment->ranks; k++) {
        const struct rank *one = &segment->shared->rank[k];
        if (k == rank || __atomic_load_n(&one->present, __ATOMIC_SEQ_CST) != PRESENT) continue;
        *other = k;
        if (memcmp(&one->device, device, sizeof *device) == 0) return false;
    }
    return true;
}

unsigned segment_missing(const struct segment *segment)
{
    unsigned k = 0;
    while (k < segment->ranks && read_of(&segment->shared->rank[k].present) == PRESENT) k++;
    return k;
}

bool segment_is_complete(const struct segment *segment)
{
    char path[sizeof FOLDER + NCCL_ID_BYTES];
    if (segment_missing(segment) < segment->ranks) return false;
    path_of(&segment->id, path, sizeof path);
    unlink(path); /* all have mapped it; who comes second finds nothing to remove */
    return true;
}

/* ---- addresses -------------------------------------------------------------------------------
 */

static CUdeviceptr address_of(const struct segment *segment, const void *place)
{
    return segment->address + (CUdeviceptr)((const char *)place - (const char *)segment->shared);
}

static struct pair *pair_of(const struct segment *segment, unsigned from, unsigned to)
{
    return &segment->shared->pair[(size_t)from * segment->ranks + to];
}

CUdeviceptr segment_slot(const struct segment *segment, unsigned rank, uint32_t piece)
{
    return segment->address + slots_at(segment->ranks) +
           ((CUdeviceptr)(piece % SEGMENT_SLOTS) * segment->ranks + rank) * SEGMENT_SLOT;
}

CUdeviceptr segment_posted(const struct segment *segment, unsigned rank, unsigned reader)
{
    return address_of(segment, &segment->shared->rank[rank].posted[reader]);
}

CUdeviceptr segment_taken(const struct segment *segment, unsigned rank, unsigned reader)
{
    return address_of(segment, &segment->shared->rank[rank].taken[reader]);
}

CUdeviceptr segment_pair_slot(const struct segment *segment, unsigned from, unsigned to,
                              uint32_t piece)
{
    const CUdeviceptr pair = (CUdeviceptr)from * segment->ranks + to;
    return segment->address + pair_slots_at(segment->ranks) +
           (pair * SEGMENT_SLOTS + piece % SEGMENT_SLOTS) * SEGMENT_PAIR_SLOT;
}

CUdeviceptr segment_sent(const struct segment *segment, unsigned from, unsigned to)
{
    return address_of(segment, &pair_of(segment, from, to)->sent);
}

CUdeviceptr segment_received(const struct segment *segment, unsigned from, unsigned to)
{
    return address_of(segment, &pair_of(segment, from, to)->received);
}

/* ---- notes -----------------------------------------------------------------------------------
 */

static void note_put(struct segment_note *place, const struct segment_note *note)
{
    __atomic_store_n(&place->number, 0, __ATOMIC_SEQ_CST); /* nobody reads the rest meanwhile */
    place->count = note->count;
    place->call = note->call;
    place->type = note->type;
    place->op = note->op;
    place->root = note->root;
    __atomic_store_n(&place->number, note->number, __ATOMIC_SEQ_CST);
}

/* Copies a note. Returns false if that number is not noted, or no longer. */
static bool note_get(const struct segment_note *place, uint64_t number, struct segment_note *note)
{
    if (__atomic_load_n(&place->number, __ATOMIC_SEQ_CST) != number) return false;
    *note = *place;
    note->number = number;
    return __atomic_load_n(&place->number, __ATOMIC_SEQ_CST) == number;
}

static bool is_same(const struct segment_note *one, const struct segment_note *other)
{
    return one->count == other->count && one->call == other->call && one->type == other->type &&
           one->op == other->op && one->root == other->root;
}

bool segment_agree(struct segment *segment, unsigned rank, const struct segment_note *note,
                   struct segment_note *other, unsigned *who)
{
    const size_t place = note->number % SEGMENT_NOTES;
    note_put(&segment->shared->rank[rank].notes[place], note);
    for (*who = 0; *who < segment->ranks; ++*who) {
        const struct segment_note *theirs = &segment->shared->rank[*who].notes[place];
        if (*who != rank && note_get(theirs, note->number, other) && !is_same(note, other))
            return false;
    }
    return true;
}

bool segment_agree_pair(struct segment *segment, unsigned from, unsigned to, bool sends,
                        const struct segment_note *note, struct segment_note *other)
{
    struct pair *pair = pair_of(segment, from, to);
    const size_t place = note->number % SEGMENT_NOTES;
    note_put(&pair->notes[sends][place], note);
    return !note_get(&pair->notes[!sends][place], note->number, other) || is_same(note, other);
}

bool segment_split(struct segment *segment, unsigned rank, const struct segment_split *mine,
                   struct segment_split all[SEGMENT_RANKS])
{
    const unsigned turn = mine->number % 2;
    struct segment_split *split = &segment->shared->rank[rank].splits[turn];
    if (split->number != mine->number) {
        split->colour = mine->colour;
        split->key = mine->key;
        __atomic_store_n(&split->number, mine->number, __ATOMIC_RELEASE);
    }
    for (unsigned k = 0; k < segment->ranks; k++) {
        const struct segment_split *one = &segment->shared->rank[k].splits[turn];
        if (read_of(&one->number) != mine->number) return false;
        all[k] = *one;
    }
    return true;
}

/* ---- giving up -------------------------------------------------------------------------------
 */

void segment_abort(struct segment *segment)
{
    __atomic_store_n(&segment->shared->aborted, 1, __ATOMIC_RELEASE);
}

bool segment_is_aborted(const struct segment *segment)
{
    return read_of(&segment->shared->aborted) != 0;
}

enum { RELEASED = 1 << 30 }; /* beyond any number that is waited for */

/* Once: twice would be behind all numbers again. */
static void release(uint32_t *number)
{
    uint32_t now = read_of(number);
    while (now < RELEASED && !__atomic_compare_exchange_n(number, &now, now + RELEASED, false,
                                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        continue;
}

void segment_release(struct segment *segment, unsigned rank)
{
    for (unsigned k = 0; k < segment->ranks; k++) {
        release(&segment->shared->rank[k].posted[rank]);
        release(&segment->shared->rank[k].taken[rank]);
        release(&pair_of(segment, k, rank)->sent);
        release(&pair_of(segment, rank, k)->received);
    }
}
