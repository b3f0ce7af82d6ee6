/* Promises of trace/: nothing that was written is lost, whoever writes and however the writer ends;
 * and a reader survives a file that student code overwrote. */
#include "tests/temporary.h"
#include "trace/trace.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;

static void set_up(void)
{
    path = temporary_file();
    ck_assert_int_eq(trace_create(path, 0), 0);
    ck_assert_int_eq(setenv(TRACE_PATH_VARIABLE, path, 1), 0);
}

static void tear_down(void)
{
    unlink(path);
    unsetenv(TRACE_PATH_VARIABLE);
}

static struct trace read_back(void)
{
    struct trace trace;
    char why[256] = "";
    ck_assert_msg(trace_read(path, &trace, why, sizeof why) == 0, "%s", why);
    return trace;
}

START_TEST(what_was_put_is_read_in_order)
{
    struct trace_writer *writer = trace_open_from_environment();
    ck_assert_ptr_nonnull(writer);
    for (uint32_t i = 0; i < 3; i++) {
        struct trace_record record = {.kind = TRACE_CALL, .code = (int32_t)i, .bytes = 1ull << 40};
        trace_copy_string(record.name, sizeof record.name, "cudaMalloc");
        trace_put(writer, &record);
    }
    trace_writer_close(writer);

    struct trace trace = read_back();
    ck_assert_uint_eq(trace.count, 3);
    ck_assert_uint_eq(trace.dropped, 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(trace.records[i].code, i);
        ck_assert_str_eq(trace.records[i].name, "cudaMalloc");
        ck_assert_uint_eq(trace.records[i].bytes, 1ull << 40);
        ck_assert_uint_eq(trace.records[i].process, (uint32_t)getpid());
        ck_assert_uint_ne(trace.records[i].thread, 0);
    }
    trace_free(&trace);
}
END_TEST

static void ask(struct trace_writer *writer, const char *name, uint64_t object, int32_t code)
{
    struct trace_record record = {.kind = TRACE_CALL, .object = object, .code = code};
    trace_copy_string(record.name, sizeof record.name, name);
    trace_put(writer, &record);
}

/* Returns how many records have that name, and in *calls how many calls they stand for. */
static size_t records_of(const struct trace *trace, const char *name, size_t *calls)
{
    size_t records = 0;
    *calls = 0;
    for (size_t i = 0; i < trace->count; i++) {
        if (strcmp(trace->records[i].name, name) != 0) continue;
        records++;
        *calls += 1 + trace->records[i].count;
    }
    return records;
}

START_TEST(a_loop_that_polls_does_not_fill_the_record)
{
    struct trace_writer *writer = trace_open_from_environment();
    size_t calls;

    /* Two streams in turn, as a loop asks that waits for both. */
    for (uint32_t i = 0; i < 1000000; i++) ask(writer, "cudaStreamQuery", 1 + i % 2, 600);
    ask(writer, "cudaStreamQuery", 1, 0);
    ask(writer, "cudaStreamQuery", 2, 0);
    /* A loop that does something between its queries shows them all, and so does one that calls
     * what is no query. */
    for (int i = 0; i < 1000; i++) {
        ask(writer, "cudaEventQuery", 3, 0);
        ask(writer, "cudaMemcpyAsync", 0, 0);
    }
    trace_writer_close(writer);

    struct trace trace = read_back();
    ck_assert_uint_eq(trace.dropped, 0);
    const size_t queries = records_of(&trace, "cudaStreamQuery", &calls);
    ck_assert_uint_ge(queries, 128 + 2);
    ck_assert_uint_le(queries, 200);
    ck_assert_uint_eq(calls, 1000002);
    ck_assert_int_eq(trace.records[queries - 2].code, 0);
    ck_assert_int_eq(trace.records[queries - 3].code, 600);
    ck_assert_uint_eq(records_of(&trace, "cudaEventQuery", &calls), 1000);
    ck_assert_uint_eq(calls, 1000);
    ck_assert_uint_eq(records_of(&trace, "cudaMemcpyAsync", &calls), 1000);
    trace_free(&trace);
}
END_TEST

START_TEST(a_child_that_polls_begins_anew)
{
    struct trace_writer *writer = trace_open_from_environment();
    size_t calls;

    for (int i = 0; i < 100; i++) ask(writer, "clGetEventInfo", 0, 0);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 50; i++) ask(writer, "clGetEventInfo", 0, 0);
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    trace_writer_close(writer);
    struct trace trace = read_back();
    ck_assert_uint_eq(records_of(&trace, "clGetEventInfo", &calls), 64 + 50);
    trace_free(&trace);
}
END_TEST

START_TEST(only_the_kinds_asked_for_are_kept)
{
    const uint32_t kinds = TRACE_KIND_BIT(TRACE_FINDING) | TRACE_KIND_BIT(TRACE_STACK);
    const uint32_t put[] = {TRACE_CALL, TRACE_FINDING, TRACE_OPERATION, TRACE_STACK};
    ck_assert_int_eq(trace_create_for(path, 4, kinds), 0);
    struct trace_writer *writer = trace_open_from_environment();
    ck_assert(trace_wants(writer, TRACE_FINDING) && trace_wants(writer, TRACE_STACK));
    ck_assert(!trace_wants(writer, TRACE_CALL) && !trace_wants(NULL, TRACE_FINDING));
    for (size_t i = 0; i < sizeof put / sizeof *put; i++)
        trace_put(writer, &(struct trace_record){.kind = put[i], .finding.id = FINDING_TRAP});
    trace_writer_close(writer);
    struct trace trace = read_back();
    ck_assert_uint_eq(trace.count, 2);
    ck_assert_uint_eq(trace.records[0].kind, TRACE_FINDING);
    ck_assert_uint_eq(trace.records[1].kind, TRACE_STACK);
    ck_assert_uint_eq(trace.dropped, 0); /* unrequested records do not count as missing */
    trace_free(&trace);

    ck_assert_int_eq(trace_create(path, 4), 0);
    writer = trace_open_from_environment();
    ck_assert(trace_wants(writer, TRACE_CALL) && !trace_wants(writer, TRACE_STACK));
    trace_writer_close(writer);
}
END_TEST

START_TEST(a_stack_keeps_its_innermost_calls)
{
    struct trace_record record = {.kind = TRACE_STACK};
    uint64_t addresses[TRACE_STACK_DEPTH + 3], back[TRACE_STACK_DEPTH];
    for (size_t i = 0; i < TRACE_STACK_DEPTH + 3; i++) addresses[i] = 0x7f0000000000 + i;
    ck_assert_uint_eq(trace_stack_set(&record, addresses, 2), 2);
    ck_assert_uint_eq(trace_stack_addresses(&record, back), 2);
    ck_assert_mem_eq(back, addresses, 2 * sizeof *back);
    ck_assert_uint_eq(trace_stack_set(&record, addresses, TRACE_STACK_DEPTH + 3),
                      TRACE_STACK_DEPTH);
    ck_assert_uint_eq(trace_stack_addresses(&record, back), TRACE_STACK_DEPTH);
    ck_assert_mem_eq(back, addresses, sizeof back);
    record.count = UINT64_MAX; /* written over */
    ck_assert_uint_eq(trace_stack_addresses(&record, back), TRACE_STACK_DEPTH);

    /* Reading a trace clears the last byte of each text field: here the top byte of the last
     * address, which no address uses. */
    struct trace_writer *writer = trace_open_from_environment();
    trace_writer_close(writer);
    ck_assert_int_eq(trace_create_for(path, 4, TRACE_ALL_KINDS), 0);
    writer = trace_open_from_environment();
    trace_stack_set(&record, addresses, TRACE_STACK_DEPTH);
    trace_put(writer, &record);
    trace_writer_close(writer);
    struct trace trace = read_back();
    ck_assert_uint_eq(trace_stack_addresses(&trace.records[0], back), TRACE_STACK_DEPTH);
    ck_assert_mem_eq(back, addresses, sizeof back);
    trace_free(&trace);
}
END_TEST

START_TEST(leaks_are_told_in_plain_words)
{
    char text[160];
    trace_leak_sentence(TRACE_EVENT, 1, 0, NULL, text, sizeof text);
    ck_assert_str_eq(text, "An event that was created here was never destroyed.");
    trace_leak_sentence(TRACE_DEVICE_MEMORY, 3, 96, NULL, text, sizeof text);
    ck_assert_str_eq(
        text, "3 times device memory (96 bytes) that was allocated here was never released.");
    trace_leak_sentence(TRACE_PINNED_MEMORY, 1, 1, NULL, text, sizeof text);
    ck_assert_str_eq(text, "Pinned memory (1 byte) that was allocated here was never released.");
    trace_leak_sentence(TRACE_KERNEL, 1, 0, NULL, text, sizeof text);
    ck_assert_str_eq(text, "");
    ck_assert_ptr_null(trace_held(TRACE_KERNEL));
    ck_assert_ptr_null(trace_held(UINT32_MAX));
    ck_assert_str_eq(trace_held(TRACE_CONTEXT)->by, "cuCtxDestroy");
}
END_TEST

START_TEST(memory_is_released_by_the_call_that_fits_its_maker)
{
    static const char *const pairs[][2] = {
        {"cudaMalloc", "cudaFree (cuMemFree)"},
        {"cudaMallocAsync", "cudaFreeAsync (cuMemFreeAsync)"},
        {"cuMemAllocFromPoolAsync", "cudaFreeAsync (cuMemFreeAsync)"},
        {"cuArrayCreate", "cuArrayDestroy"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct trace_record made = {.kind = TRACE_CREATE, .what = TRACE_DEVICE_MEMORY};
        trace_copy_string(made.name, sizeof made.name, pairs[i][0]);
        ck_assert_str_eq(trace_ended_by(&made), pairs[i][1]);
    }
    ck_assert_ptr_null(trace_ended_by(&(struct trace_record){.what = TRACE_KERNEL}));
}
END_TEST

START_TEST(nothing_is_recorded_where_no_file_is_named)
{
    unsetenv(TRACE_PATH_VARIABLE);
    ck_assert_ptr_null(trace_open_from_environment());
    trace_put(NULL, &(struct trace_record){.kind = TRACE_CALL});
    trace_writer_close(NULL);
}
END_TEST

/* The last record names the writer, and a fork is another writer. */
START_TEST(a_fork_of_who_has_written_is_named)
{
    struct trace_writer *writer = trace_open_from_environment();
    const struct trace_record record = {.kind = TRACE_CALL, .object = 1};

    ck_assert_ptr_nonnull(writer);
    trace_put(writer, &record);
    const pid_t child = fork();
    if (child == 0) {
        trace_put(writer, &record);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    trace_put(writer, &record);
    trace_writer_close(writer);

    struct trace trace = read_back();
    ck_assert_uint_eq(trace.count, 3);
    for (size_t i = 0; i < trace.count; i++) {
        const uint32_t who = (uint32_t)(i == 1 ? child : getpid());
        ck_assert_uint_eq(trace.records[i].process, who);
        ck_assert_uint_eq(trace.records[i].thread, who);
    }
    trace_free(&trace);
}
END_TEST

static void *put_thousand(void *writer)
{
    for (uint64_t i = 0; i < 1000; i++)
        trace_put(writer, &(struct trace_record){.kind = TRACE_CALL, .object = i + 1});
    return NULL;
}

START_TEST(threads_and_processes_write_to_one_file)
{
    struct trace_writer *writer = trace_open_from_environment();
    pthread_t threads[4];
    ck_assert_ptr_nonnull(writer);
    pid_t child = fork();
    if (child == 0) {
        put_thousand(writer);
        raise(SIGKILL);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, put_thousand, writer), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    trace_writer_close(writer);

    struct trace trace = read_back();
    size_t from_child = 0;
    uint64_t sum = 0;
    ck_assert_uint_eq(trace.count, 5000);
    for (size_t i = 0; i < trace.count; i++) {
        sum += trace.records[i].object;
        from_child += trace.records[i].process == (uint32_t)child;
    }
    ck_assert_uint_eq(sum, 5 * 500500);
    ck_assert_uint_eq(from_child, 1000);
    trace_free(&trace);
}
END_TEST

START_TEST(a_full_file_counts_what_it_dropped)
{
    ck_assert_int_eq(trace_create(path, 10), 0);
    struct trace_writer *writer = trace_open_from_environment();
    for (int i = 0; i < 25; i++) trace_put(writer, &(struct trace_record){.kind = TRACE_CALL});
    trace_writer_close(writer);
    struct trace trace = read_back();
    ck_assert_uint_eq(trace.count, 10);
    ck_assert_uint_eq(trace.dropped, 15);
    trace_free(&trace);
}
END_TEST

START_TEST(a_capacity_beyond_reason_is_refused)
{
    ck_assert_int_eq(trace_create(path, UINT32_MAX), -1);
    ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* Writes `size` bytes of `value` at `offset` of the trace file. */
static void scribble(off_t offset, unsigned char value, size_t size)
{
    unsigned char bytes[4096];
    int file = open(path, O_WRONLY);
    ck_assert_int_ge(file, 0);
    ck_assert_uint_le(size, sizeof bytes);
    memset(bytes, value, size);
    ck_assert_int_eq(pwrite(file, bytes, size, offset), (ssize_t)size);
    close(file);
}

START_TEST(a_file_that_is_no_trace_is_refused_with_a_sentence)
{
    struct trace trace;
    char why[256] = "";
    scribble(0, 'x', 8);
    ck_assert_int_eq(trace_read(path, &trace, why, sizeof why), -1);
    ck_assert_ptr_nonnull(strstr(why, "is not a trace"));
    ck_assert_ptr_null(trace_open_from_environment());

    ck_assert_int_eq(truncate(path, 3), 0);
    ck_assert_int_eq(trace_read(path, &trace, why, sizeof why), -1);
    unlink(path);
    ck_assert_int_eq(trace_read(path, &trace, why, sizeof why), -1);
    ck_assert_ptr_nonnull(strstr(why, "cannot open"));
}
END_TEST

START_TEST(a_capacity_that_belies_the_file_is_refused)
{
    struct trace trace;
    char why[256] = "";
    scribble(16, 0xff, 4); /* capacity */
    ck_assert_int_eq(trace_read(path, &trace, why, sizeof why), -1);
    scribble(16, 0x00, 4);
    ck_assert_int_eq(trace_read(path, &trace, why, sizeof why), -1);
}
END_TEST

START_TEST(scribbled_records_are_left_out_and_strings_end)
{
    struct trace_writer *writer = trace_open_from_environment();
    for (int i = 0; i < 3; i++)
        trace_put(writer, &(struct trace_record){.kind = TRACE_CALL, .code = i});
    trace_writer_close(writer);
    scribble(32 + sizeof(struct trace_record), 0xee, sizeof(struct trace_record));
    /* The last record's name: sixty-four bytes without an end. */
    scribble(32 + 2 * sizeof(struct trace_record) + offsetof(struct trace_record, name), 'n',
             TRACE_NAME_SIZE);

    struct trace trace = read_back();
    ck_assert_uint_eq(trace.count, 2);
    ck_assert_int_eq(trace.records[1].code, 2);
    ck_assert_uint_eq(strlen(trace.records[1].name), TRACE_NAME_SIZE - 1);
    trace_free(&trace);
}
END_TEST

START_TEST(a_count_beyond_the_file_reads_the_file)
{
    struct trace trace;
    char why[256];
    scribble(24, 0xff, 7); /* appended: an absurd number */
    ck_assert_int_eq(trace_read(path, &trace, why, sizeof why), 0);
    ck_assert_uint_eq(trace.count, 0);
    trace_free(&trace);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
    struct trace trace;
    char why[256], link_path[PATH_MAX];
    snprintf(link_path, sizeof link_path, "%s.link", path);
    ck_assert_int_eq(symlink(path, link_path), 0);
    ck_assert_int_eq(trace_read(link_path, &trace, why, sizeof why), -1);
    unlink(link_path);
}
END_TEST

START_TEST(every_name_is_known_and_unknown_numbers_are_said_so)
{
    for (uint32_t i = 0; i < TRACE_KIND_COUNT; i++) ck_assert_ptr_nonnull(trace_kind_name(i));
    for (uint32_t i = 0; i < TRACE_WHAT_COUNT; i++) ck_assert_ptr_nonnull(trace_what_name(i));
    for (uint32_t i = 0; i < TRACE_PLACE_COUNT; i++) ck_assert_ptr_nonnull(trace_place_name(i));
    ck_assert_str_eq(trace_what_name(TRACE_EVENT_WAIT), "event wait");
    ck_assert_str_eq(trace_place_name(TRACE_ARRAY), "array");
    ck_assert_str_eq(trace_kind_name(TRACE_SETTING), "setting");
    ck_assert_str_eq(trace_what_name(TRACE_WHAT_COUNT), "unknown");
    ck_assert_str_eq(trace_kind_name(99), "unknown");
    ck_assert_str_eq(trace_place_name(99), "unknown");
}
END_TEST

START_TEST(a_record_in_memory_keeps_its_size)
{
    int file = trace_create_in_memory(16, TRACE_ALL_KINDS);
    ck_assert_int_ge(file, 0);
    const off_t size = lseek(file, 0, SEEK_END);
    ck_assert_int_eq(ftruncate(file, 0), -1);
    ck_assert_int_eq(errno, EPERM);
    ck_assert_int_eq(ftruncate(file, size + 1), -1);
    ck_assert_int_eq(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), -1); /* which would lose records */
    close(file);
}
END_TEST

/* ---- seals ---------------------------------------------------------------------------------- */

#define KEY "00112233445566778899aabbccddeeff"
static const struct trace_key the_key = {{0x0011223344556677, 0x8899aabbccddeeff}};

static struct trace_writer *open_keyed(void)
{
    ck_assert_int_eq(setenv(TRACE_KEY_VARIABLE, KEY, 1), 0);
    struct trace_writer *writer = trace_open_from_environment();
    unsetenv(TRACE_KEY_VARIABLE);
    ck_assert_ptr_nonnull(writer);
    return writer;
}

static struct trace read_sealed(const struct trace_key *key)
{
    struct trace trace;
    char why[256];
    int file = open(path, O_RDONLY);
    ck_assert_int_eq(trace_read_descriptor(file, key, &trace, why, sizeof why), 0);
    close(file);
    const struct trace judged = trace; /* without its records */
    trace_free(&trace);
    return judged;
}

static void put_some(struct trace_writer *writer)
{
    const struct trace_record kernel = {.kind = TRACE_OPERATION, .what = TRACE_KERNEL},
                              finding = {.kind = TRACE_FINDING, .finding.id = FINDING_TRAP};
    trace_put(writer, &kernel);
    trace_put(writer, &kernel);
    uint64_t *count = trace_put_counted(writer, &finding);
    if (count != NULL) *count += 7; /* seen again */
}

START_TEST(what_was_put_is_sealed)
{
    struct trace_writer *a = open_keyed(), *b = open_keyed();
    put_some(a);
    put_some(b);
    trace_end(a);
    trace_end(b);
    trace_end(b);
    put_some(b); /* too late */
    struct trace trace = read_sealed(&the_key);
    ck_assert(!trace.forged);
    ck_assert_uint_eq(trace.count, 6);
    ck_assert_uint_eq(trace.put.operations[TRACE_KERNEL], 4);
    const struct trace_key other = {{1, 2}};
    ck_assert(read_sealed(&other).forged);
    trace_writer_close(a);
    trace_writer_close(b);
}
END_TEST

START_TEST(a_record_without_its_seal_is_known)
{
    struct trace_writer *writer = open_keyed();
    ck_assert(!read_sealed(&the_key).forged); /* there is nothing in it */
    put_some(writer);
    const struct trace trace = read_sealed(&the_key);
    ck_assert(trace.forged);
    ck_assert_uint_eq(trace.put.records, 0);
    trace_writer_close(writer);
}
END_TEST

/* Copies a record's slot to another one, or changes a word of it. */
static void forge(size_t from, size_t to, size_t offset, uint64_t change)
{
    const size_t header = 32;
    struct trace_record record;
    int file = open(path, O_RDWR);
    ck_assert(pread(file, &record, sizeof record, (off_t)(header + from * sizeof record)) > 0);
    if (offset < sizeof record) memcpy((char *)&record + offset, &change, sizeof change);
    ck_assert(pwrite(file, &record, sizeof record, (off_t)(header + to * sizeof record)) > 0);
    close(file);
}

START_TEST(every_change_is_known)
{
    static const struct {
        size_t from, to, offset;
    } changes[] = {{1, 3, SIZE_MAX}, /* an entry again, in the place of a finding */
                   {4, 1, SIZE_MAX}, /* a seal again */
                   {0, 0, offsetof(struct trace_record, count)}, /* of a call */
                   {1, 1, offsetof(struct trace_record, end_ns)},
                   {1, 1, offsetof(struct trace_record, count)},
                   {3, 3, offsetof(struct trace_record, name)},
                   {3, 3, offsetof(struct trace_record, finding.words)},
                   {4, 4, offsetof(struct trace_record, text)}};
    const size_t which = (size_t)_i;
    struct trace_writer *writer = open_keyed();
    const struct trace_record first = {.kind = TRACE_CALL};
    trace_put(writer, &first);
    put_some(writer);
    trace_end(writer);
    ck_assert(!read_sealed(&the_key).forged);
    forge(changes[which].from, changes[which].to, changes[which].offset, 42);
    ck_assert(read_sealed(&the_key).forged);
    trace_writer_close(writer);
}
END_TEST

START_TEST(a_child_that_may_be_killed_seals_at_once)
{
    struct trace_writer *writer = open_keyed();
    put_some(writer);
    const pid_t child = fork();
    if (child == 0) {
        put_some(writer);
        trace_end(writer); /* the parent's */
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    put_some(writer);
    trace_end(writer);
    const struct trace trace = read_sealed(&the_key);
    ck_assert(!trace.forged);
    ck_assert_uint_eq(trace.put.operations[TRACE_KERNEL], 6);
    trace_writer_close(writer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *tests = tcase_create("file");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_was_put_is_read_in_order);
    tcase_add_test(tests, nothing_is_recorded_where_no_file_is_named);
    tcase_add_test(tests, a_loop_that_polls_does_not_fill_the_record);
    tcase_add_test(tests, a_child_that_polls_begins_anew);
    tcase_add_test(tests, only_the_kinds_asked_for_are_kept);
    tcase_add_test(tests, a_stack_keeps_its_innermost_calls);
    tcase_add_test(tests, leaks_are_told_in_plain_words);
    tcase_add_test(tests, memory_is_released_by_the_call_that_fits_its_maker);
    tcase_add_test(tests, a_fork_of_who_has_written_is_named);
    tcase_add_test(tests, threads_and_processes_write_to_one_file);
    tcase_add_test(tests, a_full_file_counts_what_it_dropped);
    tcase_add_test(tests, a_capacity_beyond_reason_is_refused);
    tcase_add_test(tests, a_file_that_is_no_trace_is_refused_with_a_sentence);
    tcase_add_test(tests, a_capacity_that_belies_the_file_is_refused);
    tcase_add_test(tests, scribbled_records_are_left_out_and_strings_end);
    tcase_add_test(tests, a_count_beyond_the_file_reads_the_file);
    tcase_add_test(tests, a_link_is_not_followed);
    tcase_add_test(tests, every_name_is_known_and_unknown_numbers_are_said_so);
    tcase_add_test(tests, a_record_in_memory_keeps_its_size);
    tcase_add_test(tests, what_was_put_is_sealed);
    tcase_add_test(tests, a_record_without_its_seal_is_known);
    tcase_add_loop_test(tests, every_change_is_known, 0, 8);
    tcase_add_test(tests, a_child_that_may_be_killed_seals_at_once);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
