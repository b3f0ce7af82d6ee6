/* Device memory alone: bounds, guards, poison, descriptions of invalid addresses, traps. */
#include "emulator/memory/memory.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

static const struct memory_region *make(enum memory_kind kind, uint64_t size)
{
    ck_assert(memory_start(64 * MIB));
    const struct memory_region *region =
        memory_allocate(&(struct memory_request){.kind = kind, .size = size, .id = 5});
    ck_assert_ptr_nonnull(region);
    return region;
}

START_TEST(a_region_is_exact_to_the_byte)
{
    const struct memory_region *a = make((enum memory_kind)_i, 1001);
    ck_assert_ptr_eq(memory_find(a->address), a);
    ck_assert_ptr_eq(memory_find(a->address + 1000), a);
    ck_assert_ptr_null(memory_find(a->address + 1001));
    ck_assert_ptr_null(memory_find(a->address - 1));
    ck_assert_ptr_null(memory_find(0));
    ck_assert_ptr_null(memory_find(UINT64_MAX));
}
END_TEST

START_TEST(a_region_is_poisoned_writable_and_aligned)
{
    const struct memory_region *a = make((enum memory_kind)_i, 5 * MIB + 3);
    ck_assert_uint_eq(a->address % MEMORY_ALIGNMENT, 0);
    ck_assert_uint_eq(a->bytes[0], MEMORY_POISON);
    ck_assert_int_eq(memcmp(a->bytes, a->bytes + 1, a->size - 1), 0); /* so all equal the first */
    memset(a->bytes, 1, a->size);
    const struct memory_region *b = make((enum memory_kind)_i, 5 * MIB + 3);
    ck_assert_uint_eq(b->bytes[0], MEMORY_POISON);
    ck_assert_uint_eq(b->bytes[4 * MIB], MEMORY_POISON);
}
END_TEST

static bool all_are(const unsigned char *bytes, uint64_t from, uint64_t end, unsigned char value)
{
    while (from < end && bytes[from] == value) from++;
    return from == end;
}

/* Overwritten pages are replaced; the bytes beside the range, written or not, are unchanged. */
START_TEST(what_is_overwritten_leaves_the_rest_as_it_is)
{
    enum { SIZE = 9 * MIB + 5, FROM = MIB + 7, END = 8 * MIB + 1, WRITTEN = 6 * MIB };
    const struct memory_region *a = make((enum memory_kind)_i, SIZE), *b = make(MEMORY_DEVICE, KIB);
    memset(a->bytes, 1, WRITTEN);
    for (unsigned char value = 2; value < 4; value++) {
        memory_overwrite(a->address + FROM, END - FROM);
        memset(a->bytes + FROM, value, END - FROM);
        ck_assert(all_are(a->bytes, 0, FROM, 1));
        ck_assert(all_are(a->bytes, FROM, END, value));
        ck_assert(all_are(a->bytes, END, SIZE, MEMORY_POISON));
    }
    memory_overwrite(a->address, SIZE + 1); /* a part of the range is not memory */
    memory_overwrite(a->address + SIZE + KIB, 3 * MIB);
    ck_assert(all_are(a->bytes, 0, FROM, 1));
    ck_assert(all_are(a->bytes, END, SIZE, MEMORY_POISON));
    ck_assert(all_are(b->bytes, 0, KIB, MEMORY_POISON));
    memory_release(a, 0);
    ck_assert(all_are(make((enum memory_kind)_i, SIZE)->bytes, 0, SIZE, MEMORY_POISON));
}
END_TEST

START_TEST(device_regions_lie_apart_at_a_constant_distance)
{
    const struct memory_region *a = make(MEMORY_DEVICE, 10), *b = make(MEMORY_DEVICE, 10);
    ck_assert_uint_ge(b->address, a->address + 10 + 64 * KIB);
    ck_assert_uint_eq(b->address - a->address, (uint64_t)(b->bytes - a->bytes));
    ck_assert(memory_is_device_address(a->address));
    ck_assert(!memory_is_device_address((uint64_t)(uintptr_t)a->bytes));
    const struct memory_region *pinned = make(MEMORY_PINNED, 10);
    ck_assert_uint_eq(pinned->address, (uint64_t)(uintptr_t)pinned->bytes);
    ck_assert(!memory_is_device_address(pinned->address));
}
END_TEST

START_TEST(alignment_is_kept)
{
    ck_assert(memory_start(64 * MIB));
    for (uint64_t alignment = 1; alignment <= 2 * MIB; alignment *= 2) {
        const struct memory_region *region = memory_allocate(
            &(struct memory_request){.kind = MEMORY_DEVICE, .size = 3, .alignment = alignment});
        ck_assert_ptr_nonnull(region);
        ck_assert_uint_eq(region->address % alignment, 0);
    }
}
END_TEST

START_TEST(many_regions_are_found_and_released_in_any_order)
{
    enum { COUNT = 2000 };
    static const struct memory_region *regions[COUNT];
    uint64_t addresses[COUNT];
    srand(3);
    for (int i = 0; i < COUNT; i++) {
        regions[i] = make(i % 3 ? MEMORY_DEVICE : MEMORY_PINNED, 1 + (uint64_t)(rand() % 5000));
        addresses[i] = regions[i]->address;
    }
    ck_assert_uint_eq(memory_count(), COUNT);
    for (size_t i = 1; i < memory_count(); i++)
        ck_assert_uint_gt(memory_at(i)->address, memory_at(i - 1)->address);
    for (int i = 0; i < COUNT; i++) {
        int j = (i * 7919) % COUNT; /* 7919 is prime: every one once */
        ck_assert_ptr_eq(memory_find(addresses[j] + regions[j]->size - 1), regions[j]);
        memory_release(regions[j], 0);
        ck_assert_ptr_null(memory_find(addresses[j]));
    }
    ck_assert_uint_eq(memory_count(), 0);
    ck_assert_uint_eq(memory_used(0), 0);
}
END_TEST

/* More than a process may have mappings. */
START_TEST(small_variables_need_no_mappings)
{
    enum { COUNT = 70000 };
    const struct memory_region *first = make(MEMORY_VARIABLE, 8);
    for (int i = 0; i < COUNT; i++) make(MEMORY_VARIABLE, 8);
    const struct memory_region *last = make(MEMORY_VARIABLE, 8);
    ck_assert(all_are(last->bytes, 0, 8, MEMORY_POISON));
    ck_assert_uint_ge(last->address, first->address + 64 * KIB);
    memset(last->bytes, 1, 8);
    ck_assert(all_are(first->bytes, 0, 8, MEMORY_POISON));
    ck_assert_int_eq(memory_share(last, "a variable"), -1);
    memory_release(last, 0);
    ck_assert_ptr_nonnull(make(MEMORY_DEVICE, MIB));
}
END_TEST

START_TEST(memory_runs_out_and_comes_back)
{
    const struct memory_region *a = make(MEMORY_DEVICE, 60 * MIB);
    const struct memory_request more = {.kind = MEMORY_DEVICE, .size = 5 * MIB};
    ck_assert_uint_eq(memory_used(0), 60 * MIB);
    ck_assert_ptr_null(memory_allocate(&more));
    memory_release(a, 0);
    ck_assert_ptr_nonnull(memory_allocate(&more));
    ck_assert_ptr_null(memory_allocate(&(struct memory_request){.kind = MEMORY_DEVICE}));
    ck_assert_ptr_null(
        memory_allocate(&(struct memory_request){.kind = MEMORY_DEVICE, .size = UINT64_MAX}));
}
END_TEST

START_TEST(addresses_are_used_again_when_all_have_been_used)
{
    /* 64 GiB of addresses, 32 MiB at a time: more allocations than fit. */
    uint64_t first = 0;
    bool again = false;
    for (int i = 0; i < 3000; i++) {
        const struct memory_region *a = make(MEMORY_DEVICE, 32 * MIB);
        if (i == 0) first = a->address;
        if (i > 0 && a->address == first) again = true;
        if (again) ck_assert_int_gt(i, 1000);
        ck_assert_uint_eq(a->bytes[0], MEMORY_POISON);
        a->bytes[0] = 1;
        memory_release(a, 0);
    }
    ck_assert(again);
}
END_TEST

/* A program may reserve 32 GiB for each of its pools, and map little of it. */
START_TEST(far_more_addresses_are_reserved_than_there_is_memory)
{
    enum { COUNT = 40 };
    const uint64_t size = 32ull << 30;
    uint64_t at[COUNT];
    ck_assert(memory_start(64 * MIB));
    struct memory_contents *contents = memory_contents_create(2 * MIB, 0);
    for (int i = 0; i < COUNT; i++) {
        at[i] = memory_reserve(size, 2 * MIB);
        ck_assert_uint_ne(at[i], 0);
        for (int j = 0; j < i; j++) ck_assert(at[j] + size <= at[i] || at[i] + size <= at[j]);
        ck_assert(memory_is_device_address(at[i]));
        ck_assert(memory_is_device_address(at[i] + size - 1));
    }
    for (int i = 0; i < COUNT; i++) {
        const struct memory_request request = {.kind = MEMORY_DEVICE, .size = 2 * MIB, .id = 6};
        const uint64_t last = at[i] + size - 2 * MIB;
        ck_assert(memory_map(last, contents, false));
        const struct memory_region *region = memory_show(last, 2 * MIB, &request);
        ck_assert_ptr_eq(memory_find(last + 2 * MIB - 1), region);
        ck_assert_int_eq(region->bytes[7], i == 0 ? MEMORY_POISON : i - 1); /* the same contents */
        region->bytes[7] = (unsigned char)i;
    }
    make(MEMORY_DEVICE, KIB);
    memory_unreserve(at[0], size);
    ck_assert_uint_eq(memory_reserve(1ull << 60, 2 * MIB), 0);
    memory_contents_destroy(contents);
}
END_TEST

START_TEST(the_devices_own_memory_is_zeroed_and_not_counted)
{
    ck_assert(memory_start(64 * MIB));
    const struct memory_region *heap = memory_allocate(
        &(struct memory_request){.kind = MEMORY_DEVICE, .size = 8 * MIB, .internal = true});
    ck_assert_uint_eq(heap->bytes[8 * MIB - 1], 0);
    ck_assert_uint_eq(memory_used(0), 0);
    memory_release(heap, 0);
    ck_assert_uint_eq(memory_used(0), 0);
}
END_TEST

START_TEST(registered_memory_is_a_region_until_released)
{
    unsigned char mine[1000];
    ck_assert(memory_start(64 * MIB));
    const struct memory_request request = {.kind = MEMORY_PINNED, .size = sizeof mine};
    const struct memory_region *region = memory_register(mine, &request);
    ck_assert_ptr_eq(region->bytes, mine);
    ck_assert(region->registered);
    ck_assert_ptr_null(memory_register(mine, &request));
    ck_assert_ptr_null(memory_register(mine + 999, &request));
    memory_release(region, 0);
    mine[0] = 1; /* still ours */
    ck_assert_ptr_null(memory_find((uint64_t)(uintptr_t)mine));
}
END_TEST

START_TEST(what_is_no_memory_is_explained)
{
    int local;
    const struct memory_region *a = make(MEMORY_DEVICE, 1000);
    const uint64_t address = a->address;
    struct memory_miss_report report = memory_explain(address + 1003);
    ck_assert_int_eq(report.kind, MEMORY_MISS_BEYOND);
    ck_assert_uint_eq(report.near.address, address);
    report = memory_explain(address - 4);
    ck_assert_int_eq(report.kind, MEMORY_MISS_BEYOND);
    ck_assert_int_eq(memory_explain(0).kind, MEMORY_MISS_NULL);
    ck_assert_int_eq(memory_explain(16).kind, MEMORY_MISS_NULL);
    ck_assert_int_eq(memory_explain((uint64_t)(uintptr_t)&local).kind, MEMORY_MISS_HOST);
    ck_assert_int_eq(memory_explain(address + (8ull << 30)).kind, MEMORY_MISS_NOWHERE);
    memory_release(a, 0);
    report = memory_explain(address + 999);
    ck_assert_int_eq(report.kind, MEMORY_MISS_FREED);
    ck_assert_uint_eq(report.near.size, 1000);
    ck_assert_uint_eq(report.near.id, 5);
}
END_TEST

/* ---- traps -------------------------------------------------------------------------------- */

static int told[2];

static void tell(uint64_t address, bool is_store, uint64_t pc, const struct memory_region *region)
{
    uint64_t facts[4] = {address, is_store, pc, region != NULL ? region->id : 0};
    if (write(told[1], facts, sizeof facts) != sizeof facts) _exit(9);
}

/* Accesses `offset` bytes into a region in a child; returns the facts that the handler received. */
static void touch_in_child(int64_t offset, bool store, bool freed, uint64_t facts[4])
{
    int status;
    ck_assert_int_eq(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        const struct memory_region *region = make(MEMORY_DEVICE, 4096);
        uint64_t address = region->address + (uint64_t)offset;
        memory_trap_install(tell);
        memory_trap_enter_thread();
        if (freed) memory_release(region, 0);
        volatile unsigned char *p = (volatile unsigned char *)(uintptr_t)address;
        if (store)
            *p = 1;
        else
            (void)*p;
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    ck_assert_int_eq(read(told[0], facts, 4 * sizeof *facts), 4 * sizeof *facts);
}

START_TEST(a_touch_by_the_host_is_told_and_ends_the_process)
{
    uint64_t facts[4];
    touch_in_child(100, false, false, facts);
    ck_assert_uint_eq(facts[1], 0);
    ck_assert_uint_ne(facts[2], 0);
    ck_assert_uint_eq(facts[3], 5);
    touch_in_child(100, true, false, facts);
#if defined(__x86_64__)
    ck_assert_uint_eq(facts[1], 1);
#endif
    touch_in_child(100, false, true, facts);
    ck_assert_uint_eq(facts[3], 0); /* freed: in no region */
    touch_in_child(1 << 20, false, false, facts);
    ck_assert_uint_eq(facts[3], 0);
}
END_TEST

START_TEST(a_guarded_copy_says_no_instead_of_crashing)
{
    unsigned char a[64] = {1}, b[64];
    ck_assert(memory_start(64 * MIB));
    memory_trap_install(tell);
    ck_assert(memory_copy_guarded(b, a, sizeof a));
    ck_assert_uint_eq(b[0], 1);
    for (int i = 0; i < 3; i++) { /* and again: the handler is still there */
        ck_assert(!memory_copy_guarded(b, (void *)8, sizeof b));
        ck_assert(!memory_copy_guarded((void *)8, a, sizeof a));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("Memory");
    TCase *tcase = tcase_create("memory");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, a_region_is_exact_to_the_byte, 0, MEMORY_KIND_COUNT);
    tcase_add_loop_test(tcase, a_region_is_poisoned_writable_and_aligned, 0, MEMORY_KIND_COUNT);
    tcase_add_loop_test(tcase, what_is_overwritten_leaves_the_rest_as_it_is, 0, MEMORY_KIND_COUNT);
    tcase_add_test(tcase, device_regions_lie_apart_at_a_constant_distance);
    tcase_add_test(tcase, alignment_is_kept);
    tcase_add_test(tcase, many_regions_are_found_and_released_in_any_order);
    tcase_add_test(tcase, small_variables_need_no_mappings);
    tcase_add_test(tcase, memory_runs_out_and_comes_back);
    tcase_add_test(tcase, addresses_are_used_again_when_all_have_been_used);
    tcase_add_test(tcase, far_more_addresses_are_reserved_than_there_is_memory);
    tcase_add_test(tcase, the_devices_own_memory_is_zeroed_and_not_counted);
    tcase_add_test(tcase, registered_memory_is_a_region_until_released);
    tcase_add_test(tcase, what_is_no_memory_is_explained);
    tcase_add_test(tcase, a_touch_by_the_host_is_told_and_ends_the_process);
    tcase_add_test(tcase, a_guarded_copy_says_no_instead_of_crashing);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
