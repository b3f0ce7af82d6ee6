#include "trace/large.h"
#include "trace/repeats.h"
#include "trace/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The largest capacity that a reader accepts: student code can write the header too. */
#define TRACE_MAX_CAPACITY (1u << 20)

struct trace_header {
    uint64_t magic;
    uint32_t version;
    uint32_t record_size;
    uint32_t capacity;
    uint32_t kinds;            /* set of recorded kinds */
    _Atomic uint64_t appended; /* may exceed capacity: the excess was dropped */
};

struct trace_writer {
    struct trace_header *header;
    struct trace_record *records;
    size_t mapped;
    uint32_t capacity; /* own copies: student code can overwrite those in the file */
    uint32_t kinds;
    bool keyed;
    struct trace_key key;
    struct trace_sums put; /* of this process, not yet sealed; each field is updated separately */
    pid_t process;
    /* Identity of the writer while it is known (name_writer), in memory that a fork clears; or
     * NULL. */
    _Atomic uint32_t *now;
    bool ended;
    unsigned busy; /* puts in progress */
};

static size_t trace_file_size(uint32_t capacity)
{
    return sizeof(struct trace_header) + (size_t)capacity * sizeof(struct trace_record);
}

int trace_create(const char *path, uint32_t capacity)
{
    return trace_create_for(path, capacity, TRACE_ALL_KINDS & ~TRACE_KIND_BIT(TRACE_STACK));
}

/* Returns 0, or -1 with errno. */
static int make_empty(int file, uint32_t capacity, uint32_t kinds)
{
    const struct trace_header header = {.magic = TRACE_MAGIC,
                                        .version = TRACE_VERSION,
                                        .record_size = sizeof(struct trace_record),
                                        .capacity = capacity ? capacity : TRACE_DEFAULT_CAPACITY,
                                        .kinds = kinds};
    if (header.capacity > TRACE_MAX_CAPACITY) {
        errno = EINVAL;
        return -1;
    }
    if (ftruncate(file, (off_t)trace_file_size(header.capacity)) != 0) return -1;
    return pwrite(file, &header, sizeof header, 0) == (ssize_t)sizeof header ? 0 : -1;
}

int trace_create_for(const char *path, uint32_t capacity, uint32_t kinds)
{
    if (capacity > TRACE_MAX_CAPACITY) {
        errno = EINVAL;
        return -1;
    }
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    int result = make_empty(file, capacity, kinds);
    close(file);
    return result;
}

int trace_create_in_memory(uint32_t capacity, uint32_t kinds)
{
    int file = memfd_create("record", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (make_empty(file, capacity, kinds) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return file;
    close(file);
    return -1;
}

/* Allocates memory that is zero again in a forked process; NULL: not supported by the system. */
static void *make_forgetful(void)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) return NULL;
    if (madvise(memory, size, MADV_WIPEONFORK) == 0) return memory;
    munmap(memory, size);
    return NULL;
}

struct trace_writer *trace_open_from_environment(void)
{
    const char *path = getenv(TRACE_PATH_VARIABLE);
    struct trace_header header;
    struct stat status;
    struct trace_writer *writer = NULL;
    void *base;

    if (path == NULL || path[0] == '\0') return NULL;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return NULL;
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        header.magic != TRACE_MAGIC || header.version != TRACE_VERSION ||
        header.record_size != sizeof(struct trace_record) || header.capacity == 0 ||
        header.capacity > TRACE_MAX_CAPACITY || fstat(file, &status) != 0 ||
        status.st_size != (off_t)trace_file_size(header.capacity)) {
        errno = EINVAL;
        goto done;
    }
    base =
        mmap(NULL, trace_file_size(header.capacity), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) goto done;
    writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        munmap(base, trace_file_size(header.capacity));
        goto done;
    }
    writer->header = base;
    writer->records = (struct trace_record *)((char *)base + sizeof(struct trace_header));
    writer->mapped = trace_file_size(header.capacity);
    writer->capacity = header.capacity;
    writer->kinds = header.kinds;
    writer->process = getpid();
    writer->now = make_forgetful();
    const char *key = getenv(TRACE_KEY_VARIABLE);
    writer->keyed = key != NULL && trace_key_read(&writer->key, key);
done:
    close(file);
    return writer;
}

bool trace_wants(const struct trace_writer *writer, enum trace_kind kind)
{
    return writer != NULL && (writer->kinds & TRACE_KIND_BIT(kind)) != 0;
}

void trace_put(struct trace_writer *writer, const struct trace_record *record)
{
    trace_put_counted(writer, record);
}

/* The slot for the next record; NULL: the trace is full. */
static struct trace_record *next_slot(struct trace_writer *writer, uint64_t *place)
{
    *place = atomic_fetch_add_explicit(&writer->header->appended, 1, memory_order_relaxed);
    return *place < writer->capacity ? &writer->records[*place] : NULL;
}

static void fill_slot(struct trace_record *slot, const struct trace_record *record)
{
    memcpy((char *)slot + sizeof slot->kind, (const char *)record + sizeof record->kind,
           sizeof *slot - sizeof slot->kind);
    __atomic_store_n(&slot->kind, record->kind, __ATOMIC_RELEASE);
}

static void put_seal(struct trace_writer *writer, const struct trace_sums *sums)
{
    struct trace_record seal = trace_seal_make(sums);
    uint64_t place;
    struct trace_record *slot = next_slot(writer, &place);

    if (slot == NULL) return;
    seal.process = (uint32_t)getpid();
    seal.address = trace_seal_code(&writer->key, &seal, place);
    fill_slot(slot, &seal);
}

/* Adds a record to the sums. Without a lock, because a signal handler may interrupt this function
 * and call it; the fields may therefore be inconsistent for a moment, but they are only read when
 * nobody writes any more. */
static void count(struct trace_writer *writer, const struct trace_record *record, uint64_t place)
{
    struct trace_sums one = {0};
    uint64_t *to = (uint64_t *)&writer->put, *from = (uint64_t *)&one;

    if (!writer->keyed) return;
    trace_sums_add(&one, &writer->key, record, place);
    if (record->process != (uint32_t)writer->process) {
        put_seal(writer, &one);
        return;
    }
    _Static_assert(sizeof one % sizeof *to == 0, "numbers alone");
    for (size_t i = 0; i < sizeof one / sizeof *to; i++)
        if (from[i] != 0) __atomic_fetch_add(&to[i], from[i], __ATOMIC_RELAXED);
}

/* Fills in process and thread without a system call each time: those would cost more than the rest
 * of a record. */
static void name_writer(struct trace_writer *writer, struct trace_record *record)
{
    static _Thread_local struct {
        uint32_t process, thread;
    } known;
    uint32_t process = 0;

    if (writer->now != NULL) process = atomic_load_explicit(writer->now, memory_order_relaxed);
    if (process == 0) {
        process = (uint32_t)getpid();
        if (writer->now != NULL) atomic_store_explicit(writer->now, process, memory_order_relaxed);
    }
    if (known.process != process) {
        known.thread = (uint32_t)syscall(SYS_gettid);
        known.process = process;
    }
    record->process = process;
    record->thread = known.thread;
}

uint64_t *trace_put_counted(struct trace_writer *writer, const struct trace_record *record)
{
    struct trace_record *slot = NULL;
    uint64_t place = 0;

    if (writer == NULL || !trace_wants(writer, record->kind)) return NULL;
    struct trace_record whole = *record;
    name_writer(writer, &whole);
    if (!repeats_keep(&whole)) return NULL;
    __atomic_fetch_add(&writer->busy, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&writer->ended, __ATOMIC_SEQ_CST)) slot = next_slot(writer, &place);
    if (slot != NULL) {
        fill_slot(slot, &whole);
        count(writer, &whole, place);
    }
    __atomic_fetch_sub(&writer->busy, 1, __ATOMIC_SEQ_CST);
    return slot != NULL ? &slot->count : NULL;
}

void trace_end(struct trace_writer *writer)
{
    if (writer == NULL || getpid() != writer->process) return;
    if (__atomic_exchange_n(&writer->ended, true, __ATOMIC_SEQ_CST)) return;
    /* Other threads may be putting records. A thread that was stopped in the middle is not waited
     * for longer. */
    for (int i = 0; i < 1000 && __atomic_load_n(&writer->busy, __ATOMIC_SEQ_CST) > 0; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (writer->keyed) put_seal(writer, &writer->put);
}

void trace_writer_close(struct trace_writer *writer)
{
    if (writer == NULL) return;
    repeats_forget();
    munmap(writer->header, writer->mapped);
    if (writer->now != NULL) munmap(writer->now, (size_t)sysconf(_SC_PAGESIZE));
    free(writer);
}

bool trace_is_fault(int32_t code)
{
    static const int32_t faults[] = {700, 710, 714, 715, 716, 717, 718, 719};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (faults[i] == code) return true;
    return false;
}

void trace_copy_string(char *field, size_t size, const char *text)
{
    size_t length = text ? strnlen(text, size - 1) : 0;
    if (length > 0) memcpy(field, text, length);
    field[length] = '\0';
}

/* ---- reading ---------------------------------------------------------------------------- */

/* Reads `size` bytes at `offset`. Returns 0, or -1 if not all of them could be read. */
static int read_all(int file, void *to, size_t size, off_t offset)
{
    char *at = to;
    while (size > 0) {
        ssize_t n = pread(file, at, size, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        at += n;
        offset += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Returns true if a writer could have written the record; other records are left out. */
static int record_is_sound(struct trace_record *record)
{
    if (record->kind == TRACE_NONE || record->kind >= TRACE_KIND_COUNT) return 0;
    if (record->what >= TRACE_WHAT_COUNT) return 0;
    if (record->from >= TRACE_PLACE_COUNT || record->to >= TRACE_PLACE_COUNT) return 0;
    record->name[sizeof record->name - 1] = '\0';
    if (trace_has_finding(record)) return trace_finding_is_sound(&record->finding);
    record->text[sizeof record->text - 1] = '\0';
    return 1;
}

/* Adds a record to the sums as it was found, before its fields are sanitised. */
static void check_seal(struct trace *trace, const struct trace_key *key,
                       const struct trace_record *record, uint64_t place)
{
    if (record->kind == TRACE_NONE) return; /* its writer died while writing it */
    if (record->kind == TRACE_SEAL)
        trace->forged = !trace_seal_take(&trace->put, key, record, place) || trace->forged;
    else
        trace_sums_add(&trace->found, key, record, place);
}

int trace_read_descriptor(int file, const struct trace_key *key, struct trace *trace, char *why,
                          size_t why_size)
{
    struct trace_header header;
    struct stat status;
    struct trace_record *records = NULL;
    size_t wanted, kept = 0;
    int result = -1;

    memset(trace, 0, sizeof *trace);
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
        read_all(file, &header, sizeof header, 0) != 0 || header.magic != TRACE_MAGIC ||
        header.version != TRACE_VERSION || header.record_size != sizeof(struct trace_record) ||
        header.capacity == 0 || header.capacity > TRACE_MAX_CAPACITY ||
        status.st_size != (off_t)trace_file_size(header.capacity)) {
        snprintf(why, why_size, "it is not a trace of this version, or was written over");
        goto done;
    }
    uint64_t appended = atomic_load(&header.appended);
    wanted = appended < header.capacity ? (size_t)appended : header.capacity;
    trace->dropped = appended - wanted;
    if (wanted > 0) {
        records = large_take(wanted * sizeof *records);
        if (records == NULL ||
            read_all(file, records, wanted * sizeof *records, sizeof header) != 0) {
            snprintf(why, why_size, "its %zu records cannot be read", wanted);
            goto done;
        }
    }
    for (size_t i = 0; i < wanted; i++) {
        if (key != NULL) check_seal(trace, key, &records[i], i);
        if (records[i].kind == TRACE_SEAL || !record_is_sound(&records[i])) continue;
        if (kept != i) records[kept] = records[i];
        kept++;
    }
    trace->forged = trace->forged || !trace_sums_equal(&trace->found, &trace->put);
    trace->records = records;
    trace->count = kept;
    records = NULL;
    result = 0;
done:
    large_give_back(records);
    return result;
}

int trace_read(const char *path, struct trace *trace, char *why, size_t why_size)
{
    /* O_NONBLOCK: a named pipe must not block the open. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        memset(trace, 0, sizeof *trace);
        snprintf(why, why_size, "cannot open the trace %s: %s", path, strerror(errno));
        return -1;
    }
    int result = trace_read_descriptor(file, NULL, trace, why, why_size);
    close(file);
    return result;
}

void trace_free(struct trace *trace)
{
    large_give_back((void *)trace->records);
    memset(trace, 0, sizeof *trace);
}

size_t trace_stack_set(struct trace_record *record, const uint64_t *addresses, size_t count)
{
    if (count > TRACE_STACK_DEPTH) count = TRACE_STACK_DEPTH;
    memset(record->calls, 0, sizeof record->calls);
    memcpy(record->calls, addresses, count * sizeof *addresses);
    record->count = count;
    return count;
}

size_t trace_stack_addresses(const struct trace_record *record,
                             uint64_t addresses[TRACE_STACK_DEPTH])
{
    size_t count = record->count < TRACE_STACK_DEPTH ? (size_t)record->count : TRACE_STACK_DEPTH;
    memcpy(addresses, record->calls, count * sizeof *addresses);
    return count;
}
