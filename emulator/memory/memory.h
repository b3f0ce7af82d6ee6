/* memory: what a device address means. Device allocations with guard zones and poisoned contents,
 * pinned and managed host buffers, module variables: every range that a kernel or a copy may touch,
 * found by address.
 *
 * Device addresses lie in one reserved range that is never accessible: host code that touches one
 * traps and is told so. The bytes themselves are mapped a constant distance away (`bytes`). Pinned
 * and managed memory has one address for host and device.
 *
 * It never orders anything: when an access happens is timeline's work.
 *
 * Source: CUDA Programming Guide, "Unified Virtual Address Space"; Driver API, "Memory Management".
 */
#ifndef OVERLAP_MEMORY_MEMORY_H
#define OVERLAP_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_kind {
    MEMORY_DEVICE,   /* cuMemAlloc, cudaMalloc */
    MEMORY_PINNED,   /* cuMemHostAlloc, cudaMallocHost, registered host memory */
    MEMORY_MANAGED,  /* cuMemAllocManaged */
    MEMORY_VARIABLE, /* a module's __device__ or __constant__ variable */
    MEMORY_KIND_COUNT
};

/* One live range. Fixed from allocation to release; a pointer to it stays valid while it is live.
 */
struct memory_region {
    uint64_t address;     /* as the device sees it, first byte */
    uint64_t size;        /* bytes asked for; the byte at address + size is outside */
    unsigned char *bytes; /* where the contents are, readable and writable by us */
    uint64_t context;     /* owner, trace id */
    uint64_t id;          /* trace id */
    uint64_t caller;      /* return address of the allocating call */
    uint64_t ended;       /* of the call that ended it, or asked a stream to; 0: none has */
    enum memory_kind kind;
    bool read_only;  /* __constant__: a kernel's store is a fault */
    bool registered; /* the submission's own memory, pinned later */
    bool mapped;     /* of memory_show: ends by memory_hide */
    unsigned flags;  /* of the API call that made it: kept, not interpreted */
    uint64_t pool;   /* it was taken from, trace id; 0: none */
    unsigned device; /* whose memory it is: its ordinal */
};

/* ---- lifetime -------------------------------------------------------------------------------- */

/* Fresh contents of every allocation: as a float 3.4e38, as an int 2139062143, as a pointer an
 * address that no machine has. Never zero, never a number that drowns in a tolerance. */
#define MEMORY_POISON 0x7f

#define MEMORY_ALIGNMENT 512ull /* bytes; of what cuMemAlloc returns, Programming Guide 5.3.2 */

/* Devices that there can be, each with a limit of its own. */
#define MEMORY_DEVICES 16

/* Reserves the range of device addresses, which all devices share; `limit` is the first device's
 * memory in bytes. Returns false when the host refuses the reservation. Calling it again changes
 * nothing. */
bool memory_start(uint64_t limit);
void memory_limit_set(unsigned device, uint64_t limit);

struct memory_request {
    enum memory_kind kind;
    uint64_t size;      /* bytes, not 0 */
    uint64_t alignment; /* a power of two; 0: MEMORY_ALIGNMENT */
    uint64_t context;
    uint64_t id;
    uint64_t caller;
    bool read_only;
    bool internal; /* the device's own: zeroed instead of poisoned, not counted as used */
    unsigned flags;
    uint64_t pool;
    unsigned device;
};

/* A new region with poisoned contents, at least 64 KiB away from any other on both sides. Returns
 * NULL when device memory (or the host's) is used up. Addresses of released regions are used again
 * only when the range is used up. Not safe against memory_find in another thread. */
const struct memory_region *memory_allocate(const struct memory_request *request);

/* Makes the host's own memory at `bytes` a pinned region. Returns NULL when it overlaps one. */
const struct memory_region *memory_register(void *bytes, const struct memory_request *request);

/* The call that returns to `caller` has asked for the end of the region, which is to come. */
void memory_will_end(const struct memory_region *region, uint64_t caller);

/* How many regions have ended: while it stays the same, so do answers of memory_find. */
uint64_t memory_ends(void);

/* Ends a region, by the call that returns to `caller`; both are remembered for memory_explain. */
void memory_release(const struct memory_region *region, uint64_t caller);

/* Moves the contents of a region of device memory that memory_allocate made into a file called
 * `name`, which other processes may map as well; address and contents stay what they are. Once
 * moved they stay there: the answer is the same again, whatever the name. The descriptor is the
 * region's; -1: the host refuses. */
int memory_share(const struct memory_region *region, const char *name);

/* Live regions by address, and a device's memory in bytes. */
size_t memory_count(void);
const struct memory_region *memory_at(size_t index);
uint64_t memory_limit(unsigned device);
uint64_t memory_used(unsigned device);

/* True for an address in the reserved range, live or not: never a host pointer. */
bool memory_is_device_address(uint64_t address);

/* ---- addresses and contents apart ------------------------------------------------------------ */

/* Device addresses without contents, `size` bytes, in whole pages: nothing is there until contents
 * are mapped and shown. 0: none are left. */
uint64_t memory_reserve(uint64_t size, uint64_t alignment);
void memory_unreserve(uint64_t address, uint64_t size);

/* Poisoned contents that no address shows, in whole pages; counted as the first device's. NULL: no
 * memory. */
struct memory_contents;
struct memory_contents *memory_contents_create(uint64_t size);
void memory_contents_destroy(struct memory_contents *contents);

/* The contents of a file that another process has shared (memory_share); takes the descriptor over,
 * and is counted nowhere. NULL: no memory, and the descriptor is closed. */
struct memory_contents *memory_contents_adopt(int file, uint64_t size);

/* Puts all of `contents` at a reserved address, where others may have it too; and takes what is
 * there away. */
bool memory_map(uint64_t address, const struct memory_contents *contents);
void memory_unmap(uint64_t address, uint64_t size);

/* Makes what is mapped at [address, address + size) a region; its kind, read_only and whose it is
 * as in `request`. NULL: no memory. And the end of the region, not of what is mapped. */
const struct memory_region *memory_show(uint64_t address, uint64_t size,
                                        const struct memory_request *request);
void memory_hide(const struct memory_region *region);

/* All of [address, address + size) is about to be written, and nothing of it is read before: device
 * memory of one region may get better pages. */
void memory_overwrite(uint64_t address, uint64_t size);

/* ---- the host's side ------------------------------------------------------------------------- */

/* Copies between bytes that may not be there (a pageable buffer of the submission's). Returns false
 * when the host has no such memory; some of it may have been copied. */
bool memory_copy_guarded(void *to, const void *from, size_t size);

/* Called, in the thread and on the stack of a signal handler, when host code touches a device
 * address. `pc` is the instruction; `region` is NULL when the address is in none. */
typedef void memory_touch(uint64_t address, bool is_store, uint64_t pc,
                          const struct memory_region *region);

/* Installs the SIGSEGV and SIGBUS handler, in front of the one that is there: an address that is
 * none of the device's goes to that one. After `touch` the process ends by the signal. */
void memory_trap_install(memory_touch *touch);

/* An alternate stack for the calling thread's handler, unless it has one; and its end. */
void memory_trap_enter_thread(void);
void memory_trap_leave_thread(void);

/* ---- questions ------------------------------------------------------------------------------- */

/* What is known of an address that lies in no live region, for messages. */
enum memory_miss {
    MEMORY_MISS_HOST,    /* outside device memory: a host pointer, or garbage */
    MEMORY_MISS_NULL,    /* the first page */
    MEMORY_MISS_BEYOND,  /* near a live region: `near` is that region */
    MEMORY_MISS_FREED,   /* inside a region that was freed: `near` is a copy of what it was */
    MEMORY_MISS_NOWHERE, /* in the reserved range but near nothing */
};

struct memory_miss_report {
    enum memory_miss kind;
    struct memory_region near; /* zeroed unless BEYOND or FREED */
};

/* The live region that holds `address`, or NULL. Safe from several threads at once as long as no
 * allocation or release runs; the executor may keep the answer for the length of one launch. */
const struct memory_region *memory_find(uint64_t address);

/* Why memory_find answered NULL. */
struct memory_miss_report memory_explain(uint64_t address);

#endif
