#include "emulator/base/array.h"
#include "emulator/memory/initcheck.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    LARGE = 2 << 20,       /* size of a large page on most hosts */
    GUARD = 64 << 10,      /* inaccessible bytes after a region */
    POISON_FILE = 2 << 20, /* largest file of poison, which allocations map repeatedly */
    REMEMBERED = 4096,     /* released regions that memory_explain knows */
    RANGES = 16,           /* each as large as all before it, so these are all addresses */
    NEAR = 1 << 20,        /* bytes from a region within which an address is "beyond" it */
    SMALL = 1 << 10,       /* a variable of so many bytes has no mapping of its own */
    CACHE_LINE = 64,
};

/* Far more addresses than memory, so that addresses are reused late. */
#define RANGE (64ull << 30)
/* A hint only: addresses that a reader of a message can tell from the host's. */
#define RANGE_HINT 0x300000000000ull
/* No process has as many addresses. */
#define MOST (1ull << 47)

/* A region and this file's private data about it. */
struct entry {
    struct memory_region region;
    unsigned char *mapping; /* of pinned and managed memory, with its guards */
    size_t mapping_size;
    unsigned char *piece; /* of a small variable: the contents, from the heap; or NULL */
    bool internal;
    int file;        /* descriptor + 1 of the file with its contents; 0: none */
    uint64_t *large; /* a bit per LARGE bytes: memory_overwrite replaced them; or NULL */
};

/* Device addresses, and where their contents are. */
struct range {
    uint64_t first, size;
    unsigned char *backing;
};

/* A range of addresses from memory_reserve. */
struct reserved {
    struct reserved *next;
    uint64_t address, size;
};

static struct {
    struct range ranges[RANGES];
    size_t range_count; /* 0: not started */
    uint64_t next;      /* lowest address of the latest range that was never used */
    uint64_t limit[MEMORY_DEVICES];
    uint64_t used[MEMORY_DEVICES];
    int poison;     /* file of poison, as long as the largest mapping of it so far */
    off_t poisoned; /* length of that file */
    struct entry **entries;
    size_t count, room;
    struct memory_region released[REMEMBERED]; /* ring buffer */
    uint64_t releases;
    uint64_t ends;             /* regions released or hidden */
    struct reserved *reserved; /* list */
} memory = {.poison = -1};

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* ---- poison ---------------------------------------------------------------------------------- */

/* Fills the file with poison from `from` to `size`, both multiples of a page. */
static bool poison_write(int file, off_t from, off_t size)
{
    unsigned char poison[PAGE];
    memset(poison, MEMORY_POISON, sizeof poison);
    for (off_t at = from; at < size; at += PAGE)
        if (pwrite(file, poison, PAGE, at) != PAGE) return false;
    return true;
}

/* Grows the file of poison to `size` bytes, POISON_FILE at most, and to twice its length at least.
 * The file starts small because a process may have small allocations only, and lessons start many
 * processes. */
static bool poison_file_reach(off_t size)
{
    if (size <= memory.poisoned) return true;
    if (size < 2 * memory.poisoned) size = 2 * memory.poisoned;
    if (size > POISON_FILE) size = POISON_FILE;
    if (!poison_write(memory.poison, memory.poisoned, size)) return false;
    memory.poisoned = size;
    return true;
}

/* Maps private pages of the file of poison instead of filling memory: a page costs nothing until it
 * is used. */
static bool contents_map(unsigned char *at, size_t size, bool zeroed)
{
    if (zeroed)
        return mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                    0) != MAP_FAILED;
    while (size > 0) {
        size_t part = size < POISON_FILE ? size : POISON_FILE;
        if (!poison_file_reach((off_t)part)) return false;
        if (mmap(at, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, memory.poison, 0) ==
            MAP_FAILED)
            return false;
        at += part;
        size -= part;
    }
    return true;
}

/* Makes pages inaccessible and returns their contents to the host. When the kernel has no room for
 * another mapping, the pages stay as they are: a late access is then not detected, and nothing else
 * changes. */
static void unmap_to_nothing(unsigned char *at, size_t size)
{
    (void)!mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0);
}

/* ---- the table of live regions, sorted by address -------------------------------------------- */

/* Returns the number of regions that begin at or before `address`. */
static size_t entries_up_to(uint64_t address)
{
    size_t low = 0, high = memory.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory.entries[middle]->region.address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns whether the two overlap; `before` begins first. */
static bool overlap(const struct entry *before, const struct entry *after)
{
    return before->region.address + before->region.size > after->region.address;
}

static bool entries_insert(struct entry *entry)
{
    if (!array_grow(&memory.entries, memory.count, &memory.room, sizeof(struct entry *)))
        return false;
    size_t index = entries_up_to(entry->region.address);
    assert(index == 0 || !overlap(memory.entries[index - 1], entry));
    assert(index == memory.count || !overlap(entry, memory.entries[index]));
    memmove(&memory.entries[index + 1], &memory.entries[index],
            (memory.count - index) * sizeof(struct entry *));
    memory.entries[index] = entry;
    memory.count++;
    return true;
}

static bool overlaps_live(uint64_t address, uint64_t size)
{
    size_t index = entries_up_to(address + size - 1);
    if (index == 0) return false;
    const struct memory_region *before = &memory.entries[index - 1]->region;
    return before->address + before->size > address;
}

const struct memory_region *memory_find(uint64_t address)
{
    size_t index = entries_up_to(address);
    if (index == 0) return NULL;
    const struct memory_region *region = &memory.entries[index - 1]->region;
    return address - region->address < region->size ? region : NULL;
}

size_t memory_count(void)
{
    return memory.count;
}

const struct memory_region *memory_at(size_t index)
{
    return &memory.entries[index]->region;
}

/* ---- lifetime -------------------------------------------------------------------------------- */

/* Reserves `size` more device addresses, and as many for their contents. */
static bool range_add(uint64_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const struct range *last =
        memory.range_count > 0 ? &memory.ranges[memory.range_count - 1] : NULL;
    void *hint = (void *)(uintptr_t)(last != NULL ? last->first + last->size : RANGE_HINT);
    if (memory.range_count == RANGES) return false;
    void *range = mmap(hint, size, PROT_NONE, flags, -1, 0);
    if (range == MAP_FAILED) return false;
    void *backing = mmap(NULL, size, PROT_NONE, flags, -1, 0);
    if (backing == MAP_FAILED) {
        munmap(range, size);
        return false;
    }
    memory.next = (uint64_t)(uintptr_t)range + GUARD;
    memory.ranges[memory.range_count] = (struct range){(uint64_t)(uintptr_t)range, size, backing};
    memory.range_count++; /* last: whom a trap tells of an address may look at any moment */
    return true;
}

bool memory_start(uint64_t limit)
{
    if (memory.range_count > 0) return true;
    if (memory.poison < 0) memory.poison = memfd_create("overlap poison", MFD_CLOEXEC);
    if (memory.poison < 0 || !range_add(RANGE)) return false;
    memory_limit_set(0, limit);
    return true;
}

void memory_limit_set(unsigned device, uint64_t limit)
{
    memory.limit[device] = limit;
}

uint64_t memory_limit(unsigned device)
{
    return memory.limit[device];
}

uint64_t memory_used(unsigned device)
{
    return memory.used[device];
}

static uint64_t memory_left(unsigned device)
{
    return memory.limit[device] - memory.used[device];
}

static const struct range *range_of(uint64_t address)
{
    const struct range *range = memory.ranges, *end = range + memory.range_count;
    while (range < end && address - range->first >= range->size) range++;
    return range < end ? range : NULL;
}

bool memory_is_device_address(uint64_t address)
{
    return range_of(address) != NULL;
}

/* Where the contents of a device address are. */
static unsigned char *backing_of(uint64_t address)
{
    const struct range *range = range_of(address);
    return range->backing + (address - range->first);
}

/* Returns the lowest free gap of `span` bytes from `at` on; reservations are not considered. */
static uint64_t gap_between_regions(uint64_t at, uint64_t span, uint64_t alignment)
{
    for (size_t i = 0; i < memory.count; i++) {
        const struct memory_region *region = &memory.entries[i]->region;
        if (!memory_is_device_address(region->address) || region->address + region->size < at)
            continue;
        if (round_up(at, alignment) + span <= region->address) break;
        at = round_up(region->address + region->size, PAGE) + GUARD;
    }
    return round_up(at, alignment);
}

static const struct reserved *reserved_find(uint64_t address, uint64_t size)
{
    const struct reserved *reserved = memory.reserved;
    while (reserved != NULL &&
           (reserved->address >= address + size || address >= reserved->address + reserved->size))
        reserved = reserved->next;
    return reserved;
}

/* Returns the lowest free gap of `span` bytes in a range, or 0. Used only when every address has
 * been used once. */
static uint64_t gap_find(const struct range *range, uint64_t span, uint64_t alignment)
{
    uint64_t at = gap_between_regions(range->first + GUARD, span, alignment);
    for (const struct reserved *in_the_way; (in_the_way = reserved_find(at, span)) != NULL;)
        at = gap_between_regions(in_the_way->address + in_the_way->size + GUARD, span, alignment);
    return at + span <= range->first + range->size ? at : 0;
}

/* Returns the first of `span` bytes that were never used, or 0. */
static uint64_t unused_take(uint64_t span, uint64_t alignment)
{
    const struct range *range = &memory.ranges[memory.range_count - 1];
    const uint64_t address = round_up(memory.next, alignment);
    if (address + span > range->first + range->size) return 0;
    memory.next = address + span;
    return address;
}

/* Returns the first of `size` free addresses with a guard behind them; 0: none are left. Programs
 * reserve far more addresses than they have memory, for what may grow. */
static uint64_t addresses_take(uint64_t size, uint64_t alignment)
{
    if (alignment < PAGE) alignment = PAGE; /* regions do not share pages */
    const uint64_t span = round_up(size, PAGE) + GUARD;
    uint64_t address = unused_take(span, alignment), all = 0;
    for (size_t i = 0; i < memory.range_count && address == 0; i++) {
        address = gap_find(&memory.ranges[i], span, alignment);
        all += memory.ranges[i].size;
    }
    if (address != 0) return address;
    const uint64_t needed = round_up(span + alignment + GUARD, RANGE);
    return range_add(needed > all ? needed : all) ? unused_take(span, alignment) : 0;
}

/* Puts a small variable's contents on the heap. A process may have 65,530 mappings, two of which
 * lie around each region that is mapped, and generated code has modules of 20,000 variables. */
static bool piece_take(struct entry *entry, uint64_t size)
{
    entry->piece = aligned_alloc(CACHE_LINE, round_up(size, CACHE_LINE));
    if (entry->piece == NULL) return false;
    memset(entry->piece, MEMORY_POISON, round_up(size, CACHE_LINE));
    entry->region.bytes = entry->piece;
    return true;
}

static bool place_on_device(struct entry *entry, uint64_t size, uint64_t alignment)
{
    uint64_t address = addresses_take(size, alignment);
    if (address == 0) return false;
    entry->region.address = address;
    if (entry->region.kind == MEMORY_VARIABLE && size <= SMALL && !entry->internal)
        return piece_take(entry, size);
    entry->region.bytes = backing_of(address);
    if (contents_map(entry->region.bytes, round_up(size, PAGE), entry->internal)) return true;
    unmap_to_nothing(entry->region.bytes, round_up(size, PAGE));
    return false;
}

static bool place_on_host(struct entry *entry, uint64_t size, uint64_t alignment)
{
    if (alignment < PAGE) alignment = PAGE;
    entry->mapping_size = round_up(size, PAGE) + 2 * GUARD + alignment;
    entry->mapping = mmap(NULL, entry->mapping_size, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (entry->mapping == MAP_FAILED) return false;
    uint64_t address = round_up((uint64_t)(uintptr_t)entry->mapping + GUARD, alignment);
    entry->region.address = address;
    entry->region.bytes = (unsigned char *)(uintptr_t)address;
    if (contents_map(entry->region.bytes, round_up(size, PAGE), entry->internal)) return true;
    munmap(entry->mapping, entry->mapping_size);
    return false;
}

static struct entry *entry_make(const struct memory_request *request)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL) return NULL;
    entry->region.size = request->size;
    entry->region.context = request->context;
    entry->region.id = request->id;
    entry->region.caller = request->caller;
    entry->region.kind = request->kind;
    entry->region.read_only = request->read_only;
    entry->region.constant = request->constant;
    entry->region.on_host = request->on_host;
    entry->region.flags = request->flags;
    entry->region.syncs = request->kind == MEMORY_MANAGED;
    entry->region.pool = request->pool;
    entry->region.device = request->device;
    if (request->padding > 0)
        entry->region.padding =
            (uint32_t)(round_up(request->size, request->padding) - request->size);
    entry->internal = request->internal;
    return entry;
}

static void entry_unmap(struct entry *entry)
{
    if (entry->file > 0) close(entry->file - 1);
    if (entry->region.registered) return;
    if (entry->piece != NULL)
        free(entry->piece);
    else if (entry->mapping != NULL)
        munmap(entry->mapping, entry->mapping_size);
    else
        unmap_to_nothing(entry->region.bytes, round_up(entry->region.size, PAGE));
}

const struct memory_region *memory_allocate(const struct memory_request *request)
{
    uint64_t size = request->size;
    uint64_t alignment = request->alignment ? request->alignment : MEMORY_ALIGNMENT;
    bool on_device = request->kind == MEMORY_DEVICE || request->kind == MEMORY_VARIABLE;

    if (size == 0 || size > MOST) return NULL;
    bool counted = request->kind != MEMORY_PINNED && !request->internal;
    if (counted && size > memory_left(request->device)) return NULL;
    struct entry *entry = entry_make(request);
    if (entry == NULL) return NULL;
    if (!(on_device ? place_on_device : place_on_host)(entry, size, alignment)) {
        free(entry);
        return NULL;
    }
    if (!entries_insert(entry)) {
        entry_unmap(entry);
        free(entry);
        return NULL;
    }
    if (counted) memory.used[request->device] += size;
    return &entry->region;
}

const struct memory_region *memory_register(void *bytes, const struct memory_request *request)
{
    uint64_t address = (uint64_t)(uintptr_t)bytes;
    if (request->size == 0 || address + request->size < address) return NULL;
    if (overlaps_live(address, request->size)) return NULL;
    struct entry *entry = entry_make(request);
    if (entry == NULL) return NULL;
    entry->region.registered = true;
    entry->region.address = address;
    entry->region.bytes = bytes;
    if (entries_insert(entry)) return &entry->region;
    free(entry);
    return NULL;
}

/* Poison comes from a file, in the host's smallest pages. Memory that is about to be overwritten
 * needs no poison, so it may become anonymous memory in large pages: walking through an array then
 * costs far fewer page faults and TLB entries. */
void memory_overwrite(uint64_t address, uint64_t size)
{
    const size_t index = entries_up_to(address);
    struct entry *entry = index > 0 ? memory.entries[index - 1] : NULL;
    if (entry == NULL || entry->region.kind != MEMORY_DEVICE || entry->region.mapped ||
        entry->mapping != NULL || entry->file > 0 ||
        address + size > entry->region.address + entry->region.size)
        return;
    const uint64_t bytes = (uint64_t)(uintptr_t)entry->region.bytes;
    const uint64_t begin = bytes + (address - entry->region.address), end = begin + size;
    uint64_t at = round_up(begin, LARGE);
    if (at + LARGE > end) return;
    if (entry->large == NULL)
        entry->large = calloc(entry->region.size / LARGE / 64 + 1, sizeof *entry->large);
    for (; entry->large != NULL && at + LARGE <= end; at += LARGE) {
        const uint64_t k = (at - bytes) / LARGE;
        void *page = (void *)(uintptr_t)at;
        if (entry->large[k / 64] >> k % 64 & 1) continue;
        if (mmap(page, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) == MAP_FAILED)
            return; /* the rest stays as it is */
        (void)!madvise(page, LARGE, MADV_HUGEPAGE);
        entry->large[k / 64] |= UINT64_C(1) << k % 64;
    }
}

static void entry_remove(size_t index)
{
    free(memory.entries[index]->large);
    free(memory.entries[index]);
    memory.count--;
    memmove(&memory.entries[index], &memory.entries[index + 1],
            (memory.count - index) * sizeof(struct entry *));
}

void memory_will_end(const struct memory_region *region, uint64_t caller)
{
    memory.entries[entries_up_to(region->address) - 1]->region.ended = caller;
}

void memory_set_syncs(const struct memory_region *region, bool syncs)
{
    memory.entries[entries_up_to(region->address) - 1]->region.syncs = syncs;
}

void memory_set_private(const struct memory_region *region, const struct overlap_writers *writers,
                        void *user)
{
    struct memory_region *own = &memory.entries[entries_up_to(region->address) - 1]->region;
    own->is_private = true;
    own->writers = writers;
    own->writers_user = user;
}

uint64_t memory_ends(void)
{
    return memory.ends;
}

void memory_release(const struct memory_region *region, uint64_t caller)
{
    size_t index = entries_up_to(region->address) - 1;
    struct entry *entry = memory.entries[index];

    entry->region.ended = caller;
    memory_initcheck_forget(&entry->region);
    memory.released[memory.releases++ % REMEMBERED] = entry->region;
    memory.ends++;
    if (entry->region.kind != MEMORY_PINNED && !entry->internal)
        memory.used[entry->region.device] -= entry->region.size;
    entry_unmap(entry);
    entry_remove(index);
}

static bool write_all(int file, const unsigned char *bytes, uint64_t size)
{
    for (uint64_t at = 0; at < size;) {
        const ssize_t part = pwrite(file, bytes + at, size - at, (off_t)at);
        if (part <= 0) return false;
        at += (uint64_t)part;
    }
    return true;
}

int memory_share(const struct memory_region *region, const char *name)
{
    struct entry *entry = memory.entries[entries_up_to(region->address) - 1];
    const uint64_t size = round_up(region->size, PAGE);
    if (entry->file > 0) return entry->file - 1;
    const int file = entry->piece == NULL ? memfd_create(name, MFD_CLOEXEC) : -1;
    if (file < 0) return -1;
    if (!write_all(file, region->bytes, size) ||
        mmap(region->bytes, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
            MAP_FAILED) {
        close(file);
        return -1;
    }
    entry->file = file + 1;
    return file;
}

/* ---- addresses and contents apart ------------------------------------------------------------ */

/* The name of a file with contents, by which it is known again: with the device. */
#define CONTENTS_NAME "overlap memory of device %u"

struct memory_contents {
    int file;
    uint64_t size;
    unsigned device; /* whose memory it is */
    bool adopted;    /* created by another process */
};

uint64_t memory_reserve(uint64_t size, uint64_t alignment)
{
    struct reserved *reserved =
        size <= MOST && alignment <= MOST ? calloc(1, sizeof *reserved) : NULL;
    if (reserved == NULL) return 0;
    reserved->address = addresses_take(size, alignment);
    reserved->size = size;
    if (reserved->address == 0) {
        free(reserved);
        return 0;
    }
    reserved->next = memory.reserved;
    memory.reserved = reserved;
    return reserved->address;
}

void memory_unreserve(uint64_t address, uint64_t size)
{
    for (struct reserved **link = &memory.reserved; *link != NULL; link = &(*link)->next) {
        struct reserved *reserved = *link;
        if (reserved->address != address || reserved->size != size) continue;
        *link = reserved->next;
        free(reserved);
        return;
    }
}

struct memory_contents *memory_contents_create(uint64_t size, unsigned device)
{
    if (size == 0 || size > memory_left(device)) return NULL;
    char name[48];
    struct memory_contents *contents = calloc(1, sizeof *contents);
    if (contents == NULL) return NULL;
    contents->size = size;
    contents->device = device;
    snprintf(name, sizeof name, CONTENTS_NAME, device);
    contents->file = memfd_create(name, MFD_CLOEXEC);
    if (contents->file < 0 || !poison_write(contents->file, 0, (off_t)size)) {
        if (contents->file >= 0) close(contents->file);
        free(contents);
        return NULL;
    }
    memory.used[device] += size;
    return contents;
}

struct memory_contents *memory_contents_adopt(int file, uint64_t size)
{
    struct memory_contents *contents = calloc(1, sizeof *contents);
    if (contents == NULL) {
        close(file);
        return NULL;
    }
    *contents = (struct memory_contents){.file = file, .size = size, .adopted = true};
    return contents;
}

struct memory_contents *memory_contents_of_host(uint64_t size)
{
    const int file = memfd_create("overlap-host", MFD_CLOEXEC);
    if (file < 0) return NULL;
    if (ftruncate(file, (off_t)size) == 0) return memory_contents_adopt(file, size);
    close(file);
    return NULL;
}

int memory_contents_export(const struct memory_contents *contents)
{
    return fcntl(contents->file, F_DUPFD_CLOEXEC, 0);
}

struct memory_contents *memory_contents_import(int file, uint64_t *size, unsigned *device)
{
    char path[32], target[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0 || fstat(file, &about) != 0) return NULL;
    target[length] = '\0';
    if (sscanf(target, "/memfd:" CONTENTS_NAME " (deleted)", device) != 1) return NULL;
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    *size = (uint64_t)about.st_size;
    return own >= 0 ? memory_contents_adopt(own, *size) : NULL;
}

void memory_contents_destroy(struct memory_contents *contents)
{
    if (!contents->adopted) memory.used[contents->device] -= contents->size;
    close(contents->file);
    free(contents);
}

static bool map_contents(void *at, const struct memory_contents *contents)
{
    return mmap(at, contents->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, contents->file,
                0) != MAP_FAILED;
}

bool memory_map(uint64_t address, const struct memory_contents *contents, bool host)
{
    if (!map_contents(backing_of(address), contents)) return false;
    if (!host || map_contents((void *)(uintptr_t)address, contents)) return true;
    memory_unmap(address, contents->size);
    return false;
}

void memory_unmap(uint64_t address, uint64_t size)
{
    unmap_to_nothing(backing_of(address), size);
    unmap_to_nothing((unsigned char *)(uintptr_t)address, size);
}

const struct memory_region *memory_show(uint64_t address, uint64_t size,
                                        const struct memory_request *request)
{
    struct entry *entry = entry_make(request);
    if (entry == NULL) return NULL;
    entry->region.address = address;
    entry->region.size = size;
    entry->region.bytes = backing_of(address);
    entry->region.mapped = true;
    entry->internal = true; /* the contents are counted already */
    if (entries_insert(entry)) return &entry->region;
    free(entry);
    return NULL;
}

void memory_hide(const struct memory_region *region)
{
    memory.ends++;
    entry_remove(entries_up_to(region->address) - 1);
}

/* ---- explaining addresses without a region --------------------------------------------------- */

/* Returns the region released last that held `address`, or NULL. */
static const struct memory_region *released_find(uint64_t address)
{
    uint64_t known = memory.releases < REMEMBERED ? memory.releases : REMEMBERED;
    for (uint64_t i = 0; i < known; i++) {
        const struct memory_region *region =
            &memory.released[(memory.releases - 1 - i) % REMEMBERED];
        if (address - region->address < region->size) return region;
    }
    return NULL;
}

/* Returns how many bytes `address` lies outside `region`. */
static uint64_t distance(const struct memory_region *region, uint64_t address)
{
    return address < region->address ? region->address - address
                                     : address - (region->address + region->size) + 1;
}

static const struct memory_region *nearest_find(uint64_t address)
{
    const struct memory_region *best = NULL;
    size_t index = entries_up_to(address);
    if (index > 0) best = &memory.entries[index - 1]->region;
    if (index < memory.count) {
        const struct memory_region *after = &memory.entries[index]->region;
        if (best == NULL || distance(after, address) < distance(best, address)) best = after;
    }
    /* The address may be beyond a region by the region's own size, or by NEAR. */
    if (best == NULL) return NULL;
    uint64_t reach = best->size > NEAR ? best->size : NEAR;
    return distance(best, address) <= reach ? best : NULL;
}

struct memory_miss_report memory_explain(uint64_t address)
{
    struct memory_miss_report report = {.kind = MEMORY_MISS_HOST};
    const struct memory_region *region;

    if (address < PAGE) {
        report.kind = MEMORY_MISS_NULL;
    } else if ((region = released_find(address)) != NULL) {
        report.kind = MEMORY_MISS_FREED;
        report.near = *region;
    } else if ((region = nearest_find(address)) != NULL &&
               (memory_is_device_address(address) || region->kind == MEMORY_PINNED ||
                region->kind == MEMORY_MANAGED)) {
        report.kind = MEMORY_MISS_BEYOND;
        report.near = *region;
    } else if (memory_is_device_address(address)) {
        report.kind = MEMORY_MISS_NOWHERE;
    }
    return report;
}
