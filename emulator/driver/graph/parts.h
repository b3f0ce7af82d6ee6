/* Declarations shared by the files of graph/: graphs, their nodes, executable graphs. */
#ifndef OVERLAP_DRIVER_GRAPH_PARTS_H
#define OVERLAP_DRIVER_GRAPH_PARTS_H

#include "emulator/driver/graph/graph.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/stream/stream.h"
#include "emulator/driver/work/work.h"

struct condition;
struct graph;
struct graph_node;
struct user_object;

/* ---- graphs ------------------------------------------------------------------------------- */

/* Nodes, or the ends of edges to nodes. */
struct graph_nodes {
    struct graph_node **list;
    CUgraphEdgeData *data; /* of the edge to each; zero: an ordinary edge */
    size_t count, room;
};

/* The graphs inside a node: an embedded child graph, or the bodies of a conditional node. */
struct graph_inside {
    unsigned references; /* one for the node, one per launch that may still choose a body */
    size_t count;
    struct graph *graphs[];
};

enum { HINTS = 5 }; /* attributes of a kernel node that are only told back */

struct graph_node {
    struct object object;
    uint64_t source; /* id of the node of which this is a copy; 0: none */
    struct graph *graph;
    CUgraphNodeParams params;    /* type and parameters; the node owns what pointers point to */
    struct operation *operation; /* copied by each launch; NULL: none (an empty node, a child
                                    graph) */
    struct timeline_work work;
    struct graph_inside *inside;  /* NULL: none */
    int priority;                 /* of a kernel node */
    CUkernelNodeAttrValue *hints; /* of a kernel node, HINTS of them, without an effect here; NULL:
                                     as at first */
    bool disabled;                /* in an executable graph: switched off */
    bool sealed;                  /* allocation node: its graph was instantiated */
    bool let_go;                  /* a capture was told to forget that later work is behind it */
    struct graph_nodes before, after; /* edges, in order of creation */
    struct graph_node *next, *previous;

    /* Scratch fields of one walk over the graph, meaningless outside of it. */
    size_t mark;
    struct graph_node *pair;
    struct timeline_op *op; /* a reference, while the graph is being launched */
    unsigned lane;
    bool lane_taken;
};

struct graph {
    struct object object;
    struct graph_node *first, *last; /* in order of creation */
    size_t count;
    bool capturing;            /* a capture is adding nodes: it cannot be destroyed */
    bool given;                /* the program has it, and is to destroy it */
    struct graph_node *holder; /* the node that it is embedded in; NULL: none */
    unsigned executables;      /* for graphs with memory or conditional nodes: existing instances,
                                  at most one */
    struct graph_node **order; /* of an executable graph's own graph: the result of graph_sort */
    struct user_hold {
        struct user_object *user;
        uint64_t references; /* at least 1 */
    } * users;
    size_t user_count;
    struct condition **conditions; /* conditions whose handles were made for it; a reference each */
    size_t condition_count;
};

struct graph_exec {
    struct object object;
    struct graph *graph; /* its private copy; no handle to it exists */
    uint64_t source;     /* id of the original if that may have only one instance; else 0 */
    cuuint64_t flags;
    struct timeline_op *last; /* end of its latest launch; the next launch waits for it */
};

CUresult graph_find(CUgraph handle, struct graph **graph);
CUresult graph_node_find(CUgraphNode handle, struct graph_node **node);
CUresult graph_exec_find(CUgraphExec handle, struct graph_exec **exec);

/* Makes an empty graph; NULL: no memory. */
struct graph *graph_make(void);
/* From now on the program is to destroy the graph; or another graph ends it. */
void graph_give(struct graph *graph);
void graph_take(struct graph *graph);
/* Ends and frees the graph with its nodes. */
void graph_end(struct graph *graph);
/* Returns true for a graph that a child graph node has, as a copy or as its own. */
bool graph_is_embedded(const struct graph *graph);
/* Copies all nodes and edges in the same order; each copied node's `source` names the original. */
CUresult graph_copy(const struct graph *graph, struct graph **copy);

/* Gives a node the other's hints; false: no memory. */
bool graph_hints_copy(struct graph_node *to, const struct graph_node *from);
/* Sorts the graph's nodes topologically; the caller frees the array. If there is a cycle, returns
 * CUDA_ERROR_INVALID_VALUE and sets `*offender` to a node of it. */
CUresult graph_sort(const struct graph *graph, struct graph_node ***order,
                    struct graph_node **offender);
/* Drops a reference; the last one ends the graphs inside the node. */
void graph_inside_release(struct graph_inside *inside); /* NULL is fine */
/* The number of graphs inside the node. */
static inline size_t graph_inside_count(const struct graph_node *node)
{
    return node->inside != NULL ? node->inside->count : 0;
}
/* The copy of the node with that id in `graph` or in a graph inside it; NULL: none. */
struct graph_node *graph_node_of_source(const struct graph *graph, uint64_t source);

/* All three return false if memory runs out. */
bool graph_nodes_reserve(struct graph_nodes *nodes, size_t count);
bool graph_nodes_add(struct graph_nodes *nodes, struct graph_node *node);
bool graph_nodes_add_edge(struct graph_nodes *nodes, struct graph_node *node, CUgraphEdgeData data);
bool graph_nodes_have(const struct graph_nodes *nodes, const struct graph_node *node);
/* Adds the edges to nodes that the list lacks; of two edges to one node the ordinary one stays,
 * which says more. Returns false if memory runs out. */
bool graph_nodes_merge(struct graph_nodes *nodes, const struct graph_nodes *more);
/* Is there an edge other than ordinary ones? */
bool graph_nodes_have_data(const struct graph_nodes *nodes);
void graph_nodes_remove(struct graph_nodes *nodes, const struct graph_node *node);
void graph_nodes_clear(struct graph_nodes *nodes);
/* Adds an edge. Returns false, with nothing added, if memory runs out. */
bool graph_edge_add(struct graph_node *from, struct graph_node *to, CUgraphEdgeData data);
/* The data of an edge as passed to the API. */
static inline CUgraphEdgeData graph_edge_data(const CUgraphEdgeData *data, size_t i)
{
    return data != NULL ? data[i] : (CUgraphEdgeData){0};
}
bool graph_edge_is_ordinary(const CUgraphEdgeData *data);
/* Checks the data of an edge, NULL for an ordinary one. Any other edge is from a kernel: to a
 * kernel, which may begin when the one before lets it (programmatic), or to any node, which begins
 * when the kernel has begun. */
CUresult graph_edge_check(const struct graph_node *from, CUgraphNodeType to,
                          const CUgraphEdgeData *data);

/* Checks dependencies as passed to the API, of a node of type `to`: distinct nodes of `graph`. */
CUresult graph_check_dependencies(const struct graph *graph, const CUgraphNode *dependencies,
                                  const CUgraphEdgeData *data, size_t count, CUgraphNodeType to);

/* ---- nodes -------------------------------------------------------------------------------- */

/* Makes a node of `graph` without dependencies and without an effect. NULL: no memory. */
struct graph_node *graph_node_make(struct graph *graph, CUgraphNodeType type);
void graph_node_end(struct graph_node *node);
/* Adds a node with the parameters and dependencies passed to the API. */
CUresult graph_node_add(CUgraphNode *handle, CUgraph graph, const CUgraphNode *dependencies,
                        const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params);
/* Gives the node new parameters of the same type; nothing changes on failure. Output fields of
 * `params` (an embedded graph, an address) are filled in. */
CUresult graph_node_set(struct graph_node *node, CUgraphNodeParams *params);
/* The same, with the attributes of another node's operation, if that is a kernel; NULL: none. */
CUresult graph_node_set_like(struct graph_node *node, CUgraphNodeParams *params,
                             const struct operation *like);
/* Like graph_node_set, from an operation that was made for a stream; on success the node owns
 * it. */
CUresult graph_node_take(struct graph_node *node, struct operation *operation,
                         const struct timeline_work *work);
/* Makes `to` do what `from`, of the same type, does. */
CUresult graph_node_copy(struct graph_node *to, const struct graph_node *from);
/* The type of node that an operation becomes when it is captured. Returns false if it cannot be
 * captured. */
bool graph_type_of(const struct operation *operation, CUgraphNodeType *type);
const char *graph_type_name(CUgraphNodeType type);
/* Returns true if the parameters of nodes of its type cannot be changed. */
bool graph_node_is_fixed(const struct graph_node *node);
/* Checks whether the work of `node`, in an executable graph, may be replaced by that of `with`,
 * which has the same type. */
CUgraphExecUpdateResult graph_node_may_become(const struct graph_node *node,
                                              const struct graph_node *with);

/* Sorts a graph that will not change any more, and all graphs inside it. */
CUresult graph_sort_all(struct graph *graph, struct graph_node **offender);
/* Changes a node of an executable graph; `node` is the corresponding node of the original graph. */
CUresult graph_exec_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params);
/* User objects held by a graph (graph/user.c); a copy of the graph holds them as well. */
void user_objects_release(struct graph *graph);
/* Both return false if memory runs out. */
bool user_objects_share(const struct graph *from, struct graph *to);
bool user_objects_replace(struct graph *graph, const struct graph *by);

/* ---- launching (graph/launch.c) ------------------------------------------------------------ */

/* One launch being put into the timeline: of an executable graph by the host, or of a conditional
 * body by the operation `within` that has chosen it. */
struct launching {
    struct timeline_stream *time; /* of the stream that it is launched into */
    const struct context *context;
    const struct stream *stream;    /* NULL: launched by `within` */
    const struct operation *within; /* NULL: launched by the host */
    uint64_t issue_ns;
    unsigned lanes; /* in use so far */
    /* What the next node is ordered behind; a buffer reused from node to node. */
    struct timeline_op **after;
    size_t room;
};
/* Launches all nodes of a graph behind `begin`. On success `*end` is a reference to an operation
 * behind all of them. */
CUresult graph_launch_nodes(struct launching *launching, const struct graph *graph,
                            struct timeline_op *begin, unsigned lane, struct timeline_op **end);
/* Copies a node's operation as work of this launch. NULL: no memory. */
struct operation *graph_launch_copy(const struct launching *launching,
                                    const struct operation *operation);

/* ---- conditional nodes (graph/conditional.c) ------------------------------------------------ */

bool graph_is_conditional(const struct graph_node *node);
/* Returns true if the graph, or a graph inside it, has a conditional node. */
bool graph_has_conditional(const struct graph *graph);
/* Makes a node conditional, with empty bodies, and writes the bodies' handles to `params`. */
CUresult graph_conditional_set(struct graph_node *node, CUDA_CONDITIONAL_NODE_PARAMS *params);
/* Makes `to` conditional like `from`, with copies of its bodies. */
CUresult graph_conditional_copy(struct graph_node *to, const struct graph_node *from);
/* From now on `node`, of an executable graph, uses the condition of `by`. */
void graph_conditional_take(struct graph_node *node, const struct graph_node *by);
/* Releases the node's handle and condition. */
void graph_conditional_forget(struct graph_node *node);
/* Makes a copy of a graph share its conditions. Returns false if memory runs out. */
bool graph_conditions_share(const struct graph *from, struct graph *to);
void graph_conditions_release(struct graph *graph);
/* Checks a graph before instantiation: each of its handles needs a node, and bodies may hold only
 * what a GPU runs there. `*offender` may stay NULL on error. */
CUresult graph_conditional_check(const struct graph *graph, struct graph_node **offender,
                                 CUgraphInstantiateResult *why);
/* Before an executable graph changes: replaces bodies that a pending launch may still choose by
 * copies. */
CUresult graph_conditional_own(struct graph *graph);
/* Submits the node behind launching->after. `node->op` becomes the operation that ends the node. */
CUresult graph_conditional_launch(struct launching *launching, struct graph_node *node,
                                  size_t count);
/* The beginning and the end of a launch, behind `after`: the first sets each condition to its
 * default, and until the second has run all conditions are kept alive. Both return a mark with a
 * reference; NULL: no memory. */
struct timeline_op *graph_conditions_begin(const struct graph *graph, struct stream *stream,
                                           struct timeline_op *after);
struct timeline_op *graph_conditions_end(const struct graph *graph, struct stream *stream,
                                         struct timeline_op *after);

/* ---- memory of graphs (graph/memory.c; the memory itself is of emulator/driver/memory) ------ */

/* Keep and release the memory of an allocation node. Other nodes are ignored. */
void graph_node_retain_memory(const struct graph_node *node);
void graph_node_release_memory(const struct graph_node *node);
bool graph_has_memory(const struct graph *graph);
/* Returns true if a node of the graph may still free the address: no other node frees it, and no
 * graph with the allocating node was instantiated. */
bool graph_may_free(const struct graph *graph, CUdeviceptr address);
/* Called when the graph was instantiated. */
void graph_seal_memory(struct graph *graph);
/* Called before a launch, to check that it is legal, and after its submission. */
CUresult graph_check_memory(const struct graph_exec *exec);
void graph_memory_launched(const struct graph_exec *exec);

#endif
