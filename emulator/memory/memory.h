/* memory: what a device address means. Device allocations with guard zones and poisoned contents,
 * pinned and managed host buffers, module variables: every range that a kernel or a copy may touch,
 * found by address.
 *
 * Device addresses lie in reserved ranges that are never accessible: host code that touches one
 * traps, and a callback receives the access. The contents of a region are mapped elsewhere
 * (`bytes`). Pinned and managed memory has one address for host and device.
 *
 * This module never orders anything: the timeline decides when an access happens.
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

/* One live range of addresses. Its fields do not change from allocation to release, except `ended`
 * and `syncs`; a pointer to it stays valid while it is live. */
struct memory_region {
    uint64_t address;     /* first byte, as the device sees it */
    uint64_t size;        /* bytes requested; address + size is outside */
    unsigned char *bytes; /* the contents, readable and writable by the emulator */
    uint64_t context;     /* trace id of the owner */
    uint64_t id;          /* trace id */
    uint64_t caller;      /* return address of the allocating call */
    uint64_t ended;       /* return address of the call that freed it, or will; 0: none */
    enum memory_kind kind;
    bool read_only;  /* mapped so by the program: a kernel's store is a fault */
    bool constant;   /* __constant__; a kernel may store there all the same, as an H100 lets it */
    bool registered; /* the submission's own memory, pinned later */
    bool mapped;     /* made by memory_show, ended by memory_hide */
    bool on_host;    /* mapped memory that is the host's: it accesses it there, too */
    bool syncs;      /* synchronous calls wait for what they do to it (memory_set_syncs) */
    bool is_private; /* a library's own, which no code of the program looks at ... */
    /* ... and whom it names as the values' writers; kept, not interpreted */
    const struct overlap_writers *writers;
    void *writers_user;
    unsigned flags;  /* of the allocating API call; kept, not interpreted */
    uint64_t pool;   /* trace id of the pool it comes from; 0: none */
    unsigned device; /* ordinal of the device whose memory it is */
    /* Bytes behind the end that a kernel may load all the same: poison. Less than a page. */
    uint32_t padding;
};

/* ---- lifetime -------------------------------------------------------------------------------- */

/* Every byte of a fresh allocation: as a float 3.4e38, as an int 2139062143, as a pointer an
 * address that no machine has. Never zero, never a number that disappears within a tolerance. */
#define MEMORY_POISON 0x7f

#define MEMORY_ALIGNMENT 512ull /* bytes; alignment of cuMemAlloc, Programming Guide 5.3.2 */

/* Largest number of devices, each of which has a memory limit of its own. */
#define MEMORY_DEVICES 16

/* Reserves the range of device addresses, which all devices share; `limit` is the first device's
 * memory in bytes. Returns false when the host refuses the reservation. Idempotent. */
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
    bool constant;
    bool on_host;
    bool internal; /* memory of the emulator's own: zeroed, not counted as used */
    unsigned flags;
    uint64_t pool;
    unsigned device;
    unsigned padding; /* loads may go on to the next multiple of so many bytes; 0: they may not */
};

/* Creates a region with poisoned contents, at least 64 KiB away from any other on both sides.
 * Returns NULL when device memory (or the host's) is exhausted. Addresses of released regions are
 * reused only when the range is exhausted. Must not run while another thread calls memory_find. */
const struct memory_region *memory_allocate(const struct memory_request *request);

/* Makes the host's own memory at `bytes` a pinned region. Returns NULL when that overlaps a live
 * region, or the host has no memory. */
const struct memory_region *memory_register(void *bytes, const struct memory_request *request);

/* The call that returns to `caller` has requested the end of the region, which follows later. */
void memory_will_end(const struct memory_region *region, uint64_t caller);

/* Sets whether synchronous calls wait for what they do to the region, which managed memory wants at
 * first. */
void memory_set_syncs(const struct memory_region *region, bool syncs);
void memory_set_private(const struct memory_region *region, const struct overlap_writers *writers,
                        void *user);

/* Returns how many regions have ended. While the number stays the same, results of memory_find stay
 * valid. */
uint64_t memory_ends(void);

/* Ends a region. memory_explain later finds it, and `caller`, the return address of the call that
 * ended it. */
void memory_release(const struct memory_region *region, uint64_t caller);

/* Moves the contents of a region of device memory that memory_allocate made into a file called
 * `name`, which other processes may map as well; address and contents stay the same. Returns the
 * file's descriptor, which the region owns, or -1 when the host refuses. Idempotent: later calls
 * return the same descriptor, whatever `name` is. */
int memory_share(const struct memory_region *region, const char *name);

/* The live regions, sorted by address, and a device's memory in bytes. */
size_t memory_count(void);
const struct memory_region *memory_at(size_t index);
uint64_t memory_limit(unsigned device);
uint64_t memory_used(unsigned device);

/* Returns true for an address in a reserved range, live or not; such an address is never a host
 * pointer. */
bool memory_is_device_address(uint64_t address);

/* ---- virtual addresses and physical contents ------------------------------------------------- */

/* Reserves `size` bytes of device addresses, in whole pages, without contents: nothing is there
 * until memory_map and memory_show. Returns 0 when no addresses are left. */
uint64_t memory_reserve(uint64_t size, uint64_t alignment);
void memory_unreserve(uint64_t address, uint64_t size);

/* Contents without an address: poisoned, in whole pages, counted as the device's memory.
 * memory_contents_create returns NULL when there is no memory. */
struct memory_contents;
struct memory_contents *memory_contents_create(uint64_t size, unsigned device);
void memory_contents_destroy(struct memory_contents *contents);

/* The same of the host's memory: zeros, and not counted. */
struct memory_contents *memory_contents_of_host(uint64_t size);

/* Takes the contents of a file that another process has shared (memory_share). Takes ownership of
 * the descriptor; the memory is not counted. Returns NULL when the host has no memory; the
 * descriptor is then closed. */
struct memory_contents *memory_contents_adopt(int file, uint64_t size);

/* memory_contents_export returns a descriptor of the file with the contents, for other processes or
 * this one; the caller owns it. Returns -1 when the host refuses. memory_contents_import takes the
 * contents of such a file, which are not counted; the descriptor stays the caller's. Returns NULL
 * if it is another file, or the host has no memory. */
int memory_contents_export(const struct memory_contents *contents);
struct memory_contents *memory_contents_import(int file, uint64_t *size, unsigned *device);

/* memory_map maps all of `contents` at a reserved address; other addresses may map the same
 * contents. `host`: the host, too, reads and writes them there, and nobody notices. Returns false
 * when the host refuses. memory_unmap removes what is mapped there. */
bool memory_map(uint64_t address, const struct memory_contents *contents, bool host);
void memory_unmap(uint64_t address, uint64_t size);

/* memory_show makes what is mapped at [address, address + size) a region; its kind, read_only, ids
 * and device are those of `request`. Returns NULL when the host has no memory. memory_hide ends the
 * region but leaves the mapping. */
const struct memory_region *memory_show(uint64_t address, uint64_t size,
                                        const struct memory_request *request);
void memory_hide(const struct memory_region *region);

/* The caller is about to write all of [address, address + size) and reads nothing of it before.
 * Device memory inside one region may get larger pages for that; its contents there are lost. */
void memory_overwrite(uint64_t address, uint64_t size);

/* ---- the host's side ------------------------------------------------------------------------- */

/* Copies bytes that may not be mapped (a pageable buffer of the submission). Returns false when the
 * host has no such memory; some bytes may have been copied then. */
bool memory_copy_guarded(void *to, const void *from, size_t size);

/* Called in a signal handler, in the thread of the access, when host code touches a device address.
 * `pc` is the address of the instruction; `region` is NULL when no live region holds `address`. */
typedef void memory_touch(uint64_t address, bool is_store, uint64_t pc,
                          const struct memory_region *region);

/* Installs a handler for SIGSEGV and SIGBUS in front of the program's (base/fatal.h), which still
 * gets every fault at an address that is not a device address. After `touch` the process ends by
 * the signal. */
void memory_trap_install(memory_touch *touch);

/* Give the calling thread an alternate stack for the handler, unless it has one, and free that
 * stack. */
void memory_trap_enter_thread(void);
void memory_trap_leave_thread(void);

/* ---- queries --------------------------------------------------------------------------------- */

/* What is known about an address that lies in no live region, for messages. */
enum memory_miss {
    MEMORY_MISS_HOST,    /* outside device memory: a host pointer, or garbage */
    MEMORY_MISS_NULL,    /* the first page */
    MEMORY_MISS_BEYOND,  /* near the live region `near` */
    MEMORY_MISS_FREED,   /* inside a released region; `near` is a copy of it */
    MEMORY_MISS_NOWHERE, /* in a reserved range, but near no region */
};

struct memory_miss_report {
    enum memory_miss kind;
    struct memory_region near; /* zeroed unless BEYOND or FREED */
};

/* Returns the live region that holds `address`, or NULL. Several threads may call it at once while
 * no allocation or release runs; the executor may keep the result for the length of one launch. */
const struct memory_region *memory_find(uint64_t address);

/* Explains why memory_find returned NULL. */
struct memory_miss_report memory_explain(uint64_t address);

#endif
