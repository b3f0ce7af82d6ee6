/* What the files of graph use of each other: graphs, their nodes, executable graphs. */
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

struct graph_nodes {
    struct graph_node **list;
    size_t count, room;
};

/* The graphs inside of a node: the one that it is, or the bodies of a conditional node. */
struct graph_inside {
    unsigned references; /* the node's, and of launches that may still choose a body */
    size_t count;
    struct graph *graphs[];
};

struct graph_node {
    struct object object;
    uint64_t source; /* id of the node that this one is a copy of; 0: none */
    struct graph *graph;
    CUgraphNodeParams params;    /* kind and parameters; what pointers point to is the node's */
    struct operation *operation; /* what each launch copies; NULL: none (an empty node, a graph) */
    struct timeline_work work;
    struct graph_inside *inside;      /* NULL: none */
    int priority;                     /* of a kernel */
    bool disabled;                    /* in an executable graph */
    bool sealed;                      /* an allocation: how it is freed has been settled */
    struct graph_nodes before, after; /* edges, in the order in which they were made */
    struct graph_node *next, *previous;

    /* Of one walk over the graph; nothing outside it may rely on them. */
    size_t mark;
    struct graph_node *pair;
    struct timeline_op *op; /* a reference, while the graph is being launched */
    unsigned lane;
    bool lane_taken;
};

struct graph {
    struct object object;
    struct graph_node *first, *last; /* in the order in which they were made */
    size_t count;
    bool capturing;             /* a capture adds to it: neither instantiated nor destroyed */
    struct graph_node *holder;  /* the node in which it is embedded; NULL: none */
    unsigned executables;       /* of one with memory nodes, its instances: at most one */
    struct graph_node **order;  /* of an executable graph's own: see graph_sort */
    struct user_object **users; /* references that go with it, one entry each */
    size_t user_count;
    struct condition **conditions; /* whose handles were made for it; a reference each */
    size_t condition_count;
};

struct graph_exec {
    struct object object;
    struct graph *graph; /* its own copy, of which nobody has a handle */
    uint64_t source;     /* id of the graph it was made from, if that may have only one; else 0 */
    cuuint64_t flags;
    struct timeline_op *last; /* the end of its latest launch: the next one waits for it */
};

CUresult graph_find(CUgraph handle, struct graph **graph);
CUresult graph_node_find(CUgraphNode handle, struct graph_node **node);
CUresult graph_exec_find(CUgraphExec handle, struct graph_exec **exec);

/* NULL: no memory. */
struct graph *graph_make(void);
/* Releases the graph with its nodes. */
void graph_end(struct graph *graph);
/* A copy of all nodes and edges in the same order, whose nodes say whose copies they are. */
CUresult graph_copy(const struct graph *graph, struct graph **copy);
/* The graph's nodes in an order in which each comes after all that it depends on; the caller frees
 * the array. CUDA_ERROR_INVALID_VALUE when there is none, with a node of the cycle. */
CUresult graph_sort(const struct graph *graph, struct graph_node ***order,
                    struct graph_node **offender);
/* The last reference of a node ends the graphs inside of it. */
void graph_inside_release(struct graph_inside *inside); /* NULL is fine */
/* As many graphs as there are inside of the node, in turn. */
static inline size_t graph_inside_count(const struct graph_node *node)
{
    return node->inside != NULL ? node->inside->count : 0;
}
/* The copy of the node with that id in `graph` or a graph embedded in it; NULL: none. */
struct graph_node *graph_node_of_source(const struct graph *graph, uint64_t source);

bool graph_nodes_add(struct graph_nodes *nodes, struct graph_node *node); /* false: no memory */
bool graph_nodes_have(const struct graph_nodes *nodes, const struct graph_node *node);
void graph_nodes_remove(struct graph_nodes *nodes, const struct graph_node *node);
void graph_nodes_clear(struct graph_nodes *nodes);
/* false: no memory; nothing was added then. */
bool graph_edge_add(struct graph_node *from, struct graph_node *to);

/* Checks dependencies as the API gives them: nodes of `graph`, each once, with ordinary edges. */
CUresult graph_check_dependencies(const struct graph *graph, const CUgraphNode *dependencies,
                                  const CUgraphEdgeData *data, size_t count);

/* ---- nodes -------------------------------------------------------------------------------- */

/* A node of `graph` that depends on nothing yet and does nothing. NULL: no memory. */
struct graph_node *graph_node_make(struct graph *graph, CUgraphNodeType type);
void graph_node_end(struct graph_node *node);
/* Adds a node with parameters and dependencies as the API gives them. */
CUresult graph_node_add(CUgraphNode *handle, CUgraph graph, const CUgraphNode *dependencies,
                        const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params);
/* What the node does becomes what `params` says, of the same type; nothing changes on failure. What
 * the API returns in them (an embedded graph, an address) is filled in. */
CUresult graph_node_set(struct graph_node *node, CUgraphNodeParams *params);
/* The same from an operation that was made for a stream, and is the node's on success. */
CUresult graph_node_take(struct graph_node *node, struct operation *operation,
                         const struct timeline_work *work);
/* Makes `to`, of the same type, do what `from` does. */
CUresult graph_node_copy(struct graph_node *to, const struct graph_node *from);
/* The type of node that an operation becomes when it is captured; false: none. */
bool graph_type_of(const struct operation *operation, CUgraphNodeType *type);
const char *graph_type_name(CUgraphNodeType type);
/* May the work of `node`, in an executable graph, be replaced by that of `with`, of its type? */
CUgraphExecUpdateResult graph_node_may_become(const struct graph_node *node,
                                              const struct graph_node *with);

/* Sorts a graph that is not going to change, and those inside of it. */
CUresult graph_sort_all(struct graph *graph, struct graph_node **offender);
/* Changes a node of an executable graph; `node` is that of the graph which it was made from. */
CUresult graph_exec_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params);
/* User objects that go with a graph (graph/user.c): a copy of it keeps them as well. */
void user_object_release(struct user_object *user);
bool user_objects_share(const struct graph *from, struct graph *to); /* false: no memory */

/* ---- launching (graph/launch.c) ------------------------------------------------------------ */

/* One launch on its way into the timeline: the host's, or that of a body, by the operation `within`
 * that has chosen it. */
struct launching {
    struct timeline_stream *time; /* of the stream into which it goes */
    const struct context *context;
    const struct stream *stream;    /* NULL: it is `within` */
    const struct operation *within; /* NULL: the host's */
    uint64_t issue_ns;
    unsigned lanes; /* in use so far */
    /* What the node that comes next is ordered behind; kept from node to node. */
    struct timeline_op **after;
    size_t room;
};
/* All nodes of a graph, behind `begin`. On success `*end` is a reference to what comes after all of
 * them. */
CUresult graph_launch_nodes(struct launching *launching, const struct graph *graph,
                            struct timeline_op *begin, unsigned lane, struct timeline_op **end);
/* A copy of a node's operation, as work of this launch. NULL: no memory. */
struct operation *graph_launch_copy(const struct launching *launching,
                                    const struct operation *operation);

/* ---- conditional nodes (graph/conditional.c) ------------------------------------------------ */

bool graph_is_conditional(const struct graph_node *node);
/* Is there such a node in the graph, or inside of it? */
bool graph_has_conditional(const struct graph *graph);
/* A node becomes conditional, with empty bodies, which `params` then names. */
CUresult graph_conditional_set(struct graph_node *node, CUDA_CONDITIONAL_NODE_PARAMS *params);
/* `to` becomes what `from` is, with copies of its bodies. */
CUresult graph_conditional_copy(struct graph_node *to, const struct graph_node *from);
/* `node`, of an executable graph, is decided by the condition of `by` from now on. */
void graph_conditional_take(struct graph_node *node, const struct graph_node *by);
/* The node's handle and its condition are its own no more. */
void graph_conditional_forget(struct graph_node *node);
/* Copies of a graph share its conditions. false: no memory. */
bool graph_conditions_share(const struct graph *from, struct graph *to);
void graph_conditions_release(struct graph *graph);
/* What the graph is about to be instantiated with: a node of the graph for each handle, and in
 * bodies only what a GPU runs there. `*offender` may be NULL all the same. */
CUresult graph_conditional_check(const struct graph *graph, struct graph_node **offender,
                                 CUgraphInstantiateResult *why);
/* Replaces bodies from which a pending launch may still choose by copies, before they change. */
CUresult graph_conditional_own(struct graph *graph);
/* Puts the node into the timeline behind launching->after. `node->op` is what comes after it. */
CUresult graph_conditional_launch(struct launching *launching, struct graph_node *node,
                                  size_t count);
/* A launch begins behind what has been submitted so far as `after`, and ends: each condition gets
 * its default, and all are kept until then. The answers are marks, with a reference; NULL: no
 * memory. */
struct timeline_op *graph_conditions_begin(const struct graph *graph, struct stream *stream,
                                           struct timeline_op *after);
struct timeline_op *graph_conditions_end(const struct graph *graph, struct stream *stream,
                                         struct timeline_op *after);

/* ---- memory of graphs (graph/memory.c; the memory itself is of emulator/driver/memory) ------ */

/* A node that allocates keeps its memory, until its end. Others are passed through. */
void graph_node_retain_memory(const struct graph_node *node);
void graph_node_release_memory(const struct graph_node *node);
bool graph_has_memory(const struct graph *graph);
/* Whether a node of the graph may still free the address: not twice, and not once the graph has
 * been instantiated with the node that allocates it. */
bool graph_may_free(const struct graph *graph, CUdeviceptr address);
/* The graph has been instantiated. */
void graph_seal_memory(struct graph *graph);
/* Before a launch, whether it may; and once it has been submitted. */
CUresult graph_check_memory(const struct graph_exec *exec);
void graph_memory_launched(const struct graph_exec *exec);

#endif
