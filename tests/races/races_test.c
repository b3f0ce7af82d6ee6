/* Races: two accesses to the same bytes are reported when nothing orders them, and only then. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/races/races.h"

static struct timeline *timeline;
static struct timeline_stream *one, *two;
static struct races *races;
static struct races_found found;
static int reports;
static uint64_t now;

struct step {
    struct races_actor actor;
    uint64_t memory;
    enum races_mode mode;
    uint64_t first, size;
};

static void report(void *user, const struct races_found *what)
{
    (void)user;
    found = *what;
    reports++;
}

static void step_free(struct races_actor *actor)
{
    free(actor); /* the actor is a step's first member */
}

static enum timeline_ran run(struct timeline_op *op, void *user)
{
    struct step *step = user;
    struct races_set set;
    ck_assert(races_set_rows(&set, step->first, step->size, step->size, 1, step->size, 1));
    races_touch(races, op, &step->actor, step->memory, step->mode, &set);
    return TIMELINE_RAN;
}

static void release(void *user)
{
    races_actor_release(user);
}

static struct step *step_make(enum races_mode mode, uint64_t first, uint64_t size)
{
    struct step *step = calloc(1, sizeof *step);
    *step = (struct step){.actor = {.references = 1, .release = step_free},
                          .memory = 7,
                          .mode = mode,
                          .first = first,
                          .size = size};
    return step;
}

static struct timeline_op *put_step(struct timeline_stream *stream, struct step *step,
                                    struct timeline_op *after)
{
    return timeline_submit(
        stream,
        &(struct timeline_work){
            .kind = TIMELINE_SET, .bytes = 1 << 20, .run = run, .release = release, .user = step},
        now += 100, &after, after != NULL);
}

static void put(struct timeline_stream *stream, enum races_mode mode, uint64_t first, uint64_t size)
{
    timeline_op_release(put_step(stream, step_make(mode, first, size), NULL));
}

static void no_pause(void *user, bool stuck)
{
    (void)user;
    ck_abort_msg("nothing here waits for another thread (stuck: %d)", stuck);
}

static void begin(enum timeline_order order)
{
    reports = 0;
    now = 0;
    memset(&found, 0, sizeof found);
    timeline = timeline_create(&(struct timeline_settings){
        .order = order, .seed = 3, .connections = 8, .pause = no_pause});
    struct timeline_context *context = timeline_context_create(timeline, 0);
    one = timeline_stream_create(context, TIMELINE_NON_BLOCKING, 0);
    two = timeline_stream_create(context, TIMELINE_NON_BLOCKING, 0);
    races = races_create(timeline, report, NULL);
}

static void run_all(void)
{
    while (timeline_progress(timeline, TIMELINE_ALL)) {
    }
}

static void end(int expected)
{
    run_all();
    timeline_destroy(timeline);
    races_destroy(races);
    ck_assert_int_eq(reports, expected);
}

static const struct {
    enum races_mode a, b;
    bool race;
} pairs[] = {
    {RACES_READ, RACES_READ, false},     {RACES_READ, RACES_WRITE, true},
    {RACES_WRITE, RACES_READ, true},     {RACES_WRITE, RACES_WRITE, true},
    {RACES_ATOMIC, RACES_ATOMIC, false}, {RACES_ATOMIC, RACES_READ, true},
    {RACES_WRITE, RACES_ATOMIC, true},   {RACES_FREE, RACES_READ, true},
    {RACES_ATOMIC, RACES_FREE, true},
};

START_TEST(two_streams_race_when_their_touches_conflict)
{
    begin(TIMELINE_LATEST);
    put(one, pairs[_i].a, 0, 64);
    put(two, pairs[_i].b, 63, 64);
    end(pairs[_i].race);
    if (pairs[_i].race) {
        ck_assert_uint_eq(found.offset, 63);
        ck_assert_uint_eq(found.bytes, 1);
        ck_assert_uint_eq(found.memory, 7);
    }
}
END_TEST

START_TEST(neighbouring_bytes_do_not_race)
{
    begin(TIMELINE_LATEST);
    put(one, RACES_WRITE, 0, 64);
    put(two, RACES_WRITE, 64, 64);
    end(0);
}
END_TEST

START_TEST(one_stream_does_not_race)
{
    begin(TIMELINE_EARLIEST);
    for (int i = 0; i < 10; i++) put(one, i % 2 ? RACES_WRITE : RACES_READ, 0, 64);
    end(0);
}
END_TEST

START_TEST(an_event_orders)
{
    begin(TIMELINE_LATEST);
    struct timeline_op *a = put_step(one, step_make(RACES_WRITE, 0, 64), NULL);
    timeline_op_release(put_step(two, step_make(RACES_READ, 0, 64), a));
    timeline_op_release(a);
    end(0);
}
END_TEST

START_TEST(the_hosts_wait_orders)
{
    begin(TIMELINE_LATEST);
    struct timeline_op *a = put_step(one, step_make(RACES_WRITE, 0, 64), NULL);
    timeline_finish(a);
    timeline_op_release(a);
    put(two, RACES_READ, 0, 64);
    end(0);
}
END_TEST

START_TEST(having_run_first_does_not_order)
{
    begin(TIMELINE_EARLIEST);
    put(one, RACES_WRITE, 0, 64);
    run_all();
    timeline_settle(timeline);
    put(two, RACES_READ, 0, 64);
    end(1);
}
END_TEST

static void host_touches_at(enum races_mode mode, uint64_t first)
{
    struct step *step = step_make(mode, first, 4);
    struct races_set set;
    step->actor.is_host = true;
    ck_assert(races_set_rows(&set, first, 4, 4, 1, 4, 1));
    races_touch(races, NULL, &step->actor, 7, mode, &set);
    races_actor_release(&step->actor);
}

static void host_touches(enum races_mode mode)
{
    host_touches_at(mode, 0);
}

START_TEST(the_host_races_with_what_it_has_not_waited_for)
{
    /* It runs after the host's access, or before. */
    begin(_i ? TIMELINE_LATEST : TIMELINE_EARLIEST);
    put(one, RACES_WRITE, 0, 64);
    host_touches(RACES_READ);
    end(1);
}
END_TEST

START_TEST(the_host_does_not_race_with_what_it_has_waited_for_or_submits_later)
{
    begin(_i ? TIMELINE_LATEST : TIMELINE_EARLIEST);
    struct timeline_op *a = put_step(one, step_make(RACES_WRITE, 0, 64), NULL);
    timeline_finish(a);
    timeline_op_release(a);
    host_touches(RACES_WRITE);
    put(two, RACES_READ, 0, 64);
    end(0);
}
END_TEST

START_TEST(those_that_converse_are_not_accused_of_each_other)
{
    begin(TIMELINE_LATEST);
    struct step *a = step_make(RACES_WRITE, 0, 64), *b = step_make(RACES_READ, 0, 64);
    a->actor.converses = b->actor.converses = true;
    timeline_op_release(put_step(one, a, NULL));
    timeline_op_release(put_step(two, b, NULL));
    run_all();
    ck_assert_int_eq(reports, 0);
    put(one, RACES_WRITE, 0, 64); /* a kernel that does not communicate */
    end(1);
}
END_TEST

/* A step that converses, and whose site of `strong` bytes from `first` on tells others something.
 */
static struct step *talker(enum races_mode mode, uint64_t first, uint64_t strong)
{
    struct step *step = step_make(mode, first, 64);
    step->actor.converses = true;
    step->actor.sites = calloc(1, sizeof *step->actor.sites);
    step->actor.site_count = 1;
    step->actor.sites[0] =
        (struct races_site){mode, {first, first + strong}, "a.cu", 1, strong > 0, false};
    return step;
}

START_TEST(who_reads_a_flag_follows_all_and_is_not_accused)
{
    begin(TIMELINE_EARLIEST);
    put(one, RACES_WRITE, 256, 64);
    timeline_op_release(put_step(one, talker(RACES_WRITE, 0, 4), NULL));
    put(two, RACES_READ, 0, 4); /* it copies the flag */
    put(two, RACES_WRITE, 256, 64);
    end(0);
}
END_TEST

START_TEST(who_converses_races_where_it_says_nothing)
{
    begin(TIMELINE_EARLIEST);
    timeline_op_release(put_step(one, talker(RACES_WRITE, 0, 4), NULL));
    put(two, RACES_READ, 32, 4);
    end(1);
}
END_TEST

/* A counter beside a lock: a copy that sets it neither waits for it nor lets anybody go on. */
START_TEST(who_only_counts_talks_with_no_copy)
{
    begin(TIMELINE_EARLIEST);
    struct step *step = talker(RACES_ATOMIC, 0, 4);
    step->actor.sites[0].deaf = true;
    timeline_op_release(put_step(one, step, NULL));
    put(two, RACES_WRITE, 0, 4);
    end(1);

    begin(TIMELINE_EARLIEST);
    step = talker(RACES_ATOMIC, 0, 4);
    step->actor.sites[0].deaf = true;
    timeline_op_release(put_step(one, step, NULL));
    put(two, RACES_READ, 0, 4); /* it may be told the count */
    put(two, RACES_WRITE, 0, 4);
    end(0);

    begin(TIMELINE_EARLIEST);
    timeline_op_release(put_step(one, talker(RACES_ATOMIC, 0, 4), NULL));
    put(two, RACES_WRITE, 0, 4); /* it may have waited for that */
    end(0);
}
END_TEST

/* It may have told everybody else by means of the host, which reads its flag at 0. */
START_TEST(who_tells_the_host_without_a_fence_races_with_the_host_alone)
{
    begin(TIMELINE_EARLIEST);
    struct step *step = talker(RACES_WRITE, 0, 4);
    step->actor.for_host = true;
    timeline_op_release(put_step(one, step, NULL));
    run_all();
    put(two, RACES_READ, 32, 4);
    put(two, RACES_FREE, 0, 64);
    host_touches_at(RACES_READ, 0);
    ck_assert_int_eq(reports, 1); /* the host's with the free */
    host_touches_at(RACES_READ, 32);
    ck_assert(found.first.actor->for_host);
    end(2);
}
END_TEST

START_TEST(what_is_learnt_from_a_flag_orders_all_regions)
{
    begin(TIMELINE_LATEST);
    put(one, RACES_WRITE, 0, 4);
    put(one, RACES_READ, 256, 4);
    run_all();
    struct step *reader = talker(RACES_READ, 0, 4);
    struct timeline_op *op = timeline_submit(
        two, &(struct timeline_work){.kind = TIMELINE_SET, .bytes = 1}, now += 100, NULL, 0);
    races_meet(races, op, &reader->actor, 7);
    put(two, RACES_WRITE, 256, 4);
    races_actor_release(&reader->actor);
    timeline_op_release(op);
    end(0);
}
END_TEST

START_TEST(a_covered_touch_is_still_found_through_what_covers_it)
{
    begin(TIMELINE_EARLIEST);
    for (int i = 0; i < 1000; i++) put(one, RACES_WRITE, 0, 64);
    put(two, RACES_READ, 10, 1);
    end(1);
}
END_TEST

START_TEST(a_read_does_not_hide_an_earlier_write)
{
    begin(TIMELINE_EARLIEST);
    put(one, RACES_WRITE, 0, 64);
    put(one, RACES_READ, 0, 64);
    put(two, RACES_READ, 10, 1);
    end(1);
}
END_TEST

START_TEST(thousands_of_unordered_slices_are_told_apart)
{
    begin(TIMELINE_EARLIEST);
    for (uint64_t i = 0; i < 3000; i++) put(i % 2 ? one : two, RACES_WRITE, 8 * i, 8);
    ck_assert_int_eq(reports, 0);
    put(two, RACES_READ, 8 * 1501, 8); /* written in stream one */
    end(1);
}
END_TEST

START_TEST(what_the_host_does_in_many_places_is_kept_for_pending_work)
{
    enum { PLACES = 1000 };
    begin(TIMELINE_LATEST);
    put(one, RACES_WRITE, 0, 4);
    host_touches_at(RACES_WRITE, 0); /* unordered with the work, as are all further touches */
    for (int round = 0; round < 40; round++)
        for (uint64_t k = 1; k < PLACES; k++) host_touches_at(RACES_WRITE, k * 8);
    put(two, RACES_WRITE, 8, 8 * PLACES); /* ordered with all of them */
    end(1);
}
END_TEST

START_TEST(what_the_host_has_waited_for_is_forgotten_for_later_work_only)
{
    enum { PLACES = 1000 };
    begin(TIMELINE_LATEST);
    for (uint64_t k = 0; k < PLACES; k++) put(one, RACES_WRITE, k * 8, 4);
    put(two, RACES_WRITE, 3 * 8, 4); /* not ordered with the stream's */
    timeline_stream_finish(one);
    for (int k = 0; k < 100; k++) put(one, RACES_READ, 3 * 8, 4);
    timeline_stream_finish(one);
    ck_assert_int_eq(reports, 0);
    end(1);
}
END_TEST

START_TEST(a_forgotten_region_is_another_one)
{
    begin(TIMELINE_EARLIEST);
    put(one, RACES_WRITE, 0, 64);
    races_forget(races, 7);
    put(two, RACES_WRITE, 0, 64);
    end(0);
}
END_TEST

START_TEST(the_site_that_touched_the_byte_is_named)
{
    begin(TIMELINE_EARLIEST);
    struct step *step = step_make(RACES_WRITE, 0, 64);
    step->actor.sites = calloc(3, sizeof *step->actor.sites);
    step->actor.site_count = 3;
    step->actor.sites[0] = (struct races_site){RACES_WRITE, {0, 64}, "a.cu", 1, false, false};
    step->actor.sites[1] = (struct races_site){RACES_READ, {8, 16}, "a.cu", 2, false, false};
    step->actor.sites[2] = (struct races_site){RACES_WRITE, {8, 16}, "a.cu", 3, false, false};
    timeline_op_release(put_step(one, step, NULL));
    put(two, RACES_READ, 9, 2);
    run_all();
    ck_assert_ptr_nonnull(found.first.site);
    ck_assert_uint_eq(found.first.site->line, 3);
    ck_assert_ptr_null(found.second.site);
    end(1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("races");
    TCase *tcase = tcase_create("races");
    tcase_add_loop_test(tcase, two_streams_race_when_their_touches_conflict, 0,
                        sizeof pairs / sizeof *pairs);
    tcase_add_test(tcase, neighbouring_bytes_do_not_race);
    tcase_add_test(tcase, one_stream_does_not_race);
    tcase_add_test(tcase, an_event_orders);
    tcase_add_test(tcase, the_hosts_wait_orders);
    tcase_add_test(tcase, having_run_first_does_not_order);
    tcase_add_loop_test(tcase, the_host_races_with_what_it_has_not_waited_for, 0, 2);
    tcase_add_loop_test(tcase, the_host_does_not_race_with_what_it_has_waited_for_or_submits_later,
                        0, 2);
    tcase_add_test(tcase, those_that_converse_are_not_accused_of_each_other);
    tcase_add_test(tcase, who_reads_a_flag_follows_all_and_is_not_accused);
    tcase_add_test(tcase, who_converses_races_where_it_says_nothing);
    tcase_add_test(tcase, who_only_counts_talks_with_no_copy);
    tcase_add_test(tcase, who_tells_the_host_without_a_fence_races_with_the_host_alone);
    tcase_add_test(tcase, what_is_learnt_from_a_flag_orders_all_regions);
    tcase_add_test(tcase, a_covered_touch_is_still_found_through_what_covers_it);
    tcase_add_test(tcase, a_read_does_not_hide_an_earlier_write);
    tcase_add_test(tcase, thousands_of_unordered_slices_are_told_apart);
    tcase_add_test(tcase, what_the_host_does_in_many_places_is_kept_for_pending_work);
    tcase_add_test(tcase, what_the_host_has_waited_for_is_forgotten_for_later_work_only);
    tcase_add_test(tcase, a_forgotten_region_is_another_one);
    tcase_add_test(tcase, the_site_that_touched_the_byte_is_named);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
