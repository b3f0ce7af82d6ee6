/* Launches: checking the configuration, running the kernel, reporting its faults. */
#include "emulator/base/hash.h"
#include "emulator/base/name.h"
#include "emulator/driver/work/work.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/module/module.h"
#include "emulator/driver/stream/stream.h"
#include "emulator/driver/work/device_grid.h"
#include "emulator/driver/work/needs.h"
#include "emulator/driver/work/occupancy.h"
#include "emulator/driver/work/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct launch {
    struct function *function; /* valid while `module` is retained */
    struct module *module;
    unsigned grid[3], block[3], cluster[3]; /* cluster: zeros without clusters */
    unsigned dynamic_shared;
    bool cooperative;
    bool has_priority; /* was told one of its own */
    int priority;
    bool dependent; /* may begin before the kernel before it in its stream ends (programmatic
                       dependent launch) */
    /* For a kernel that pauses until the host or other work has done something: */
    struct exec_grid *paused;
    struct findings_kernel noted;
    const struct operation *parent; /* whose kernel launched it; NULL: the host */
    struct device_grid *device;     /* of a kernel that may launch others; NULL: not begun */
    _Alignas(16) unsigned char parameters[];
};

#define LOCAL_MOST (512u << 10) /* bytes of a thread, Technical Specifications */

/* ---- the configuration ------------------------------------------------------------------- */

/* Why a launch is refused: the finding and its numbers. */
struct refusal {
    enum trace_finding_id finding;
    uint64_t numbers[TRACE_NUMBERS];
};

static CUresult refuse(const struct launch *launch, CUresult code, const struct refusal *why)
{
    const struct exec_function_info *info = exec_function_info(launch->function->code);
    const struct operation *parent = launch->parent;
    struct trace_record found =
        parent != NULL ? finding_at_work(why->finding, &parent->record, parent->stream_caller)
                       : finding_at_call(why->finding, code);
    found.code = (int32_t)code;
    name_plain(info->name, found.name, sizeof found.name);
    memcpy(found.finding.numbers, why->numbers, sizeof found.finding.numbers);
    finding_put(&found);
    return code;
}

static uint64_t product(const unsigned extent[3])
{
    return (uint64_t)extent[0] * extent[1] * extent[2];
}

/* ---- clusters */

/* Determines the cluster size: from the launch, or from the function's compilation. */
static CUresult find_cluster(struct launch *launch, const struct exec_function_info *info)
{
    const struct function *function = launch->function;
    for (unsigned i = 0; i < 3; i++) {
        const unsigned asked = launch->cluster[i], made = info->cluster[i];
        if (made > 0 && asked > 0 && made != asked)
            return refuse(launch, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                          &(struct refusal){.finding = FINDING_LAUNCH_CLUSTER_OTHER,
                                            .numbers = {made, i, asked}});
        if (made > 0)
            launch->cluster[i] = made;
        else if (asked == 0)
            launch->cluster[i] = (unsigned)function->cluster.size[i];
    }
    if (info->explicit_cluster && launch->cluster[0] == 0)
        return refuse(launch, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                      &(struct refusal){.finding = FINDING_LAUNCH_CLUSTER_NONE});
    if (info->blocks_are_clusters && info->cluster[0] > 0)
        for (unsigned i = 0; i < 3; i++) launch->grid[i] *= launch->cluster[i];
    return CUDA_SUCCESS;
}

static CUresult check_cluster(const struct launch *launch)
{
    const struct function *function = launch->function;
    const uint64_t blocks = product(launch->cluster);
    const bool more = function->cluster.non_portable != 0;
    if (launch->cluster[0] == 0) return CUDA_SUCCESS;
    if (blocks == 0 || blocks > (more ? CLUSTER_MOST : CLUSTER_PORTABLE))
        return refuse(launch, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                      &(struct refusal){.finding = FINDING_LAUNCH_CLUSTER_SIZE,
                                        .numbers = {blocks, more ? CLUSTER_MOST : CLUSTER_PORTABLE,
                                                    more ? 0 : CLUSTER_MOST}});
    for (unsigned i = 0; i < 3; i++)
        if (launch->grid[i] % launch->cluster[i] != 0)
            return refuse(launch, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                          &(struct refusal){.finding = FINDING_LAUNCH_CLUSTER_GRID,
                                            .numbers = {launch->grid[i], i, launch->cluster[i]}});
    return CUDA_SUCCESS;
}

/* Checks each axis of the grid and of the block. */
static CUresult check_axes(const struct launch *launch)
{
    static const unsigned grid_limits[3] = {INT32_MAX, 65535, 65535};
    static const unsigned block_limits[3] = {1024, 1024, 64};
    for (unsigned i = 0; i < 3; i++) {
        if (launch->grid[i] < 1 || launch->grid[i] > grid_limits[i])
            return refuse(launch, CUDA_ERROR_INVALID_VALUE,
                          &(struct refusal){.finding = FINDING_LAUNCH_GRID,
                                            .numbers = {launch->grid[i], i, grid_limits[i]}});
        if (launch->block[i] < 1 || launch->block[i] > block_limits[i])
            return refuse(launch, CUDA_ERROR_INVALID_VALUE,
                          &(struct refusal){.finding = FINDING_LAUNCH_BLOCK,
                                            .numbers = {launch->block[i], i, block_limits[i]}});
    }
    return CUDA_SUCCESS;
}

/* Checks the number of threads per block, and the block's shape. */
static CUresult check_threads(const struct launch *launch, const struct exec_function_info *info)
{
    const uint64_t threads = product(launch->block);
    if (threads > 1024)
        return refuse(
            launch, CUDA_ERROR_INVALID_VALUE,
            &(struct refusal){.finding = FINDING_LAUNCH_THREADS, .numbers = {threads, 1024}});
    if (info->max_threads > 0 && threads > info->max_threads)
        return refuse(launch, CUDA_ERROR_INVALID_VALUE,
                      &(struct refusal){.finding = FINDING_LAUNCH_BOUNDS,
                                        .numbers = {threads, info->max_threads}});
    for (int i = 0; i < 3; i++)
        if (info->required_threads[i] > 0 && info->required_threads[i] != launch->block[i])
            return refuse(launch, CUDA_ERROR_INVALID_VALUE,
                          &(struct refusal){.finding = FINDING_LAUNCH_SHAPE});
    return CUDA_SUCCESS;
}

static uint64_t clusters_of(int device, const struct launch *launch)
{
    return occupancy_clusters(device, launch->function, product(launch->cluster),
                              product(launch->block), launch->dynamic_shared);
}

/* Blocks of the launch that the device holds at once. */
static uint64_t room_of(int device, const struct launch *launch)
{
    if (launch->cluster[0] > 0) return clusters_of(device, launch) * product(launch->cluster);
    return (uint64_t)occupancy_blocks(device, launch->function, product(launch->block),
                                      launch->dynamic_shared) *
           (uint64_t)device_model(device)->multiprocessors;
}

/* Checks memory per thread and per block, and that a cooperative grid fits on the device. */
static CUresult check_resources(const struct launch *launch, const struct exec_function_info *info)
{
    const struct function *function = launch->function;
    const int device = function->module->object.context->device;
    if (info->local_bytes > LOCAL_MOST)
        return refuse(launch, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                      &(struct refusal){.finding = FINDING_LAUNCH_LOCAL_MEMORY,
                                        .numbers = {info->local_bytes, LOCAL_MOST}});
    if (info->static_shared > SHARED_DEFAULT)
        return refuse(launch, CUDA_ERROR_INVALID_VALUE,
                      &(struct refusal){.finding = FINDING_LAUNCH_STATIC_SHARED,
                                        .numbers = {info->static_shared, SHARED_DEFAULT}});
    const uint64_t blocks = product(launch->grid);
    const uint64_t room = launch->cooperative ? room_of(device, launch) : UINT64_MAX;
    if (blocks > room)
        return refuse(
            launch, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            &(struct refusal){.finding = FINDING_LAUNCH_NOT_RESIDENT, .numbers = {blocks, room}});
    if (launch->cluster[0] > 0 && clusters_of(device, launch) == 0)
        return refuse(launch, CUDA_ERROR_INVALID_CLUSTER_SIZE,
                      &(struct refusal){.finding = FINDING_LAUNCH_CLUSTER_NOT_RESIDENT,
                                        .numbers = {product(launch->cluster)}});
    if ((int64_t)launch->dynamic_shared <= function->max_dynamic_shared) return CUDA_SUCCESS;
    const int64_t most = occupancy_shared_most() - (int64_t)info->static_shared;
    return refuse(
        launch, CUDA_ERROR_INVALID_VALUE,
        &(struct refusal){.finding = FINDING_LAUNCH_DYNAMIC_SHARED,
                          .numbers = {launch->dynamic_shared,
                                      (uint64_t)function->max_dynamic_shared, (uint64_t)most}});
}

static CUresult check_configuration(struct launch *launch)
{
    const struct exec_function_info *info = exec_function_info(launch->function->code);
    TRY(find_cluster(launch, info));
    /* CU_LAUNCH_KERNEL_REQUIRED_BLOCK_DIM is a block of one thread. */
    if (product(launch->block) == 1 && info->required_threads[0] > 0)
        memcpy(launch->block, info->required_threads, sizeof launch->block);
    TRY(check_axes(launch));
    TRY(check_threads(launch, info));
    TRY(check_cluster(launch));
    return check_resources(launch, info);
}

/* ---- the parameters ---------------------------------------------------------------------- */

static CUresult copy_parameters(struct launch *launch, void **parameters, void **extra)
{
    const struct exec_function_info *info = exec_function_info(launch->function->code);
    unsigned char *to = launch->parameters;
    const void *buffer = NULL;
    size_t size = 0;
    if (parameters != NULL && extra != NULL) return CUDA_ERROR_INVALID_VALUE;
    if (parameters != NULL) {
        for (size_t i = 0; i < info->parameter_count; i++) {
            if (parameters[i] == NULL)
                return refuse(
                    launch, CUDA_ERROR_INVALID_VALUE,
                    &(struct refusal){.finding = FINDING_LAUNCH_NULL_PARAMETER, .numbers = {i}});
            memcpy(to + info->parameters[i].offset, parameters[i], info->parameters[i].size);
        }
        return CUDA_SUCCESS;
    }
    for (; extra != NULL && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != NULL)
            size = *(const size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (size > info->parameter_bytes && buffer != NULL)
        return refuse(launch, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                      &(struct refusal){.finding = FINDING_LAUNCH_MORE_PARAMETERS,
                                        .numbers = {info->parameter_bytes, size}});
    if (info->parameter_count == 0) return CUDA_SUCCESS;
    if (buffer == NULL || size == 0)
        return refuse(launch, CUDA_ERROR_INVALID_VALUE,
                      &(struct refusal){.finding = FINDING_LAUNCH_NO_PARAMETERS});
    memset(to, 0, info->parameter_bytes);
    memcpy(to, buffer, size);
    if (size < info->parameter_bytes) /* a GPU launches it all the same */
        refuse(launch, CUDA_SUCCESS,
               &(struct refusal){.finding = FINDING_LAUNCH_LACKS_PARAMETERS,
                                 .numbers = {info->parameter_bytes, size}});
    return CUDA_SUCCESS;
}

/* ---- running ----------------------------------------------------------------------------- */

static const CUresult codes[] = {
    [EXEC_OUT_OF_BOUNDS] = CUDA_ERROR_ILLEGAL_ADDRESS,
    [EXEC_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
    [EXEC_ILLEGAL] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
    [EXEC_WRONG_SPACE] = CUDA_ERROR_ILLEGAL_ADDRESS,
    [EXEC_ASSERT] = CUDA_ERROR_ASSERT,
    [EXEC_TRAP] = CUDA_ERROR_LAUNCH_FAILED,
    [EXEC_UNSUPPORTED] = CUDA_ERROR_NOT_SUPPORTED,
    [EXEC_ENDLESS] = CUDA_ERROR_LAUNCH_TIMEOUT,
    [EXEC_BARRIER] = CUDA_ERROR_LAUNCH_TIMEOUT,
    [EXEC_ABSENT] = CUDA_ERROR_LAUNCH_TIMEOUT,
    [EXEC_MASK] = CUDA_ERROR_LAUNCH_FAILED,
    [EXEC_STACK] = CUDA_ERROR_ILLEGAL_ADDRESS,
    [EXEC_NO_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY,
};

/* The precise finding for an access outside of global memory. */
static enum trace_finding_id id_of_access(uint64_t address)
{
    switch (memory_explain(address).kind) {
    case MEMORY_MISS_FREED:
        return FINDING_USE_AFTER_FREE;
    case MEMORY_MISS_HOST:
        return FINDING_WRONG_SIDE;
    default:
        return FINDING_OUT_OF_BOUNDS;
    }
}

/* Returns true for an address computed from poisoned memory: no real address has these upper bits,
 * whatever offset was added. */
static bool is_poison(uint64_t address)
{
    return address >> 48 == MEMORY_POISON * 0x0101u;
}

/* The precise finding for a fault. */
static enum trace_finding_id id_of_fault(const struct exec_fault *fault)
{
    const enum trace_finding_id id = fault->finding.id;
    if (id != FINDING_OUT_OF_BOUNDS && id != FINDING_MISALIGNED) return id;
    if (is_poison(fault->address)) return FINDING_POINTER_UNWRITTEN;
    return id == FINDING_OUT_OF_BOUNDS ? id_of_access(fault->address) : id;
}

/* The error code of a fault. A missing block of a cluster is not an illegal address (as on an H200:
 * tests/gpu/cluster.txt).
 */
static CUresult code_of(enum exec_end end, enum trace_finding_id id)
{
    return id == FINDING_CLUSTER_NO_BLOCK || id == FINDING_CLUSTER_BLOCK_ENDED
               ? CUDA_ERROR_LAUNCH_FAILED
               : codes[end];
}

static enum timeline_ran fail_launch(struct operation *operation, enum exec_end end,
                                     const struct exec_fault *fault)
{
    struct trace_record found =
        finding_at_work(id_of_fault(fault), &operation->record, operation->stream_caller);
    found.code = (int32_t)code_of(end, fault->finding.id);
    finding_of_fault(&found, &fault->finding);
    if (fault->size > 0) {
        finding_address(&found, fault->address);
        found.bytes = fault->size;
    }
    return operation_fail(operation, &found);
}

/* The context's heap for malloc in kernels, allocated on first use. */
static const struct memory_region *heap_of(struct context *context)
{
    if (context->heap == NULL)
        context->heap = memory_allocate(&(struct memory_request){
            .kind = MEMORY_DEVICE,
            .size = context->limits[CU_LIMIT_MALLOC_HEAP_SIZE],
            .context = context->object.id,
            .device = (unsigned)context->device,
            .internal = true,
        });
    return context->heap;
}

/* The executor's stack frames are larger than a GPU's, which keeps values in registers and reuses
 * space where PTX has separate variables. The stack limit counts as that many times its size. */
enum { STACK_FRAMES = 4 };

enum { UNSEEN_MOST = 100000000 }; /* warp instructions, for a kernel after the program's end */

static struct timeline_kernel shape_of(const struct launch *launch)
{
    const struct exec_function_info *info = exec_function_info(launch->function->code);
    return (struct timeline_kernel){.blocks = product(launch->grid),
                                    .threads_per_block = (uint32_t)product(launch->block),
                                    .shared_bytes = info->static_shared + launch->dynamic_shared};
}

/* Tells the user where a kernel polls memory for long. That may be correct, so it is no finding,
 * but a user who waits for the program wants to know. */
static void tell_looks(const struct exec_looks *looks)
{
    char name[128], place[160], call[TRACE_NAME_SIZE] = "";
    name_plain(looks->function, name, sizeof name);
    if (thread.depth > 0 && timeline_is_awaited(driver.timeline))
        call_plain_name(call, sizeof call, thread.call.name);
    if (looks->file != NULL)
        snprintf(place, sizeof place, "%.120s:%u", looks->file, looks->line);
    else
        snprintf(place, sizeof place, "line %u of its PTX", looks->line);
    device_say(
        "kernel %s has only waited for %d s: thread (%u, %u, %u) of block (%u, %u, %u), for one, "
        "looks at %s for something that nobody has done yet%s%s%s. It goes on until you end it, or "
        "it has executed %" PRIu64 " warp instructions (OVERLAP_INSTRUCTION_LIMIT)",
        name, EXEC_LOOKS_SECONDS, looks->thread[0], looks->thread[1], looks->thread[2],
        looks->block[0], looks->block[1], looks->block[2], place,
        call[0] != '\0' ? "; meanwhile your program is in " : "", call,
        call[0] != '\0' ? ", which waits for it" : "", environment()->instruction_limit);
}

static bool reaches(const void *reaching, const struct memory_region *region, bool store)
{
    return peers_may_access(reaching, region, store);
}

/* The executor's request for this launch. */
static struct exec_launch request_of(const struct operation *operation, struct launch *launch,
                                     struct print *print)
{
    const struct memory_region *heap = heap_of(operation->context);
    const bool meets = launch->cooperative || launch->cluster[0] > 0 ||
                       exec_function_talks(launch->function->code);
    struct exec_launch request = {
        .function = launch->function->code,
        .dynamic_shared = launch->dynamic_shared,
        .parameters = launch->parameters,
        .resident = meets ? room_of(operation->context->device, launch) : 0,
        .cooperative = launch->cooperative,
        .workers = (unsigned)environment()->workers,
        .instruction_limit = driver.ending ? UNSEEN_MOST : environment()->instruction_limit,
        .heap_address = heap != NULL ? heap->address : 0,
        .heap_bytes = heap != NULL ? heap->size : 0,
        .stack_bytes = STACK_FRAMES * operation->context->limits[CU_LIMIT_STACK_SIZE],
        .grid_id = operation->record.request,
        .paused = launch->parent == NULL ? &launch->paused : NULL,
        .impatient = timeline_is_awaited(driver.timeline),
        .print = print_from_kernel,
        .user = print,
        .looks = tell_looks,
        .reaches = devices_count() > 1 ? reaches : NULL,
        .reaching = operation->context,
        .device = (unsigned)operation->context->device,
    };
    for (int i = 0; i < 3; i++) {
        request.grid[i] = launch->grid[i];
        request.block[i] = launch->block[i];
        request.cluster[i] = launch->cluster[i];
    }
    if (!exec_is_probed(&request)) {
        const struct timeline_kernel shape = shape_of(launch);
        request.reach = timeline_reach(&shape);
    }
    return request;
}

/* The device time that the kernel took. */
static struct timeline_cost cost_of(const struct launch *launch, const struct exec_counts *counts)
{
    struct timeline_kernel kernel = shape_of(launch);
    kernel.warp_instructions = counts->warp_instructions;
    kernel.longest_warp = counts->longest_warp;
    kernel.longest_chain = counts->longest_chain;
    kernel.short_chain = counts->short_chain;
    kernel.longest_wait = counts->longest_wait;
    kernel.barriers = counts->barriers;
    kernel.sectors = counts->transactions;
    kernel.found = counts->found;
    kernel.wavefronts = counts->wavefronts;
    return timeline_kernel_cost(&kernel);
}

static enum races_mode mode_of(const struct exec_fault *fault)
{
    if (fault->finding.sides[0].access == ACCESS_ATOMIC) return RACES_ATOMIC;
    return fault->is_store ? RACES_WRITE : RACES_READ;
}

/* Runs the kernel, or resumes it, and then everything that it launched. */
static enum exec_end run_kernel(struct operation *operation, struct timeline_cost *cost)
{
    struct launch *launch = (void *)operation->payload;
    struct timeline_op *op = operation->op;
    struct exec_counts counts;
    struct exec_fault fault; /* large; filled only on a fault */
    struct print print = {.limit = operation->context->limits[CU_LIMIT_PRINTF_FIFO_SIZE]};
    struct exec_launch request = request_of(operation, launch, &print);
    bool heard = false;

    request.heard = &heard;
    needs_settle(operation->context, exec_function_info(launch->function->code));
    findings_kernel_begins(operation, &launch->noted, &request);
    if (launch->device != NULL) device_grid_begins(launch->device, &request, &launch->noted);
    enum exec_end end = exec_run(&request, &counts, &fault);
    if (heard) timeline_op_heard(op);
    if (driver.ending)
        print_drop(&print);
    else
        print_write(&print, operation);
    if (end == EXEC_PAUSED) {
        findings_kernel_pauses(&launch->noted);
        return end;
    }
    if (launch->device != NULL) operation->op = device_grid_now(launch->device);
    findings_kernel_ran(operation, &launch->noted, &request);
    operation->op = op;
    operation->record.bytes = counts.bytes_loaded + counts.bytes_stored;
    *cost = cost_of(launch, &counts);
    if (driver.ending && end == EXEC_ENDLESS) end = EXEC_DONE;
    if (end != EXEC_DONE) {
        findings_operation_faults(operation, &(struct findings_access){
                                                 .address = fault.address,
                                                 .bytes = fault.size,
                                                 .mode = mode_of(&fault),
                                                 .file = fault.file,
                                                 .line = fault.line,
                                             });
        fail_launch(operation, end, &fault);
    } else if (launch->device != NULL && !device_grid_finish(launch->device, cost)) {
        end = EXEC_TRAP; /* the failed child has been reported */
    }
    return end;
}

static enum timeline_ran run_launch(struct operation *operation)
{
    struct launch *launch = (void *)operation->payload;
    struct timeline_cost cost;
    if (launch->device == NULL && launch_device_grid(operation) != NULL)
        launch->device = device_grid_create(operation);
    if (run_kernel(operation, &cost) == EXEC_PAUSED) return TIMELINE_NOT_YET;
    timeline_op_cost(operation->op, &cost);
    return TIMELINE_RAN;
}

static void drop_launch(struct operation *operation)
{
    struct launch *launch = (void *)operation->payload;
    exec_paused_drop(launch->paused);
    findings_kernel_drop(&launch->noted);
    device_grid_destroy(launch->device);
    module_release(launch->module);
}

/* ---- launching --------------------------------------------------------------------------- */

/* Hash of function and launch shape: launches with the same signature are expected to take equally
 * long. Arguments are left out: a query must run work of unknown duration at once, so a program
 * that polls many launches would see them finish one after another. */
static uint64_t signature_of(const struct launch *launch)
{
    uint64_t hash = hash_add(HASH_START, launch->function->object.id);
    for (int i = 0; i < 3; i++) hash = hash_add(hash_add(hash, launch->grid[i]), launch->block[i]);
    hash = hash_add(hash, launch->dynamic_shared);
    hash = hash_add(hash, product(launch->cluster));
    return hash != 0 ? hash : 1;
}

/* Reports each address among the parameters. `op`: the pending operation; NULL: not submitted
 * yet. */
static void tell_addresses(const struct launch *launch, const struct timeline_op *op)
{
    const uint32_t bytes = exec_function_info(launch->function->code)->parameter_bytes;
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, launch->parameters + at, sizeof value);
        if (op != NULL)
            findings_may_touch(op, value);
        else
            findings_given(value);
    }
}

static void guess_region(void *op, const struct memory_region *region)
{
    findings_may_touch(op, region->address);
}

/* Reports the host-visible memory that the pending kernel may access: regions whose addresses it
 * was given, and its module's managed variables. */
static void pending_launch(struct operation *operation, struct timeline_op *op)
{
    const struct launch *launch = (const void *)operation->payload;
    const struct exec_function_info *info = exec_function_info(launch->function->code);
    if (info->converses) return;
    tell_addresses(launch, op);
    module_managed_variables(launch->module, guess_region, op);
}

static void copied_launch(struct operation *operation)
{
    struct launch *launch = (void *)operation->payload;
    launch->paused = NULL;
    launch->device = NULL;
    launch->noted = (struct findings_kernel){.footprint = NULL};
    module_retain(launch->module);
}

/* Records the memory whose addresses the kernel was given: the whole region, or, where that exceeds
 * any cache, as much behind the address as the kernel accesses. */
static void note_touches(const struct launch *launch, struct timeline_work *work)
{
    const struct exec_function_info *info = exec_function_info(launch->function->code);
    size_t count = 0;

    for (size_t at = 0; at + sizeof(uint64_t) <= info->parameter_bytes && count < TIMELINE_TOUCHES;
         at += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, launch->parameters + at, sizeof value);
        const struct memory_region *region = memory_find(value);
        if (region == NULL || region->kind != MEMORY_DEVICE) continue;
        work->touches[count++] = (double)region->size <= timeline_model->cache_bytes
                                     ? (struct timeline_touch){region->id, region->size}
                                     : (struct timeline_touch){.object = value};
    }
}

/* Makes an operation that launches `function`, meant for `stream`, after checking everything that
 * can be wrong. */
static CUresult make_launch(const struct stream *stream, struct function *function,
                            const struct launch *shape, void **parameters, void **extra,
                            struct operation **made, struct timeline_work *work)
{
    const struct exec_function_info *info = exec_function_info(function->code);
    struct operation *operation =
        operation_make(stream, TRACE_KERNEL, sizeof(struct launch) + info->parameter_bytes + 16);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    struct launch *launch = (void *)operation->payload;
    memcpy(launch, shape, sizeof *shape);
    launch->function = function;
    launch->module = function->module;
    CUresult code = check_configuration(launch);
    if (code == CUDA_SUCCESS) code = copy_parameters(launch, parameters, extra);
    if (code != CUDA_SUCCESS) {
        operation_free(operation);
        return code;
    }
    module_retain(launch->module);
    operation->run = run_launch;
    operation->drop = drop_launch;
    operation->copied = copied_launch;
    operation->pending = pending_launch;
    operation->awaited = !info->converses;
    findings_asked_for(operation);
    tell_addresses(launch, NULL);
    operation->record.count = product(launch->grid) * product(launch->block);
    /* A truncated mangled name would mean something else, so a long one is stored in its plain
     * form. */
    if (strlen(info->name) < sizeof operation->record.name)
        trace_copy_string(operation->record.name, sizeof operation->record.name, info->name);
    else
        name_plain(info->name, operation->record.name, sizeof operation->record.name);
    *work = (struct timeline_work){
        .kind = TIMELINE_KERNEL, .signature = signature_of(launch), .converses = info->converses};
    note_touches(launch, work);
    *made = operation;
    return CUDA_SUCCESS;
}

/* The stream's latest kernel, with a reference, if it lets the next one begin before it ends; NULL:
 * it does not, or the host has waited for it. CUDA Programming Guide, "Programmatic Dependent
 * Launch and Synchronization". */
static struct timeline_op *primary_in(const struct stream *stream)
{
    struct timeline_op *last = timeline_stream_last(stream->time);
    return last != NULL && timeline_op_number(last) == stream->triggers &&
                   !timeline_host_knows_op(driver.timeline, last)
               ? timeline_op_retain(last)
               : NULL;
}

/* Notes the kernels beside which this one may begin. One that launches others is not followed that
 * closely: it waits. */
static CUresult note_early(struct stream *stream, struct launch *launch)
{
    if (stream->captured != NULL) return CUDA_SUCCESS;
    if (exec_function_info(launch->function->code)->launches) return stream_await_early(stream);
    if (launch->dependent) launch->noted.primary = primary_in(stream);
    return early_add_all(&launch->noted.beside, &stream->early) ? CUDA_SUCCESS
                                                                : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult submit_launch(CUfunction handle, CUstream stream_handle, const struct launch *shape,
                              void **parameters, void **extra)
{
    struct function *function;
    struct stream *stream;
    struct operation *operation;
    struct timeline_work work;
    TRY(stream_for_work(stream_handle, &stream));
    TRY(function_find_in(handle, stream->object.context, &function));
    if (function->module->object.context != stream->object.context)
        return wrong_context(FINDING_MODULE_OF_OTHER_CONTEXT, &function->module->object,
                             stream->object.context);
    CUresult code = make_launch(stream, function, shape, parameters, extra, &operation, &work);
    free(function->told.parameters);
    function->told = (struct told_launch){.parameters = NULL};
    if (code != CUDA_SUCCESS) return capture_refuse(stream, code);
    struct launch *launch = (void *)operation->payload;
    struct timeline_op *op = NULL;
    const struct exec_function_info *info = exec_function_info(function->code);
    code = note_early(stream, launch);
    if (code != CUDA_SUCCESS) {
        operation_drop(operation);
        return code;
    }
    if (stream->captured == NULL) {
        needs_note(stream->object.context, info);
        needs_settle(stream->object.context, info);
    }
    TRY(operation_submit(operation, stream, &work, NULL, &op));
    if (op != NULL) early_clear(&stream->early);
    if (op != NULL && info->triggers) stream->triggers = timeline_op_number(op);
    if (environment()->launch_blocking) code = wait_for_op(stream->object.context, op);
    timeline_op_release(op);
    return code;
}

/* ---- launches by kernels (device_grid.h) ------------------------------------------------- */

CUresult launch_within(const struct operation *parent, const struct device_shape *shape,
                       const void *parameters, struct operation **made)
{
    const struct launch *from = (const void *)parent->payload;
    const struct exec_function_info *info = exec_function_info(shape->code);
    struct function *function = NULL;
    TRY(module_function(from->module, info->name, &function));
    struct operation *operation =
        operation_within(parent, sizeof(struct launch) + info->parameter_bytes + 16);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    struct launch *launch = (void *)operation->payload;
    *launch = (struct launch){.function = function,
                              .module = from->module,
                              .dynamic_shared = shape->dynamic_shared,
                              .parent = parent};
    memcpy(launch->grid, shape->grid, sizeof launch->grid);
    memcpy(launch->block, shape->block, sizeof launch->block);
    memcpy(launch->parameters, parameters, info->parameter_bytes);
    const CUresult code = check_configuration(launch);
    if (code != CUDA_SUCCESS) {
        operation_free(operation);
        return code;
    }
    module_retain(launch->module);
    operation->drop = drop_launch;
    operation->record.count = product(launch->grid) * product(launch->block);
    trace_copy_string(operation->record.name, sizeof operation->record.name, info->name);
    *made = operation;
    return CUDA_SUCCESS;
}

bool launch_run_within(struct operation *operation, struct timeline_cost *cost)
{
    return run_kernel(operation, cost) == EXEC_DONE;
}

struct device_grid **launch_device_grid(struct operation *operation)
{
    struct launch *launch = (void *)operation->payload;
    return exec_function_info(launch->function->code)->launches ? &launch->device : NULL;
}

/* ---- launches as graph nodes ------------------------------------------------------------- */

CUresult launch_operation(const CUDA_KERNEL_NODE_PARAMS_v3 *params, struct operation **operation,
                          struct timeline_work *work)
{
    struct function *function;
    TRY(function_find(params->func != NULL ? params->func : (CUfunction)params->kern, &function));
    const struct launch shape = {
        .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .dynamic_shared = params->sharedMemBytes,
    };
    return make_launch(function->module->object.context->legacy, function, &shape,
                       params->kernelParams, params->extra, operation, work);
}

void launch_describe(const struct operation *operation, CUDA_KERNEL_NODE_PARAMS_v3 *params)
{
    const struct launch *launch = (const void *)operation->payload;
    const bool by_cluster = exec_function_info(launch->function->code)->blocks_are_clusters;
    unsigned each[3] = {1, 1, 1};
    if (by_cluster && launch->cluster[0] > 0) memcpy(each, launch->cluster, sizeof each);
    *params = (CUDA_KERNEL_NODE_PARAMS_v3){
        .func = (CUfunction)launch->function,
        .gridDimX = launch->grid[0] / each[0],
        .gridDimY = launch->grid[1] / each[1],
        .gridDimZ = launch->grid[2] / each[2],
        .blockDimX = launch->block[0],
        .blockDimY = launch->block[1],
        .blockDimZ = launch->block[2],
        .sharedMemBytes = launch->dynamic_shared,
        .kern = function_kernel(launch->function),
        .ctx = (CUcontext)operation->context,
    };
}

size_t launch_arguments(const struct operation *operation, void **list)
{
    struct launch *launch = (void *)operation->payload;
    const struct exec_function_info *info = exec_function_info(launch->function->code);
    for (size_t i = 0; list != NULL && i < info->parameter_count; i++)
        list[i] = launch->parameters + info->parameters[i].offset;
    return info->parameter_count;
}

bool launch_priority(const struct operation *operation, int *priority)
{
    const struct launch *launch = (const struct launch *)(const void *)operation->payload;
    if (launch->has_priority) *priority = launch->priority;
    return launch->has_priority;
}

bool launch_is_cooperative(const struct operation *operation)
{
    return ((const struct launch *)(const void *)operation->payload)->cooperative;
}

void launch_cluster(const struct operation *operation, unsigned cluster[3])
{
    const struct launch *launch = (const void *)operation->payload;
    memcpy(cluster, launch->cluster, sizeof launch->cluster);
}

CUresult launch_set_cluster(struct operation *operation, const unsigned cluster[3])
{
    struct launch *launch = (void *)operation->payload;
    struct launch with = *launch;
    memcpy(with.cluster, cluster, sizeof with.cluster);
    for (int i = 0; i < 3; i++)
        if (exec_function_info(launch->function->code)->cluster[i] > 0)
            return CUDA_ERROR_INVALID_VALUE;
    if (product(cluster) == 0 && (cluster[0] | cluster[1] | cluster[2]))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    TRY(check_cluster(&with));
    memcpy(launch->cluster, cluster, sizeof launch->cluster);
    return CUDA_SUCCESS;
}

bool launch_is_like(const struct operation *operation, const struct operation *other)
{
    const struct launch *launch = (const void *)operation->payload;
    const struct launch *like = (const void *)other->payload;
    return launch->cooperative == like->cooperative; /* its clusters may change, as on an H200 */
}

static bool has_made_cluster(const struct launch *launch)
{
    return exec_function_info(launch->function->code)->cluster[0] > 0;
}

CUresult launch_set_like(struct operation *operation, const struct operation *other)
{
    struct launch *launch = (void *)operation->payload;
    const struct launch *like = (const void *)other->payload;
    if (!has_made_cluster(launch) && !has_made_cluster(like)) {
        if (like->cluster[0] > 0)
            TRY(launch_set_cluster(operation, like->cluster));
        else
            for (int i = 0; i < 3; i++)
                launch->cluster[i] = (unsigned)launch->function->cluster.size[i];
    }
    launch_set_cooperative(operation, like->cooperative);
    return CUDA_SUCCESS;
}

bool launch_is_dependent(const struct operation *operation)
{
    return operation->record.what == TRACE_KERNEL &&
           ((const struct launch *)(const void *)operation->payload)->dependent;
}

bool launch_follow(struct operation *operation, const struct operation *primary,
                   struct timeline_op *op, bool at_once)
{
    struct launch *launch = (void *)operation->payload;
    const struct launch *before = (const void *)primary->payload;
    const bool lets = at_once || exec_function_info(before->function->code)->triggers;
    return lets && !exec_function_info(launch->function->code)->launches &&
           early_add(&launch->noted.beside, op);
}

void launch_set_cooperative(struct operation *operation, bool cooperative)
{
    ((struct launch *)(void *)operation->payload)->cooperative = cooperative;
}

/* ---- launch functions of the API --------------------------------------------------------- */

CUresult driver_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                               unsigned int gridDimZ, unsigned int blockDimX,
                               unsigned int blockDimY, unsigned int blockDimZ,
                               unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,
                               void **extra)
{
    return submit_launch(f, hStream,
                         &(struct launch){.grid = {gridDimX, gridDimY, gridDimZ},
                                          .block = {blockDimX, blockDimY, blockDimZ},
                                          .dynamic_shared = sharedMemBytes},
                         kernelParams, extra);
}

CUresult driver_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                          unsigned int gridDimY, unsigned int gridDimZ,
                                          unsigned int blockDimX, unsigned int blockDimY,
                                          unsigned int blockDimZ, unsigned int sharedMemBytes,
                                          CUstream hStream, void **kernelParams)
{
    return submit_launch(f, hStream,
                         &(struct launch){.grid = {gridDimX, gridDimY, gridDimZ},
                                          .block = {blockDimX, blockDimY, blockDimZ},
                                          .dynamic_shared = sharedMemBytes,
                                          .cooperative = true},
                         kernelParams, NULL);
}

/* An event that a launch itself records. */
struct told_event {
    const CUlaunchAttribute *attribute; /* NULL: none */
    CUevent event;
    bool at_once; /* when all blocks have begun, else at the kernel's trigger */
};

/* Records the event of a kernel that has been launched. Of a programmatic one the end is the
 * trigger of a kernel without triggers. */
static CUresult record_told(CUfunction handle, struct event *event, CUstream stream_handle,
                            struct stream *stream, const struct told_event *told)
{
    struct function *function;
    TRY(function_find_in(handle, stream->object.context, &function));
    const bool programmatic = told->attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    if (programmatic && !told->at_once && !exec_function_info(function->code)->triggers)
        return driver_cuEventRecord(told->event, stream_handle);
    thread.call.object = event->object.id;
    return event_record_early(event, stream, programmatic);
}

/* Launches a kernel that records an event. During a capture it gives the next node's edge its
 * type. */
static CUresult submit_telling(CUfunction handle, CUstream stream_handle,
                               const struct launch *shape, void **parameters, void **extra,
                               const struct told_event *told)
{
    struct stream *stream;
    TRY(stream_for_work(stream_handle, &stream));
    struct event *event = object_find(told->event, OBJECT_EVENT);
    if (event == NULL) return capture_refuse(stream, object_error(told->event));
    if (!(event->flags & CU_EVENT_DISABLE_TIMING) || (event->flags & CU_EVENT_INTERPROCESS))
        return capture_refuse(stream, CUDA_ERROR_INVALID_VALUE);
    if (event->object.context != stream->object.context) /* recording says so, before the launch */
        return driver_cuEventRecord(told->event, stream_handle);
    TRY(submit_launch(handle, stream_handle, shape, parameters, extra));
    if (stream->captured == NULL) return record_told(handle, event, stream_handle, stream, told);
    return capturing->record_port(event, stream, told->at_once,
                                  told->attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
}

/* Takes one attribute of a launch into its shape, or what it is to record. */
static CUresult take_attribute(const CUlaunchAttribute *attribute, struct launch *shape,
                               struct told_event *told)
{
    const CUlaunchAttributeValue *value = &attribute->value;
    switch ((int)attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        shape->cooperative = value->cooperative != 0;
        break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        shape->cluster[0] = value->clusterDim.x;
        shape->cluster[1] = value->clusterDim.y;
        shape->cluster[2] = value->clusterDim.z;
        /* All 0 is no cluster, on an H200 as well. */
        if (product(shape->cluster) == 0 &&
            (shape->cluster[0] | shape->cluster[1] | shape->cluster[2]))
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        shape->dependent = value->programmaticStreamSerializationAllowed != 0;
        break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        *told = (struct told_event){attribute, value->programmaticEvent.event,
                                    value->programmaticEvent.triggerAtBlockStart != 0};
        break;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        *told = (struct told_event){attribute, value->launchCompletionEvent.event, true};
        break;
    /* Hints and permissions: ignoring them is one of the behaviours that they allow. */
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        TRY(attribute_check(attribute->id, value));
        break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: /* a hint as well, but a graph's node remembers it */
        shape->has_priority = true;
        shape->priority = stream_priority_kept(value->priority);
        break;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: /* of streams only */
        return CUDA_ERROR_INVALID_VALUE;
    default:
        return attribute_unsupported(attribute->id, "launch attribute %s");
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                                 void **extra)
{
    NEED_POINTER(config);
    if (config->numAttrs > 0 && config->attrs == NULL) return CUDA_ERROR_INVALID_VALUE;
    struct launch shape = {
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamic_shared = config->sharedMemBytes,
    };
    struct told_event told = {.attribute = NULL};
    for (unsigned i = 0; i < config->numAttrs; i++)
        TRY(take_attribute(&config->attrs[i], &shape, &told));
    if (told.attribute != NULL)
        return submit_telling(f, config->hStream, &shape, kernelParams, extra, &told);
    return submit_launch(f, config->hStream, &shape, kernelParams, extra);
}
