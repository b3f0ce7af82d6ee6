/* The functions of CUDA's device runtime that nvcc leaves to the driver: vprintf, __assertfail,
 * malloc, free. CUDA Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory
 * Allocation".
 */
#include "emulator/exec/ops/private.h"

#include <stdio.h>
#include <string.h>

/* Returns argument `index` of the call, at most 8 bytes, as lane `lane` passed it. */
static uint64_t argument(const struct exec_warp *warp, const struct exec_call *call, unsigned lane,
                         size_t index)
{
    uint64_t value = 0;
    if (index >= call->argument_count) return 0;
    const struct exec_formal *place = &call->arguments[index];
    memcpy(&value,
           warp->local + lane * warp->local_stride + warp->frame->local_base + place->offset,
           place->size < 8 ? place->size : 8);
    return value;
}

static void give_result(struct exec_warp *warp, const struct exec_call *call, unsigned lane,
                        uint64_t value)
{
    if (!call->result_count) return;
    const struct exec_formal *place = &call->results[0];
    memcpy(warp->local + lane * warp->local_stride + warp->frame->local_base + place->offset,
           &value, place->size < 8 ? place->size : 8);
}

/* Copies a string from device memory, truncated to `size`; "?" if the address is invalid. */
static void copy_text(struct exec_warp *warp, unsigned lane, uint64_t address, char *text,
                      size_t size)
{
    size_t left;
    const unsigned char *bytes = exec_peek(warp, lane, address, &left);
    size_t length = 0;
    while (bytes != NULL && length < left && length + 1 < size && bytes[length]) {
        text[length] = (char)bytes[length];
        length++;
    }
    if (bytes == NULL) text[length++] = '?';
    text[length] = 0;
}

/* ---- assert ---------------------------------------------------------------------------------- */

/* __assertfail(message, file, line, function, size of a character) */
static int assert_fail(struct exec_warp *warp, const struct exec_inst *inst,
                       const struct exec_call *call)
{
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);
    struct trace_finding *finding = &warp->worker->fault.finding;
    char message[128], file[160], function[96], where[288];
    copy_text(warp, lane, argument(warp, call, lane, 0), message, sizeof message);
    copy_text(warp, lane, argument(warp, call, lane, 1), file, sizeof file);
    copy_text(warp, lane, argument(warp, call, lane, 3), function, sizeof function);
    snprintf(where, sizeof where, "%s:%u: %s", file, (uint32_t)argument(warp, call, lane, 2),
             function);
    exec_stop(warp, inst, EXEC_ASSERT, lane,
              &(struct exec_reason){.finding = FINDING_ASSERT, .name = where});
    trace_finding_word_set(finding, WORD_OTHER_NAME, message);
    return EXEC_STOP;
}

/* ---- printf ---------------------------------------------------------------------------------- */

static int print_lanes(struct exec_warp *warp, const struct exec_inst *inst,
                       const struct exec_call *call)
{
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        int result;
        if (!exec_print(warp, inst, lane, argument(warp, call, lane, 0),
                        argument(warp, call, lane, 1), &result))
            return EXEC_STOP;
        give_result(warp, call, lane, (uint32_t)result);
    }
    return EXEC_GO;
}

/* ---- malloc, free ---------------------------------------------------------------------------- */

/* The heap is a sequence of pieces, each behind a header like this; the first header is at the
 * heap's start. */
struct piece {
    uint64_t size; /* bytes behind the header; a multiple of 16 */
    uint64_t mark; /* PIECE_FREE or PIECE_USED */
};
#define PIECE_FREE UINT64_C(0x0ea9f4ee0ea9f4ee)
#define PIECE_USED UINT64_C(0x0ea9aced0ea9aced)

static unsigned char *heap_bytes(const struct exec_launch *launch)
{
    const struct memory_region *region = memory_find(launch->heap_address);
    const uint64_t offset = region != NULL ? launch->heap_address - region->address : 0;
    if (region == NULL || region->size - offset < launch->heap_bytes ||
        launch->heap_bytes < 2 * sizeof(struct piece))
        return NULL;
    return region->bytes + offset;
}

static struct piece *piece_at(unsigned char *heap, uint64_t offset)
{
    return (struct piece *)(void *)(heap + offset);
}

/* Makes an unused heap one free piece. */
static void heap_begin(unsigned char *heap, uint64_t size)
{
    struct piece *first = piece_at(heap, 0);
    if (first->mark || first->size) return;
    *first = (struct piece){.size = (size - sizeof *first) / 16 * 16, .mark = PIECE_FREE};
}

/* Returns true when the header at `at` is intact, that is, not overwritten by the kernel. */
static bool piece_is_whole(unsigned char *heap, uint64_t heap_size, uint64_t at)
{
    const struct piece *piece = piece_at(heap, at);
    return (piece->mark == PIECE_FREE || piece->mark == PIECE_USED) &&
           piece->size <= heap_size - at - sizeof *piece && piece->size % 16 == 0;
}

/* Accesses to the heap are not checked piece by piece: what is read too early, or too late, is at
 * least no value of the program's. */
static void piece_fill(unsigned char *heap, uint64_t at)
{
    memset(heap + at + sizeof(struct piece), 0xa5, piece_at(heap, at)->size);
}

#define HEAP_DAMAGED UINT64_MAX

/* Cuts `skip` bytes off the front of a free piece, as a free piece; 0: nothing. Returns where the
 * rest is. */
static uint64_t cut_front(unsigned char *heap, uint64_t at, uint64_t skip)
{
    struct piece *piece = piece_at(heap, at);
    if (skip == 0) return at;
    *piece_at(heap, at + skip) = (struct piece){.size = piece->size - skip, .mark = PIECE_FREE};
    piece->size = skip - sizeof *piece;
    return at + skip;
}

/* Allocates by first fit, and joins neighbouring free pieces on the way. `alignment`: of the
 * address on the device, a power of 2, at least 16. Returns the offset of the memory, 0 when there
 * is no room, or HEAP_DAMAGED. */
static uint64_t heap_take(const struct exec_launch *launch, unsigned char *heap, uint64_t size,
                          uint64_t alignment)
{
    const uint64_t heap_size = launch->heap_bytes;
    if (size > heap_size || alignment > heap_size) return 0;
    const uint64_t wanted = (size + 16) / 16 * 16; /* 0 bytes have an address too, as on a GPU */
    for (uint64_t at = 0; at + sizeof(struct piece) <= heap_size;) {
        struct piece *piece = piece_at(heap, at);
        if (!piece_is_whole(heap, heap_size, at)) return HEAP_DAMAGED;
        uint64_t next = at + sizeof *piece + piece->size;
        while (piece->mark == PIECE_FREE && next + sizeof *piece <= heap_size &&
               piece_at(heap, next)->mark == PIECE_FREE) {
            if (!piece_is_whole(heap, heap_size, next)) return HEAP_DAMAGED;
            piece->size += sizeof *piece + piece_at(heap, next)->size;
            next = at + sizeof *piece + piece->size;
        }
        const uint64_t skip =
            -(launch->heap_address + at + sizeof *piece) & (alignment - 1); /* a multiple of 16 */
        if (piece->mark == PIECE_FREE && piece->size >= skip + wanted) {
            at = cut_front(heap, at, skip);
            piece = piece_at(heap, at);
            if (piece->size >= wanted + 2 * sizeof *piece) {
                *piece_at(heap, at + sizeof *piece + wanted) = (struct piece){
                    .size = piece->size - wanted - sizeof *piece, .mark = PIECE_FREE};
                piece->size = wanted;
            }
            piece->mark = PIECE_USED;
            piece_fill(heap, at);
            return at + sizeof *piece;
        }
        at = next;
    }
    return 0;
}

/* Stores the address where a kernel's cudaMalloc wants it (its first argument), and returns
 * cudaMalloc's result. */
static uint64_t give_address(struct exec_warp *warp, unsigned lane, uint64_t to, uint64_t address)
{
    enum { INVALID_VALUE = 1, NO_MEMORY = 2 }; /* of cudaError_t */
    size_t left;
    const unsigned char *bytes = exec_peek(warp, lane, to, &left);
    if (bytes == NULL || left < sizeof address) return INVALID_VALUE;
    memcpy((unsigned char *)(uintptr_t)bytes, &address, sizeof address);
    return address != 0 ? 0 : NO_MEMORY;
}

/* malloc(size), cudaMalloc(where, size), or __nv_aligned_device_malloc(size, alignment), which
 * gives NULL for what is no power of 2. */
static int allocate(struct exec_warp *warp, const struct exec_inst *inst,
                    const struct exec_call *call, enum exec_builtin which)
{
    enum { LEAST = 16 }; /* alignment of any piece */
    const bool as_cuda = which == EXEC_BUILTIN_CUDA_MALLOC;
    const struct exec_launch *launch = warp->worker->launch;
    unsigned char *heap = heap_bytes(launch);
    if (heap != NULL) heap_begin(heap, launch->heap_bytes);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint64_t size = argument(warp, call, lane, as_cuda ? 1 : 0);
        uint64_t alignment =
            which == EXEC_BUILTIN_ALIGNED_MALLOC ? argument(warp, call, lane, 1) : LEAST;
        const bool right = alignment != 0 && (alignment & (alignment - 1)) == 0;
        if (alignment < LEAST) alignment = LEAST;
        const uint64_t offset =
            heap != NULL && right ? heap_take(launch, heap, size, alignment) : 0;
        if (offset == HEAP_DAMAGED)
            return exec_stop(warp, inst, EXEC_TRAP, lane,
                             &(struct exec_reason){.finding = FINDING_HEAP_DAMAGED});
        const uint64_t address = offset ? launch->heap_address + offset : 0;
        give_result(warp, call, lane,
                    as_cuda ? give_address(warp, lane, argument(warp, call, lane, 0), address)
                            : address);
    }
    return EXEC_GO;
}

static int release(struct exec_warp *warp, const struct exec_inst *inst,
                   const struct exec_call *call)
{
    const struct exec_launch *launch = warp->worker->launch;
    unsigned char *heap = heap_bytes(launch);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint64_t address = argument(warp, call, lane, 0);
        const uint64_t offset = address - launch->heap_address;
        give_result(warp, call, lane, 0); /* of cudaFree: cudaSuccess */
        if (!address) continue;
        if (heap == NULL || offset >= launch->heap_bytes || offset < sizeof(struct piece) ||
            offset % 16 || piece_at(heap, offset - sizeof(struct piece))->mark != PIECE_USED)
            return exec_stop(
                warp, inst, EXEC_TRAP, lane,
                &(struct exec_reason){.finding = FINDING_HEAP_INVALID_FREE, .numbers = {address}});
        const uint64_t at = offset - sizeof(struct piece);
        piece_at(heap, at)->mark = PIECE_FREE;
        /* A damaged piece is for the next malloc to name. */
        if (piece_is_whole(heap, launch->heap_bytes, at)) piece_fill(heap, at);
    }
    return EXEC_GO;
}

int exec_builtin_call(struct exec_warp *warp, const struct exec_inst *inst,
                      const struct exec_call *call, const struct exec_function *function)
{
    switch (function->builtin) {
    case EXEC_BUILTIN_VPRINTF:
        return print_lanes(warp, inst, call);
    case EXEC_BUILTIN_ASSERTFAIL:
        return assert_fail(warp, inst, call);
    case EXEC_BUILTIN_MALLOC:
    case EXEC_BUILTIN_ALIGNED_MALLOC:
    case EXEC_BUILTIN_CUDA_MALLOC:
        return allocate(warp, inst, call, function->builtin);
    case EXEC_BUILTIN_FREE:
        return release(warp, inst, call);
    case EXEC_BUILTIN_DEVICE_RUNTIME:
        return exec_device_call(warp, inst, call, function);
    case EXEC_BUILTIN_NONE:
        break;
    }
    return EXEC_STOP;
}
