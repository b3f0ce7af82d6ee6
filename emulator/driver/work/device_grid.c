#include "emulator/driver/work/device_grid.h"
#include "emulator/base/array.h"
#include "emulator/base/hash.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/stream.h"

#include <driver_types.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFERS_BYTES = 4 << 20, /* per context: parameters of launches in preparation */
    HANDLE_FIRST = 64,       /* of streams and events: above all fixed handles */
};

/* A grid that was launched, or, without an operation, a stream's wait for an event. */
struct node {
    struct operation *operation;
    struct timeline_op *since;   /* the launching kernel's work before the launch; NULL: all of
                                    it */
    const struct node *after[2]; /* nodes to wait for; NULL: none */
    struct timeline_op *as;      /* its part of the timeline's operation, once run */
    bool ended;
    double end_ns; /* since the start of the host's kernel */
    struct node *next;
};

struct list {
    struct node *first, *last;
};

/* A stream as a thread sees it; or an event, with its latest record in `last`. */
struct queue {
    uint64_t handle;
    uint64_t block, thread; /* owner; UINT64_MAX: all threads */
    bool is_event, destroyed;
    struct node *last;
    struct queue *next;
};

struct buffer {
    uint64_t address;
    struct device_shape shape;
};

/* A host launch together with everything that it led to. */
struct family {
    struct timeline_op *whole;
    struct {
        struct trace_record record;
        double start_ns, end_ns; /* since the host's kernel began */
    } * records;
    size_t record_count, record_room;
    size_t pending; /* launched and not ended */
    uint64_t handles, choices;
    double end_ns; /* end of the whole family */
};

struct device_grid {
    struct operation *operation;
    struct family *family;
    bool is_first;            /* the grid of the host's launch, which owns the family */
    bool leaves_tails;        /* its tail launches are run by the code that runs this grid */
    struct timeline_op *told; /* its part up to its last launch; NULL: no launch yet */
    struct timeline_op *now;  /* its part since then */
    const struct exec_launch *request;
    struct findings_kernel *noted;
    struct list children, tails;
    struct queue *queues;
    struct buffer *buffers;
    size_t buffer_count, buffer_room;
    struct error {
        uint64_t block;
        uint32_t thread;
        unsigned code;
        struct error *next;
    } * errors;
    double end_ns; /* end of its own threads */
};

/* ---- life -------------------------------------------------------------------------------- */

/* `parent` NULL: the grid of the host's launch. */
static struct device_grid *create_grid(struct operation *operation,
                                       const struct device_grid *parent)
{
    struct device_grid *grid = calloc(1, sizeof *grid);
    if (grid == NULL) return NULL;
    grid->operation = operation;
    grid->is_first = parent == NULL;
    grid->family = parent != NULL ? parent->family : calloc(1, sizeof *grid->family);
    if (grid->family == NULL) goto no_memory;
    if (parent == NULL) grid->family->whole = operation->op;
    grid->now = timeline_part(grid->family->whole, &operation->op, 1);
    if (grid->now != NULL) return grid;
no_memory:
    device_grid_destroy(grid);
    return NULL;
}

struct device_grid *device_grid_create(struct operation *operation)
{
    operation->family = ++driver.families;
    return create_grid(operation, NULL);
}

static void list_free(struct list *list)
{
    for (struct node *node = list->first, *next; node != NULL; node = next) {
        next = node->next;
        if (node->operation != NULL) {
            node->operation->op = NULL;
            operation_drop(node->operation);
        }
        timeline_op_release(node->since);
        timeline_op_release(node->as);
        free(node);
    }
    *list = (struct list){NULL, NULL};
}

void device_grid_destroy(struct device_grid *grid)
{
    if (grid == NULL) return;
    list_free(&grid->children);
    list_free(&grid->tails);
    for (struct queue *queue = grid->queues, *next; queue != NULL; queue = next) {
        next = queue->next;
        free(queue);
    }
    for (struct error *error = grid->errors, *next; error != NULL; error = next) {
        next = error->next;
        free(error);
    }
    timeline_op_release(grid->told);
    timeline_op_release(grid->now);
    if (grid->is_first && grid->family != NULL) {
        free(grid->family->records);
        free(grid->family);
    }
    grid->operation->context->launches_open -= grid->buffer_count;
    free(grid->buffers);
    free(grid);
}

struct timeline_op *device_grid_now(const struct device_grid *grid)
{
    return grid->now;
}

const struct exec_function *device_function(const struct device_grid *grid, uint64_t token)
{
    return exec_function_meant(grid->request->function, token);
}

struct context *device_context(const struct device_grid *grid)
{
    return grid->operation->context;
}

/* ---- parameters -------------------------------------------------------------------------- */

static const struct memory_region *buffers_of(struct context *context)
{
    if (context->launches == NULL)
        context->launches = memory_allocate(&(struct memory_request){
            .kind = MEMORY_DEVICE,
            .size = BUFFERS_BYTES,
            .context = context->object.id,
            .device = (unsigned)context->device,
            .internal = true,
        });
    return context->launches;
}

void device_grid_begins(struct device_grid *grid, struct exec_launch *request,
                        struct findings_kernel *noted)
{
    const struct memory_region *region = buffers_of(grid->operation->context);
    grid->request = request;
    grid->noted = noted;
    request->unseen = region != NULL ? region->address : 0;
    request->device_call = device_runtime_call;
    request->device_user = grid;
}

uint64_t device_buffer_take(struct device_grid *grid, const struct device_shape *shape)
{
    struct context *context = grid->operation->context;
    const struct memory_region *region = buffers_of(context);
    const size_t bytes = (exec_function_info(shape->code)->parameter_bytes + 255) / 256 * 256 + 256;
    if (context->launches_open == 0) context->launches_used = 0;
    if (region == NULL || region->size - context->launches_used < bytes ||
        !array_grow(&grid->buffers, grid->buffer_count, &grid->buffer_room, sizeof *grid->buffers))
        return 0;
    const uint64_t address = region->address + context->launches_used;
    memset(region->bytes + context->launches_used, 0, bytes);
    context->launches_used += bytes;
    context->launches_open++;
    grid->buffers[grid->buffer_count++] = (struct buffer){address, *shape};
    return address;
}

static bool buffer_give(struct device_grid *grid, uint64_t address, struct device_shape *shape)
{
    for (size_t i = grid->buffer_count; i-- > 0;) {
        if (grid->buffers[i].address != address) continue;
        *shape = grid->buffers[i].shape;
        grid->buffers[i] = grid->buffers[--grid->buffer_count];
        grid->operation->context->launches_open--;
        return true;
    }
    return false;
}

/* ---- streams and events ------------------------------------------------------------------ */

static struct queue *queue_add(struct device_grid *grid, const struct queue *like)
{
    struct queue *queue = malloc(sizeof *queue);
    if (queue == NULL) return NULL;
    *queue = *like;
    queue->next = grid->queues;
    grid->queues = queue;
    return queue;
}

static struct queue *queue_find(const struct device_grid *grid, uint64_t handle, bool is_event,
                                uint64_t block, uint64_t thread)
{
    for (struct queue *queue = grid->queues; queue != NULL; queue = queue->next)
        if (queue->handle == handle && queue->is_event == is_event && !queue->destroyed &&
            queue->block == block && queue->thread == thread)
            return queue;
    return NULL;
}

/* The stream that a thread's handle stands for; NULL: none of its block, or no memory. */
static struct queue *stream_meant(struct device_grid *grid, const struct exec_device_call *call,
                                  uint64_t handle)
{
    if (handle == DEVICE_STREAM_LEGACY) handle = DEVICE_STREAM_NULL;
    const uint64_t thread = handle == DEVICE_STREAM_PER_THREAD ? call->thread : UINT64_MAX;
    struct queue *queue = queue_find(grid, handle, false, call->block, thread);
    if (queue != NULL || handle > DEVICE_STREAM_FORGET) return queue;
    return queue_add(grid,
                     &(struct queue){.handle = handle, .block = call->block, .thread = thread});
}

static uint64_t create(struct device_grid *grid, uint64_t block, bool is_event)
{
    const uint64_t handle = HANDLE_FIRST + 8 * ++grid->family->handles;
    return queue_add(grid, &(struct queue){.handle = handle,
                                           .block = block,
                                           .thread = UINT64_MAX,
                                           .is_event = is_event}) != NULL
               ? handle
               : 0;
}

uint64_t device_stream_create(struct device_grid *grid, uint64_t block)
{
    return create(grid, block, false);
}

uint64_t device_event_create(struct device_grid *grid, uint64_t block)
{
    return create(grid, block, true);
}

static unsigned destroy(struct device_grid *grid, uint64_t block, uint64_t handle, bool is_event)
{
    struct queue *queue = queue_find(grid, handle, is_event, block, UINT64_MAX);
    if (queue == NULL || handle < HANDLE_FIRST) return cudaErrorInvalidResourceHandle;
    queue->destroyed = true;
    return cudaSuccess;
}

unsigned device_stream_destroy(struct device_grid *grid, uint64_t block, uint64_t stream)
{
    return destroy(grid, block, stream, false);
}

unsigned device_event_destroy(struct device_grid *grid, uint64_t block, uint64_t event)
{
    return destroy(grid, block, event, true);
}

static struct node *node_add(struct list *list, const struct node *like)
{
    struct node *node = malloc(sizeof *node);
    if (node == NULL) return NULL;
    *node = *like;
    if (list->last != NULL)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
    return node;
}

unsigned device_event_record(struct device_grid *grid, const struct exec_device_call *call,
                             uint64_t event, uint64_t stream)
{
    struct queue *from = stream_meant(grid, call, stream);
    struct queue *to = queue_find(grid, event, true, call->block, UINT64_MAX);
    if (from == NULL || to == NULL || stream == DEVICE_STREAM_TAIL ||
        stream == DEVICE_STREAM_FORGET)
        return cudaErrorInvalidResourceHandle;
    to->last = from->last;
    return cudaSuccess;
}

unsigned device_stream_wait(struct device_grid *grid, const struct exec_device_call *call,
                            uint64_t stream, uint64_t event)
{
    struct queue *to = stream_meant(grid, call, stream);
    const struct queue *from = queue_find(grid, event, true, call->block, UINT64_MAX);
    if (from == NULL || to == NULL || stream == DEVICE_STREAM_TAIL ||
        stream == DEVICE_STREAM_FORGET)
        return cudaErrorInvalidResourceHandle;
    if (from->last == NULL) return cudaSuccess;
    struct node *node = node_add(&grid->children, &(struct node){.after = {to->last, from->last}});
    if (node == NULL) return cudaErrorMemoryAllocation;
    to->last = node;
    return cudaSuccess;
}

unsigned *device_error(struct device_grid *grid, const struct exec_device_call *call)
{
    for (struct error *error = grid->errors; error != NULL; error = error->next)
        if (error->block == call->block && error->thread == call->thread) return &error->code;
    struct error *error = calloc(1, sizeof *error);
    if (error == NULL) return NULL;
    *error = (struct error){.block = call->block, .thread = call->thread, .next = grid->errors};
    grid->errors = error;
    return &error->code;
}

/* ---- launching --------------------------------------------------------------------------- */

/* The part of the kernel that has run so far, with a reference: a child launched now happens after
 * this part, and later accesses belong to a new part. */
static struct timeline_op *done_so_far(struct device_grid *grid)
{
    struct operation *operation = grid->operation;
    struct timeline_op *op = operation->op;
    if (grid->told != NULL && !findings_kernel_has_touched(grid->noted))
        return timeline_op_retain(grid->told);
    struct timeline_op *next = timeline_part(grid->family->whole, &grid->now, 1);
    if (next == NULL) return timeline_op_retain(grid->now); /* may miss races, invents none */
    operation->op = grid->now;
    findings_kernel_part(operation, grid->noted, grid->request);
    operation->op = op;
    timeline_op_release(grid->told);
    grid->told = grid->now;
    grid->now = next;
    return timeline_op_retain(grid->told);
}

/* A parameter that is an address in memory of the launching thread or block (local, shared,
 * parameters), which the child cannot use; 0: none. */
static uint64_t own_address(const struct exec_function_info *info, const unsigned char *parameters)
{
    for (size_t i = 0; i < info->parameter_count; i++) {
        uint64_t value;
        if (info->parameters[i].size != sizeof value) continue;
        memcpy(&value, parameters + info->parameters[i].offset, sizeof value);
        if (exec_is_own_address(value)) return value;
    }
    return 0;
}

/* Reports that the kernel of `shape` is not launched because `limit` launches are pending. */
static unsigned refuse(const struct device_grid *grid, const struct exec_device_call *call,
                       const struct device_shape *shape, uint64_t limit)
{
    const struct operation *parent = grid->operation;
    struct trace_record found =
        finding_at_work(FINDING_LAUNCH_PENDING, &parent->record, parent->stream_caller);
    finding_line(&found, 0, call->file, call->line);
    finding_detail(&found, "%s", exec_function_info(shape->code)->name);
    found.finding.numbers[0] = limit;
    found.code = cudaErrorLaunchPendingCountExceeded;
    finding_put(&found);
    return cudaErrorLaunchPendingCountExceeded;
}

/* Translates the driver's error of a launch to the runtime's. */
static unsigned runtime_code(CUresult code)
{
    return code == CUDA_ERROR_INVALID_VALUE ? (unsigned)cudaErrorInvalidConfiguration
                                            : (unsigned)code;
}

unsigned device_launch(struct device_grid *grid, struct exec_device_call *call, uint64_t buffer,
                       uint64_t stream, bool *stops)
{
    struct device_shape shape;
    struct operation *operation;
    struct family *family = grid->family;
    const struct context *context = grid->operation->context;
    const size_t limit = context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT];
    if (!buffer_give(grid, buffer, &shape)) return cudaErrorInvalidValue;
    const unsigned char *parameters =
        context->launches->bytes + (buffer - context->launches->address);
    const bool is_tail = stream == DEVICE_STREAM_TAIL;
    struct queue *queue = stream_meant(grid, call, stream);
    if (queue == NULL) return cudaErrorInvalidResourceHandle;
    call->number = own_address(exec_function_info(shape.code), parameters);
    if (call->number != 0) {
        call->finding = FINDING_OWN_MEMORY_TO_CHILD;
        call->said = exec_function_info(shape.code)->name;
        *stops = true;
        return cudaErrorInvalidValue;
    }
    if (family->pending >= limit) return refuse(grid, call, &shape, limit);
    const CUresult code = launch_within(grid->operation, &shape, parameters, &operation);
    if (code != CUDA_SUCCESS) return runtime_code(code);
    struct node *node =
        node_add(is_tail ? &grid->tails : &grid->children,
                 &(struct node){.operation = operation,
                                .since = is_tail ? NULL : done_so_far(grid),
                                .after = {stream == DEVICE_STREAM_FORGET ? NULL : queue->last}});
    if (node == NULL) {
        operation_drop(operation);
        return cudaErrorMemoryAllocation;
    }
    queue->last = node;
    family->pending++;
    return cudaSuccess;
}

/* ---- running ----------------------------------------------------------------------------- */

static void record_child(struct family *family, const struct operation *operation, double start_ns,
                         double end_ns)
{
    if (!array_grow(&family->records, family->record_count, &family->record_room,
                    sizeof *family->records))
        return;
    family->records[family->record_count].record = operation->record;
    family->records[family->record_count].start_ns = start_ns;
    family->records[family->record_count++].end_ns = end_ns;
}

/* Runs a node behind the parts `after`, beginning at `start_ns`. */
static bool run_node(struct device_grid *grid, struct node *node, struct timeline_op *const *after,
                     size_t count, double start_ns, bool is_tail)
{
    struct family *family = grid->family;
    struct timeline_cost cost = {0};
    bool ran = true;
    node->as = timeline_part(family->whole, after, count);
    node->ended = true;
    node->end_ns = start_ns;
    if (node->operation == NULL || node->as == NULL) {
        if (node->operation != NULL) family->pending--;
        return node->as != NULL;
    }
    node->operation->op = node->as;
    node->operation->record.ran_ns = monotonic_ns();
    struct device_grid **child = launch_device_grid(node->operation);
    if (child != NULL) {
        *child = create_grid(node->operation, grid);
        if (*child == NULL) return false;
        (*child)->leaves_tails = is_tail;
        (*child)->end_ns = start_ns; /* when it begins, until it has ended */
    }
    ran = launch_run_within(node->operation, &cost);
    node->end_ns = start_ns + cost.duration_ns;
    if (node->end_ns > family->end_ns) family->end_ns = node->end_ns;
    record_child(family, node->operation, start_ns, node->end_ns);
    family->pending--;
    return ran;
}

static bool is_ready(const struct node *node)
{
    return !node->ended && (node->after[0] == NULL || node->after[0]->ended) &&
           (node->after[1] == NULL || node->after[1]->ended);
}

/* Picks one of the nodes that may run now, by the order policy. */
static struct node *choose(struct device_grid *grid)
{
    const enum timeline_order order = environment()->order;
    struct node *best = NULL;
    uint64_t seen = 0;
    for (struct node *node = grid->children.first; node != NULL; node = node->next) {
        if (!is_ready(node)) continue;
        seen++;
        if (best == NULL || order == TIMELINE_LATEST ||
            (order == TIMELINE_RANDOM &&
             hash_spread(environment()->seed + grid->family->choices++) % seen == 0))
            best = node;
        if (order == TIMELINE_EARLIEST) break;
    }
    return best;
}

static bool run_children(struct device_grid *grid, double *end_ns)
{
    struct node *node;
    while ((node = choose(grid)) != NULL) {
        struct timeline_op *after[3] = {node->since};
        double start_ns = grid->end_ns;
        for (int i = 0; i < 2; i++) {
            if (node->after[i] == NULL) continue;
            after[i + 1] = node->after[i]->as;
            if (node->after[i]->end_ns > start_ns) start_ns = node->after[i]->end_ns;
        }
        if (node->operation != NULL) start_ns += timeline_model->chain;
        if (!run_node(grid, node, after, 3, start_ns, false)) return false;
        timeline_join(grid->now, node->as);
        if (node->end_ns > *end_ns) *end_ns = node->end_ns;
    }
    return true;
}

/* Runs tail launches one after the other; a tail launched by one of them runs before the next. */
static bool run_tails(struct device_grid *grid, double *end_ns)
{
    struct node *node;
    while ((node = grid->tails.first) != NULL) {
        struct list one = {node, node};
        grid->tails.first = node->next;
        if (grid->tails.first == NULL) grid->tails.last = NULL;
        node->next = NULL;
        const bool ran = run_node(grid, node, &grid->now, 1, *end_ns + timeline_model->chain, true);
        if (node->as != NULL) timeline_join(grid->now, node->as);
        if (node->end_ns > *end_ns) *end_ns = node->end_ns;
        struct device_grid **of = launch_device_grid(node->operation);
        if (of != NULL && *of != NULL && (*of)->tails.first != NULL) {
            (*of)->tails.last->next = grid->tails.first;
            if (grid->tails.first == NULL) grid->tails.last = (*of)->tails.last;
            grid->tails.first = (*of)->tails.first;
            (*of)->tails = (struct list){NULL, NULL};
        }
        list_free(&one);
        if (!ran) return false;
    }
    return true;
}

/* The operation's times are known now, so the times of everything it led to are as well. */
static void settled(struct operation *operation)
{
    const struct device_grid *grid = *launch_device_grid(operation);
    const struct family *family = grid->family;
    const uint64_t start_ns = operation->record.start_ns;
    const double took_ns = (double)(operation->record.end_ns - start_ns);
    const double scale = family->end_ns > 0 ? took_ns / family->end_ns : 0;
    for (size_t i = 0; i < family->record_count; i++) {
        struct trace_record *record = &family->records[i].record;
        record->start_ns = start_ns + (uint64_t)(family->records[i].start_ns * scale);
        record->end_ns = start_ns + (uint64_t)(family->records[i].end_ns * scale);
        trace_put(driver.trace, record);
    }
}

bool device_grid_finish(struct device_grid *grid, struct timeline_cost *cost)
{
    struct operation *operation = grid->operation;
    const double began_ns = grid->end_ns;
    grid->end_ns += cost->duration_ns;
    double end_ns = grid->end_ns;
    const bool ran =
        run_children(grid, &end_ns) && (grid->leaves_tails || run_tails(grid, &end_ns));
    timeline_join(operation->op, grid->now);
    const double more_ns = end_ns - began_ns - cost->duration_ns;
    if (cost->cached_ns > 0) cost->cached_ns += more_ns;
    if (cost->used_ns > 0) cost->used_ns += more_ns;
    cost->duration_ns += more_ns;
    list_free(&grid->children);
    if (!grid->leaves_tails) list_free(&grid->tails);
    if (!grid->is_first) return ran;
    grid->family->end_ns = end_ns;
    operation->settled = settled;
    findings_kernel_ran(operation, &(struct findings_kernel){0}, grid->request);
    return ran;
}
