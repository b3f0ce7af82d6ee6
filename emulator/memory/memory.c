#include "emulator/base/array.h"
#include "emulator/memory/initcheck.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    LARGE = 2 << 20,       /* a large page of most hosts */
    GUARD = 64 << 10,      /* bytes of no man's land after a region */
    POISON_FILE = 2 << 20, /* bytes of poison that allocations map again and again */
    REMEMBERED = 4096,     /* released regions */
    NEAR = 1 << 20,        /* bytes: how far from a region an address is still "beyond" it */
};

/* Far more addresses than memory, so that an address comes back late. */
#define RANGE (64ull << 30)
/* A hint only: addresses that are easy to tell from the host's when read in a message. */
#define RANGE_HINT ((void *)0x300000000000)

/* A region and what only this file knows of it. */
struct entry {
    struct memory_region region;
    unsigned char *mapping; /* of pinned and managed memory: with its guards */
    size_t mapping_size;
    bool internal;
    int file;        /* with its contents, plus 1; 0: they are in none */
    uint64_t *large; /* a bit for each LARGE of host addresses: memory_overwrite; NULL: none */
};

/* Addresses that memory_reserve gave away. */
struct reserved {
    struct reserved *next;
    uint64_t address, size;
};

static struct {
    uint64_t range;         /* first device address; 0: not started */
    unsigned char *backing; /* contents of `range` */
    uint64_t next;          /* first address never used */
    uint64_t limit[MEMORY_DEVICES];
    uint64_t used[MEMORY_DEVICES];
    int poison;     /* a file of poison, as long as the largest mapping of it so far */
    off_t poisoned; /* its bytes */
    struct entry **entries;
    size_t count, room;
    struct memory_region released[REMEMBERED]; /* a ring */
    uint64_t releases;
    uint64_t ends;             /* releases, and regions that were hidden */
    struct reserved *reserved; /* list */
} memory = {.poison = -1};

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* ---- poison ---------------------------------------------------------------------------------- */

/* Fills the file with poison up to `size`, from `from` on; both in whole pages. */
static bool poison_write(int file, off_t from, off_t size)
{
    unsigned char poison[PAGE];
    memset(poison, MEMORY_POISON, sizeof poison);
    for (off_t at = from; at < size; at += PAGE)
        if (pwrite(file, poison, PAGE, at) != PAGE) return false;
    return true;
}

/* A process may have small allocations only, and lessons start many processes: the file is as long
 * as it has to be, at least twice what it was. `size`: at most POISON_FILE. */
static bool poison_file_reach(off_t size)
{
    if (size <= memory.poisoned) return true;
    if (size < 2 * memory.poisoned) size = 2 * memory.poisoned;
    if (size > POISON_FILE) size = POISON_FILE;
    if (!poison_write(memory.poison, memory.poisoned, size)) return false;
    memory.poisoned = size;
    return true;
}

/* Private pages of a poisoned file instead of a memset: a page costs nothing until it is used. */
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

/* Makes pages inaccessible and gives their contents back to the host. Where the kernel cannot (it
 * has no room for one more mapping) they stay as they are: a late touch is not seen, and nothing
 * else. */
static void unmap_to_nothing(unsigned char *at, size_t size)
{
    (void)!mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0);
}

/* ---- the table of live regions, by address --------------------------------------------------- */

/* The number of regions that begin at or before `address`. */
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

/* Whether `before`, which begins first, ends behind the beginning of `after`. */
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

bool memory_start(uint64_t limit)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (memory.range != 0) return true;
    if (memory.poison < 0) memory.poison = memfd_create("overlap poison", MFD_CLOEXEC);
    if (memory.poison < 0) return false;
    void *range = mmap(RANGE_HINT, RANGE, PROT_NONE, flags, -1, 0);
    if (range == MAP_FAILED) return false;
    void *backing = mmap(NULL, RANGE, PROT_NONE, flags, -1, 0);
    if (backing == MAP_FAILED) {
        munmap(range, RANGE);
        return false;
    }
    memory.backing = backing;
    memory.range = (uint64_t)(uintptr_t)range;
    memory.next = memory.range + GUARD;
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

bool memory_is_device_address(uint64_t address)
{
    return memory.range != 0 && address - memory.range < RANGE;
}

/* The lowest free gap of `span` bytes from `at` on, reservations apart. */
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

/* The lowest free gap of `span` bytes: only asked when every address has been used once. */
static uint64_t gap_find(uint64_t span, uint64_t alignment)
{
    uint64_t at = gap_between_regions(memory.range + GUARD, span, alignment);
    for (const struct reserved *in_the_way; (in_the_way = reserved_find(at, span)) != NULL;)
        at = gap_between_regions(in_the_way->address + in_the_way->size + GUARD, span, alignment);
    return at + span <= memory.range + RANGE ? at : 0;
}

/* Addresses for `size` bytes and a guard; 0: none are left. */
static uint64_t addresses_take(uint64_t size, uint64_t alignment)
{
    if (alignment < PAGE) alignment = PAGE; /* every region has its own pages */
    uint64_t span = round_up(size, PAGE) + GUARD;
    uint64_t address = round_up(memory.next, alignment);
    if (address + span > memory.range + RANGE) return gap_find(span, alignment);
    memory.next = address + span;
    return address;
}

static bool place_on_device(struct entry *entry, uint64_t size, uint64_t alignment)
{
    uint64_t address = addresses_take(size, alignment);
    if (address == 0) return false;
    entry->region.address = address;
    entry->region.bytes = memory.backing + (address - memory.range);
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
    entry->region.flags = request->flags;
    entry->region.pool = request->pool;
    entry->region.device = request->device;
    entry->internal = request->internal;
    return entry;
}

static void entry_unmap(struct entry *entry)
{
    if (entry->file > 0) close(entry->file - 1);
    if (entry->region.registered) return;
    if (entry->mapping != NULL)
        munmap(entry->mapping, entry->mapping_size);
    else
        unmap_to_nothing(entry->region.bytes, round_up(entry->region.size, PAGE));
}

const struct memory_region *memory_allocate(const struct memory_request *request)
{
    uint64_t size = request->size;
    uint64_t alignment = request->alignment ? request->alignment : MEMORY_ALIGNMENT;
    bool on_device = request->kind == MEMORY_DEVICE || request->kind == MEMORY_VARIABLE;

    if (size == 0 || size > RANGE) return NULL;
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

/* Poison is a file's, in the host's smallest pages. What is overwritten needs none: it is memory of
 * its own then, and an array is walked through with a page fault, and an entry of the processor's
 * table of pages, for every few hundred of those. */
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
            return; /* it stays as it is */
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
    const int file = memfd_create(name, MFD_CLOEXEC);
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

struct memory_contents {
    int file;
    uint64_t size;
    bool adopted; /* another process's */
};

uint64_t memory_reserve(uint64_t size, uint64_t alignment)
{
    struct reserved *reserved = size <= RANGE ? calloc(1, sizeof *reserved) : NULL;
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

struct memory_contents *memory_contents_create(uint64_t size)
{
    if (size == 0 || size > memory_left(0)) return NULL;
    struct memory_contents *contents = calloc(1, sizeof *contents);
    if (contents == NULL) return NULL;
    contents->size = size;
    contents->file = memfd_create("overlap memory", MFD_CLOEXEC);
    if (contents->file < 0 || !poison_write(contents->file, 0, (off_t)size)) {
        if (contents->file >= 0) close(contents->file);
        free(contents);
        return NULL;
    }
    memory.used[0] += size;
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

void memory_contents_destroy(struct memory_contents *contents)
{
    if (!contents->adopted) memory.used[0] -= contents->size;
    close(contents->file);
    free(contents);
}

bool memory_map(uint64_t address, const struct memory_contents *contents)
{
    return mmap(memory.backing + (address - memory.range), contents->size, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, contents->file, 0) != MAP_FAILED;
}

void memory_unmap(uint64_t address, uint64_t size)
{
    unmap_to_nothing(memory.backing + (address - memory.range), size);
}

const struct memory_region *memory_show(uint64_t address, uint64_t size,
                                        const struct memory_request *request)
{
    struct entry *entry = entry_make(request);
    if (entry == NULL) return NULL;
    entry->region.address = address;
    entry->region.size = size;
    entry->region.bytes = memory.backing + (address - memory.range);
    entry->region.mapped = true;
    entry->internal = true; /* its contents are counted */
    if (entries_insert(entry)) return &entry->region;
    free(entry);
    return NULL;
}

void memory_hide(const struct memory_region *region)
{
    memory.ends++;
    entry_remove(entries_up_to(region->address) - 1);
}

/* ---- why there is nothing -------------------------------------------------------------------- */

/* The latest released region that held `address`. */
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

/* How many bytes `address` lies outside `region`. */
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
    /* Beyond a buffer by at most its own size, or by a little. */
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
