/* graph: CUDA graphs, built by hand or by stream capture. A graph is a set of nodes with edges. A
 * node that does something holds an operation, made once from the parameters given at that time. An
 * executable graph is a private copy of a graph; launching it copies each node's operation into the
 * timeline, ordered only behind the nodes that it depends on.
 *
 * This room runs nothing itself and knows no order but the edges. The timeline decides what may run
 * when; work/launch.c and work/copy.c carry out kernels and copies.
 *
 * Source: CUDA Programming Guide, "CUDA Graphs"; Driver API, "Graph Management", "Stream
 * Management"; cuda.h.
 */
#ifndef OVERLAP_DRIVER_GRAPH_GRAPH_H
#define OVERLAP_DRIVER_GRAPH_GRAPH_H

/* Installs the callbacks for stream capture (stream/stream.h). Called before the first call. */
void capture_begin(void);

#endif
