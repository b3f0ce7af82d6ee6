#include "emulator/standins/nccl/segment.h"
#include "emulator/base/memfd.h"
#include "emulator/standins/standins.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

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
    int file; /* the process's locks go when any descriptor of the file is closed */
    unsigned ranks, users;
    uint64_t here; /* a bit for each rank of this process; atomic */
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

/* ---- arriving and leaving --------------------------------------------------------------------
 */

static uint32_t read_of(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

enum { ABSENT, COMING, PRESENT, LEFT };

static struct flock lock_of(unsigned rank)
{
    return (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)rank, .l_len = 1};
}

enum segment_arrival segment_arrive(struct segment *segment, unsigned rank, const CUuuid *device,
                                    unsigned *other)
{
    struct rank *mine = &segment->shared->rank[rank];
    struct flock lock = lock_of(rank);
    uint32_t before = ABSENT;
    if (!__atomic_compare_exchange_n(&mine->present, &before, COMING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) ||
        fcntl(segment->file, F_SETLK, &lock) != 0)
        return SEGMENT_RANK_TAKEN;
    __atomic_fetch_or(&segment->here, (uint64_t)1 << rank, __ATOMIC_RELEASE);
    mine->device = *device;
    __atomic_store_n(&mine->present, PRESENT, __ATOMIC_SEQ_CST);
    for (unsigned k = 0; k < segment->ranks; k++) {
        const struct rank *one = &segment->shared->rank[k];
        if (k == rank || __atomic_load_n(&one->present, __ATOMIC_SEQ_CST) != PRESENT) continue;
        *other = k;
        if (memcmp(&one->device, device, sizeof *device) == 0) return SEGMENT_DEVICE_TAKEN;
    }
    return SEGMENT_ARRIVED;
}

void segment_leave(struct segment *segment, unsigned rank)
{
    __atomic_store_n(&segment->shared->rank[rank].present, LEFT, __ATOMIC_RELEASE);
}

unsigned segment_missing(const struct segment *segment)
{
    unsigned k = 0;
    while (k < segment->ranks && read_of(&segment->shared->rank[k].present) >= PRESENT) k++;
    return k;
}

/* A process is asked for its own locks in vain: its ranks are in `here`. */
bool segment_is_over(const struct segment *segment, unsigned rank)
{
    struct flock lock = lock_of(rank);
    const uint32_t present = read_of(&segment->shared->rank[rank].present);
    if (present != PRESENT) return present == LEFT;
    return (__atomic_load_n(&segment->here, __ATOMIC_ACQUIRE) >> rank & 1) == 0 &&
           fcntl(segment->file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

unsigned segment_first_over(const struct segment *segment)
{
    unsigned k = 0;
    while (k < segment->ranks && !segment_is_over(segment, k)) k++;
    return k;
}

/* The device's questions, which it asks with its lock: nothing here waits or calls CUDA. */
static bool writer_is_over(void *segment, uint32_t rank)
{
    return segment_is_over(segment, rank);
}

static void writer_is_missed(void *segment)
{
    segment_abort(segment);
}

static const struct overlap_writers writers = {writer_is_over, writer_is_missed};

/* ---- ids -------------------------------------------------------------------------------------
 */

/* What an id says. */
struct place {
    int process, file; /* who has made it, and its descriptor there */
    unsigned long long token[2];
};

static void name_of(const struct place *place, char *name, size_t room)
{
    snprintf(name, room, "overlap nccl %016llx%016llx", place->token[0], place->token[1]);
}

static bool read_id(const struct nccl_id *id, struct place *place)
{
    int length = -1;
    return memchr(id->bytes, 0, sizeof id->bytes) != NULL &&
           sscanf(id->bytes, "overlap-nccl-%9d-%9d-%16llx-%16llx%n", &place->process, &place->file,
                  &place->token[0], &place->token[1], &length) == 4 &&
           id->bytes[length] == '\0' && place->process > 0 && place->file >= 0;
}

bool segment_is_id(const struct nccl_id *id)
{
    struct place place;
    return read_id(id, &place);
}

bool segment_make_id(struct nccl_id *id)
{
    struct place place = {.process = (int)getpid()};
    char name[64];
    memset(id, 0, sizeof *id);
    if (getrandom(place.token, sizeof place.token, 0) != sizeof place.token) return false;
    name_of(&place, name, sizeof name);
    place.file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (place.file < 0) return false;
    snprintf(id->bytes, sizeof id->bytes, "overlap-nccl-%d-%d-%016llx-%016llx", place.process,
             place.file, place.token[0], place.token[1]);
    return true;
}

/* Opens the file of an id. The process that made it keeps the descriptor that it has. */
static int open_file(const struct nccl_id *id)
{
    struct place place;
    char name[64];
    if (!read_id(id, &place)) return -1;
    name_of(&place, name, sizeof name);
    const int file = memfd_open(place.process, place.file, name);
    if (file < 0 || place.process != (int)getpid()) return file;
    close(file);
    return place.file;
}

void segment_drop_id(const struct nccl_id *id)
{
    const int file = open_file(id);
    if (file >= 0) close(file);
}

/* ---- opening and closing ----------------------------------------------------------------------
 */

/* Gives the file its size for ever, or finds that it has it. Returns its size then; 0: none. */
static size_t settle(int file, size_t size)
{
    struct stat about;
    /* Who comes second is refused both, and sees the size. */
    if (fstat(file, &about) == 0 && about.st_size == 0) (void)!ftruncate(file, (off_t)size);
    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fstat(file, &about) == 0 ? (size_t)about.st_size : 0;
}

static void abort_all(struct shared *shared)
{
    __atomic_store_n(&shared->aborted, 1, __ATOMIC_RELEASE);
}

/* Tells those who have opened the file for another number of ranks that this one will not come. */
static void refuse(int file)
{
    struct shared *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) return;
    abort_all(shared);
    munmap(shared, PAGE);
}

static unsigned ranks_of(size_t size)
{
    unsigned ranks = SEGMENT_RANKS;
    while (ranks > 0 && size_of(ranks) != size) ranks--;
    return ranks;
}

/* Opens and maps the file. Returns false with errno. */
static bool map(struct segment *segment, unsigned *others)
{
    errno = ESRCH;
    segment->file = open_file(&segment->id);
    if (segment->file < 0) return false;
    const size_t size = settle(segment->file, segment->size);
    if (size == segment->size) {
        segment->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, segment->file, 0);
        if (segment->shared != MAP_FAILED) return true;
    } else {
        *others = ranks_of(size);
        if (size > 0) refuse(segment->file);
        errno = EDOM;
    }
    const int why = errno;
    close(segment->file);
    errno = why;
    return false;
}

static struct segment *make(const struct nccl_id *id, unsigned ranks, unsigned *others)
{
    struct segment *segment = calloc(1, sizeof *segment);
    if (segment == NULL) return NULL;
    *segment = (struct segment){.id = *id, .ranks = ranks, .size = size_of(ranks)};
    if (map(segment, others)) {
        segment->next = segments.first;
        segments.first = segment;
        return segment;
    }
    free(segment);
    return NULL;
}

struct segment *segment_open(const struct nccl_id *id, unsigned ranks, unsigned *others)
{
    pthread_mutex_lock(&segments.lock);
    struct segment *segment = segments.first;
    while (segment != NULL && strcmp(segment->id.bytes, id->bytes) != 0) segment = segment->next;
    if (segment == NULL) {
        segment = make(id, ranks, others);
    } else if (segment->ranks != ranks) {
        *others = segment->ranks;
        segment_abort(segment);
        segment = NULL;
        errno = EDOM;
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
    close(segment->file);
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
        standin_private(segment->shared, &writers, segment);
        result = cuMemHostGetDevicePointer(&segment->address, segment->shared, 0);
    }
    pthread_mutex_unlock(&segments.lock);
    return result;
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

unsigned segment_split(struct segment *segment, unsigned rank, const struct segment_split *mine,
                       struct segment_split all[SEGMENT_RANKS])
{
    const unsigned turn = mine->number % 2;
    struct segment_split *split = &segment->shared->rank[rank].splits[turn];
    if (split->number != mine->number) {
        split->colour = mine->colour;
        split->key = mine->key;
        split->id = mine->id;
        __atomic_store_n(&split->number, mine->number, __ATOMIC_RELEASE);
    }
    for (unsigned k = 0; k < segment->ranks; k++) {
        const struct segment_split *one = &segment->shared->rank[k].splits[turn];
        if (read_of(&one->number) != mine->number) return k;
        all[k] = k == rank ? *mine : *one;
    }
    return segment->ranks;
}

/* ---- giving up -------------------------------------------------------------------------------
 */

void segment_abort(struct segment *segment)
{
    abort_all(segment->shared);
}

bool segment_is_aborted(const struct segment *segment)
{
    return read_of(&segment->shared->aborted) != 0;
}

enum { RELEASED = 1 << 30 }; /* beyond any number that is waited for */

static void release(uint32_t *number)
{
    __atomic_store_n(number, RELEASED, __ATOMIC_RELEASE);
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
