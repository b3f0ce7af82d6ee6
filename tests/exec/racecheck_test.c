/* Races within a launch: none are reported for right kernels, and both lines for wrong ones,
 * whatever the number of workers; and a launch with racecheck has the same results and counts as
 * one without. */
#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/machine/tensor_map.h"

#include <check.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/exec/device.h"

enum { BLOCKS = 4, THREADS = 128, N = BLOCKS * THREADS, MOST_LINES = 8 };

static const unsigned workers[] = {1, 2, 5};

/* A kernel's source file: the first whose mark is in its name. */
static const struct source {
    const char *mark, *ptx, *cu;
} sources[] = {
    {"cluster", RACECHECK_CLUSTER_PTX, RACECHECK_CLUSTER_CU},
    {"async", RACECHECK_ASYNC_PTX, RACECHECK_ASYNC_CU},
    {"wgmma", RACECHECK_WGMMA_PTX, RACECHECK_WGMMA_CU},
    {"matrix", RACECHECK_TENSOR_PTX, RACECHECK_TENSOR_CU},
    {"shuffle_", RACECHECK_SHUFFLES_PTX, RACECHECK_SHUFFLES_CU},
    {"tiles_", RACECHECK_TILES_PTX, RACECHECK_TILES_CU},
    {"told_", RACECHECK_TOLD_PTX, RACECHECK_TOLD_CU},
    {"round_", RACECHECK_ROUNDS_PTX, RACECHECK_ROUNDS_CU},
    {"half_", RACECHECK_HALVES_PTX, RACECHECK_HALVES_CU},
    {"ring_", RACECHECK_RINGS_PTX, RACECHECK_RINGS_CU},
    {"lost_", RACECHECK_LOST_PTX, RACECHECK_LOST_CU},
    {"unwritten_", RACECHECK_UNWRITTEN_PTX, RACECHECK_UNWRITTEN_CU},
    {"look_", RACECHECK_LOOKS_PTX, RACECHECK_LOOKS_CU},
    {"settled_", RACECHECK_SETTLED_PTX, RACECHECK_SETTLED_CU},
    {"talk_", RACECHECK_BLOCKS_PTX, RACECHECK_BLOCKS_CU},
    {"places_", RACECHECK_PLACES_PTX, RACECHECK_PLACES_CU},
    {"", RACECHECK_KERNELS_PTX, RACECHECK_KERNELS_CU},
};

static const struct source *source_of(const char *name)
{
    const struct source *source = sources;
    while (strstr(name, source->mark) == NULL) source++;
    return source;
}

/* Returns the lines of the source that end in `// name`, including those in code that many kernels
 * include.
 */
static size_t lines_of(const char *name, uint32_t lines[MOST_LINES])
{
    char text[512], end[128];
    size_t count = 0;
    FILE *file = fopen(source_of(name)->cu, "r");
    ck_assert_ptr_nonnull(file);
    snprintf(end, sizeof end, "// %s\n", name);
    for (uint32_t line = 1; fgets(text, sizeof text, file); line++) {
        const size_t length = strlen(text);
        const bool any = (strstr(name, "async") && strstr(text, "// async_copy\n")) ||
                         (strstr(name, "async_bulk") && strstr(text, "// async_bulk\n")) ||
                         (strstr(name, "async_source") && strstr(text, "// async_source\n")) ||
                         (strstr(name, "async_out") && strstr(text, "// async_out\n")) ||
                         (strstr(name, "wgmma") && strstr(text, "// wgmma\n")) ||
                         (strstr(name, "async_box") && strstr(text, "// async_box\n")) ||
                         (strstr(name, "async_box_out") && strstr(text, "// async_box_out\n")) ||
                         (strstr(name, "_added") && strstr(text, "// async_box_add\n"));
        const bool own = length >= strlen(end) && !strcmp(text + length - strlen(end), end);
        if (!any && !own) continue;
        ck_assert_uint_lt(count, MOST_LINES);
        lines[count++] = line;
    }
    fclose(file);
    return count;
}

static struct device_run launch;
static int result[N + 64];

/* Makes a tensor map of rows, each of which is a box. */
static void seal_rows(struct exec_tensor_map *map, uint64_t address)
{
    *map = (struct exec_tensor_map){.address = address,
                                    .size = {THREADS, BLOCKS},
                                    .stride = {THREADS * sizeof(int)},
                                    .box = {THREADS, 1},
                                    .step = {1, 1},
                                    .rank = 2,
                                    .type = EXEC_TENSOR_S32};
    exec_tensor_map_seal(map, map);
}

/* Runs kernel `name`, compiled with racecheck or without, in `blocks` blocks. */
static void run_blocks(const char *name, unsigned worker_count, bool watched, unsigned blocks)
{
    static int input[N];
    struct exec_program *program = device_program_checked(source_of(name)->ptx, watched);
    void *contents;
    for (int i = 0; i < N; i++) input[i] = (i * 7919 + 13) % 100003;
    memset(result, 0, sizeof result);
    struct {
        uint64_t in, out;
        int n;
        alignas(EXEC_TENSOR_MAP_BYTES) struct exec_tensor_map maps[2];
    } parameters = {device_buffer_of(input, sizeof input, NULL),
                    device_buffer_of(result, sizeof result, &contents),
                    N,
                    {{0}}};
    seal_rows(&parameters.maps[0], parameters.in);
    seal_rows(&parameters.maps[1], parameters.out);
    launch = (struct device_run){.program = program,
                                 .name = name,
                                 .blocks = blocks,
                                 .threads = THREADS,
                                 .parameters = &parameters,
                                 .workers = worker_count,
                                 .shared = 4096,
                                 .cooperative = strstr(name, "talk_grid") != NULL,
                                 .footprint = watched ? exec_footprint_create(NULL, NULL) : NULL,
                                 .watch = watched ? exec_racecheck_create() : NULL};
    device_run(&launch);
    memcpy(result, contents, sizeof result);
    /* File names belong to the program. */
    for (size_t i = 0; watched && i < exec_racecheck_count(launch.watch); i++) {
        const struct exec_racecheck_found *found = exec_racecheck_at(launch.watch, i);
        ck_assert_ptr_nonnull(found->first.file);
        ck_assert_ptr_nonnull(strstr(found->first.file, "racecheck_"));
        ck_assert_ptr_nonnull(strstr(found->second.file, "racecheck_"));
    }
    exec_program_destroy(program);
    device_reset();
}

static void run(const char *name, unsigned worker_count, bool watched)
{
    run_blocks(name, worker_count, watched, BLOCKS);
}

static void end(void)
{
    exec_racecheck_destroy(launch.watch);
    exec_footprint_destroy(launch.footprint);
}

static bool is_among(uint32_t line, const uint32_t *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i] == line) return true;
    return false;
}

static const char *const right[] = {
    "right_tile",
    "right_double_buffer",
    "right_scan",
    "right_transpose",
    "right_histogram",
    "right_tree",
    "right_warp",
    "right_told_volatile_warp",
    "right_told_volatile_hint",
    "right_told_volatile_alike",
    "right_flag",
    "right_handover",
    "right_lock",
    "right_named",
    "right_groups",
    "right_early_exit",
    "right_round_left_early",
    "right_bytes",
    "right_maximum",
    "right_in_place",
    "right_changed",
    "right_visited",
    "right_counts",
    "right_last_block",
    "right_barriers",
    "right_same_fill",
    "right_counted_handover",
    "right_bytes_in_turns",
    "right_async_copy",
    "right_async_phases",
    "right_async_handed",
    "right_async_handed_by_one_lane",
    "right_async_handed_and_a_barrier",
    "right_async_stages",
    "right_async_own",
    "right_async_object",
    "right_async_bulk",
    "right_async_out",
    "right_async_source",
    "right_async_source_of_two",
    "right_async_source_of_each_warp",
    "right_async_box_source",
    "right_async_left_behind",
    "right_look_before_the_act",
    "right_look_at_its_own",
    "right_wgmma",
    "right_wgmma_twice",
    "right_wgmma_filled_behind_the_wait",
    "right_wgmma_one_waits_more",
    "right_wgmma_one_group_left",
    "right_async_object_told_of",
    "right_async_box",
    "right_async_box_out",
    "right_async_box_added",
    "right_async_box_by_changed_map",
    "right_global_watched",
    "right_bytes_of_blocks",
    "right_lost_block_scope",
    "right_same_again",
    "right_ring_of_its_own",
    "right_ring_of_global_memory",
    "right_ring_read_by_all",
    "right_global_tree",
    "right_global_scan",
    "right_global_warps",
    "right_global_handover",
    "right_global_lock",
    "right_global_volatile",
    "right_global_same_fill",
    "right_global_same_again",
    "right_global_places",
    "right_global_labels",
    "right_global_bytes",
    "right_global_shorts",
    "right_global_vectors",
    "right_global_some_change",
    "right_global_own",
    "right_places_of_two_blocks",
    "right_places_backwards",
    "right_places_of_warps",
    "right_places_with_gaps",
    "right_places_filled_alike",
    "right_places_wide",
    "right_places_of_structures",
    "right_places_of_colours",
    "right_places_of_bytes_in_vectors",
    "right_places_of_halves_of_words",
    "right_places_after_the_warp",
    "right_places_in_rows",
    "right_places_in_rows_filled_alike",
    "right_settled_torus",
    "right_settled_shared_torus",
    "right_settled_turns",
    "right_told_by_warps",
    "right_told_volatile_turned",
    "right_told_volatile_parts",
    "right_told_volatile_wide",
    "right_told_releasing",
    "right_told_behind_fences",
    "right_told_in_warp",
    "right_told_on",
    "right_told_by_all",
    "right_told_ring",
    "right_told_bytes",
    "right_told_lock",
    "right_told_turns",
    "right_told_apart",
    "right_talk_large",
    "right_talk_tickets",
    "right_talk_counted",
    "right_talk_counted_fenced",
    "right_talk_guessed",
    "right_talk_guessed_by_warps",
    "right_talk_data",
    "right_talk_data_not_told",
    "right_talk_data_in_one",
    "right_talk_data_of_all",
    "right_talk_acquired",
    "right_talk_past_l1",
    "right_talk_acquires",
    "right_talk_locks",
    "right_talk_known_before",
    "right_talk_rows",
    "right_talk_grid_mirrored",
    "right_talk_grid_split",
    "right_talk_parts",
    "right_talk_pairs",
    "right_talk_again",
    "right_talk_own_volatile",
    "right_talk_volatile_bytes",
    "right_lost_own",
    "right_lost_winner",
    "right_lost_chosen",
    "right_lost_bit",
    "right_lost_turns",
    "right_lost_behind_a_barrier",
    "right_lost_rounded",
    "right_lost_tree",
    "right_unwritten_scan",
    "right_unwritten_padding",
    "right_unwritten_chosen",
    "right_unwritten_exchange",
    "right_unwritten_later",
    "right_unwritten_bytes",
    "right_shuffle_low_lanes",
    "right_shuffle_chosen",
    "right_shuffle_first_is_read",
    "right_shuffle_written_over",
    "right_shuffle_kept_in_own_memory",
    "right_shuffle_by_two_ways",
    "right_tiles_of_a_tile",
    "right_tiles_in_a_chain",
    "right_tiles_then_the_warp",
    "right_tiles_then_the_block",
    "right_tiles_of_a_branch",
    "right_tiles_that_vote",
    "right_tiles_told_on",
    "right_tiles_global",
    "right_matrix_tile",
    "right_matrix_of_each_warp",
    "right_matrix_rows",
    "right_cluster_gather",
    "right_cluster_bins",
    "right_cluster_arrival",
    "right_cluster_fence",
    "right_cluster_objects",
    "right_cluster_bulk",
    "right_cluster_stores",
    "right_cluster_flag",
    "right_cluster_global",
    "right_cluster_left",
    "right_cluster_own",
};

static const struct wrong_row {
    const char *kernel;
    enum exec_wrong wrong;
} wrong[] = {
    {"no_barrier_before_use", EXEC_WRONG_SHARED},
    {"no_barrier_before_next", EXEC_WRONG_SHARED},
    {"rows_and_columns", EXEC_WRONG_SHARED},
    {"no_syncwarp", EXEC_WRONG_SHARED},
    {"last_warp_unrolled", EXEC_WRONG_SHARED},
    {"told_volatile_in_step", EXEC_WRONG_SHARED},
    {"told_volatile_in_a_loop", EXEC_WRONG_SHARED},
    {"told_volatile_and_a_ticket", EXEC_WRONG_SHARED},
    {"histogram_not_zeroed_yet", EXEC_WRONG_SHARED},
    {"histogram_not_full_yet", EXEC_WRONG_SHARED},
    {"histogram_without_atomics", EXEC_WRONG_SHARED},
    {"barrier_for_some", EXEC_WRONG_SHARED},
    {"round_past_a_barrier", EXEC_WRONG_SHARED},
    {"flag_without_a_fence", EXEC_WRONG_SHARED},
    {"lock_without_a_fence", EXEC_WRONG_SHARED},
    {"winner_takes_all", EXEC_WRONG_SHARED},
    {"bytes_of_neighbours", EXEC_WRONG_SHARED},
    {"through_a_generic_pointer", EXEC_WRONG_SHARED},
    {"async_copy_without_a_barrier", EXEC_WRONG_SHARED},
    {"async_phase_not_awaited", EXEC_WRONG_SHARED},
    {"async_handed_too_early", EXEC_WRONG_SHARED},
    {"async_handed_to_copies", EXEC_WRONG_SHARED},
    {"async_awaited_behind_the_barrier", EXEC_WRONG_SHARED},
    {"async_copy_not_awaited", EXEC_WRONG_COPY},
    {"async_own_copy_not_awaited", EXEC_WRONG_COPY},
    {"async_one_group_too_few", EXEC_WRONG_COPY},
    {"async_stored_too_early", EXEC_WRONG_COPY},
    {"async_bulk_not_awaited", EXEC_WRONG_COPY},
    {"async_bulk_other_object", EXEC_WRONG_COPY},
    {"async_source_not_awaited", EXEC_WRONG_SOURCE},
    {"async_source_of_its_own_thread", EXEC_WRONG_SOURCE},
    {"async_source_of_open_group", EXEC_WRONG_SOURCE},
    {"async_source_awaited_by_another", EXEC_WRONG_SOURCE},
    {"async_source_one_group_too_few", EXEC_WRONG_SOURCE},
    {"async_source_is_filled", EXEC_WRONG_SOURCE},
    {"async_source_under_copies", EXEC_WRONG_SOURCE},
    {"async_source_awaited_and_told", EXEC_WRONG_SHARED},
    {"async_box_source_not_awaited", EXEC_WRONG_SOURCE},
    {"told_nothing_by_volatile", EXEC_WRONG_SHARED},
    {"async_out_unfenced", EXEC_WRONG_PROXY},
    {"async_out_fenced_by_none", EXEC_WRONG_PROXY},
    {"async_out_fenced_once", EXEC_WRONG_PROXY},
    {"wgmma_unfenced", EXEC_WRONG_PROXY},
    {"wgmma_without_a_barrier", EXEC_WRONG_SHARED},
    {"wgmma_filled_before_the_wait", EXEC_WRONG_SOURCE},
    {"wgmma_not_awaited", EXEC_WRONG_SOURCE},
    {"wgmma_one_group_too_few", EXEC_WRONG_SOURCE},
    {"wgmma_in_no_group", EXEC_WRONG_SOURCE},
    {"async_object_used_too_early", EXEC_WRONG_SHARED},
    {"async_box_not_awaited", EXEC_WRONG_COPY},
    {"async_box_other_object", EXEC_WRONG_COPY},
    {"async_box_over_what_is_read", EXEC_WRONG_SHARED},
    {"async_box_out_unfenced", EXEC_WRONG_PROXY},
    {"async_box_out_added_unfenced", EXEC_WRONG_PROXY},
    {"async_box_out_to_one_row", EXEC_WRONG_BLOCKS},
    {"async_box_by_changed_map_unfenced", EXEC_WRONG_PROXY},
    {"tiles_of_the_next_tile", EXEC_WRONG_SHARED},
    {"tiles_of_the_other_half", EXEC_WRONG_SHARED},
    {"tiles_left_out_of_a_branch", EXEC_WRONG_SHARED},
    {"tiles_written_over", EXEC_WRONG_SHARED},
    {"tiles_that_voted_apart", EXEC_WRONG_SHARED},
    {"tiles_of_global_tiles", EXEC_WRONG_GLOBAL},
    {"matrix_without_a_barrier", EXEC_WRONG_SHARED},
    {"matrix_read_too_early", EXEC_WRONG_SHARED},
    {"matrix_of_every_block", EXEC_WRONG_BLOCKS},
    {"matrix_rows_without_a_barrier", EXEC_WRONG_SHARED},
    {"matrix_rows_read_too_early", EXEC_WRONG_SHARED},
    {"global_read_back", EXEC_WRONG_GLOBAL},
    {"global_counted_then_stored", EXEC_WRONG_GLOBAL},
    {"global_high_halves", EXEC_WRONG_GLOBAL},
    {"global_read_by_two_lanes", EXEC_WRONG_GLOBAL},
    {"global_read_by_two_warps", EXEC_WRONG_GLOBAL},
    {"read_by_all_blocks_written_by_the_last", EXEC_WRONG_BLOCKS},
    {"read_by_all_written_by_the_last", EXEC_WRONG_SHARED},
    {"read_by_a_warp_written_by_a_lane", EXEC_WRONG_SHARED},
    {"words_then_bytes", EXEC_WRONG_SHARED},
    {"read_by_a_warp_written_by_its_first", EXEC_WRONG_SHARED},
    {"read_by_two_warps_written_by_the_later", EXEC_WRONG_SHARED},
    {"read_by_all_written_by_the_first", EXEC_WRONG_SHARED},
    {"read_by_two_lanes_then_written", EXEC_WRONG_SHARED},
    {"half_rows_written_before_they_are_read", EXEC_WRONG_SHARED},
    {"half_rows_read_before_they_are_written", EXEC_WRONG_SHARED},
    {"half_elements_written_before_they_are_read", EXEC_WRONG_SHARED},
    {"half_elements_read_before_they_are_written", EXEC_WRONG_SHARED},
    {"half_rows_read_by_the_other", EXEC_WRONG_SHARED},
    {"half_rows_read_by_two_warps", EXEC_WRONG_SHARED},
    {"half_of_the_warps_count_and_write", EXEC_WRONG_SHARED},
    {"ring_written_by_another", EXEC_WRONG_SHARED},
    {"ring_of_global_memory_written", EXEC_WRONG_GLOBAL},
    {"ring_read_by_two_warps", EXEC_WRONG_GLOBAL},
    {"ring_counted_and_read", EXEC_WRONG_SHARED},
    {"ring_counted_by_a_neighbour", EXEC_WRONG_SHARED},
    {"global_tree_without_a_barrier", EXEC_WRONG_GLOBAL},
    {"global_scan_in_place", EXEC_WRONG_GLOBAL},
    {"global_neighbours", EXEC_WRONG_GLOBAL},
    {"global_no_syncwarp", EXEC_WRONG_GLOBAL},
    {"global_zeroed_late", EXEC_WRONG_GLOBAL},
    {"global_seen_before_the_barrier", EXEC_WRONG_GLOBAL},
    {"global_winner", EXEC_WRONG_GLOBAL},
    {"global_bytes", EXEC_WRONG_GLOBAL},
    {"global_words_then_bytes", EXEC_WRONG_GLOBAL},
    {"global_vectors", EXEC_WRONG_GLOBAL},
    {"global_pairs", EXEC_WRONG_GLOBAL},
    {"global_scattered", EXEC_WRONG_GLOBAL},
    {"global_read_by_all_written_by_the_first", EXEC_WRONG_GLOBAL},
    {"places_of_the_next_block", EXEC_WRONG_BLOCKS},
    {"places_read_by_the_next_block", EXEC_WRONG_BLOCKS},
    {"places_backwards_in_the_next_block", EXEC_WRONG_BLOCKS},
    {"places_of_one_word_too_many", EXEC_WRONG_BLOCKS},
    {"places_of_all_warps", EXEC_WRONG_GLOBAL},
    {"places_of_the_next_warp", EXEC_WRONG_GLOBAL},
    {"places_wide_of_all_warps", EXEC_WRONG_GLOBAL},
    {"places_of_two_lanes", EXEC_WRONG_GLOBAL},
    {"places_of_the_next_colour", EXEC_WRONG_GLOBAL},
    {"places_of_a_vectors_byte", EXEC_WRONG_GLOBAL},
    {"places_of_structures_added_to", EXEC_WRONG_LOST},
    {"places_of_halves_too_many", EXEC_WRONG_GLOBAL},
    {"places_in_rows_read_by_another", EXEC_WRONG_GLOBAL},
    {"places_after_the_wrong_warp", EXEC_WRONG_GLOBAL},
    {"places_in_rows_read_before", EXEC_WRONG_GLOBAL},
    {"places_of_the_same_warp", EXEC_WRONG_GLOBAL},
    {"settled_then_stored", EXEC_WRONG_GLOBAL},
    {"settled_shared_then_stored", EXEC_WRONG_SHARED},
    {"settled_stored_and_read", EXEC_WRONG_GLOBAL},
    {"settled_after_a_store", EXEC_WRONG_GLOBAL},
    {"settled_for_other_blocks", EXEC_WRONG_BLOCKS},
    {"lost_block_scope", EXEC_WRONG_SCOPE},
    {"lost_block_scope_and_device", EXEC_WRONG_SCOPE},
    {"reads_the_block_before", EXEC_WRONG_BLOCKS},
    {"reads_the_block_behind", EXEC_WRONG_BLOCKS},
    {"block_forgotten", EXEC_WRONG_BLOCKS},
    {"look_in_the_other_branch", EXEC_WRONG_BLOCKS},
    {"look_by_one_thread", EXEC_WRONG_BLOCKS},
    {"look_by_a_switch", EXEC_WRONG_BLOCKS},
    {"look_passed_on", EXEC_WRONG_BLOCKS},
    {"look_within_the_block", EXEC_WRONG_GLOBAL},
    {"sum_without_atomics", EXEC_WRONG_BLOCKS},
    {"zeroed_by_every_block", EXEC_WRONG_BLOCKS},
    {"two_places", EXEC_WRONG_BARRIER},
    {"told_without_a_fence", EXEC_WRONG_SHARED},
    {"told_and_not_acquired", EXEC_WRONG_SHARED},
    {"told_of_another_warp", EXEC_WRONG_SHARED},
    {"told_for_the_warp", EXEC_WRONG_SHARED},
    {"told_too_early", EXEC_WRONG_SHARED},
    {"told_before_it_has_read", EXEC_WRONG_SHARED},
    {"told_global_lock", EXEC_WRONG_GLOBAL},
    {"told_volatile", EXEC_WRONG_VOLATILE_THREADS},
    {"told_volatile_by_warps", EXEC_WRONG_VOLATILE_THREADS},
    {"told_volatile_turned", EXEC_WRONG_VOLATILE_THREADS},
    {"told_volatile_byte", EXEC_WRONG_VOLATILE_THREADS},
    {"told_volatile_wide", EXEC_WRONG_VOLATILE_THREADS},
    {"told_volatile_wide_row", EXEC_WRONG_VOLATILE_THREADS},
    {"told_volatile_wide_fenced", EXEC_WRONG_VOLATILE_THREADS},
    {"talk_to_the_block_before", EXEC_WRONG_LATER},
    {"talk_counted_too_early", EXEC_WRONG_UNFENCED},
    {"talk_unacquired_flag", EXEC_WRONG_UNACQUIRED},
    {"talk_unacquired_relaxed", EXEC_WRONG_UNACQUIRED},
    {"talk_unacquired_lock", EXEC_WRONG_UNACQUIRED},
    {"talk_large_unfenced", EXEC_WRONG_UNFENCED},
    {"talk_row_unfenced", EXEC_WRONG_UNFENCED},
    {"talk_again_unfenced", EXEC_WRONG_UNFENCED},
    {"talk_lane_unfenced", EXEC_WRONG_UNFENCED},
    {"talk_part_unfenced", EXEC_WRONG_UNFENCED},
    {"talk_pairs_unfenced", EXEC_WRONG_UNFENCED},
    {"talk_data_unfenced", EXEC_WRONG_UNFENCED},
    {"talk_data_fenced_late", EXEC_WRONG_UNFENCED},
    {"talk_data_by_tickets", EXEC_WRONG_UNFENCED},
    {"talk_data_of_a_warp", EXEC_WRONG_UNFENCED},
    {"talk_data_by_others", EXEC_WRONG_UNFENCED},
    {"talk_data_added_to", EXEC_WRONG_UNFENCED},
    {"talk_volatile_row", EXEC_WRONG_VOLATILE},
    {"talk_volatile_lane", EXEC_WRONG_VOLATILE},
    {"talk_grid_changed_too_early", EXEC_WRONG_GRID},
    {"talk_grid_goes_again", EXEC_WRONG_GRID},
    {"talk_grid_not_waited_for", EXEC_WRONG_GRID},
    {"lost_counts", EXEC_WRONG_LOST},
    {"lost_by_warps", EXEC_WRONG_LOST},
    {"lost_bits", EXEC_WRONG_LOST},
    {"lost_bytes", EXEC_WRONG_LOST},
    {"lost_by_one", EXEC_WRONG_LOST},
    {"lost_flag", EXEC_WRONG_LOST},
    {"lost_maximum", EXEC_WRONG_LOST},
    {"lost_in_turns", EXEC_WRONG_LOST},
    {"lost_bins", EXEC_WRONG_LOST},
    {"unwritten_sum", EXEC_WRONG_UNWRITTEN},
    {"unwritten_bins", EXEC_WRONG_UNWRITTEN},
    {"unwritten_rest", EXEC_WRONG_UNWRITTEN},
    {"unwritten_edge", EXEC_WRONG_UNWRITTEN},
    {"unwritten_counted", EXEC_WRONG_UNWRITTEN},
    {"unwritten_wide", EXEC_WRONG_UNWRITTEN},
    {"unwritten_vectors", EXEC_WRONG_UNWRITTEN},
    {"unwritten_moved", EXEC_WRONG_UNWRITTEN},
    {"shuffle_tree_of_eight", EXEC_WRONG_ABSENT},
    {"shuffle_from_the_exited", EXEC_WRONG_ABSENT},
    {"shuffle_to_shared", EXEC_WRONG_ABSENT},
    {"shuffle_kept_by_all", EXEC_WRONG_ABSENT},
    {"cluster_not_there_yet", EXEC_WRONG_CLUSTER},
    {"cluster_not_read_yet", EXEC_WRONG_CLUSTER},
    {"cluster_relaxed", EXEC_WRONG_CLUSTER},
    {"cluster_threads_of_one", EXEC_WRONG_CLUSTER},
    {"cluster_sum", EXEC_WRONG_CLUSTER},
    {"cluster_object_forgotten", EXEC_WRONG_CLUSTER},
    {"cluster_ends_too_early", EXEC_WRONG_ENDED},
    {"cluster_global_early", EXEC_WRONG_BLOCKS},
};

enum {
    RIGHT = sizeof right / sizeof *right,
    WRONG = sizeof wrong / sizeof *wrong,
    WAYS = sizeof workers / sizeof *workers
};

START_TEST(nothing_is_said_of_a_right_kernel)
{
    run(right[_i], 2, true);
    for (size_t i = 0; i < exec_racecheck_count(launch.watch); i++) {
        const struct exec_racecheck_found *found = exec_racecheck_at(launch.watch, i);
        ck_abort_msg("%s: lines %u and %u are accused", right[_i], found->first.line,
                     found->second.line);
    }
    end();
}
END_TEST

static void check_named(const struct wrong_row *row, unsigned worker_count)
{
    uint32_t lines[MOST_LINES];
    const size_t count = lines_of(row->kernel, lines);
    bool named = false;
    ck_assert_uint_gt(count, 0);
    run(row->kernel, worker_count, true);
    ck_assert_msg(exec_racecheck_count(launch.watch) > 0, "%s: nothing is found", row->kernel);
    for (size_t i = 0; i < exec_racecheck_count(launch.watch); i++) {
        const struct exec_racecheck_found *found = exec_racecheck_at(launch.watch, i);
        named |= found->wrong == row->wrong;
        /* What nobody waited for may lack a barrier as well. */
        if (row->wrong != EXEC_WRONG_SOURCE || found->wrong != EXEC_WRONG_SHARED)
            ck_assert_int_eq(found->wrong, row->wrong);
        ck_assert_msg(is_among(found->first.line, lines, count) &&
                          is_among(found->second.line, lines, count),
                      "%s: lines %u and %u", row->kernel, found->first.line, found->second.line);
        ck_assert_uint_gt(found->count, 0);
    }
    ck_assert(named);
    end();
}

START_TEST(a_wrong_kernel_is_named_with_its_lines)
{
    check_named(&wrong[_i / WAYS], workers[_i % WAYS]);
}
END_TEST

/* Where machine code asks what else may be under way: copies in and out, groups of lanes. */
static const char *const compiled[] = {"async_copy_not_awaited", "async_source_one_group_too_few",
                                       "tiles_of_the_next_tile", "tiles_of_global_tiles"};
enum { COMPILED = sizeof compiled / sizeof *compiled };

START_TEST(machine_code_finds_the_same)
{
    const struct wrong_row *row = wrong;
    while (strcmp(row->kernel, compiled[_i]) != 0) row++;
    ck_assert_int_eq(setenv("OVERLAP_NATIVE", "always", 1), 0);
    check_named(row, 1);
}
END_TEST

/* Everything about a race between threads of a block is found in the first block. */
START_TEST(one_block_is_enough)
{
    const struct wrong_row *row = &wrong[_i];
    if (row->wrong == EXEC_WRONG_BLOCKS || row->wrong == EXEC_WRONG_SCOPE ||
        row->wrong == EXEC_WRONG_UNFENCED || row->wrong == EXEC_WRONG_UNACQUIRED ||
        row->wrong == EXEC_WRONG_VOLATILE || row->wrong == EXEC_WRONG_LATER ||
        row->wrong == EXEC_WRONG_CLUSTER || row->wrong == EXEC_WRONG_ENDED ||
        row->wrong == EXEC_WRONG_GRID)
        return;
    run_blocks(row->kernel, 1, true, 1);
    ck_assert_msg(exec_racecheck_count(launch.watch) > 0, "%s: nothing is found", row->kernel);
    end();
}
END_TEST

/* More blocks than have clocks: of these the first ones are checked. */
START_TEST(a_large_grid_is_checked_as_far_as_it_goes)
{
    enum { LARGE = 3000 };
    run_blocks("right_talk_large", 1, true, LARGE);
    ck_assert_uint_eq(exec_racecheck_count(launch.watch), 0);
    end();
    run_blocks("talk_large_unfenced", 1, true, LARGE);
    ck_assert_uint_gt(exec_racecheck_count(launch.watch), 0);
    ck_assert_uint_gt(exec_racecheck_at(launch.watch, 0)->count, THREADS);
    end();
}
END_TEST

static void check_same_side(const struct exec_racecheck_side *a,
                            const struct exec_racecheck_side *b)
{
    ck_assert_int_eq(a->access, b->access);
    ck_assert_uint_eq(a->line, b->line);
    ck_assert_int_eq(a->known, b->known);
    ck_assert_mem_eq(a->block, b->block, sizeof a->block);
    ck_assert_mem_eq(a->thread, b->thread, sizeof a->thread);
}

/* Shadow cells of words that several warps have read are checked again after a store to them. */
START_TEST(a_store_ends_what_is_settled)
{
    uint64_t read_after = 0; /* once in each block */
    run("settled_stored_and_read", workers[_i], true);
    for (size_t i = 0; i < exec_racecheck_count(launch.watch); i++) {
        const struct exec_racecheck_found *found = exec_racecheck_at(launch.watch, i);
        if (found->first.access == EXEC_STORE && found->second.access == EXEC_LOAD)
            read_after += found->count;
    }
    ck_assert_uint_eq(read_after, BLOCKS);
    end();
}
END_TEST

/* They are the first findings, and the examples of what lanes of one warp do as well. */
START_TEST(a_part_of_a_warp_that_met_is_known)
{
    const struct wrong_row *row = &wrong[_i];
    const bool parts = strncmp(row->kernel, "tiles_", strlen("tiles_")) == 0;
    if (!parts && strstr(row->kernel, "no_syncwarp") == NULL) return;
    run(row->kernel, 1, true);
    ck_assert_msg(exec_racecheck_at(launch.watch, 0)->apart == parts, "%s", row->kernel);
    end();
}
END_TEST

START_TEST(races_across_warps_go_first)
{
    run("rows_and_columns", workers[_i], true);
    ck_assert_uint_eq(exec_racecheck_count(launch.watch), 2);
    const struct exec_racecheck_found *first = exec_racecheck_at(launch.watch, 0);
    ck_assert(!exec_racecheck_in_warp(first));
    ck_assert_uint_eq(first->block_index, 1);
    ck_assert(exec_racecheck_in_warp(exec_racecheck_at(launch.watch, 1)));
    end();
}
END_TEST

/* For global memory the address is reported too: each block has 128 words of its own. */
START_TEST(a_race_in_global_memory_says_where)
{
    run("global_neighbours", workers[_i], true);
    ck_assert_uint_eq(exec_racecheck_count(launch.watch), 1);
    const struct exec_racecheck_found *found = exec_racecheck_at(launch.watch, 0);
    ck_assert_ptr_nonnull(found->region);
    ck_assert_uint_eq(found->bytes, 4);
    ck_assert_uint_eq(found->block_index, 0);
    ck_assert_uint_eq(found->count, N);
    ck_assert_uint_eq(found->first.thread[0], 127 - found->second.thread[0]);
    /* Warp 0 has stored, and reads what warp 3 stores later: the store is the second access. */
    ck_assert_int_eq(found->second.access, EXEC_STORE);
    ck_assert_uint_eq(found->offset, 4 * found->second.thread[0]);
    end();
}
END_TEST

START_TEST(the_example_does_not_depend_on_workers)
{
    struct exec_racecheck_found first = {.count = 0};
    for (size_t k = 0; k < WAYS; k++) {
        run("no_barrier_before_use", workers[k], true);
        ck_assert_uint_eq(exec_racecheck_count(launch.watch), 1);
        const struct exec_racecheck_found *found = exec_racecheck_at(launch.watch, 0);
        if (k == 0) first = *found;
        check_same_side(&found->first, &first.first);
        check_same_side(&found->second, &first.second);
        ck_assert_uint_eq(found->offset, first.offset);
        ck_assert_uint_eq(found->bytes, first.bytes);
        ck_assert_uint_eq(found->block_index, first.block_index);
        ck_assert_uint_eq(found->count, first.count);
        end();
    }
    /* Warp 0 reads what the last warp writes later: all 128 threads of 4 blocks do. */
    ck_assert_uint_eq(first.block_index, 0);
    ck_assert_uint_eq(first.count, N);
    ck_assert_uint_eq(first.first.thread[0], 127 - first.second.thread[0]);
}
END_TEST

START_TEST(watching_changes_nothing)
{
    static const char *const names[] = {"right_tile",          "no_syncwarp", "right_counts",
                                        "sum_without_atomics", "right_lock",  "global_scattered",
                                        "right_global_vectors"};
    static int seen[N + 64];
    /* With one worker, because the result of racing blocks depends on timing. */
    run(names[_i], 1, true);
    const struct exec_counts counts = launch.counts;
    memcpy(seen, result, sizeof seen);
    end();
    run(names[_i], 1, false);
    ck_assert_mem_eq(result, seen, sizeof seen);
    ck_assert_mem_eq(&launch.counts, &counts, sizeof counts);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_racecheck");
    TCase *tcase = tcase_create("racecheck");
    tcase_add_loop_test(tcase, nothing_is_said_of_a_right_kernel, 0, RIGHT);
    tcase_add_loop_test(tcase, a_wrong_kernel_is_named_with_its_lines, 0, WRONG * WAYS);
    tcase_add_loop_test(tcase, machine_code_finds_the_same, 0, COMPILED);
    tcase_add_loop_test(tcase, one_block_is_enough, 0, WRONG);
    tcase_add_test(tcase, a_large_grid_is_checked_as_far_as_it_goes);
    tcase_add_loop_test(tcase, a_part_of_a_warp_that_met_is_known, 0, WRONG);
    tcase_add_loop_test(tcase, a_store_ends_what_is_settled, 0, WAYS);
    tcase_add_loop_test(tcase, races_across_warps_go_first, 0, WAYS);
    tcase_add_loop_test(tcase, a_race_in_global_memory_says_where, 0, WAYS);
    tcase_add_test(tcase, the_example_does_not_depend_on_workers);
    tcase_add_loop_test(tcase, watching_changes_nothing, 0, 7);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
