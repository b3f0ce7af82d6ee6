/* Arbitrary bytes as a trace file, which student code may have overwritten: read, judged, and read
 * with a key. */
#include "grader/evidence/evidence.h"
#include "grader/evidence/verdict.h"
#include "tests/fuzz/fuzz.h"
#include "tests/temporary.h"
#include "trace/fold.h"
#include "trace/sentence.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIXED = 16, HEADER = 32, MOST_RECORDS = 256 };

static const char *path;
static uint8_t fixed[FIXED]; /* the beginning of every trace of this version */

static int open_file(void)
{
    path = temporary_file();
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || trace_create(path, 1) || pread(file, fixed, sizeof fixed, 0) != sizeof fixed)
        abort();
    return file;
}

/* Writes the bytes with the fixed beginning of a trace, unless the first byte is zero, and with the
 * length that their header claims, where that is small: otherwise the reader would refuse them, and
 * nothing else would be reached. */
static void write_whole(int file, const uint8_t *bytes, size_t size)
{
    uint32_t capacity = 0;
    off_t length = (off_t)size;
    if (size >= HEADER) memcpy(&capacity, bytes + FIXED, sizeof capacity);
    if (capacity > 0 && capacity <= MOST_RECORDS)
        length = HEADER + (off_t)(capacity * sizeof(struct trace_record));
    if (ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size ||
        ftruncate(file, length))
        abort();
    if (size >= HEADER && bytes[0] && pwrite(file, fixed, sizeof fixed, 0) != sizeof fixed) abort();
}

static bool place(const struct trace_call *call, char *text, size_t size, void *user)
{
    (void)user;
    snprintf(text, size, "%llx", (unsigned long long)call->address);
    return call->address & 1;
}

/* Checks that an accepted finding has a sentence, at any size, and is equal to itself. */
static void look_at_finding(const struct trace_record *record)
{
    static const struct trace_places places = {.place = place};
    struct trace_call calls[TRACE_CALLS];
    char sentence[TRACE_SENTENCE_SIZE], at[64];
    const size_t size = 1 + record->bytes % sizeof sentence;
    memset(sentence, 'x', sizeof sentence);
    trace_sentence(record, record->address & 1 ? &places : NULL, sentence, size);
    if (!memchr(sentence, 0, size)) abort();
    trace_finding_place(record, record->bytes & 1, at, sizeof at);
    if (trace_finding_calls(record, calls) > TRACE_CALLS) abort();
    if (!trace_finding_repeats(record, record)) abort();
    for (int i = 0; i < WORD_COUNT; i++) {
        const char *word = trace_finding_word(&record->finding, (enum trace_word)i);
        if (strlen(word) >= TRACE_WORDS_SIZE) abort();
    }
    if (!trace_finding_kind(record)->name) abort();
}

/* Checks that everything in an accepted record has a name, and that every string ends. */
static void look_at(const struct trace_record *record)
{
    if (!memchr(record->name, 0, sizeof record->name)) abort();
    if (record->kind == TRACE_FINDING)
        look_at_finding(record);
    else if (!memchr(record->text, 0, sizeof record->text))
        abort();
    if (!strcmp(trace_kind_name(record->kind), "unknown") ||
        !strcmp(trace_what_name(record->what), "unknown") ||
        !strcmp(trace_place_name(record->from), "unknown") ||
        !strcmp(trace_place_name(record->to), "unknown"))
        abort();
}

/* Runs the checks that all lessons use. Takes ownership of the records. */
static void judge(struct trace *trace)
{
    static const char *const files[] = {"sum.c", NULL};
    static const struct lesson lesson = {.folder = "01_sum", .function = "sum", .files = files};
    static struct verdict verdict;
    struct evidence evidence = {
        .lesson = &lesson, .trace_sound = true, .shown_folder = "lessons/01_sum", .trace = *trace};
    struct phase phase;
    if (evidence_index_build(&evidence)) abort();
    memset(&verdict, 0, sizeof verdict);
    verdict_findings(&verdict, &evidence, NULL);
    const bool whole = !evidence_phase(&evidence, "run", 0, &phase);
    verdict_leaks(&verdict, &evidence, whole ? NULL : &phase);
    verdict_calls_succeed(&verdict, &evidence, NULL);
    for (size_t k = 0; k < trace->count; k++) evidence_operation_of(&evidence, &trace->records[k]);
    evidence_release(&evidence);
}

/* A record that was not sealed does not count as whole. */
static void look_for_seals(int file)
{
    static const struct trace_key key = {{1, 2}};
    struct trace trace;
    char why[256];
    if (trace_read_descriptor(file, &key, &trace, why, sizeof why)) abort();
    if (trace.count > 0 && !trace.forged) abort();
    trace_free(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static int file = -1;
    struct trace trace;
    char why[256] = "";
    if (file < 0) file = open_file();
    write_whole(file, bytes, size);
    if (trace_read(path, &trace, why, sizeof why)) {
        if (!why[0]) abort(); /* refused without a word */
        return 0;
    }
    for (size_t k = 0; k < trace.count; k++) look_at(&trace.records[k]);
    judge(&trace);
    look_for_seals(file);
    return 0;
}
