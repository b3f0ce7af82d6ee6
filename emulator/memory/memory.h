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
#ifndef OVERLAP_MEMORY_H
#define OVERLAP_MEMORY_H

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
    enum memory_kind kind;
    bool read_only; /* __constant__: a kernel's store is a fault */
};

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
