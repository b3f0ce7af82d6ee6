/* exec_tables: the tables of rows that lookups by key search, one set per level of the host's
 * vector instructions. Private to emulator/exec.
 */
#ifndef OVERLAP_EXEC_OPS_TABLES_H
#define OVERLAP_EXEC_OPS_TABLES_H

#include "emulator/exec/ops/ops.h"

/* X(table): tables of files that are compiled once per level. */
#define EXEC_LEVELLED_TABLES(X)                                                                    \
    X(exec_int_rows)                                                                               \
    X(exec_convert_rows)                                                                           \
    X(exec_float_rows)                                                                             \
    X(exec_half_lanes_rows)                                                                        \
    X(exec_memory_rows)                                                                            \
    X(exec_sync_rows)                                                                              \
    X(exec_tensor_rows)                                                                            \
    X(exec_poll_rows)                                                                              \
    X(exec_racecheck_rows)                                                                         \
    X(exec_sample_rows)

/* X(table): tables of files that gain nothing from vectors and are compiled once. */
#define EXEC_COMMON_TABLES(X)                                                                      \
    X(exec_atomic_rows)                                                                            \
    X(exec_barrier_rows)                                                                           \
    X(exec_cluster_rows)                                                                           \
    X(exec_control_rows)                                                                           \
    X(exec_half_rows)                                                                              \
    X(exec_special_rows)                                                                           \
    X(exec_texture_rows)                                                                           \
    X(exec_video_rows)                                                                             \
    X(exec_mbarrier_rows)                                                                          \
    X(exec_bulk_rows)                                                                              \
    X(exec_tensor_quad_rows)                                                                       \
    X(exec_tensor_map_rows)                                                                        \
    X(exec_narrow_rows)

#define EXEC_DECLARE_TABLES(table)                                                                 \
    extern const struct exec_row table##_base[];                                                   \
    extern const struct exec_row table##_v3[];                                                     \
    extern const struct exec_row table##_v4[];
EXEC_LEVELLED_TABLES(EXEC_DECLARE_TABLES)
#undef EXEC_DECLARE_TABLES

#define EXEC_DECLARE_TABLE(table) extern const struct exec_row table[];
EXEC_COMMON_TABLES(EXEC_DECLARE_TABLE)
#undef EXEC_DECLARE_TABLE

#endif
