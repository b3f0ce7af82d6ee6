/* driver_graph: CUDA graphs, by hand and by stream capture. A graph is a set of nodes with edges; a
 * node that does something holds an operation, made once, with its parameters as they were then. An
 * executable graph is a private copy of a graph; launching it copies each node's operation into the
 * timeline, where it is ordered behind the nodes that it depends on and nothing else.
 *
 * It never runs anything itself, and it knows no order but the edges: what may run when is the
 * timeline's business, what a kernel or a copy does is that of work/launch.c and work/copy.c.
 *
 * Source: CUDA Programming Guide, "CUDA Graphs"; Driver API, "Graph Management", "Stream
 * Management"; cuda.h.
 */
#ifndef OVERLAP_DRIVER_GRAPH_GRAPH_H
#define OVERLAP_DRIVER_GRAPH_GRAPH_H

#include "emulator/driver/findings/races.h"

struct graph;
struct graph_node;
struct user_object;

/* ---- graphs ------------------------------------------------------------------------------- */

struct graph_nodes {
    struct graph_node **list;
    size_t count, room;
};

struct graph_node {
    struct object object;
    uint64_t source; /* id of the node that this one is a copy of; 0: none */
    struct graph *graph;
    CUgraphNodeParams params;    /* kind and parameters; what pointers point to is the node's */
    struct operation *operation; /* what each launch copies; NULL: none (an empty node, a graph) */
    struct timeline_work work;
    struct graph *child;              /* of a node that is a graph; owned */
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

/* Changes a node of an executable graph; `node` is that of the graph which it was made from. */
CUresult graph_exec_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params);
/* User objects that go with a graph (graph/user.c): a copy of it keeps them as well. */
void user_object_release(struct user_object *user);
bool user_objects_share(const struct graph *from, struct graph *to); /* false: no memory */

/* ---- memory of graphs (graph/memory.c) ---------------------------------------------- */

struct graph_memory;

/* As those below, for the two kinds of nodes; allocating also fills in the address. */
CUresult graph_memory_allocate(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params, struct operation **operation,
                               struct timeline_work *work);
CUresult graph_memory_free(const CUDA_MEM_FREE_NODE_PARAMS *params, struct operation **operation,
                           struct timeline_work *work);
/* A node that allocates keeps its memory, until its end. Others are passed through. */
void graph_memory_retain(const struct graph_node *node);
void graph_memory_release(const struct graph_node *node);
bool graph_has_memory(const struct graph *graph);
bool graph_frees(const struct graph *graph, CUdeviceptr address);
/* Whether a node of the graph may still free the address: not twice, and not once the graph has
 * been instantiated with the node that allocates it. */
bool graph_may_free(const struct graph *graph, CUdeviceptr address);
/* The graph has been instantiated. */
void graph_memory_seal(struct graph *graph);
/* Before a launch, whether it may; and once it has been submitted. */
CUresult graph_memory_check_launch(const struct graph_exec *exec);
void graph_memory_launched(const struct graph_exec *exec);
/* An allocation node's memory behind an address; NULL: it is none. */
struct graph_memory *graph_memory_find(CUdeviceptr address);
/* Freeing it outside of a graph, in a stream or (NULL) at once. */
CUresult graph_memory_free_now(struct graph_memory *memory, struct stream *stream);

/* A node with these parameters behind what `stream`, which is being captured, has got so far. */
CUresult capture_add(const struct stream *stream, CUgraphNodeParams *params);

/* ---- work as a node's, made by those who do it for streams --------------------------------- */

/* Each checks the parameters and makes an operation in `context`, or describes one that was made,
 * whether for a stream or for a node. What pointers of a description point to is the operation's.
 */
CUresult launch_operation(const CUDA_KERNEL_NODE_PARAMS_v3 *params, struct operation **operation,
                          struct timeline_work *work);
void launch_describe(const struct operation *operation, CUDA_KERNEL_NODE_PARAMS_v3 *params);
/* The arguments' addresses in the operation: their number is returned; `list` may be NULL. */
size_t launch_arguments(const struct operation *operation, void **list);
bool launch_is_cooperative(const struct operation *operation);
void launch_set_cooperative(struct operation *operation, bool cooperative);

/* A copy that the host does not wait for: what it has in flight from its submission on. */
struct copy_flight {
    uint64_t number; /* findings/in_flight.h */
    struct races_rows written, read;
};
struct copy_flight copy_begins(struct operation *operation);
/* `op` may be NULL: it could not be submitted. */
void copy_submitted(const struct copy_flight *flight, const struct timeline_op *op);
CUresult copy_operation(struct context *context, const CUDA_MEMCPY3D *params,
                        struct operation **operation, struct timeline_work *work);
void copy_describe(const struct operation *operation, CUDA_MEMCPY3D *params);
CUresult fill_operation(struct context *context, const CUDA_MEMSET_NODE_PARAMS_v2 *params,
                        struct operation **operation, struct timeline_work *work);
/* Whether a fill's address is memory: one that is captured has not been asked. */
bool fill_is_possible(const struct operation *operation);
void fill_describe(const struct operation *operation, CUDA_MEMSET_NODE_PARAMS_v2 *params);

CUresult host_function_operation(struct context *context, CUhostFn function, void *argument,
                                 struct operation **operation);
/* false: it is a stream's callback, which no graph can hold. */
bool host_function_describe(const struct operation *operation, CUDA_HOST_NODE_PARAMS_v2 *params);

/* ---- capture ------------------------------------------------------------------------------ */

/* One capture sequence: from the stream in which it began, through events, into others. */
struct capture {
    struct graph *graph;
    bool borrowed; /* the graph was there before */
    struct stream *origin;
    CUstreamCaptureMode mode;
    uint64_t thread; /* that began it */
    uint64_t id;
    bool invalid;
    struct captured *parts;
    struct capture *next; /* in driver.captures */
};

/* A stream's part in a capture, or what an event recorded of it. */
struct captured {
    struct capture *capture; /* NULL: it has ended, and this is an event's */
    struct stream *stream;   /* NULL: an event's, or of a stream that has been destroyed */
    uint64_t stream_id;      /* 0: an event's */
    struct graph_nodes tips; /* what comes next depends on these */
    struct captured *next;   /* in the capture */
};

#endif
