/* cuGraphDebugDotPrint: prints a graph in Graphviz's language. */
#include "emulator/driver/graph/parts.h"

#include <stdio.h>

static void print_inside(FILE *file, const struct graph_node *node, const struct graph *graph,
                         unsigned flags);

static void print_graph(FILE *file, const struct graph *graph, unsigned flags)
{
    for (const struct graph_node *node = graph->first; node != NULL; node = node->next) {
        const char *name = graph_type_name(node->params.type);
        const bool kernel = node->params.type == CU_GRAPH_NODE_TYPE_KERNEL;
        fprintf(file, "  node_%llu [shape=box label=\"%s%s%s", (unsigned long long)node->object.id,
                name, kernel ? "\\n" : "", kernel ? node->operation->record.name : "");
        if (flags & (CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
            fprintf(file, "\\n%p", (const void *)node);
        if (kernel && (flags & (CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE |
                                CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))) {
            const CUDA_KERNEL_NODE_PARAMS_v3 *params = &node->params.kernel;
            fprintf(file, "\\ngrid %u,%u,%u block %u,%u,%u shared %u", params->gridDimX,
                    params->gridDimY, params->gridDimZ, params->blockDimX, params->blockDimY,
                    params->blockDimZ, params->sharedMemBytes);
        }
        fprintf(file, "\"];\n");
        for (size_t i = 0; i < node->after.count; i++)
            fprintf(file, "  node_%llu -> node_%llu;\n", (unsigned long long)node->object.id,
                    (unsigned long long)node->after.list[i]->object.id);
        for (size_t i = 0; i < graph_inside_count(node); i++)
            print_inside(file, node, node->inside->graphs[i], flags);
    }
}

static void print_inside(FILE *file, const struct graph_node *node, const struct graph *graph,
                         unsigned flags)
{
    fprintf(file, "  subgraph cluster_%llu {\n", (unsigned long long)graph->object.id);
    print_graph(file, graph, flags);
    fprintf(file, "  }\n");
    if (graph->first != NULL)
        fprintf(file, "  node_%llu -> node_%llu [style=dashed];\n",
                (unsigned long long)node->object.id, (unsigned long long)graph->first->object.id);
}

CUresult driver_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    struct graph *graph;
    NEED_POINTER(path);
    TRY(graph_find(hGraph, &graph));
    FILE *file = fopen(path, "w");
    if (file == NULL) return CUDA_ERROR_OPERATING_SYSTEM;
    fprintf(file, "digraph graph_%llu {\n", (unsigned long long)graph->object.id);
    print_graph(file, graph, flags);
    fprintf(file, "}\n");
    const bool failed = ferror(file);
    return fclose(file) == 0 && !failed ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
