/* Graphs: nodes and edges, queries, copies. graph/node.c has what nodes do, graph/exec.c executable
 * graphs. */
#include "emulator/driver/graph/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/handle.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets of nodes ----------------------------------------------------------------------- */

bool graph_nodes_reserve(struct graph_nodes *nodes, size_t count)
{
    size_t room = nodes->room ? nodes->room : 4;
    while (room < count) room *= 2;
    if (room == nodes->room) return true;
    struct graph_node **list = reallocarray(nodes->list, room, sizeof *list);
    if (list == NULL) return false;
    nodes->list = list;
    CUgraphEdgeData *data = reallocarray(nodes->data, room, sizeof *data);
    if (data == NULL) return false;
    nodes->data = data;
    nodes->room = room;
    return true;
}

bool graph_nodes_add_edge(struct graph_nodes *nodes, struct graph_node *node, CUgraphEdgeData data)
{
    if (!graph_nodes_reserve(nodes, nodes->count + 1)) return false;
    nodes->list[nodes->count] = node;
    nodes->data[nodes->count++] = data;
    return true;
}

bool graph_nodes_add(struct graph_nodes *nodes, struct graph_node *node)
{
    return graph_nodes_add_edge(nodes, node, (CUgraphEdgeData){0});
}

/* The place of the node in the list; `count`: it is not there. */
static size_t place_of(const struct graph_nodes *nodes, const struct graph_node *node)
{
    size_t i = 0;
    while (i < nodes->count && nodes->list[i] != node) i++;
    return i;
}

bool graph_nodes_have(const struct graph_nodes *nodes, const struct graph_node *node)
{
    return place_of(nodes, node) < nodes->count;
}

bool graph_nodes_merge(struct graph_nodes *nodes, const struct graph_nodes *more)
{
    for (size_t i = 0; i < more->count; i++) {
        const size_t place = place_of(nodes, more->list[i]);
        if (place == nodes->count) {
            if (!graph_nodes_add_edge(nodes, more->list[i], more->data[i])) return false;
        } else if (graph_edge_is_ordinary(&more->data[i])) {
            nodes->data[place] = more->data[i];
        }
    }
    return true;
}

bool graph_nodes_have_data(const struct graph_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (!graph_edge_is_ordinary(&nodes->data[i])) return true;
    return false;
}

void graph_nodes_remove(struct graph_nodes *nodes, const struct graph_node *node)
{
    const size_t i = place_of(nodes, node);
    if (i == nodes->count) return;
    nodes->count--;
    memmove(&nodes->list[i], &nodes->list[i + 1], (nodes->count - i) * sizeof *nodes->list);
    memmove(&nodes->data[i], &nodes->data[i + 1], (nodes->count - i) * sizeof *nodes->data);
}

void graph_nodes_clear(struct graph_nodes *nodes)
{
    free(nodes->list);
    free(nodes->data);
    *nodes = (struct graph_nodes){0};
}

bool graph_edge_add(struct graph_node *from, struct graph_node *to, CUgraphEdgeData data)
{
    if (!graph_nodes_add_edge(&from->after, to, data)) return false;
    if (graph_nodes_add_edge(&to->before, from, data)) return true;
    from->after.count--;
    return false;
}

bool graph_edge_is_ordinary(const CUgraphEdgeData *data)
{
    static const CUgraphEdgeData ordinary;
    return memcmp(data, &ordinary, sizeof ordinary) == 0;
}

CUresult graph_edge_check(const struct graph_node *from, CUgraphNodeType to,
                          const CUgraphEdgeData *data)
{
    if (data == NULL || graph_edge_is_ordinary(data)) return CUDA_SUCCESS;
    const CUgraphEdgeData known = {.from_port = data->from_port, .type = data->type};
    const bool programmatic = data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    const bool right =
        memcmp(data, &known, sizeof known) == 0 &&
        ((programmatic && data->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC) ||
         ((programmatic || data->type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) &&
          data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)) &&
        from->params.type == CU_GRAPH_NODE_TYPE_KERNEL &&
        (!programmatic || to == CU_GRAPH_NODE_TYPE_KERNEL);
    return right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- handles ----------------------------------------------------------------------------- */

CUresult graph_find(CUgraph handle, struct graph **graph)
{
    *graph = object_find(handle, OBJECT_GRAPH);
    if (*graph == NULL) return CUDA_ERROR_INVALID_VALUE;
    thread.call.object = (*graph)->object.id;
    return CUDA_SUCCESS;
}

CUresult graph_node_find(CUgraphNode handle, struct graph_node **node)
{
    *node = object_find(handle, OBJECT_GRAPH_NODE);
    return *node != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult graph_exec_find(CUgraphExec handle, struct graph_exec **exec)
{
    *exec = object_find(handle, OBJECT_GRAPH_EXEC);
    if (*exec == NULL) return CUDA_ERROR_INVALID_VALUE;
    thread.call.object = (*exec)->object.id;
    return CUDA_SUCCESS;
}

CUresult graph_check_dependencies(const struct graph *graph, const CUgraphNode *dependencies,
                                  const CUgraphEdgeData *data, size_t count, CUgraphNodeType to)
{
    if (count > 0 && dependencies == NULL) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct graph_node *node;
        TRY(graph_node_find(dependencies[i], &node));
        if (node->graph != graph) return CUDA_ERROR_INVALID_VALUE;
        TRY(graph_edge_check(node, to, data != NULL ? &data[i] : NULL));
        for (size_t k = 0; k < i; k++)
            if (dependencies[k] == dependencies[i]) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* ---- life -------------------------------------------------------------------------------- */

struct graph *graph_make(void)
{
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph != NULL) object_add(&graph->object, OBJECT_GRAPH);
    return graph;
}

void graph_give(struct graph *graph)
{
    graph->given = true;
    trace_object(&graph->object, TRACE_CREATE, TRACE_GRAPH, 0);
}

void graph_take(struct graph *graph)
{
    if (graph->given) trace_object(&graph->object, TRACE_DESTROY, TRACE_GRAPH, 0);
    graph->given = false;
}

void graph_end(struct graph *graph)
{
    graph_take(graph);
    while (graph->first != NULL) graph_node_end(graph->first);
    user_objects_release(graph);
    graph_conditions_release(graph);
    object_remove(&graph->object);
    free(graph->order);
    object_free(&graph->object);
}

bool graph_is_embedded(const struct graph *graph)
{
    return graph->holder != NULL && !graph_is_conditional(graph->holder);
}

/* Searches the graph and the graphs inside its nodes. */
struct graph_node *graph_node_of_source(const struct graph *graph, uint64_t source)
{
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (node->source == source) return node;
        for (size_t i = 0; i < graph_inside_count(node); i++) {
            struct graph_node *inner = graph_node_of_source(node->inside->graphs[i], source);
            if (inner != NULL) return inner;
        }
    }
    return NULL;
}

/* Gives the copy of a node the edges to the copies of the nodes in `from`. */
static bool copy_edges(struct graph_nodes *to, const struct graph_nodes *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (!graph_nodes_add_edge(to, from->list[i]->pair, from->data[i])) return false;
    return true;
}

CUresult graph_copy(const struct graph *graph, struct graph **copy)
{
    CUresult code = CUDA_ERROR_OUT_OF_MEMORY;
    struct graph *made = graph_make();
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        struct graph_node *twin = graph_node_make(made, node->params.type);
        if (twin == NULL) goto failed;
        node->pair = twin;
        twin->source = node->object.id;
        twin->disabled = node->disabled;
        twin->priority = node->priority;
        if (!graph_hints_copy(twin, node)) goto failed;
        code = graph_node_copy(twin, node);
        if (code != CUDA_SUCCESS) goto failed;
    }
    /* Both lists of edges keep their order. */
    code = CUDA_ERROR_OUT_OF_MEMORY;
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (!copy_edges(&node->pair->before, &node->before) ||
            !copy_edges(&node->pair->after, &node->after))
            goto failed;
    }
    if (!user_objects_share(graph, made) || !graph_conditions_share(graph, made)) goto failed;
    *copy = made;
    return CUDA_SUCCESS;

failed:
    graph_end(made);
    return code;
}

CUresult graph_sort(const struct graph *graph, struct graph_node ***order,
                    struct graph_node **offender)
{
    size_t sorted = 0;
    struct graph_node **list = calloc(graph->count + 1, sizeof *list);
    if (list == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        node->mark = node->before.count;
        if (node->mark == 0) list[sorted++] = node;
    }
    for (size_t i = 0; i < sorted; i++)
        for (size_t k = 0; k < list[i]->after.count; k++)
            if (--list[i]->after.list[k]->mark == 0) list[sorted++] = list[i]->after.list[k];
    if (sorted == graph->count) {
        *order = list;
        return CUDA_SUCCESS;
    }
    for (struct graph_node *node = graph->first; node != NULL; node = node->next)
        if (node->mark > 0) *offender = node;
    free(list);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    NEED_POINTER(phGraph);
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    struct graph *graph = graph_make();
    if (graph == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    thread.call.object = graph->object.id;
    graph_give(graph);
    *phGraph = (CUgraph)graph;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    struct graph *graph, *copy = NULL;
    NEED_POINTER(phGraphClone);
    TRY(graph_find(originalGraph, &graph));
    if (graph_has_memory(graph) || graph_has_conditional(graph)) return CUDA_ERROR_NOT_SUPPORTED;
    TRY(graph_copy(graph, &copy));
    graph_give(copy);
    *phGraphClone = (CUgraph)copy;
    return CUDA_SUCCESS;
}

/* Returns true if a capture adds nodes to the graph, or to a graph inside it. */
static bool is_capturing(const struct graph *graph)
{
    if (graph->capturing) return true;
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next)
        for (size_t i = 0; i < graph_inside_count(node); i++)
            if (is_capturing(node->inside->graphs[i])) return true;
    return false;
}

CUresult driver_cuGraphDestroy(CUgraph hGraph)
{
    struct graph *graph;
    TRY(graph_find(hGraph, &graph));
    if (is_capturing(graph)) return CUDA_ERROR_ILLEGAL_STATE;
    if (graph->holder != NULL) return CUDA_ERROR_INVALID_VALUE;
    graph_end(graph);
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphDestroyNode(CUgraphNode hNode)
{
    struct graph_node *node;
    TRY(graph_node_find(hNode, &node));
    if (node->graph->capturing) return CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; i < graph_inside_count(node); i++)
        if (is_capturing(node->inside->graphs[i])) return CUDA_ERROR_ILLEGAL_STATE;
    if (graph_has_memory(node->graph)) return CUDA_ERROR_NOT_SUPPORTED;
    graph_node_end(node);
    return CUDA_SUCCESS;
}

/* ---- queries ----------------------------------------------------------------------------- */

/* Returns a list as the API does: without `list`, the number of nodes in `*count`; with it, as many
 * nodes as `*count` allows, the remaining entries NULL, and the number of nodes written. A list of
 * edges without room for their data is refused if it would lose some. */
static CUresult answer_nodes(const struct graph_nodes *nodes, CUgraphNode *list,
                             CUgraphEdgeData *data, size_t *count)
{
    NEED_POINTER(count);
    if (list == NULL && data != NULL) return CUDA_ERROR_INVALID_VALUE;
    const size_t room = *count;
    if (list != NULL && data == NULL && graph_nodes_have_data(nodes)) return CUDA_ERROR_LOSSY_QUERY;
    for (size_t i = 0; list != NULL && i < room; i++) {
        list[i] = i < nodes->count ? (CUgraphNode)nodes->list[i] : NULL;
        if (data != NULL) data[i] = i < nodes->count ? nodes->data[i] : (CUgraphEdgeData){0};
    }
    *count = list == NULL || nodes->count < room ? nodes->count : room;
    return CUDA_SUCCESS;
}

/* Lists all nodes of a graph, or (`roots_only`) those without dependencies. */
static CUresult answer_graph(CUgraph handle, bool roots_only, CUgraphNode *list, size_t *count)
{
    struct graph *graph;
    struct graph_nodes nodes = {0};
    CUresult code = CUDA_SUCCESS;
    TRY(graph_find(handle, &graph));
    for (struct graph_node *node = graph->first; node != NULL && code == CUDA_SUCCESS;
         node = node->next) {
        if (roots_only && node->before.count > 0) continue;
        if (!graph_nodes_add(&nodes, node)) code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (code == CUDA_SUCCESS && list != NULL && count != NULL && *count == 0)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) code = answer_nodes(&nodes, list, NULL, count);
    graph_nodes_clear(&nodes);
    return code;
}

CUresult driver_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    return answer_graph(hGraph, false, nodes, numNodes);
}

CUresult driver_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    return answer_graph(hGraph, true, rootNodes, numRootNodes);
}

CUresult driver_cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                   CUgraphEdgeData *edgeData, size_t *numEdges)
{
    struct graph *graph;
    size_t count = 0;
    NEED_POINTER(numEdges);
    TRY(graph_find(hGraph, &graph));
    if ((from == NULL) != (to == NULL) || (from == NULL && edgeData != NULL))
        return CUDA_ERROR_INVALID_VALUE;
    if (edgeData != NULL) memset(edgeData, 0, *numEdges * sizeof *edgeData);
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        if (from != NULL && edgeData == NULL && graph_nodes_have_data(&node->after))
            return CUDA_ERROR_LOSSY_QUERY;
        for (size_t i = 0; i < node->after.count; i++, count++) {
            if (from == NULL || count >= *numEdges) continue;
            from[count] = (CUgraphNode)node;
            to[count] = (CUgraphNode)node->after.list[i];
            if (edgeData != NULL) edgeData[count] = node->after.data[i];
        }
    }
    if (from != NULL)
        for (size_t i = count; i < *numEdges; i++) from[i] = to[i] = NULL;
    if (from == NULL || count < *numEdges) *numEdges = count;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                size_t *numEdges)
{
    return driver_cuGraphGetEdges_v2(hGraph, from, to, NULL, numEdges);
}

CUresult driver_cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                              CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    struct graph_node *node;
    TRY(graph_node_find(hNode, &node));
    return answer_nodes(&node->before, dependencies, edgeData, numDependencies);
}

CUresult driver_cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
                                           size_t *numDependencies)
{
    return driver_cuGraphNodeGetDependencies_v2(hNode, dependencies, NULL, numDependencies);
}

CUresult driver_cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                                CUgraphEdgeData *edgeData,
                                                size_t *numDependentNodes)
{
    struct graph_node *node;
    TRY(graph_node_find(hNode, &node));
    return answer_nodes(&node->after, dependentNodes, edgeData, numDependentNodes);
}

CUresult driver_cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                             size_t *numDependentNodes)
{
    return driver_cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, NULL, numDependentNodes);
}

CUresult driver_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    struct graph_node *node;
    NEED_POINTER(type);
    TRY(graph_node_find(hNode, &node));
    *type = node->params.type;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                       CUgraph hClonedGraph)
{
    struct graph_node *node;
    struct graph *clone;
    NEED_POINTER(phNode);
    TRY(graph_node_find(hOriginalNode, &node));
    TRY(graph_find(hClonedGraph, &clone));
    struct graph_node *found = graph_node_of_source(clone, node->object.id);
    if (found == NULL) return CUDA_ERROR_INVALID_VALUE;
    *phNode = (CUgraphNode)found;
    return CUDA_SUCCESS;
}

/* ---- edges ------------------------------------------------------------------------------- */

/* Finds both ends of an edge, which must be two different nodes of `graph`. */
static CUresult ends_find(const struct graph *graph, CUgraphNode from, CUgraphNode to,
                          struct graph_node **first, struct graph_node **second)
{
    TRY(graph_node_find(from, first));
    TRY(graph_node_find(to, second));
    if ((*first)->graph != graph || (*second)->graph != graph || *first == *second)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Removes the edges up to the first that is not there; their data does not matter. As on an H200.
 */
static CUresult remove_edges(const struct graph *graph, const CUgraphNode *from,
                             const CUgraphNode *to, size_t count)
{
    struct graph_node *first, *second;
    if (graph_has_memory(graph)) return CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < count; i++) {
        TRY(ends_find(graph, from[i], to[i], &first, &second));
        if (!graph_nodes_have(&first->after, second)) return CUDA_ERROR_INVALID_VALUE;
        graph_nodes_remove(&first->after, second);
        graph_nodes_remove(&second->before, first);
    }
    return CUDA_SUCCESS;
}

static CUresult change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                             const CUgraphEdgeData *data, size_t count, bool add)
{
    struct graph *graph;
    struct graph_node *first, *second;
    TRY(graph_find(handle, &graph));
    if (count == 0) return CUDA_SUCCESS;
    NEED_POINTER(from);
    NEED_POINTER(to);
    if (!add) return remove_edges(graph, from, to, count);
    /* All edges are checked before any is added. */
    for (size_t i = 0; i < count; i++) {
        TRY(ends_find(graph, from[i], to[i], &first, &second));
        TRY(graph_edge_check(first, second->params.type, data != NULL ? &data[i] : NULL));
        if (graph_nodes_have(&first->after, second)) return CUDA_ERROR_INVALID_VALUE;
        for (size_t k = 0; k < i; k++)
            if (from[k] == from[i] && to[k] == to[i]) return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        ends_find(graph, from[i], to[i], &first, &second);
        if (!graph_edge_add(first, second, graph_edge_data(data, i)))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                          const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                          size_t numDependencies)
{
    return change_edges(hGraph, from, to, edgeData, numDependencies, true);
}

CUresult driver_cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t numDependencies)
{
    return change_edges(hGraph, from, to, NULL, numDependencies, true);
}

CUresult driver_cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                             const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                             size_t numDependencies)
{
    return change_edges(hGraph, from, to, edgeData, numDependencies, false);
}

CUresult driver_cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from,
                                          const CUgraphNode *to, size_t numDependencies)
{
    return change_edges(hGraph, from, to, NULL, numDependencies, false);
}
