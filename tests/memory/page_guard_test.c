/* Promises of page guards: the host's access to guarded memory is reported, once for its page, and
 * continues; bytes beside those in use are not reported. */
#include "emulator/memory/page_guard.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 8, MOST = 1024 };

static volatile struct { /* written in a signal handler */
    unsigned count;
    uint64_t address, size, pc;
    bool is_store;
} told;

static void tell(uint64_t address, uint64_t size, bool is_store, uint64_t pc)
{
    told.count++;
    told.size = size;
    told.address = address;
    told.is_store = is_store;
    told.pc = pc;
}

static enum page_guard_lock answer; /* PAGE_GUARD_LOCKED, unless a test changes it */
/* Guards that another thread drops just before this one takes the lock, and after it has released
 * it. */
static uint64_t dropped_before, dropped_behind;

static enum page_guard_lock lock(void)
{
    page_guard_drop(dropped_before);
    return answer;
}

static void unlock(void)
{
    page_guard_drop(dropped_behind);
}

static struct page_guard_owner owner = {lock, unlock, tell, true};

static void never(uint64_t address, bool is_store, uint64_t pc, const struct memory_region *region)
{
    (void)address, (void)is_store, (void)pc, (void)region;
    abort();
}

static const struct memory_region *region;
static volatile unsigned char *bytes;

static void set_up(void)
{
    ck_assert(memory_start(64 << 20));
    memory_trap_install(never);
    memory_trap_enter_thread();
    page_guard_install(&owner);
    region = memory_allocate(
        &(struct memory_request){.kind = MEMORY_PINNED, .size = PAGES * PAGE, .id = 1});
    ck_assert_ptr_nonnull(region);
    bytes = region->bytes;
    told.count = 0;
}

static uint64_t raise(size_t first, size_t size, bool reads_allowed)
{
    return page_guard_raise(region, region->address + first, size, reads_allowed);
}

/* Returns how often an access to that byte is reported. */
static unsigned load(size_t at)
{
    const unsigned before = told.count;
    (void)bytes[at];
    return told.count - before;
}

static unsigned store(size_t at)
{
    const unsigned before = told.count;
    bytes[at] = 7;
    return told.count - before;
}

START_TEST(a_touch_is_told_once_for_its_page_and_goes_on)
{
    ck_assert_uint_ne(raise(0, PAGES * PAGE, false), 0);
    ck_assert_uint_eq(store(PAGE + 5), 1);
    ck_assert_uint_eq(bytes[PAGE + 5], 7);
    ck_assert_uint_eq(told.address, region->address + PAGE + 5);
    ck_assert_uint_ne(told.pc, 0);
#if defined(__x86_64__)
    ck_assert(told.is_store);
#endif
    ck_assert_uint_eq(store(PAGE + 6), 0);
    ck_assert_uint_eq(load(2 * PAGE), 1);
    ck_assert(!told.is_store);
    ck_assert_uint_eq(store(PAGES * PAGE - 1), 1);
}
END_TEST

START_TEST(reads_are_let_through_where_they_are_allowed)
{
    ck_assert_uint_ne(raise(0, PAGES * PAGE, true), 0);
    for (size_t page = 0; page < PAGES; page++) ck_assert_uint_eq(load(page * PAGE), 0);
    ck_assert_uint_eq(store(0), 1);
}
END_TEST

START_TEST(what_is_dropped_is_open)
{
    const uint64_t guard = raise(0, PAGES * PAGE, false);
    page_guard_drop(guard);
    page_guard_drop(guard);
    page_guard_drop(0);
    for (size_t page = 0; page < PAGES; page++) ck_assert_uint_eq(store(page * PAGE), 0);
}
END_TEST

START_TEST(page_guards_that_overlap_are_dropped_one_by_one)
{
    const uint64_t reading = raise(0, 4 * PAGE, true), writing = raise(2 * PAGE, 4 * PAGE, false);
    page_guard_drop(writing);
    ck_assert_uint_eq(store(5 * PAGE), 0);
    ck_assert_uint_eq(load(2 * PAGE), 0);
    ck_assert_uint_eq(store(2 * PAGE), 1);
    ck_assert_uint_eq(store(3 * PAGE), 1);
    page_guard_drop(reading);
    ck_assert_uint_eq(store(0), 0);
}
END_TEST

/* Where only a part of a page is in use, the rest may be accessed, which opens the page. */
START_TEST(bytes_beside_are_let_through)
{
    const uint64_t guard = raise(100, 200, false);
    ck_assert_uint_ne(guard, 0);
    ck_assert_uint_eq(load(100), 1);
    ck_assert_uint_eq(store(299), 1);
    page_guard_drop(guard);
    ck_assert_uint_ne(raise(PAGE - 1, PAGE + 2, false), 0);
    ck_assert_uint_eq(store(PAGE - 2) + store(2 * PAGE + 1), 0);
    ck_assert_uint_eq(store(PAGE - 1) + store(2 * PAGE), 0);
    ck_assert_uint_eq(store(PAGE), 1);
}
END_TEST

/* Nobody tells of system calls: a right program's would fail. */
START_TEST(bytes_beside_are_left_alone)
{
    owner.knows_buffers = false;
    ck_assert_uint_eq(raise(100, 200, false), 0);
    ck_assert_uint_eq(raise(0, PAGE - 1, false), 0);
    ck_assert_uint_ne(raise(PAGE - 1, PAGE + 2, false), 0);
    ck_assert_uint_eq(store(PAGE - 1), 0);
    ck_assert_uint_eq(store(2 * PAGE), 0);
    ck_assert_uint_eq(store(PAGE), 1);
    owner.knows_buffers = true;
}
END_TEST

START_TEST(two_parts_of_a_page_are_told_apart)
{
    const uint64_t reading = raise(0, 100, true), writing = raise(100, 100, false);
    ck_assert_uint_eq(load(50), 0);
    page_guard_drop(writing);
    ck_assert_uint_eq(load(150) + store(150), 0);
    page_guard_drop(reading);
    ck_assert_uint_ne(raise(100, 100, false), 0);
    page_guard_open(region->address, 50, true, 5);
    ck_assert_uint_eq(told.count, 0);
    page_guard_drop(raise(300, 1, false)); /* closes the page again */
    page_guard_open(region->address, PAGE, true, 5);
    ck_assert_uint_eq(told.count, 1);
    ck_assert_uint_eq(told.address, region->address + 100);
    ck_assert_uint_eq(told.size, 100);
}
END_TEST

/* The rest of an allocation's last page is unused; registered memory shares its first and last page
 * with neighbouring data. */
START_TEST(only_an_allocation_owns_its_last_page)
{
    const struct memory_region *small =
        memory_allocate(&(struct memory_request){.kind = MEMORY_MANAGED, .size = 10, .id = 2});
    ck_assert_uint_ne(page_guard_raise(small, small->address, 10, false), 0);
    bytes = small->bytes;
    ck_assert_uint_eq(store(9), 1);

    unsigned char *own = aligned_alloc(PAGE, 3 * PAGE);
    const struct memory_region *registered = memory_register(
        own + 1, &(struct memory_request){.kind = MEMORY_PINNED, .size = 3 * PAGE - 2, .id = 3});
    ck_assert_uint_ne(page_guard_raise(registered, registered->address, 3 * PAGE - 2, false), 0);
    bytes = own;
    ck_assert_uint_eq(store(0) + store(1) + store(2 * PAGE), 0);
    ck_assert_uint_eq(store(PAGE), 1);
    memory_release(registered, 0);
}
END_TEST

START_TEST(the_device_gets_through)
{
    ck_assert_uint_ne(raise(0, PAGES * PAGE, false), 0);
    page_guard_lift(region->address + PAGE, PAGE);
    ck_assert_uint_eq(store(PAGE), 0);
    ck_assert_uint_eq(store(2 * PAGE), 1);
    page_guard_restore(region->address + PAGE, PAGE);
    ck_assert_uint_eq(store(PAGE), 1);
}
END_TEST

START_TEST(a_child_has_no_guards)
{
    ck_assert_uint_ne(raise(0, PAGES * PAGE, false), 0);
    ck_assert_uint_ne(raise(PAGE, PAGE, true), 0);
    page_guard_forget();
    page_guard_restore(region->address, PAGES * PAGE);
    for (size_t page = 0; page < PAGES; page++) ck_assert_uint_eq(store(page * PAGE), 0);
}
END_TEST

START_TEST(too_many_guards_are_none)
{
    uint64_t guards[MOST];
    for (size_t i = 0; i < MOST; i++) ck_assert_uint_ne(guards[i] = raise(0, PAGE, false), 0);
    ck_assert_uint_eq(raise(PAGE, PAGE, false), 0);
    ck_assert_uint_eq(store(PAGE), 0);
    page_guard_drop(guards[5]);
    ck_assert_uint_ne(raise(PAGE, PAGE, false), 0);
    ck_assert_uint_eq(store(PAGE), 1);
    ck_assert_uint_eq(store(0), 1);
}
END_TEST

START_TEST(what_nobody_guarded_is_no_touch_of_ours)
{
    ck_assert(!page_guard_handle(region->address, 1, true, 1));
    ck_assert_uint_ne(raise(0, PAGE, false), 0);
    ck_assert(!page_guard_handle(region->address + PAGE, 1, true, 1));
    ck_assert(page_guard_handle(region->address, 1, true, 1));
    ck_assert_uint_eq(told.count, 1);
}
END_TEST

START_TEST(what_the_system_is_handed_is_opened_before)
{
    const uint64_t guard = raise(0, 2 * PAGE, false);
    /* Accesses beside the guard are not reported. */
    page_guard_open(region->address + 2 * PAGE, 3 * PAGE, true, 5);
    ck_assert_uint_eq(told.count, 0);
    page_guard_open(region->address + PAGE, 3 * PAGE, true, 5);
    ck_assert_uint_eq(told.count, 1);
    ck_assert_uint_eq(told.address, region->address + PAGE);
    ck_assert_uint_eq(told.size, PAGE);
    ck_assert_uint_eq(told.pc, 5);
    const int zeros = open("/dev/zero", O_RDONLY);
    ck_assert_int_eq(read(zeros, region->bytes + PAGE, PAGE), PAGE);
    close(zeros);
    page_guard_drop(guard);
}
END_TEST

START_TEST(a_guard_that_is_dropped_before_the_touch_is_told_stops_nobody)
{
    for (int i = 0; i < 3; i++) {
        dropped_before = raise(0, PAGE, false);
        ck_assert_uint_eq(store(0), 0);
        ck_assert_uint_eq(bytes[0], 7);
    }
}
END_TEST

START_TEST(a_guard_that_is_dropped_once_the_touch_is_told_leaves_nothing_closed)
{
    dropped_behind = raise(0, PAGE, false);
    ck_assert_uint_eq(load(0), 1);
    ck_assert_uint_eq(store(0), 0);
}
END_TEST

START_TEST(a_touch_while_the_lock_is_taken_is_let_through)
{
    const uint64_t guard = raise(0, 2 * PAGE, false);
    answer = PAGE_GUARD_TAKEN;
    ck_assert_uint_eq(load(0), 0);
    page_guard_open(region->address + PAGE, PAGE, true, 5);
    ck_assert_uint_eq(told.count, 0);
    answer = PAGE_GUARD_LOCKED;
    ck_assert_uint_eq(store(0) + store(PAGE), 0); /* is wide open */
    page_guard_drop(guard);
}
END_TEST

START_TEST(what_the_device_reads_is_told_once_the_host_writes)
{
    ck_assert_uint_ne(raise(0, PAGE, false), 0);
    answer = PAGE_GUARD_OWN;
    ck_assert_uint_eq(load(0), 0);
    answer = PAGE_GUARD_LOCKED;
    ck_assert_uint_eq(store(0), 1);
}
END_TEST

/* An invalid access of the program is still passed on while guards come and go. */
START_TEST(a_wrong_access_beside_guards_is_passed_on)
{
    page_guard_drop(raise(0, PAGE, false));
    ck_assert(page_guard_handle(1, 1, true, 1));
    ck_assert(!page_guard_handle(1, 1, true, 1));
    ck_assert(!page_guard_handle(1, 1, true, 1));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        what_the_system_is_handed_is_opened_before,
        a_touch_is_told_once_for_its_page_and_goes_on,
        reads_are_let_through_where_they_are_allowed,
        what_is_dropped_is_open,
        page_guards_that_overlap_are_dropped_one_by_one,
        bytes_beside_are_let_through,
        bytes_beside_are_left_alone,
        two_parts_of_a_page_are_told_apart,
        only_an_allocation_owns_its_last_page,
        the_device_gets_through,
        a_child_has_no_guards,
        too_many_guards_are_none,
        what_nobody_guarded_is_no_touch_of_ours,
        a_guard_that_is_dropped_before_the_touch_is_told_stops_nobody,
        a_guard_that_is_dropped_once_the_touch_is_told_leaves_nothing_closed,
        a_touch_while_the_lock_is_taken_is_let_through,
        what_the_device_reads_is_told_once_the_host_writes,
        a_wrong_access_beside_guards_is_passed_on,
    };
    Suite *suite = suite_create("memory_guard");
    TCase *tcase = tcase_create("guards");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
