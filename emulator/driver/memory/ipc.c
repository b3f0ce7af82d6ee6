/* Memory and events shared between processes. A shared allocation moves into an anonymous file
 * (memfd). The other process finds the file by the owner's process and descriptor numbers and maps
 * it at a device address of its own; writes of either are visible to both at once.
 *
 * Work of a process that has shared or opened something runs when it is submitted, whatever the
 * order setting: a GPU works while another process looks, and a missing result could not be
 * attributed to anybody.
 *
 * No process sees what the other one does. From the sharing on, initcheck ignores shared memory in
 * both, and race checking sees only the own process's accesses. A shared event is complete when
 * cuEventRecord returns: the work before it runs inside that call, and the host counts as having
 * waited for it, since the other process may inform it. A wait for such an event has nothing left
 * to wait for. A kernel before the event that waits for another process would block cuEventRecord.
 *
 * Source: CUDA Driver API 13.0, "Memory Management" (cuIpc*); CUDA Programming Guide, "Interprocess
 * Communication".
 */
#include "emulator/driver/memory/parts.h"

#include "emulator/base/memfd.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/stream.h"
#include "emulator/memory/initcheck.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

enum { TOKEN_WORDS = 2, PAGE = 4096 };
#define MEMORY_MARK 0x6d656d6f7279u
#define EVENT_MARK 0x6576656e74u

/* The contents of a handle's 64 bytes. */
struct shared {
    uint64_t mark;
    uint64_t token[TOKEN_WORDS]; /* part of the file's name, to tell it from another file with the
                                    same descriptor */
    uint64_t size;               /* bytes of the allocation */
    int32_t process, file;       /* owner's process, and its descriptor there */
};

_Static_assert(sizeof(struct shared) <= CU_IPC_HANDLE_SIZE, "it has room in a handle");

/* An allocation that this process has shared, or one of another process that it has opened. */
struct ipc_memory {
    struct ipc_memory *next;
    struct shared shared;
    uint64_t address, region;         /* device address and the region's trace id */
    struct memory_contents *contents; /* of an opened one; NULL: this process's own */
    unsigned opened;                  /* how often it is open */
};
static struct ipc_memory *list;

static void name_of(const struct shared *shared, char *name, size_t size)
{
    snprintf(name, size, "overlap shared %016llx%016llx", (unsigned long long)shared->token[0],
             (unsigned long long)shared->token[1]);
}

static CUresult gone(const struct shared *shared)
{
    struct trace_record found = finding_at_call(FINDING_IPC_GONE, CUDA_ERROR_INVALID_HANDLE);
    found.finding.numbers[0] = (uint64_t)shared->process;
    finding_put(&found);
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult read_handle(const void *handle, uint64_t mark, struct shared *shared)
{
    memcpy(shared, handle, sizeof *shared);
    if (shared->mark != mark) return CUDA_ERROR_INVALID_VALUE;
    /* As with NVIDIA's driver: a handle is for other processes only. */
    return shared->process == getpid() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

/* ---- memory ------------------------------------------------------------------------------ */

static struct ipc_memory *own_of(const struct memory_region *region)
{
    struct ipc_memory *own = list;
    while (own != NULL && (own->contents != NULL || own->region != region->id)) own = own->next;
    return own;
}

static struct ipc_memory *share(const struct memory_region *region)
{
    char name[80];
    struct ipc_memory *own = calloc(1, sizeof *own);
    if (own == NULL) return NULL;
    own->shared =
        (struct shared){.mark = MEMORY_MARK, .size = region->size, .process = (int32_t)getpid()};
    if (getrandom(own->shared.token, sizeof own->shared.token, 0) !=
        (ssize_t)sizeof own->shared.token) {
        free(own);
        return NULL;
    }
    name_of(&own->shared, name, sizeof name);
    own->shared.file = memory_share(region, name);
    if (own->shared.file < 0) {
        free(own);
        return NULL;
    }
    own->region = region->id;
    own->next = list;
    list = own;
    memory_initcheck_forget(region);
    timeline_hurry(driver.timeline);
    return own;
}

bool ipc_can_share(const struct memory_region *region)
{
    return region->kind == MEMORY_DEVICE && region->pool == 0 && !region->mapped &&
           region->ended == 0;
}

CUresult driver_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    NEED_POINTER(pHandle);
    const struct memory_region *region = memory_find(dptr);
    if (region == NULL || !ipc_can_share(region)) return CUDA_ERROR_INVALID_VALUE;
    struct ipc_memory *own = own_of(region);
    if (own == NULL) own = share(region);
    if (own == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &own->shared, sizeof own->shared);
    return CUDA_SUCCESS;
}

/* Opens the owner's descriptor in this process; -1: missing, or another file. */
static int file_of(const struct shared *shared)
{
    char name[80];
    name_of(shared, name, sizeof name);
    return memfd_open(shared->process, shared->file, name);
}

static CUresult open_memory(struct ipc_memory *memory)
{
    const uint64_t size = (memory->shared.size + PAGE - 1) / PAGE * PAGE;
    const struct memory_request request = {.kind = MEMORY_DEVICE,
                                           .id = memory->region,
                                           .caller = (uint64_t)(uintptr_t)thread.call.caller,
                                           .device = (unsigned)device_current()};
    const int file = file_of(&memory->shared);
    if (file < 0) return gone(&memory->shared);
    memory->contents = memory_contents_adopt(file, size);
    if (memory->contents == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    memory->address = memory_reserve(size, 0);
    if (memory->address != 0 && memory_map(memory->address, memory->contents, false) &&
        memory_show(memory->address, memory->shared.size, &request) != NULL)
        return CUDA_SUCCESS;
    if (memory->address != 0) {
        memory_unmap(memory->address, size);
        memory_unreserve(memory->address, size);
    }
    memory_contents_destroy(memory->contents);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult driver_cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    struct shared shared;
    NEED_POINTER(pdptr);
    if (Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
    TRY(read_handle(&handle, MEMORY_MARK, &shared));
    struct ipc_memory *memory = list;
    while (memory != NULL &&
           (memory->contents == NULL || memcmp(&memory->shared, &shared, sizeof shared) != 0))
        memory = memory->next;
    if (memory == NULL) {
        memory = calloc(1, sizeof *memory);
        if (memory == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        memory->shared = shared;
        memory->region = ++driver.ids;
        const CUresult code = open_memory(memory);
        if (code != CUDA_SUCCESS) {
            free(memory);
            return code;
        }
        memory->next = list;
        list = memory;
        timeline_hurry(driver.timeline);
    }
    memory->opened++;
    *pdptr = memory->address;
    return CUDA_SUCCESS;
}

CUresult driver_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    struct ipc_memory **link = &list;
    while (*link != NULL && ((*link)->contents == NULL || (*link)->address != dptr))
        link = &(*link)->next;
    struct ipc_memory *memory = *link;
    if (memory == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (--memory->opened > 0) return CUDA_SUCCESS;
    *link = memory->next; /* unlinked first: the wait releases the lock */
    const CUresult code = wait_for_context_on_gpus(thread_context());
    const uint64_t size = (memory->shared.size + PAGE - 1) / PAGE * PAGE;
    const struct memory_region *region = memory_find(dptr);
    if (region != NULL && region->id == memory->region) {
        findings_memory_ends(region);
        memory_hide(region);
    }
    memory_unmap(dptr, size);
    memory_unreserve(dptr, size);
    memory_contents_destroy(memory->contents);
    free(memory);
    return code;
}

/* ---- events ------------------------------------------------------------------------------ */

CUresult driver_cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    const struct shared shared = {.mark = EVENT_MARK, .process = (int32_t)getpid()};
    NEED_POINTER(pHandle);
    const struct event *found = object_find(event, OBJECT_EVENT);
    if (found == NULL) return object_error(event);
    if (!(found->flags & CU_EVENT_INTERPROCESS)) return CUDA_ERROR_INVALID_HANDLE;
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &shared, sizeof shared);
    return CUDA_SUCCESS;
}

CUresult driver_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    struct shared shared;
    NEED_POINTER(phEvent);
    TRY(read_handle(&handle, EVENT_MARK, &shared));
    if (kill((pid_t)shared.process, 0) != 0 && errno != EPERM) return gone(&shared);
    return driver_cuEventCreate(phEvent, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
}
