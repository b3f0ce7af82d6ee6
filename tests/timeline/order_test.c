/* The order: what may run, what must have run, and what the three policies choose. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "emulator/timeline/parts.h"

/* Each operation writes its letter to the log when it runs. */
static char log_text[64];
static char settled_text[64];
static struct timeline *timeline;
static struct timeline_context *context;
static uint64_t now;
static bool value_is_there;
static struct timeline_op *started; /* an operation that "another thread" is executing */
static int pauses;

static void append(char *text, char letter)
{
    size_t length = strlen(text);
    ck_assert_uint_lt(length + 1, sizeof log_text);
    text[length] = letter;
    text[length + 1] = '\0';
}

static enum timeline_ran run(struct timeline_op *op, void *user)
{
    (void)op;
    append(log_text, *(const char *)user);
    return TIMELINE_RAN;
}

static enum timeline_ran run_when_there(struct timeline_op *op, void *user)
{
    return value_is_there ? run(op, user) : TIMELINE_NOT_YET;
}

static enum timeline_ran run_elsewhere(struct timeline_op *op, void *user)
{
    (void)user;
    started = timeline_op_retain(op);
    return TIMELINE_STARTED;
}

static enum timeline_ran run_setting_value(struct timeline_op *op, void *user)
{
    value_is_there = true;
    return run(op, user);
}

/* Time passes: the other thread ends its operation, or the host writes the value. */
static void pass(void *user, bool stuck)
{
    (void)user;
    pauses++;
    ck_assert_int_lt(pauses, 10);
    if (stuck) {
        value_is_there = true;
        return;
    }
    struct timeline_op *op = started;
    started = NULL;
    append(log_text, 'h');
    timeline_op_ran(op);
    timeline_op_release(op);
}

static void note_settled(const struct timeline_op *op, void *user)
{
    ck_assert(op->state == ORDER_HAS_RUN);
    append(settled_text, *(const char *)user);
}

static void begin(enum timeline_order order, uint64_t seed)
{
    log_text[0] = settled_text[0] = '\0';
    value_is_there = false;
    pauses = 0;
    now = 0;
    timeline = timeline_create(
        &(struct timeline_settings){.order = order, .seed = seed, .connections = 8, .pause = pass});
    context = timeline_context_create(timeline, 0);
}

static struct timeline_stream *stream(enum timeline_stream_kind kind)
{
    return timeline_stream_create(context, kind, 0);
}

static struct timeline_op *put_work(struct timeline_stream *in, const char *letter,
                                    enum timeline_ran (*how)(struct timeline_op *, void *),
                                    struct timeline_op *after)
{
    now += 1000;
    return timeline_submit(in,
                           &(struct timeline_work){.kind = TIMELINE_MARK,
                                                   .run = how,
                                                   .waits = how == run_when_there,
                                                   .settled = note_settled,
                                                   .user = (void *)letter},
                           now, &after, after != NULL);
}

static void put(struct timeline_stream *in, const char *letter)
{
    timeline_op_release(put_work(in, letter, run, NULL));
}

START_TEST(latest_runs_nothing_until_it_is_waited_for)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    put(a, "1");
    put(a, "2");
    timeline_nudge(timeline);
    ck_assert_str_eq(log_text, "");
    timeline_stream_finish(a);
    ck_assert_str_eq(log_text, "12");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(latest_leaves_what_nobody_waits_for)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING), *b = stream(TIMELINE_BLOCKING);
    put(a, "a");
    put(b, "b");
    timeline_stream_finish(b);
    ck_assert_str_eq(log_text, "b");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(latest_runs_the_youngest_stream_first_when_all_are_waited_for)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING), *b = stream(TIMELINE_BLOCKING);
    put(a, "1");
    put(b, "2");
    put(a, "3");
    put(b, "4");
    timeline_context_finish(context);
    ck_assert_str_eq(log_text, "2413");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(earliest_runs_at_submission)
{
    begin(TIMELINE_EARLIEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING), *b = stream(TIMELINE_BLOCKING);
    put(a, "1");
    put(b, "2");
    put(a, "3");
    ck_assert_str_eq(log_text, "123");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(random_keeps_stream_order_and_depends_on_the_seed_only)
{
    char first[64] = "";
    bool differs = false;
    for (uint64_t seed = 0; seed < 20; seed++) {
        char again[64];
        for (int repeat = 0; repeat < 2; repeat++) {
            begin(TIMELINE_RANDOM, seed);
            struct timeline_stream *a = stream(TIMELINE_BLOCKING), *b = stream(TIMELINE_BLOCKING);
            put(a, "1");
            put(b, "a");
            timeline_nudge(timeline);
            put(a, "2");
            put(b, "b");
            timeline_nudge(timeline);
            put(a, "3");
            put(b, "c");
            timeline_context_finish(context);
            ck_assert_uint_eq(strlen(log_text), 6);
            ck_assert(strchr(log_text, '1') < strchr(log_text, '2'));
            ck_assert(strchr(log_text, '2') < strchr(log_text, '3'));
            ck_assert(strchr(log_text, 'a') < strchr(log_text, 'b'));
            ck_assert(strchr(log_text, 'b') < strchr(log_text, 'c'));
            if (repeat == 0) strcpy(again, log_text);
            timeline_destroy(timeline);
        }
        ck_assert_str_eq(log_text, again);
        if (seed == 0) strcpy(first, log_text);
        if (strcmp(first, log_text) != 0) differs = true;
    }
    ck_assert(differs);
}
END_TEST

/* A fork and a join beside the stream: 1, then a and b in either order, then j. */
static void put_parts(struct timeline_stream *in)
{
    struct timeline_work work = {.kind = TIMELINE_MARK, .run = run, .user = (void *)"a"};
    struct timeline_op *begin_op = put_work(in, "1", run, NULL);
    struct timeline_op *parts[2];
    parts[0] = timeline_submit_part(in, 0, &work, now, &begin_op, 1);
    work.user = (void *)"b";
    parts[1] = timeline_submit_part(in, 1, &work, now, &begin_op, 1);
    work.user = (void *)"j";
    timeline_op_release(timeline_submit(in, &work, now, parts, 2));
    timeline_op_release(begin_op);
    timeline_op_release(parts[0]);
    timeline_op_release(parts[1]);
}

/* An operation that decides while it runs what comes next: two more letters, after itself and
 * before the existing `decided_end`. */
static struct timeline_stream *decides_in;
static struct timeline_op *decided_end;

static enum timeline_ran run_deciding(struct timeline_op *op, void *user)
{
    struct timeline_op *before = op, *made[2];
    run(op, user);
    timeline_hold(timeline, true);
    for (int i = 0; i < 2; i++) {
        const struct timeline_work work = {
            .kind = TIMELINE_KERNEL, .run = run, .beside = true, .user = (void *)(i ? "2" : "1")};
        made[i] = timeline_submit_part(decides_in, 0, &work, 0, &before, 1);
        before = made[i];
    }
    ck_assert(timeline_op_also_after(decided_end, before));
    timeline_hold(timeline, false);
    for (int i = 0; i < 2; i++) timeline_op_release(made[i]);
    return TIMELINE_RAN;
}

START_TEST(what_an_operation_decides_to_run_comes_before_its_end)
{
    static const struct timeline_work decides = {
        .kind = TIMELINE_KERNEL, .run = run_deciding, .user = (void *)"d"};
    static const struct timeline_work mark = {
        .kind = TIMELINE_MARK, .run = run, .user = (void *)"e"};
    static const struct timeline_work behind = {
        .kind = TIMELINE_KERNEL, .run = run, .user = (void *)"k"};
    begin(_i == 0 ? TIMELINE_LATEST : _i == 1 ? TIMELINE_EARLIEST : TIMELINE_RANDOM, 7);
    decides_in = stream(TIMELINE_BLOCKING);
    timeline_hold(timeline, true);
    struct timeline_op *first = timeline_submit_part(decides_in, 0, &decides, 0, NULL, 0);
    decided_end = timeline_submit_part(decides_in, 0, &mark, 0, &first, 1);
    timeline_hold(timeline, false);
    struct timeline_op *last = timeline_submit(decides_in, &behind, 0, &decided_end, 1);
    ck_assert_str_eq(log_text, _i == 1 ? "d12ek" : "");
    if (_i != 1) timeline_finish(last);
    ck_assert_str_eq(log_text, "d12ek");
    /* In virtual time as well: the kernel behind it holds up nothing. */
    while (!timeline_query(last, now += 1000)) ck_assert_uint_lt(now, 1000000000);
    ck_assert_uint_le(timeline_op_end(decided_end), timeline_op_start(last));
    timeline_op_release(first);
    timeline_op_release(decided_end);
    timeline_op_release(last);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(parts_are_ordered_by_what_they_name_and_by_nothing_else)
{
    bool a_first = false, b_first = false;
    for (uint64_t seed = 0; seed < 20; seed++) {
        begin(TIMELINE_RANDOM, seed);
        struct timeline_stream *s = stream(TIMELINE_BLOCKING);
        put_parts(s);
        timeline_stream_finish(s);
        if (strcmp(log_text, "1abj") == 0) a_first = true;
        if (strcmp(log_text, "1baj") == 0) b_first = true;
        ck_assert_msg(strcmp(log_text, "1abj") == 0 || strcmp(log_text, "1baj") == 0, "%s",
                      log_text);
        timeline_destroy(timeline);
    }
    ck_assert(a_first && b_first);
}
END_TEST

START_TEST(the_stream_does_not_wait_for_a_part_that_nothing_in_it_depends_on)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *s = stream(TIMELINE_BLOCKING);
    const struct timeline_work work = {.kind = TIMELINE_MARK, .run = run, .user = (void *)"p"};
    put(s, "1");
    struct timeline_op *part = timeline_submit_part(s, 0, &work, now, NULL, 0);
    put(s, "2");
    timeline_stream_finish(s);
    ck_assert_str_eq(log_text, "12");
    struct timeline_when when = timeline_op_when(part);
    ck_assert(!timeline_host_knows(timeline, when, TIMELINE_PROMISED));
    timeline_finish(part);
    ck_assert_str_eq(log_text, "12p");
    ck_assert(timeline_host_knows(timeline, when, TIMELINE_PROMISED));
    timeline_op_release(part);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(the_legacy_stream_waits_for_all_blocking_streams)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *legacy = stream(TIMELINE_LEGACY);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING), *b = stream(TIMELINE_BLOCKING);
    struct timeline_stream *free_one = stream(TIMELINE_NON_BLOCKING);
    put(a, "a");
    put(b, "b");
    put(free_one, "n");
    put(legacy, "L");
    timeline_stream_finish(legacy);
    ck_assert_str_eq(log_text, "baL");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(blocking_streams_wait_for_the_legacy_stream)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *legacy = stream(TIMELINE_LEGACY);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    struct timeline_stream *free_one = stream(TIMELINE_NON_BLOCKING);
    put(legacy, "L");
    put(a, "a");
    put(free_one, "n");
    timeline_stream_finish(free_one);
    ck_assert_str_eq(log_text, "n");
    timeline_stream_finish(a);
    ck_assert_str_eq(log_text, "nLa");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(a_destroyed_streams_work_is_still_waited_for)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *legacy = stream(TIMELINE_LEGACY);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    put(a, "a");
    timeline_stream_destroy(a);
    ck_assert_str_eq(log_text, "");
    put(legacy, "L");
    timeline_stream_finish(legacy);
    ck_assert_str_eq(log_text, "aL");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(an_edge_orders_two_streams)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_NON_BLOCKING), *b = stream(TIMELINE_NON_BLOCKING);
    put(a, "1");
    struct timeline_op *point = put_work(a, "e", run, NULL);
    put(a, "2");
    timeline_op_release(put_work(b, "w", run, point));
    put(b, "3");
    timeline_op_release(point);
    timeline_stream_finish(b);
    ck_assert_str_eq(log_text, "1ew3");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(a_started_operation_is_waited_for)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    timeline_op_release(put_work(a, "s", run_elsewhere, NULL));
    put(a, "1");
    timeline_stream_finish(a);
    ck_assert_str_eq(log_text, "h1");
    ck_assert_int_eq(pauses, 1);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(earliest_does_not_wait_for_a_started_operation)
{
    begin(TIMELINE_EARLIEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    timeline_op_release(put_work(a, "s", run_elsewhere, NULL));
    put(a, "1");
    ck_assert_str_eq(log_text, "");
    pass(NULL, false);
    ck_assert_str_eq(log_text, "h1");
    timeline_destroy(timeline);
}
END_TEST

START_TEST(a_value_that_another_stream_writes_is_found_there)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_NON_BLOCKING), *b = stream(TIMELINE_NON_BLOCKING);
    timeline_op_release(put_work(a, "w", run_when_there, NULL));
    put(a, "1");
    timeline_op_release(put_work(b, "v", run_setting_value, NULL));
    timeline_stream_finish(a);
    ck_assert_str_eq(log_text, "vw1");
    ck_assert_int_eq(pauses, 0);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(a_value_that_the_host_writes_is_waited_for)
{
    begin(TIMELINE_EARLIEST, 0);
    struct timeline_stream *a = stream(TIMELINE_NON_BLOCKING);
    timeline_op_release(put_work(a, "w", run_when_there, NULL));
    put(a, "1");
    ck_assert_str_eq(log_text, "");
    timeline_stream_finish(a);
    ck_assert_str_eq(log_text, "w1");
    ck_assert_int_eq(pauses, 1);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(abandoned_work_does_not_run_and_holds_nobody_up)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_context *other = timeline_context_create(timeline, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    struct timeline_stream *b = timeline_stream_create(other, TIMELINE_BLOCKING, 0);
    put(a, "1");
    struct timeline_op *point = put_work(a, "e", run, NULL);
    timeline_op_release(put_work(b, "w", run, point));
    put(b, "2");
    timeline_context_abandon(context);
    ck_assert(point->abandoned);
    timeline_op_release(point);
    timeline_stream_finish(b);
    ck_assert_str_eq(log_text, "w2");
    ck_assert_str_eq(settled_text, "w2");
    timeline_destroy(timeline);
}
END_TEST

static enum timeline_ran run_and_fail(struct timeline_op *op, void *user)
{
    timeline_context_abandon(context);
    return run(op, user);
}

START_TEST(work_that_fails_takes_its_context_along)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING), *b = stream(TIMELINE_BLOCKING);
    put(b, "b");
    timeline_op_release(put_work(a, "f", run_and_fail, NULL));
    put(a, "1");
    timeline_context_finish(context);
    ck_assert_str_eq(log_text, "f");
    timeline_destroy(timeline);
}
END_TEST

/* ---- queries ------------------------------------------------------------------------------ */

static enum timeline_ran run_long(struct timeline_op *op, void *user)
{
    timeline_op_cost(op, &(struct timeline_cost){.duration_ns = 1e6});
    return run(op, user);
}

static struct timeline_op *put_kernel(struct timeline_stream *in, const char *letter)
{
    now += 2000;
    return timeline_submit(
        in,
        &(struct timeline_work){
            .kind = TIMELINE_KERNEL, .signature = 3, .run = run_long, .user = (void *)letter},
        now, NULL, 0);
}

START_TEST(a_single_query_makes_nothing_visible)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    struct timeline_op *op = put_kernel(a, "k");
    now += 1000;
    ck_assert(!timeline_query(op, now));
    ck_assert_str_eq(log_text, "");
    timeline_op_release(op);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(a_polling_loop_ends_when_the_kernel_would)
{
    for (int order = TIMELINE_LATEST; order <= TIMELINE_RANDOM; order++) {
        begin((enum timeline_order)order, 5);
        struct timeline_stream *a = stream(TIMELINE_BLOCKING);
        struct timeline_op *op = put_kernel(a, "k");
        int polls = 0;
        while (!timeline_query(op, now += 1000)) ck_assert_int_lt(++polls, 2000);
        ck_assert_int_gt(polls, 990); /* one millisecond of kernel, asked every microsecond */
        ck_assert_str_eq(log_text, "k");
        timeline_op_release(op);
        timeline_destroy(timeline);
    }
}
END_TEST

START_TEST(a_second_kernel_like_the_first_does_not_run_before_its_time)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING), *b = stream(TIMELINE_BLOCKING);
    struct timeline_op *first = put_kernel(a, "1");
    now = timeline_finish(first);
    struct timeline_op *second = put_kernel(b, "2");
    ck_assert(!timeline_query(second, now += 900000));
    ck_assert_str_eq(log_text, "1");
    ck_assert(timeline_query(second, now += 200000));
    ck_assert_str_eq(log_text, "12");
    timeline_op_release(first);
    timeline_op_release(second);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(progress_runs_host_functions_and_what_they_need_only)
{
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING), *b = stream(TIMELINE_BLOCKING);
    put(a, "1");
    timeline_op_release(timeline_submit(
        a, &(struct timeline_work){.kind = TIMELINE_HOST_FUNCTION, .run = run, .user = (void *)"H"},
        ++now, NULL, 0));
    put(a, "2");
    put(b, "b");
    ck_assert(timeline_progress(timeline, TIMELINE_HOST_FUNCTIONS));
    ck_assert_str_eq(log_text, "1H");
    ck_assert(!timeline_progress(timeline, TIMELINE_HOST_FUNCTIONS));
    ck_assert(timeline_progress(timeline, TIMELINE_ALL));
    ck_assert_uint_eq(strlen(log_text), 4);
    ck_assert(timeline_is_idle(timeline));
    timeline_destroy(timeline);
}
END_TEST

/* A kernel that has begun is continued by any call, in every order; neither its successors nor
 * anything else is run with it. */
START_TEST(a_kernel_that_has_begun_goes_on)
{
    begin(_i == 0 ? TIMELINE_LATEST : TIMELINE_RANDOM, 5);
    struct timeline_stream *a = stream(TIMELINE_NON_BLOCKING), *b = stream(TIMELINE_NON_BLOCKING);
    value_is_there = false;
    timeline_op_release(timeline_submit(
        a,
        &(struct timeline_work){
            .kind = TIMELINE_KERNEL, .converses = true, .run = run_when_there, .user = (void *)"K"},
        ++now, NULL, 0));
    put(a, "2");
    put(b, "b");
    ck_assert(!timeline_has_begun(timeline));
    ck_assert(!timeline_go_on(timeline));
    ck_assert(!timeline_progress(timeline, TIMELINE_HOST_FUNCTIONS));
    ck_assert(!timeline_has_begun(timeline));
    ck_assert(!timeline_progress(timeline, TIMELINE_CONVERSING));
    ck_assert(timeline_has_begun(timeline));
    ck_assert(!timeline_go_on(timeline));
    ck_assert_str_eq(log_text, "");
    value_is_there = true;
    ck_assert(timeline_go_on(timeline));
    ck_assert_str_eq(log_text, "K");
    ck_assert(!timeline_has_begun(timeline));
    ck_assert(timeline_progress(timeline, TIMELINE_ALL));
    ck_assert(timeline_is_idle(timeline));
    timeline_destroy(timeline);
}
END_TEST

/* A kernel that has begun can be abandoned, and no longer counts. */
START_TEST(a_kernel_that_has_begun_is_abandoned)
{
    begin(TIMELINE_EARLIEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    value_is_there = false;
    timeline_op_release(timeline_submit(a,
                                        &(struct timeline_work){.kind = TIMELINE_KERNEL,
                                                                .run = run_when_there,
                                                                .user = (void *)"K"},
                                        ++now, NULL, 0));
    ck_assert(timeline_has_begun(timeline));
    timeline_context_abandon(context);
    ck_assert(!timeline_has_begun(timeline));
    ck_assert(timeline_is_idle(timeline));
    timeline_destroy(timeline);
    ck_assert_str_eq(log_text, "");
}
END_TEST

START_TEST(more_than_the_queues_hold_makes_the_oldest_run)
{
    const unsigned many = 10000;
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    struct timeline_op *first = put_kernel(a, "k");
    ck_assert_uint_eq(timeline_make_room(timeline), 0);
    for (unsigned i = 0; i < many; i++)
        timeline_op_release(
            timeline_submit(a, &(struct timeline_work){.kind = TIMELINE_SET}, ++now, NULL, 0));
    ck_assert_str_eq(log_text, "");
    ck_assert_uint_ge(timeline_make_room(timeline), 1000000); /* the host waits for the kernel */
    ck_assert_str_eq(log_text, "k");
    ck_assert(first->state == ORDER_HAS_RUN);
    ck_assert(!timeline_is_idle(timeline));
    timeline_op_release(first);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(long_chains_need_no_stack)
{
    enum { LONG = 100000 };
    for (int order = TIMELINE_LATEST; order <= TIMELINE_EARLIEST; order++) {
        begin((enum timeline_order)order, 0);
        struct timeline_stream *a = stream(TIMELINE_BLOCKING);
        for (int i = 0; i < LONG; i++)
            timeline_op_release(
                timeline_submit(a, &(struct timeline_work){.kind = TIMELINE_MARK}, ++now, NULL, 0));
        timeline_stream_finish(a);
        ck_assert(timeline_is_idle(timeline));
        timeline_destroy(timeline);
    }
}
END_TEST

/* With a sanitizer the host's memory cannot be limited. */
#if !defined OVERLAP_SANITIZE && !defined __SANITIZE_THREAD__

/* Returns the writable mapped bytes of the process, which RLIMIT_DATA limits. */
static size_t data_size(void)
{
    char line[256];
    size_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    ck_assert_ptr_nonnull(status);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmData: %zu kB", &kilobytes) == 1) break;
    fclose(status);
    return kilobytes << 10;
}

static void limit_data(size_t bytes)
{
    struct rlimit now_is;
    ck_assert_int_eq(getrlimit(RLIMIT_DATA, &now_is), 0);
    now_is.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_DATA, &now_is), 0);
}

/* So many streams that a list of them does not fit into what the heap has left. */
START_TEST(a_wait_without_memory_waits_for_the_same)
{
    enum { MANY = 100000 };
    begin(TIMELINE_LATEST, 0);
    struct timeline_stream *legacy = stream(TIMELINE_LEGACY);
    struct timeline_stream *a = stream(TIMELINE_BLOCKING);
    struct timeline_stream *b = stream(TIMELINE_BLOCKING);
    struct timeline_stream *free_one = stream(TIMELINE_NON_BLOCKING);
    for (int i = 0; i < MANY; i++) ck_assert_ptr_nonnull(stream(TIMELINE_NON_BLOCKING));
    put(free_one, "n");
    put(a, "a");
    put(b, "b");
    limit_data(data_size());
    timeline_stream_finish(a);
    ck_assert_str_eq(log_text, "a");
    ck_assert(!timeline_stream_query(free_one, 0));
    ck_assert(timeline_stream_query(a, UINT64_MAX));
    timeline_stream_finish(legacy);
    ck_assert_str_eq(log_text, "ab");
    ck_assert(timeline_stream_query(legacy, UINT64_MAX));
    timeline_context_finish(context);
    ck_assert_str_eq(log_text, "abn");
    limit_data(RLIM_INFINITY);
    timeline_destroy(timeline);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("TimelineOrder");
    TCase *tcase = tcase_create("order");
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, latest_runs_nothing_until_it_is_waited_for);
    tcase_add_test(tcase, latest_leaves_what_nobody_waits_for);
    tcase_add_test(tcase, latest_runs_the_youngest_stream_first_when_all_are_waited_for);
    tcase_add_test(tcase, earliest_runs_at_submission);
    tcase_add_test(tcase, random_keeps_stream_order_and_depends_on_the_seed_only);
    tcase_add_test(tcase, the_legacy_stream_waits_for_all_blocking_streams);
    tcase_add_test(tcase, blocking_streams_wait_for_the_legacy_stream);
    tcase_add_test(tcase, a_destroyed_streams_work_is_still_waited_for);
    tcase_add_test(tcase, an_edge_orders_two_streams);
    tcase_add_test(tcase, a_started_operation_is_waited_for);
    tcase_add_test(tcase, earliest_does_not_wait_for_a_started_operation);
    tcase_add_test(tcase, a_value_that_another_stream_writes_is_found_there);
    tcase_add_test(tcase, a_value_that_the_host_writes_is_waited_for);
    tcase_add_test(tcase, abandoned_work_does_not_run_and_holds_nobody_up);
    tcase_add_test(tcase, work_that_fails_takes_its_context_along);
    tcase_add_test(tcase, a_single_query_makes_nothing_visible);
    tcase_add_test(tcase, a_polling_loop_ends_when_the_kernel_would);
    tcase_add_test(tcase, a_second_kernel_like_the_first_does_not_run_before_its_time);
    tcase_add_test(tcase, progress_runs_host_functions_and_what_they_need_only);
    tcase_add_loop_test(tcase, a_kernel_that_has_begun_goes_on, 0, 2);
    tcase_add_test(tcase, a_kernel_that_has_begun_is_abandoned);
    tcase_add_test(tcase, more_than_the_queues_hold_makes_the_oldest_run);
    tcase_add_test(tcase, long_chains_need_no_stack);
#if !defined OVERLAP_SANITIZE && !defined __SANITIZE_THREAD__
    tcase_add_test(tcase, a_wait_without_memory_waits_for_the_same);
#endif
    tcase_add_loop_test(tcase, what_an_operation_decides_to_run_comes_before_its_end, 0, 3);
    tcase_add_test(tcase, parts_are_ordered_by_what_they_name_and_by_nothing_else);
    tcase_add_test(tcase, the_stream_does_not_wait_for_a_part_that_nothing_in_it_depends_on);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
