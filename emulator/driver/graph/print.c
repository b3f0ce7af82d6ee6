/* cuGraphDebugDotPrint: prints a graph in Graphviz's language, in the lines that NVIDIA's driver
 * writes: a cluster for each graph, within it a cluster for each graph inside its nodes. */
#include "emulator/driver/graph/parts.h"

#include <stdio.h>

/* A print in progress. */
struct print {
    FILE *file;
    unsigned flags;
    size_t graphs; /* begun so far */
};

static bool is_asked(const struct print *print, unsigned what)
{
    return print->flags & (CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | what);
}

/* The node's name, by the numbers of its graph and of the node in it. */
static void print_name(const struct print *print, size_t graph, const struct graph_node *node)
{
    fprintf(print->file, "\"graph_%zu_node_%zu\"", graph, node->mark);
}

static void print_node(const struct print *print, size_t graph, const struct graph_node *node)
{
    const bool kernel = node->params.type == CU_GRAPH_NODE_TYPE_KERNEL;
    print_name(print, graph, node);
    fprintf(print->file, "[style=\"%s\" shape=\"%s\" label=\"%zu\n%s\n", kernel ? "bold" : "solid",
            kernel ? "octagon" : "rectangle", node->mark,
            kernel ? node->operation->record.name : graph_type_name(node->params.type));
    if (is_asked(print, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(print->file, "%p\n", (const void *)node);
    if (kernel && is_asked(print, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
        const CUDA_KERNEL_NODE_PARAMS_v3 *params = &node->params.kernel;
        fprintf(print->file, "grid %u,%u,%u block %u,%u,%u shared %u\n", params->gridDimX,
                params->gridDimY, params->gridDimZ, params->blockDimX, params->blockDimY,
                params->blockDimZ, params->sharedMemBytes);
    }
    fprintf(print->file, "\"];\n");
}

static void print_graph(struct print *print, const struct graph *graph)
{
    const size_t number = ++print->graphs;
    size_t count = 0;
    for (struct graph_node *node = graph->first; node != NULL; node = node->next)
        node->mark = count++;
    fprintf(print->file, "subgraph cluster_%zu {\nlabel=\"graph_%zu\" graph[style=\"dashed\"];\n",
            number, number);
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next) {
        print_node(print, number, node);
        for (size_t i = 0; i < node->before.count; i++) {
            print_name(print, number, node->before.list[i]);
            fprintf(print->file, " -> ");
            print_name(print, number, node);
            fprintf(print->file, "%s;\n",
                    graph_edge_is_ordinary(&node->before.data[i]) ? "" : "[style=\"dashed\"]");
        }
        for (size_t i = 0; i < graph_inside_count(node); i++)
            print_graph(print, node->inside->graphs[i]);
    }
    fprintf(print->file, "}\n");
}

CUresult driver_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    struct graph *graph;
    NEED_POINTER(path);
    TRY(graph_find(hGraph, &graph));
    struct print print = {.file = fopen(path, "w"), .flags = flags};
    if (print.file == NULL) return CUDA_ERROR_OPERATING_SYSTEM;
    fprintf(print.file, "digraph dot {\n");
    print_graph(&print, graph);
    fprintf(print.file, "}\n");
    const bool failed = ferror(print.file);
    return fclose(print.file) == 0 && !failed ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
