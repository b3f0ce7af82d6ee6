/* graph: CUDA graphs, by hand and by stream capture. A graph is a set of nodes with edges; a
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

/* Installs what capturing a stream does (stream/stream.h). Before the first call. */
void capture_begin(void);

#endif
