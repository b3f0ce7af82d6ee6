/* Allocation and free nodes: what a graph does with their memory
 * (emulator/driver/memory/graph.c). */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/graph/parts.h"

static bool is_allocation(const struct graph_node *node)
{
    return node->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
}

static bool is_free(const struct graph_node *node)
{
    return node->params.type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

void graph_node_retain_memory(const struct graph_node *node)
{
    if (is_allocation(node)) graph_memory_retain(node->params.alloc.dptr);
}

void graph_node_release_memory(const struct graph_node *node)
{
    if (is_allocation(node)) graph_memory_release(node->params.alloc.dptr);
}

bool graph_has_memory(const struct graph *graph)
{
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (is_allocation(node) || is_free(node)) return true;
        for (size_t i = 0; i < graph_inside_count(node); i++)
            if (graph_has_memory(node->inside->graphs[i])) return true;
    }
    return false;
}

static bool graph_frees(const struct graph *graph, CUdeviceptr address)
{
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (is_free(node) && node->params.free.dptr == address) return true;
        for (size_t i = 0; i < graph_inside_count(node); i++)
            if (graph_frees(node->inside->graphs[i], address)) return true;
    }
    return false;
}

bool graph_may_free(const struct graph *graph, CUdeviceptr address)
{
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next)
        if (node->sealed && node->params.alloc.dptr == address) return false;
    return !graph_frees(graph, address);
}

void graph_seal_memory(struct graph *graph)
{
    for (struct graph_node *node = graph->first; node != NULL; node = node->next)
        node->sealed = is_allocation(node);
}

static bool graph_allocates(const struct graph *graph, CUdeviceptr address)
{
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (is_allocation(node) && node->params.alloc.dptr == address) return true;
        for (size_t i = 0; i < graph_inside_count(node); i++)
            if (graph_allocates(node->inside->graphs[i], address)) return true;
    }
    return false;
}

static CUresult refuse(enum trace_finding_id id, const struct graph_memory *memory)
{
    struct trace_record found = finding_at_call(id, CUDA_ERROR_INVALID_VALUE);
    finding_address(&found, memory->address);
    found.bytes = memory->size;
    finding_put(&found);
    return CUDA_ERROR_INVALID_VALUE;
}

/* One walk for two purposes: checks whether the graph may be launched, or (`happens`) records that
 * it is. */
static CUresult launch(const struct graph *graph, const struct graph *whole, bool auto_free,
                       bool happens)
{
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < graph_inside_count(node); i++)
            TRY(launch(node->inside->graphs[i], whole, auto_free, happens));
        struct graph_memory *memory = is_allocation(node)
                                          ? graph_memory_find(node->params.alloc.dptr)
                                      : is_free(node) ? graph_memory_find(node->params.free.dptr)
                                                      : NULL;
        if (memory == NULL) {
            if (is_allocation(node) || is_free(node)) return CUDA_ERROR_INVALID_VALUE;
            continue;
        }
        const bool own = graph_allocates(whole, memory->address);
        if (happens) {
            if (is_allocation(node) && !graph_frees(whole, memory->address)) {
                graph_memory_set_allocated(memory, false);
                graph_memory_set_allocated(memory, true);
            }
            if (is_free(node) && !own) graph_memory_set_allocated(memory, false);
            continue;
        }
        if (is_allocation(node) && memory->allocated && !auto_free) {
            return refuse(FINDING_GRAPH_ALLOCATES_TWICE, memory);
        }
        if (is_free(node) && !own && !memory->allocated) {
            return refuse(FINDING_GRAPH_FREES_UNALLOCATED, memory);
        }
    }
    return CUDA_SUCCESS;
}

CUresult graph_check_memory(const struct graph_exec *exec)
{
    return launch(exec->graph, exec->graph,
                  exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, false);
}

/* Bytes that a launch both allocates and frees itself. */
static uint64_t bytes_inside(const struct graph *graph, const struct graph *whole)
{
    uint64_t bytes = 0;
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < graph_inside_count(node); i++)
            bytes += bytes_inside(node->inside->graphs[i], whole);
        if (!is_allocation(node) || !graph_frees(whole, node->params.alloc.dptr)) continue;
        const struct graph_memory *memory = graph_memory_find(node->params.alloc.dptr);
        bytes += memory != NULL ? memory->size : 0;
    }
    return bytes;
}

void graph_memory_launched(const struct graph_exec *exec)
{
    graph_memory_used_inside(bytes_inside(exec->graph, exec->graph));
    launch(exec->graph, exec->graph, false, true);
}
