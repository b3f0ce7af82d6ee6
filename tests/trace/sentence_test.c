/* Every message that a finding can be: one example of each is compared with findings.golden, where
 * they can be read one after another. When a sentence is changed on purpose:
 *
 *     OVERLAP_WRITE_GOLDEN=1 build/tests/trace_sentence_test
 *
 * And what student code may have scribbled into a finding does no harm.
 */
#include "trace/sentence.h"
#include "trace/unsupported.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ids[FINDING_COUNT] = {
#define KIND(id, name, checker, why, hint)
#define FINDING(id, kind, sentence) [FINDING_##id] = #id,
#include "trace/findings.def"
#undef FINDING
#undef KIND
};

/* Makes a finding in which every field has a value. */
static struct trace_record example(enum trace_finding_id id)
{
    struct trace_record found = {.kind = TRACE_FINDING,
                                 .code = 700,
                                 .stream = 5,
                                 .address = 0x7f0000001010,
                                 .bytes = 4,
                                 .caller = 0x100,
                                 .count = 1,
                                 .name = "scale"};
    found.finding =
        (struct trace_finding){.id = id,
                               .sides = {{.what = TRACE_KERNEL,
                                          .access = ACCESS_WRITE,
                                          .stream = STREAM_CREATED,
                                          .known = 1,
                                          .block = {1, 0, 0},
                                          .thread = {2, 0, 0},
                                          .line = 12,
                                          .stream_call = 21},
                                         {.what = TRACE_COPY,
                                          .from = TRACE_DEVICE,
                                          .to = TRACE_PINNED,
                                          .access = ACCESS_READ,
                                          .stream = STREAM_DEFAULT,
                                          .known = 1,
                                          .block = {1, 0, 0},
                                          .thread = {64, 0, 0},
                                          .line = 14,
                                          .call = 33}},
                               .things = {{.kind = THING_DEVICE_MEMORY,
                                           .id = 7,
                                           .address = 0x7f0000001000,
                                           .size = 4096,
                                           .made = 15,
                                           .ended = 44},
                                          {.kind = THING_EVENT, .id = 8, .made = 16},
                                          {.kind = THING_CONTEXT, .id = 9, .made = 17}},
                               .numbers = {16, 2, 13, 1, 5, 6, 7, 8, 9},
                               .waiters = {{.line = 12, .threads = 8},
                                           {.line = 14, .threads = 6, .where = WAITS_IN_WARP}}};
    trace_finding_word_set(&found.finding, WORD_FILE, "/home/me/scale.cu");
    trace_finding_word_set(&found.finding, WORD_OTHER_NAME, "ncclAllReduce");
    trace_finding_word_set(&found.finding, WORD_OTHER_FILE, "/home/me/tile.cuh");
    trace_finding_word_set(&found.finding, WORD_DETAIL, "DETAIL");
    return found;
}

/* Differences from the example above. */
static const struct variation {
    enum trace_finding_id id;
    uint32_t relation, thing, what, other_what;
    enum trace_role role;
} variations[] = {
    {FINDING_OUT_OF_BOUNDS, RELATION_OUTSIDE, THING_DEVICE_MEMORY, TRACE_KERNEL, TRACE_COPY,
     ROLE_NONE},
    {FINDING_USE_AFTER_FREE, RELATION_FREED, THING_DEVICE_MEMORY, TRACE_KERNEL, TRACE_COPY,
     ROLE_NONE},
    {FINDING_WRONG_SIDE, RELATION_HOST, THING_NONE, TRACE_KERNEL, TRACE_COPY, ROLE_NONE},
    {FINDING_COPY_AFTER_FREE, RELATION_FREED, THING_DEVICE_MEMORY, TRACE_COPY, TRACE_COPY,
     ROLE_SOURCE},
    {FINDING_DOUBLE_FREE, RELATION_FREED, THING_DEVICE_MEMORY, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_INVALID_FREE, RELATION_NULL, THING_NONE, TRACE_WHAT_NONE, TRACE_COPY, ROLE_NONE},
    {FINDING_COPY_OF_NO_MEMORY, RELATION_NOWHERE, THING_NONE, TRACE_COPY, TRACE_COPY, ROLE_SOURCE},
    {FINDING_COPY_NEEDS_DEVICE, RELATION_HOST, THING_NONE, TRACE_COPY, TRACE_COPY,
     ROLE_DESTINATION},
    {FINDING_HOST_TOUCHED_DEVICE, RELATION_INSIDE, THING_DEVICE_MEMORY, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_COPY_OF_UNWRITTEN, RELATION_INSIDE, THING_DEVICE_MEMORY, TRACE_COPY, TRACE_COPY,
     ROLE_NONE},
    {FINDING_HOST_READS_UNWRITTEN, RELATION_INSIDE, THING_MANAGED_MEMORY, TRACE_WHAT_NONE,
     TRACE_WHAT_NONE, ROLE_NONE},
    {FINDING_CHANGED_IN_FLIGHT, RELATION_INSIDE, THING_HOST_MEMORY, TRACE_COPY, TRACE_WHAT_NONE,
     ROLE_NONE},
    {FINDING_FREED_IN_FLIGHT, RELATION_INSIDE, THING_HOST_MEMORY, TRACE_COPY, TRACE_WHAT_NONE,
     ROLE_NONE},
    {FINDING_USE_AFTER_DESTRUCTION, RELATION_INSIDE, THING_STREAM, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_CONTEXT_DESTROYED, RELATION_INSIDE, THING_CONTEXT, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_HANDLE_OF_OTHER_KIND, RELATION_INSIDE, THING_STREAM, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_EVENT_OF_OTHER_CONTEXT, RELATION_INSIDE, THING_EVENT, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_EVENTS_OF_TWO_CONTEXTS, RELATION_INSIDE, THING_EVENT, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_MODULE_OF_OTHER_CONTEXT, RELATION_INSIDE, THING_MODULE, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_EVENT_WAITED_FOR_IN_VAIN, RELATION_INSIDE, THING_EVENT, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_NONE},
    {FINDING_TIME_OF_UNRECORDED_EVENT, RELATION_INSIDE, THING_EVENT, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_FIRST},
    {FINDING_EVENT_WITHOUT_TIME, RELATION_INSIDE, THING_EVENT, TRACE_WHAT_NONE, TRACE_COPY,
     ROLE_SECOND},
    {FINDING_ERROR_IGNORED, RELATION_INSIDE, THING_NONE, TRACE_WHAT_NONE, TRACE_WHAT_NONE,
     ROLE_NONE},
    {FINDING_FREED_IN_USE, RELATION_INSIDE, THING_PINNED_MEMORY, TRACE_WHAT_NONE, TRACE_KERNEL,
     ROLE_NONE},
};

static struct trace_record example_of(enum trace_finding_id id)
{
    struct trace_record found = example(id);
    const bool of_copy = strncmp(ids[id], "COPY_", 5) == 0 && id != FINDING_COPY_NOT_AWAITED;
    if (of_copy || id == FINDING_TEXTURE_OF_NO_MEMORY) {
        found.finding.sides[0].what = TRACE_COPY;
        if (id != FINDING_COPY_AFTER_FREE) found.finding.things[0].ended = 0;
        found.finding.sides[0].role = ROLE_SOURCE;
    }
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++) {
        const struct variation *of = &variations[i];
        if (of->id != id) continue;
        found.finding.things[0].kind = of->thing;
        found.finding.things[0].relation = of->relation;
        found.finding.sides[0].what = (uint8_t)of->what;
        found.finding.sides[1].what = (uint8_t)of->other_what;
        if (of->relation == RELATION_OUTSIDE) found.address = 0x7f0000002008;
        if (of->what == TRACE_COPY) {
            found.finding.sides[0].from = TRACE_PAGEABLE;
            found.finding.sides[0].to = TRACE_DEVICE;
        }
        if (of->what == TRACE_WHAT_NONE && id == FINDING_FREED_IN_USE) {
            strcpy(found.name, "cudaFreeHost");
            found.finding.sides[0].access = ACCESS_FREE;
            found.finding.sides[0].stream = STREAM_NONE;
            found.finding.sides[0].line = 0;
            trace_finding_word_set(&found.finding, WORD_OTHER_NAME, "scale");
        }
        found.finding.sides[0].role = (uint16_t)of->role;
    }
    return found;
}

static bool line_of(const struct trace_call *call, char *text, size_t size, void *user)
{
    (void)user;
    snprintf(text, size, "main.c:%u", (unsigned)call->address);
    return call->address != 99;
}

static const struct trace_places places = {.place = line_of};

/* ---- the list ------------------------------------------------------------------------------ */

static void write_unsupported(FILE *out, struct trace_record *found)
{
    trace_finding_word_set(&found->finding, WORD_OTHER_NAME, "");
    for (uint64_t why = 0; why < UNSUPPORTED_COUNT; why++) {
        char text[TRACE_SENTENCE_SIZE];
        found->finding.numbers[0] = why;
        trace_sentence(found, &places, text, sizeof text);
        fprintf(out, "    %s\n", text);
    }
}

static void write_kind(FILE *out, enum trace_finding_kind_id id)
{
    const struct trace_finding_kind *kind = trace_finding_kind_at(id);
    fprintf(out, "== %s (%s)\n", kind->name, kind->checker);
    for (int i = 1; i < FINDING_COUNT; i++) {
        char text[TRACE_SENTENCE_SIZE];
        if (trace_finding_kind_of((enum trace_finding_id)i) != id) continue;
        struct trace_record found = example_of((enum trace_finding_id)i);
        trace_sentence(&found, &places, text, sizeof text);
        fprintf(out, "%s\n    %s\n", ids[i], text);
        if (i == FINDING_UNSUPPORTED_INSTRUCTION) write_unsupported(out, &found);
        if (trace_finding_hint(&found) != kind->hint)
            fprintf(out, "    Hint: %s\n", trace_finding_hint(&found));
    }
    if (kind->why != NULL) fprintf(out, "Why:  %s\nHint: %s\n", kind->why, kind->hint);
    fputc('\n', out);
}

START_TEST(every_message_is_in_the_list)
{
    char *made, *kept;
    size_t size, kept_size = 0;
    FILE *out = open_memstream(&made, &size);
    ck_assert_ptr_nonnull(out);
    for (int i = 0; i < FINDING_KIND_COUNT; i++) write_kind(out, (enum trace_finding_kind_id)i);
    fclose(out);
    ck_assert_ptr_null(strchr(made, '{')); /* an unknown field */
    if (getenv("OVERLAP_WRITE_GOLDEN") != NULL) {
        FILE *golden = fopen(FINDINGS_GOLDEN, "w");
        ck_assert_ptr_nonnull(golden);
        ck_assert_int_ge(fputs(made, golden), 0);
        fclose(golden);
    }
    FILE *golden = fopen(FINDINGS_GOLDEN, "r");
    ck_assert_ptr_nonnull(golden);
    kept = calloc(1, size + 2);
    ck_assert_ptr_nonnull(kept);
    kept_size = fread(kept, 1, size + 1, golden);
    fclose(golden);
    size_t same = 0;
    while (same < size && made[same] == kept[same]) same++;
    ck_assert_msg(kept_size == size && same == size,
                  "findings.golden has another message at byte %zu, where there is now: %.300s",
                  same, made + same);
    free(made);
    free(kept);
}
END_TEST

/* ---- fields -------------------------------------------------------------------------------- */

#define SAYS(found, words)                                                                         \
    do {                                                                                           \
        char says[TRACE_SENTENCE_SIZE];                                                            \
        trace_sentence(found, &places, says, sizeof says);                                         \
        ck_assert_msg(strstr(says, words) != NULL, "no \"%s\" in: %s", words, says);               \
    } while (0)

START_TEST(what_is_unknown_is_left_out)
{
    struct trace_record found = example_of(FINDING_RACE);
    SAYS(&found,
         "kernel scale (in the stream made by the call at main.c:21, at scale.cu:12) writes");
    found.finding.sides[0].stream_call = 99;
    SAYS(&found, "kernel scale (in the stream made by a call, at scale.cu:12) writes");
    found.finding.sides[0].line = 0;
    found.finding.sides[0].stream = STREAM_NONE;
    found.finding.sides[1].line = 0;
    SAYS(&found, "kernel scale writes 4 bytes that the copy to the host of ncclAllReduce, asked ");
    trace_finding_word_set(&found.finding, WORD_OTHER_NAME, "");
    SAYS(&found, "kernel scale writes 4 bytes that the copy to the host, asked for by the call at "
                 "main.c:33, in a default stream, reads: nothing orders");
    found = example_of(FINDING_SHARED_RACE_IN_WARP);
    SAYS(&found, " that thread (64, 0, 0) reads");
    found.finding.sides[1].known = 0;
    SAYS(&found, " that another thread of its warp reads");
}
END_TEST

START_TEST(streams_of_one_call_are_told_apart)
{
    struct trace_record found = example_of(FINDING_RACE);
    found.finding.sides[1].stream = STREAM_CREATED;
    found.finding.sides[1].stream_call = 21;
    found.finding.other_stream = 6;
    SAYS(&found, ", asked for by the call at main.c:33, in another stream made by the call at "
                 "main.c:21, at tile.cuh:");
    found.finding.other_stream = (uint32_t)found.stream;
    SAYS(&found, ", in the stream made by the call at main.c:21, at tile.cuh:");
}
END_TEST

START_TEST(memory_is_said_as_it_lies)
{
    struct trace_record found = example_of(FINDING_OUT_OF_BOUNDS);
    SAYS(&found, "8 bytes past the end of device memory of 4096 bytes, allocated by the call at "
                 "main.c:15");
    found.address = 0x7f0000000fff;
    SAYS(&found, "1 byte before device memory of 4096 bytes");
    found.finding.things[0].relation = RELATION_NULL;
    SAYS(&found, "a null pointer, or an index added to one");
    found.finding.things[0].relation = RELATION_NOWHERE;
    SAYS(&found, "in no allocation");
}
END_TEST

START_TEST(calls_without_a_reader_are_addresses)
{
    const struct trace_record found = example_of(FINDING_ERROR_IGNORED);
    char text[TRACE_SENTENCE_SIZE], cut[12];
    trace_sentence(&found, NULL, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "ncclAllReduce, by the call before 0x21, needs"));
    trace_sentence(&found, NULL, cut, sizeof cut);
    ck_assert_str_eq(cut, "scale faile");
    trace_sentence(&found, NULL, cut, 0);
}
END_TEST

START_TEST(calls_are_listed_the_other_side_first)
{
    const struct trace_record found = example_of(FINDING_RACE);
    const struct trace_record other = {.kind = TRACE_CALL};
    struct trace_call calls[TRACE_CALLS];
    ck_assert_uint_eq(trace_finding_calls(&found, calls), 6);
    ck_assert_uint_eq(calls[0].address, 33);
    ck_assert_uint_eq(calls[1].address, 15);
    ck_assert_uint_eq(calls[1].object, 7);
    ck_assert_uint_eq(calls[2].address, 44);
    ck_assert_uint_eq(calls[5].address, 21);
    ck_assert_uint_eq(trace_finding_calls(&other, calls), 0);
}
END_TEST

START_TEST(words_do_not_run_into_each_other)
{
    struct trace_finding finding = {.id = FINDING_TRAP};
    char longest[2 * TRACE_WORDS_SIZE];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    trace_finding_word_set(&finding, WORD_DETAIL, longest);
    ck_assert_uint_eq(strlen(trace_finding_word(&finding, WORD_DETAIL)), TRACE_WORDS_SIZE - 4);
    trace_finding_word_set(&finding, WORD_FILE, "a.cu");
    ck_assert_str_eq(trace_finding_word(&finding, WORD_FILE), "a.cu");
    ck_assert_str_eq(trace_finding_word(&finding, WORD_OTHER_NAME), "");
    ck_assert_uint_eq(strlen(trace_finding_word(&finding, WORD_DETAIL)), TRACE_WORDS_SIZE - 8);
    trace_finding_word_set(&finding, WORD_FILE, longest);
    for (int i = 1; i < WORD_COUNT; i++)
        ck_assert_str_eq(trace_finding_word(&finding, (enum trace_word)i), "");
    trace_finding_word_set(&finding, WORD_FILE, NULL);
    ck_assert_str_eq(trace_finding_word(&finding, WORD_FILE), "");
}
END_TEST

/* ---- hostile ------------------------------------------------------------------------------- */

START_TEST(what_no_writer_writes_is_refused)
{
    struct trace_finding good = example_of(FINDING_RACE).finding, bad;
    ck_assert(trace_finding_is_sound(&good));
#define REFUSED(field, value)                                                                      \
    bad = good, bad.field = (value);                                                               \
    ck_assert_msg(!trace_finding_is_sound(&bad), "%s", #field)
    REFUSED(id, FINDING_NONE);
    REFUSED(id, FINDING_COUNT);
    REFUSED(id, UINT32_MAX);
    for (int i = 0; i < TRACE_SIDES; i++) {
        REFUSED(sides[i].what, TRACE_WHAT_COUNT);
        REFUSED(sides[i].from, TRACE_PLACE_COUNT);
        REFUSED(sides[i].to, TRACE_PLACE_COUNT);
        REFUSED(sides[i].access, ACCESS_COUNT);
        REFUSED(sides[i].role, ROLE_COUNT);
        REFUSED(sides[i].stream, STREAM_COUNT);
        REFUSED(sides[i].known, 2);
    }
    for (int i = 0; i < TRACE_THINGS; i++) {
        REFUSED(things[i].kind, THING_COUNT);
        REFUSED(things[i].relation, RELATION_COUNT);
    }
    REFUSED(waiters[0].where, WAITS_COUNT);
#undef REFUSED
}
END_TEST

START_TEST(words_without_an_end_get_one)
{
    struct trace_record found = example_of(FINDING_UNSUPPORTED);
    char text[TRACE_SENTENCE_SIZE];
    memset(found.finding.words, 'x', sizeof found.finding.words);
    ck_assert(trace_finding_is_sound(&found.finding));
    ck_assert_uint_eq(strlen(trace_finding_word(&found.finding, WORD_FILE)), TRACE_WORDS_SIZE - 1);
    ck_assert_str_eq(trace_finding_word(&found.finding, WORD_DETAIL), "");
    trace_sentence(&found, &places, text, sizeof text);
    ck_assert_str_eq(text, "the software device does not support ");
}
END_TEST

START_TEST(other_records_say_nothing)
{
    struct trace_record record = example_of(FINDING_RACE);
    char text[64] = "x";
    record.kind = TRACE_CALL;
    trace_sentence(&record, &places, text, sizeof text);
    ck_assert_str_eq(text, "");
    ck_assert(!trace_finding_place(&record, false, text, sizeof text));
}
END_TEST

/* Every phrase passes through the reader's translation: no English is left. */
static const char *in_capitals(const char *phrase)
{
    static const struct {
        const char *english, *other;
    } words[] = {{"{address} is freed a second time: it is {place}", "{place}: {address} ZWEIMAL"},
                 {"in %s of %s that has been freed", "IN %s, %s"},
                 {"device memory", "SPEICHER"},
                 {"%" PRIu64 " bytes", "%" PRIu64 " BYTE"},
                 {", allocated by ", " VON "},
                 {", freed by ", " BIS "},
                 {"the call at %s", "%s"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].english, phrase) == 0) return words[i].other;
    ck_abort_msg("a phrase that the test does not know: %s", phrase);
}

START_TEST(another_language_has_its_own_order)
{
    const struct trace_places german = {.place = line_of, .words = in_capitals};
    struct trace_record record = example_of(FINDING_DOUBLE_FREE);
    char text[TRACE_SENTENCE_SIZE];
    record.address = 0x1000;
    record.finding.things[0] = (struct trace_thing){.kind = THING_DEVICE_MEMORY,
                                                    .relation = RELATION_FREED,
                                                    .address = 0x1000,
                                                    .size = 96,
                                                    .made = 10,
                                                    .ended = 20};
    trace_sentence(&record, &german, text, sizeof text);
    ck_assert_str_eq(text, "IN SPEICHER, 96 BYTE VON main.c:10 BIS main.c:20: 0x1000 ZWEIMAL");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace_sentence");
    TCase *tests = tcase_create("trace_sentence");
    tcase_add_test(tests, every_message_is_in_the_list);
    tcase_add_test(tests, what_is_unknown_is_left_out);
    tcase_add_test(tests, streams_of_one_call_are_told_apart);
    tcase_add_test(tests, memory_is_said_as_it_lies);
    tcase_add_test(tests, calls_without_a_reader_are_addresses);
    tcase_add_test(tests, calls_are_listed_the_other_side_first);
    tcase_add_test(tests, words_do_not_run_into_each_other);
    tcase_add_test(tests, what_no_writer_writes_is_refused);
    tcase_add_test(tests, words_without_an_end_get_one);
    tcase_add_test(tests, other_records_say_nothing);
    tcase_add_test(tests, another_language_has_its_own_order);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
