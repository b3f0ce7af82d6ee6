/* Happens-before: by stream order, the legacy stream, edges and the host's waits, and by nothing
 * else, under each order. */
#include <check.h>
#include <stdlib.h>

#include "emulator/timeline/timeline.h"

static const enum timeline_order orders[] = {TIMELINE_LATEST, TIMELINE_EARLIEST, TIMELINE_RANDOM};
enum { ORDERS = sizeof orders / sizeof *orders };

static struct timeline *timeline;
static struct timeline_context *context;
static uint64_t now;

static void no_pause(void *user, bool stuck)
{
    (void)user;
    ck_abort_msg("nothing here waits for another thread (stuck: %d)", stuck);
}

static void begin(int order)
{
    now = 0;
    timeline = timeline_create(&(struct timeline_settings){
        .order = orders[order], .seed = 7, .connections = 8, .pause = no_pause});
    context = timeline_context_create(timeline, 0);
}

static struct timeline_stream *stream(enum timeline_stream_kind kind)
{
    return timeline_stream_create(context, kind, 0);
}

static enum timeline_ran follow_all(struct timeline_op *op, void *user)
{
    (void)user;
    timeline_op_follows_all(op);
    return TIMELINE_RAN;
}

static struct timeline_op *put(struct timeline_stream *in, struct timeline_op *after)
{
    now += 1000;
    return timeline_submit(in, &(struct timeline_work){.kind = TIMELINE_SET, .bytes = 1 << 20}, now,
                           &after, after != NULL);
}

/* Runs all pending operations without the host's knowledge. */
static void run_all(void)
{
    while (timeline_progress(timeline, TIMELINE_ALL)) {
    }
}

static bool ordered(const struct timeline_op *a, const struct timeline_op *b)
{
    return timeline_happens_before(timeline_op_when(a), b, TIMELINE_PROMISED);
}

static void end(struct timeline_op *const *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) timeline_op_release(ops[i]);
    timeline_destroy(timeline);
}

START_TEST(a_stream_is_ordered_and_two_are_not)
{
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_BLOCKING), *two = stream(TIMELINE_BLOCKING);
    struct timeline_op *a = put(one, NULL), *b = put(two, NULL), *c = put(one, NULL);
    run_all();
    ck_assert(ordered(a, c));
    ck_assert(!ordered(c, a));
    ck_assert(!ordered(a, b) && !ordered(b, a));
    ck_assert(!ordered(b, c) && !ordered(c, b));
    end((struct timeline_op *[]){a, b, c}, 3);
}
END_TEST

START_TEST(an_event_orders_what_came_before_its_record_only)
{
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_BLOCKING), *two = stream(TIMELINE_BLOCKING);
    struct timeline_op *a = put(one, NULL), *event = put(one, NULL), *later = put(one, NULL);
    struct timeline_op *wait = put(two, event), *b = put(two, NULL);
    run_all();
    ck_assert(ordered(a, wait) && ordered(a, b) && ordered(event, b));
    ck_assert(!ordered(later, b) && !ordered(b, later));
    end((struct timeline_op *[]){a, event, later, wait, b}, 5);
}
END_TEST

START_TEST(what_is_behind_an_early_point_is_behind_what_came_before_the_work)
{
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_BLOCKING), *two = stream(TIMELINE_BLOCKING);
    struct timeline_op *a = put(one, NULL), *work = put(one, NULL), *early[2], *wait[2];
    for (int k = 0; k < 2; k++) {
        const struct timeline_work mark = {
            .kind = TIMELINE_MARK, .early = k == 0 ? TIMELINE_EARLY : TIMELINE_EARLY_UNPROMISED};
        early[k] = timeline_submit_part(one, 0, &mark, now, &work, 1);
        wait[k] = put(two, early[k]);
    }
    struct timeline_op *later = put(one, NULL);
    run_all();
    ck_assert(ordered(a, wait[0]) && ordered(early[0], wait[0]) && ordered(work, later));
    ck_assert(!ordered(work, wait[0]) && !ordered(wait[0], work));
    ck_assert(!ordered(work, early[0]) && !ordered(work, wait[1]));
    const struct timeline_when when = timeline_op_when(work);
    ck_assert(!timeline_happens_before(when, wait[0], TIMELINE_ON_GPUS));
    ck_assert(timeline_happens_before(when, wait[1], TIMELINE_ON_GPUS));
    end((struct timeline_op *[]){a, work, early[0], early[1], wait[0], wait[1], later}, 7);
}
END_TEST

START_TEST(the_legacy_stream_stands_between_blocking_streams_only)
{
    begin(_i);
    struct timeline_stream *legacy = stream(TIMELINE_LEGACY), *one = stream(TIMELINE_BLOCKING),
                           *two = stream(TIMELINE_BLOCKING), *free = stream(TIMELINE_NON_BLOCKING);
    struct timeline_op *a = put(one, NULL), *x = put(free, NULL), *l = put(legacy, NULL),
                       *b = put(two, NULL), *y = put(free, NULL);
    run_all();
    ck_assert(ordered(a, l) && ordered(l, b) && ordered(a, b));
    ck_assert(!ordered(x, l) && !ordered(l, y) && !ordered(a, y) && !ordered(x, b));
    end((struct timeline_op *[]){a, x, l, b, y}, 5);
}
END_TEST

START_TEST(a_destroyed_stream_still_stands_before_the_legacy_one)
{
    begin(_i);
    struct timeline_stream *legacy = stream(TIMELINE_LEGACY), *one = stream(TIMELINE_BLOCKING),
                           *free = stream(TIMELINE_NON_BLOCKING);
    struct timeline_op *a = put(one, NULL), *x = put(free, NULL);
    run_all();
    timeline_settle(timeline);
    timeline_stream_destroy(one);
    timeline_stream_destroy(free);
    struct timeline_op *l = put(legacy, NULL);
    run_all();
    ck_assert(ordered(a, l));
    ck_assert(!ordered(x, l));
    ck_assert(!timeline_host_knows(timeline, timeline_op_when(x), TIMELINE_PROMISED));
    timeline_context_finish(context); /* also waits for the work of destroyed streams */
    ck_assert(timeline_host_knows(timeline, timeline_op_when(x), TIMELINE_PROMISED));
    end((struct timeline_op *[]){a, x, l}, 3);
}
END_TEST

START_TEST(a_wait_of_the_host_orders_what_is_submitted_after_it)
{
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_NON_BLOCKING),
                           *two = stream(TIMELINE_NON_BLOCKING);
    struct timeline_op *a = put(one, NULL), *early = put(two, NULL);
    ck_assert(!timeline_host_knows(timeline, timeline_op_when(a), TIMELINE_PROMISED));
    timeline_finish(a);
    ck_assert(timeline_host_knows(timeline, timeline_op_when(a), TIMELINE_PROMISED));
    ck_assert(!timeline_host_knows(timeline, timeline_op_when(early), TIMELINE_PROMISED));
    struct timeline_op *late = put(two, NULL);
    run_all();
    ck_assert(!ordered(a, early));
    ck_assert(ordered(a, late));
    end((struct timeline_op *[]){a, early, late}, 3);
}
END_TEST

START_TEST(having_run_is_not_having_been_waited_for)
{
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_NON_BLOCKING),
                           *two = stream(TIMELINE_NON_BLOCKING);
    struct timeline_op *a = put(one, NULL);
    run_all();
    timeline_settle(timeline);
    ck_assert(!timeline_host_knows(timeline, timeline_op_when(a), TIMELINE_PROMISED));
    struct timeline_op *b = put(two, NULL);
    run_all();
    ck_assert(!ordered(a, b));
    end((struct timeline_op *[]){a, b}, 2);
}
END_TEST

START_TEST(a_query_that_says_ended_is_a_wait)
{
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_BLOCKING);
    struct timeline_op *a = put(one, NULL);
    ck_assert(!timeline_query(a, 0));
    ck_assert(!timeline_host_knows(timeline, timeline_op_when(a), TIMELINE_PROMISED));
    ck_assert(timeline_query(a, UINT64_MAX / 2));
    ck_assert(timeline_host_knows(timeline, timeline_op_when(a), TIMELINE_PROMISED));
    end((struct timeline_op *[]){a}, 1);
}
END_TEST

START_TEST(what_the_host_does_is_ordered_with_later_work)
{
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_BLOCKING);
    struct timeline_op *before = put(one, NULL);
    const struct timeline_when touch = timeline_host_when(timeline);
    struct timeline_op *after = put(one, NULL);
    run_all();
    ck_assert(timeline_host_knows(timeline, touch, TIMELINE_PROMISED));
    ck_assert(!timeline_happens_before(touch, before, TIMELINE_PROMISED));
    ck_assert(timeline_happens_before(touch, after, TIMELINE_PROMISED));
    end((struct timeline_op *[]){before, after}, 2);
}
END_TEST

START_TEST(a_wait_for_a_value_may_be_ordered_after_anything)
{
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_NON_BLOCKING),
                           *two = stream(TIMELINE_NON_BLOCKING);
    struct timeline_op *a = put(one, NULL);
    struct timeline_op *wait = timeline_submit(
        two, &(struct timeline_work){.kind = TIMELINE_MARK, .run = follow_all}, now, NULL, 0);
    struct timeline_op *b = put(two, NULL);
    run_all();
    ck_assert(ordered(a, b));
    ck_assert(!ordered(b, a));
    /* Not what comes later, even for a host that has waited for it. */
    timeline_finish(b);
    struct timeline_op *later = put(one, NULL), *other = put(two, NULL);
    run_all();
    ck_assert(!ordered(later, other));
    ck_assert(!timeline_host_knows_op(timeline, later));
    end((struct timeline_op *[]){a, wait, b, later, other}, 5);
}
END_TEST

static enum timeline_ran follow_host(struct timeline_op *op, void *user)
{
    (void)user;
    timeline_op_follows_host(op);
    return TIMELINE_RAN;
}

START_TEST(what_the_host_tells_a_running_operation_comes_before_it)
{
    begin(0); /* latest */
    struct timeline_stream *one = stream(TIMELINE_NON_BLOCKING),
                           *two = stream(TIMELINE_NON_BLOCKING);
    struct timeline_op *a = put(one, NULL), *unknown = put(one, NULL);
    struct timeline_op *told = timeline_submit(
        two, &(struct timeline_work){.kind = TIMELINE_MARK, .run = follow_host}, now, NULL, 0);
    struct timeline_op *b = put(two, NULL);
    timeline_finish(a);
    run_all();
    ck_assert(ordered(a, b));
    ck_assert(!ordered(unknown, b));
    end((struct timeline_op *[]){a, unknown, told, b}, 4);
}
END_TEST

START_TEST(points_outlive_their_operations)
{
    begin(_i);
    struct timeline_stream *streams[20];
    struct timeline_when first[20];
    for (int i = 0; i < 20; i++) {
        streams[i] = stream(TIMELINE_NON_BLOCKING);
        struct timeline_op *op = put(streams[i], NULL);
        first[i] = timeline_op_when(op);
        timeline_op_release(op);
    }
    timeline_context_finish(context);
    /* Other streams reuse the tracks; what happened before stays before. */
    for (int i = 19; i >= 0; i--) {
        struct timeline_op *op = put(streams[i], NULL);
        run_all();
        for (int k = 0; k < 20; k++)
            ck_assert(timeline_happens_before(first[k], op, TIMELINE_PROMISED));
        timeline_op_release(op);
    }
    end(NULL, 0);
}
END_TEST

enum { MANY = 40 };

/* Work in many streams at once, for which the host then waits. */
static void put_many(struct timeline_op *ops[MANY])
{
    struct timeline_stream *streams[MANY];
    for (int k = 0; k < MANY; k++) {
        streams[k] = stream(TIMELINE_NON_BLOCKING);
        ops[k] = put(streams[k], NULL);
    }
    for (int k = 0; k < MANY; k++) {
        ck_assert_int_eq(ordered(ops[k], ops[(k + 1) % MANY]), false);
        now = timeline_stream_finish(streams[k]);
    }
    for (int k = 0; k < MANY; k++) timeline_stream_destroy(streams[k]);
}

START_TEST(many_streams_that_the_host_has_waited_for_are_before_all_that_follows)
{
    struct timeline_op *ops[4][MANY + 2];
    begin(_i);
    struct timeline_stream *one = stream(TIMELINE_BLOCKING), *two = stream(TIMELINE_BLOCKING);
    for (int round = 0; round < 4; round++) {
        put_many(ops[round]);
        now = timeline_context_finish(context);
        ops[round][MANY] = put(one, NULL);
        ops[round][MANY + 1] = put(two, NULL);
        run_all();
        for (int k = 0; k < (round + 1) * MANY; k++) {
            ck_assert(ordered(ops[k / MANY][k % MANY], ops[round][MANY]));
            ck_assert(ordered(ops[k / MANY][k % MANY], ops[round][MANY + 1]));
        }
        ck_assert(!ordered(ops[round][MANY], ops[round][MANY + 1]));
        ck_assert(!ordered(ops[round][MANY + 1], ops[round][MANY]));
    }
    for (int round = 0; round < 4; round++)
        for (int k = 0; k < MANY + 2; k++) timeline_op_release(ops[round][k]);
    timeline_destroy(timeline);
}
END_TEST

START_TEST(what_was_before_pending_work_stays_before_it_while_the_host_waits_for_other_work)
{
    struct timeline_op *ops[2][MANY];
    begin(0); /* latest: nothing but what the host waits for runs */
    struct timeline_stream *one = stream(TIMELINE_NON_BLOCKING);
    put_many(ops[0]);
    struct timeline_op *pending = put(one, NULL);
    put_many(ops[1]);
    run_all();
    for (int k = 0; k < MANY; k++) {
        ck_assert(ordered(ops[0][k], pending));
        ck_assert(!ordered(ops[1][k], pending) && !ordered(pending, ops[1][k]));
    }
    for (int k = 0; k < 2 * MANY; k++) timeline_op_release(ops[k / MANY][k % MANY]);
    end(&pending, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timeline_happens");
    TCase *tcase = tcase_create("happens before");
    tcase_add_loop_test(tcase, a_stream_is_ordered_and_two_are_not, 0, ORDERS);
    tcase_add_loop_test(tcase, an_event_orders_what_came_before_its_record_only, 0, ORDERS);
    tcase_add_loop_test(tcase, what_is_behind_an_early_point_is_behind_what_came_before_the_work, 0,
                        ORDERS);
    tcase_add_loop_test(tcase, the_legacy_stream_stands_between_blocking_streams_only, 0, ORDERS);
    tcase_add_loop_test(tcase, a_destroyed_stream_still_stands_before_the_legacy_one, 0, ORDERS);
    tcase_add_loop_test(tcase, a_wait_of_the_host_orders_what_is_submitted_after_it, 0, ORDERS);
    tcase_add_loop_test(tcase, having_run_is_not_having_been_waited_for, 0, ORDERS);
    tcase_add_loop_test(tcase, a_query_that_says_ended_is_a_wait, 0, ORDERS);
    tcase_add_loop_test(tcase, what_the_host_does_is_ordered_with_later_work, 0, ORDERS);
    tcase_add_loop_test(tcase, a_wait_for_a_value_may_be_ordered_after_anything, 0, ORDERS);
    tcase_add_test(tcase, what_the_host_tells_a_running_operation_comes_before_it);
    tcase_add_loop_test(tcase, points_outlive_their_operations, 0, ORDERS);
    tcase_add_loop_test(
        tcase, many_streams_that_the_host_has_waited_for_are_before_all_that_follows, 0, ORDERS);
    tcase_add_test(
        tcase, what_was_before_pending_work_stays_before_it_while_the_host_waits_for_other_work);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
