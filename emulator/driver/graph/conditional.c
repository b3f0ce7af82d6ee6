/* Conditional nodes: handles, bodies, and the choice between bodies, made when the node runs. A
 * handle is the address of its condition, 4 bytes of device memory. Stores by kernels
 * (module/device_runtime.c) and the node's own read are checked like any other access.
 *
 * A node consists of two operations of the timeline: the choice, which reads the condition and
 * launches a body behind itself, and the end, behind that body. A loop's choice launches another
 * choice behind the body, and so on.
 *
 * Source: CUDA Driver API 13.0, cuGraphConditionalHandleCreate, CUDA_CONDITIONAL_NODE_PARAMS; CUDA
 * C++ Programming Guide, "Conditional Graph Nodes". */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/graph/parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    UNSEEN_ROUNDS = 100000, /* most rounds of a loop that runs only for the checks, after the
                               program's end */
    SETTLED_ROUNDS = 64,    /* rounds of a loop after which the virtual clock catches up */
};

/* The contents of a condition that nothing has set. */
static const uint32_t unset = MEMORY_POISON * 0x01010101u;

struct condition {
    unsigned references;  /* graphs, nodes and launches */
    uint64_t address, id; /* of the region, which may have ended with its context */
    struct context *context;
    const struct graph *graph; /* graph that the handle was made for; only compared, never
                                  dereferenced */
    unsigned value, flags;     /* default value and its flags */
    bool taken;                /* a node uses it */
    struct condition *next;
};

static struct {
    struct condition *first;
} conditions;

/* Payload of a conditional node's operation. */
struct choice {
    struct condition *condition;
    struct graph_inside *inside;
    CUgraphConditionalNodeType type;
    struct timeline_stream *time; /* of the stream that it was launched into */
    struct timeline_op *end;      /* NULL: not launched, or the choice has been made */
    unsigned lane;
    uint64_t rounds; /* of a loop, so far */
};

/* ---- conditions -------------------------------------------------------------------------- */

static const struct memory_region *region_of(const struct condition *condition)
{
    const struct memory_region *region = memory_find(condition->address);
    return region != NULL && region->id == condition->id ? region : NULL;
}

static struct races_rows rows_of(const struct condition *condition)
{
    return (struct races_rows){condition->address, sizeof unset, sizeof unset, 1, sizeof unset, 1};
}

static struct condition *condition_retain(struct condition *condition)
{
    condition->references++;
    return condition;
}

static void condition_release(struct condition *condition)
{
    if (--condition->references > 0) return;
    const struct memory_region *region = region_of(condition);
    struct condition **link = &conditions.first;
    while (*link != condition) link = &(*link)->next;
    *link = condition->next;
    if (region != NULL) {
        findings_memory_gone(region);
        memory_release(region, (uint64_t)(uintptr_t)thread.call.caller);
    }
    free(condition);
}

static struct condition *condition_find(CUgraphConditionalHandle handle)
{
    for (struct condition *condition = conditions.first; condition != NULL;
         condition = condition->next)
        if (condition->address == handle && handle != 0) return condition;
    return NULL;
}

static bool conditions_add(struct graph *graph, struct condition *condition)
{
    struct condition **list =
        reallocarray(graph->conditions, graph->condition_count + 1, sizeof *list);
    if (list == NULL) return false;
    graph->conditions = list;
    list[graph->condition_count++] = condition_retain(condition);
    return true;
}

bool graph_conditions_share(const struct graph *from, struct graph *to)
{
    for (size_t i = 0; i < from->condition_count; i++)
        if (!conditions_add(to, from->conditions[i])) return false;
    return true;
}

void graph_conditions_release(struct graph *graph)
{
    for (size_t i = 0; i < graph->condition_count; i++) condition_release(graph->conditions[i]);
    free(graph->conditions);
    graph->conditions = NULL;
    graph->condition_count = 0;
}

static struct condition *condition_make(struct context *context, const struct graph *graph)
{
    struct condition *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    const struct memory_region *region = memory_allocate(&(struct memory_request){
        .kind = MEMORY_DEVICE,
        .size = sizeof unset,
        .context = context->object.id,
        .device = (unsigned)context->device,
        .id = ++driver.ids,
        .caller = (uint64_t)(uintptr_t)thread.call.caller,
        .internal = true,
    });
    if (region == NULL) {
        free(made);
        return NULL;
    }
    memcpy(region->bytes, &unset, sizeof unset);
    made->address = region->address;
    made->id = region->id;
    made->context = context;
    made->graph = graph;
    made->next = conditions.first;
    conditions.first = made;
    return made;
}

CUresult driver_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out,
                                               CUgraph hGraph, CUcontext ctx,
                                               unsigned int defaultLaunchValue, unsigned int flags)
{
    struct graph *graph;
    NEED_POINTER(pHandle_out);
    TRY(graph_find(hGraph, &graph));
    if (flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    struct context *context = object_find(ctx, OBJECT_CONTEXT);
    if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    TRY(context_check(context));
    struct condition *condition = condition_make(context, graph);
    if (condition == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    condition->value = defaultLaunchValue;
    condition->flags = flags;
    condition_retain(condition);
    const bool added = conditions_add(graph, condition);
    if (added) *pHandle_out = condition->address;
    condition_release(condition);
    return added ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- nodes ------------------------------------------------------------------------------- */

bool graph_is_conditional(const struct graph_node *node)
{
    return node->params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

bool graph_has_conditional(const struct graph *graph)
{
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (graph_is_conditional(node)) return true;
        for (size_t i = 0; i < graph_inside_count(node); i++)
            if (graph_has_conditional(node->inside->graphs[i])) return true;
    }
    return false;
}

void graph_inside_release(struct graph_inside *inside)
{
    if (inside == NULL || --inside->references > 0) return;
    for (size_t i = 0; i < inside->count; i++)
        if (inside->graphs[i] != NULL) graph_end(inside->graphs[i]);
    free(inside);
}

static struct choice *choice_of(const struct operation *operation)
{
    return (struct choice *)(uintptr_t)operation->payload;
}

static void drop_choice(struct operation *operation)
{
    struct choice *choice = choice_of(operation);
    timeline_op_release(choice->end);
    graph_inside_release(choice->inside);
    condition_release(choice->condition);
}

static void copied_choice(struct operation *operation)
{
    condition_retain(choice_of(operation)->condition);
    choice_of(operation)->inside->references++;
}

/* The choice will not be made. */
static void abandoned_choice(struct operation *operation)
{
    struct choice *choice = choice_of(operation);
    timeline_op_release(choice->end);
    choice->end = NULL;
}

static enum timeline_ran run_choice(struct operation *operation);

/* Turns a newly made operation into a choice between the graphs of `inside`. */
static void choice_begin(struct operation *operation, const struct choice *choice)
{
    static const char *const names[] = {"IF", "WHILE", "SWITCH"};
    operation->record.what = TRACE_CONDITION;
    trace_copy_string(operation->record.name, sizeof operation->record.name, names[choice->type]);
    *choice_of(operation) = *choice;
    operation->run = run_choice;
    operation->drop = drop_choice;
    operation->copied = copied_choice;
    operation->abandoned = abandoned_choice;
    copied_choice(operation);
}

/* Makes the node's operation. Takes ownership of `inside`, also on failure. */
static CUresult become(struct graph_node *node, struct condition *condition,
                       CUgraphConditionalNodeType type, struct graph_inside *inside)
{
    const struct choice choice = {.condition = condition, .inside = inside, .type = type};
    CUresult code = context_check(condition->context);
    struct operation *operation = NULL;
    if (code == CUDA_SUCCESS) {
        operation = operation_make(condition->context->legacy, TRACE_CONDITION, sizeof choice);
        if (operation == NULL) code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (code != CUDA_SUCCESS) {
        graph_inside_release(inside);
        return code;
    }
    choice_begin(operation, &choice);
    graph_inside_release(inside); /* the operation now holds the reference for both itself and the
                                     node */
    for (size_t i = 0; i < inside->count; i++) inside->graphs[i]->holder = node;
    node->operation = operation;
    node->inside = inside;
    node->work = (struct timeline_work){.kind = TIMELINE_KERNEL};
    return CUDA_SUCCESS;
}

/* Makes room for `count` graphs; NULL: no memory. */
static struct graph_inside *inside_make(size_t count)
{
    struct graph_inside *inside = calloc(1, sizeof *inside + count * sizeof(struct graph *));
    if (inside == NULL) return NULL;
    inside->references = 1;
    inside->count = count;
    return inside;
}

static bool size_is_right(const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    static const unsigned most[] = {[CU_GRAPH_COND_TYPE_IF] = 2,
                                    [CU_GRAPH_COND_TYPE_WHILE] = 1,
                                    [CU_GRAPH_COND_TYPE_SWITCH] = UINT32_MAX};
    return (unsigned)params->type < sizeof most / sizeof *most && params->size >= 1 &&
           params->size <= most[params->type];
}

static CUresult refuse(enum trace_finding_id id, const struct graph_node *node, uint64_t number)
{
    struct trace_record found = finding_at_call(id, CUDA_ERROR_INVALID_VALUE);
    if (node != NULL) finding_detail(&found, "%s", graph_type_name(node->params.type));
    found.finding.numbers[0] = number;
    finding_put(&found);
    return CUDA_ERROR_INVALID_VALUE;
}

/* Returns true if the condition belongs to the graph or to one that encloses it. */
static bool is_of(const struct condition *condition, const struct graph *graph)
{
    while (graph != condition->graph && graph->holder != NULL) graph = graph->holder->graph;
    return graph == condition->graph;
}

CUresult graph_conditional_set(struct graph_node *node, CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    struct condition *condition = condition_find(params->handle);
    if (condition == NULL || condition->taken || !size_is_right(params) ||
        (params->ctx != NULL && (void *)params->ctx != condition->context))
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_of(condition, node->graph))
        return refuse(FINDING_GRAPH_CONDITION_FOREIGN, NULL, condition->address);
    struct graph_inside *inside = inside_make(params->size);
    if (inside == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < inside->count; i++) {
        inside->graphs[i] = graph_make();
        if (inside->graphs[i] != NULL) continue;
        graph_inside_release(inside);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    TRY(become(node, condition, params->type, inside));
    condition->taken = true;
    params->phGraph_out = (CUgraph *)(void *)inside->graphs;
    node->params.conditional = *params;
    return CUDA_SUCCESS;
}

CUresult graph_conditional_copy(struct graph_node *to, const struct graph_node *from)
{
    const struct choice *choice = choice_of(from->operation);
    struct graph_inside *inside = inside_make(from->inside->count);
    if (inside == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < inside->count; i++) {
        const CUresult code = graph_copy(from->inside->graphs[i], &inside->graphs[i]);
        if (code == CUDA_SUCCESS) continue;
        graph_inside_release(inside);
        return code;
    }
    TRY(become(to, choice->condition, choice->type, inside));
    to->operation->record.caller = from->operation->record.caller;
    to->operation->record.stack = from->operation->record.stack;
    to->params = from->params;
    to->params.conditional.phGraph_out = (CUgraph *)(void *)inside->graphs;
    return CUDA_SUCCESS;
}

void graph_conditional_take(struct graph_node *node, const struct graph_node *by)
{
    struct choice *choice = choice_of(node->operation);
    struct condition *condition = condition_retain(choice_of(by->operation)->condition);
    condition_release(choice->condition);
    choice->condition = condition;
}

void graph_conditional_forget(struct graph_node *node)
{
    if (graph_is_conditional(node) && node->operation != NULL && node->source == 0)
        choice_of(node->operation)->condition->taken = false;
}

/* ---- instances --------------------------------------------------------------------------- */

/* Returns true for a copy from or to pageable memory, which only the host can reach. */
static bool is_of_the_host(const struct graph_node *node)
{
    return node->params.type == CU_GRAPH_NODE_TYPE_MEMCPY &&
           (node->operation->record.from == TRACE_PAGEABLE ||
            node->operation->record.to == TRACE_PAGEABLE);
}

/* Returns true if the node may be in a body; the graphs inside it are checked separately. */
static bool may_be_inside(const struct graph_node *node)
{
    const CUgraphNodeType type = node->params.type;
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET ||
           (type == CU_GRAPH_NODE_TYPE_MEMCPY && !is_of_the_host(node)) ||
           type == CU_GRAPH_NODE_TYPE_EMPTY || type == CU_GRAPH_NODE_TYPE_GRAPH ||
           type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

static CUresult check_inside(const struct graph *graph, bool is_body, struct graph_node **offender,
                             CUgraphInstantiateResult *why)
{
    for (size_t i = 0; i < graph->condition_count; i++)
        if (!graph->conditions[i]->taken) {
            *why = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
            return refuse(FINDING_GRAPH_CONDITION_UNUSED, NULL, graph->conditions[i]->address);
        }
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (is_body && !may_be_inside(node)) {
            *offender = node;
            *why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
            return refuse(FINDING_GRAPH_NODE_IN_BODY, node, is_of_the_host(node));
        }
        for (size_t i = 0; i < graph_inside_count(node); i++)
            TRY(check_inside(node->inside->graphs[i], is_body || graph_is_conditional(node),
                             offender, why));
    }
    return CUDA_SUCCESS;
}

CUresult graph_conditional_check(const struct graph *graph, struct graph_node **offender,
                                 CUgraphInstantiateResult *why)
{
    return check_inside(graph, false, offender, why);
}

/* Makes the nodes of `copy` count as copies of the same originals as the nodes of `of`. */
static void keep_sources(struct graph *copy, const struct graph *of)
{
    const struct graph_node *from = of->first;
    for (struct graph_node *to = copy->first; to != NULL; to = to->next, from = from->next) {
        to->source = from->source;
        for (size_t i = 0; i < graph_inside_count(to); i++)
            keep_sources(to->inside->graphs[i], from->inside->graphs[i]);
    }
}

static CUresult own(struct graph_node *node)
{
    struct graph_node *unused;
    struct graph *aside = graph_make();
    if (aside == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    struct graph_node *copy = graph_node_make(aside, node->params.type);
    CUresult code = copy != NULL ? graph_conditional_copy(copy, node) : CUDA_ERROR_OUT_OF_MEMORY;
    if (copy != NULL) copy->source = node->object.id;
    for (size_t i = 0; code == CUDA_SUCCESS && i < copy->inside->count; i++) {
        keep_sources(copy->inside->graphs[i], node->inside->graphs[i]);
        copy->inside->graphs[i]->holder = node;
        code = graph_sort_all(copy->inside->graphs[i], &unused);
    }
    if (code == CUDA_SUCCESS) {
        struct operation *operation = node->operation;
        node->operation = copy->operation;
        node->inside = copy->inside;
        node->params = copy->params;
        copy->operation = operation; /* released together with `aside` */
        copy->inside = NULL;
    }
    graph_end(aside);
    return code;
}

CUresult graph_conditional_own(struct graph *graph)
{
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (graph_is_conditional(node) && node->inside->references > 1) TRY(own(node));
        for (size_t i = 0; i < graph_inside_count(node); i++)
            TRY(graph_conditional_own(node->inside->graphs[i]));
    }
    return CUDA_SUCCESS;
}

/* ---- launching --------------------------------------------------------------------------- */

/* The conditions of a launch. */
struct begun {
    size_t count, room;
    struct condition *list[];
};

static size_t conditions_in(const struct graph *graph, struct begun *begun)
{
    size_t count = graph->condition_count;
    for (size_t i = 0; begun != NULL && i < graph->condition_count; i++)
        begun->list[begun->count++] = condition_retain(graph->conditions[i]);
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next)
        for (size_t i = 0; i < graph_inside_count(node); i++)
            count += conditions_in(node->inside->graphs[i], begun);
    return count;
}

/* Sets the conditions of a launch. Without a default value a condition begins undefined. */
static enum timeline_ran run_defaults(struct timeline_op *op, void *user)
{
    const struct begun *begun = user;
    (void)op;
    for (size_t i = 0; i < begun->count; i++) {
        const struct condition *condition = begun->list[i];
        const struct memory_region *region = region_of(condition);
        const bool assigns = condition->flags & CU_GRAPH_COND_ASSIGN_DEFAULT;
        if (region == NULL) continue;
        memcpy(region->bytes, assigns ? &condition->value : &unset, sizeof unset);
    }
    return TIMELINE_RAN;
}

static void release_begun(void *user)
{
    struct begun *begun = user;
    for (size_t i = 0; i < begun->count; i++) condition_release(begun->list[i]);
    free(begun);
}

static struct timeline_op *mark_with(const struct graph *graph, struct stream *stream,
                                     struct timeline_op *after, bool assigns)
{
    struct timeline_work mark = {.kind = TIMELINE_MARK};
    const size_t count = conditions_in(graph, NULL);
    struct begun *begun = NULL;
    if (count > 0) {
        begun = calloc(1, sizeof *begun + count * sizeof(struct condition *));
        if (begun == NULL) return NULL;
        conditions_in(graph, begun);
        mark.run = assigns ? run_defaults : NULL;
        mark.release = release_begun;
        mark.user = begun;
    }
    struct timeline_op *op =
        timeline_submit(stream->time, &mark, thread.clock_ns, &after, after != NULL);
    if (op == NULL && begun != NULL) release_begun(begun);
    return op;
}

struct timeline_op *graph_conditions_begin(const struct graph *graph, struct stream *stream,
                                           struct timeline_op *after)
{
    return mark_with(graph, stream, after, true);
}

struct timeline_op *graph_conditions_end(const struct graph *graph, struct stream *stream,
                                         struct timeline_op *after)
{
    return mark_with(graph, stream, after, false);
}

CUresult graph_conditional_launch(struct launching *launching, struct graph_node *node,
                                  size_t count)
{
    static const struct timeline_work mark = {.kind = TIMELINE_MARK};
    struct operation *operation = graph_launch_copy(launching, node->operation);
    struct timeline_op *op;
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    struct choice *choice = choice_of(operation);
    choice->time = launching->time;
    choice->lane = node->lane;
    struct timeline_work work = node->work;
    work.beside = launching->within != NULL;
    timeline_hold(driver.timeline, true);
    CUresult code = operation_submit_part(operation, launching->time, node->lane, &work,
                                          launching->after, count, &op);
    if (code == CUDA_SUCCESS) {
        node->op =
            timeline_submit_part(launching->time, node->lane, &mark, launching->issue_ns, &op, 1);
        choice->end = timeline_op_retain(node->op);
        timeline_op_release(op);
        if (node->op == NULL) code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    timeline_hold(driver.timeline, launching->within != NULL);
    return code;
}

/* ---- choice ------------------------------------------------------------------------------ */

/* The body that the condition's value selects; NULL: none. */
static const struct graph *body_of(const struct choice *choice, uint32_t value)
{
    const struct graph_inside *inside = choice->inside;
    const size_t index = choice->type == CU_GRAPH_COND_TYPE_SWITCH ? value : value == 0;
    return index < inside->count ? inside->graphs[index] : NULL;
}

static uint32_t condition_read(struct operation *operation)
{
    const struct choice *choice = choice_of(operation);
    const struct memory_region *region = region_of(choice->condition);
    const struct races_rows rows = rows_of(choice->condition);
    uint32_t value = 0;
    if (region == NULL) return 0; /* it ended with its context */
    findings_reads(operation, &rows);
    memcpy(&value, region->bytes, sizeof value);
    if (value != unset) return value;
    const struct trace_record found =
        finding_at_work(FINDING_CONDITION_NOT_SET, &operation->record, operation->stream_caller);
    finding_put(&found);
    return 0;
}

/* Submits the same choice once more, for the next round of a loop. */
static CUresult choose_again(const struct operation *operation, struct timeline_op *after,
                             struct timeline_op **op)
{
    static const struct timeline_work work = {.kind = TIMELINE_KERNEL, .beside = true};
    struct choice again = *choice_of(operation);
    struct operation *next = operation_within(operation, sizeof again);
    if (next == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    again.rounds++;
    timeline_op_retain(again.end);
    choice_begin(next, &again);
    return operation_submit_part(next, again.time, again.lane, &work, &after, 1, op);
}

/* Launches the body behind the running choice, and for a loop the next choice behind the body. */
static CUresult launch_body(struct operation *operation, const struct graph *body)
{
    const struct choice *choice = choice_of(operation);
    struct launching launching = {.time = choice->time,
                                  .context = operation->context,
                                  .within = operation,
                                  .lanes = choice->lane + 1};
    struct timeline_op *end = NULL, *next = NULL;
    CUresult code = graph_launch_nodes(&launching, body, operation->op, choice->lane, &end);
    free(launching.after);
    if (code == CUDA_SUCCESS && choice->type == CU_GRAPH_COND_TYPE_WHILE) {
        code = choose_again(operation, end, &next);
        timeline_op_release(end);
        end = next;
    }
    if (code == CUDA_SUCCESS && !timeline_op_also_after(choice->end, end))
        code = CUDA_ERROR_OUT_OF_MEMORY;
    timeline_op_release(end);
    return code;
}

static enum timeline_ran run_choice(struct operation *operation)
{
    struct choice *choice = choice_of(operation);
    const struct graph *body = body_of(choice, condition_read(operation));
    const bool unseen = driver.ending && choice->rounds > UNSEEN_ROUNDS;
    timeline_op_cost(operation->op, &(struct timeline_cost){.duration_ns = timeline_model->chain});
    if (choice->rounds % SETTLED_ROUNDS == SETTLED_ROUNDS - 1) timeline_catch_up(operation->op);
    if (body != NULL && !unseen) {
        timeline_hold(driver.timeline, true);
        const CUresult code = launch_body(operation, body);
        timeline_hold(driver.timeline, false);
        if (code != CUDA_SUCCESS) context_fail(operation->context, code);
    }
    timeline_op_release(choice->end);
    choice->end = NULL;
    return TIMELINE_RAN;
}
