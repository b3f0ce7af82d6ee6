/* trace_sentence: makes the sentence of a finding from its fields, by its row in
 * trace/findings.def; in English, or in the language that the reader's `words` turn the phrases
 * into. The only place that does. It reads no files, and trusts nothing that student code could
 * have written into the record.
 */
#ifndef OVERLAP_TRACE_SENTENCE_H
#define OVERLAP_TRACE_SENTENCE_H

#include "trace/trace.h"

/* Enough for every sentence; a longer one is cut. */
enum { TRACE_SENTENCE_SIZE = 1024 };

/* Turns calls into lines: writes "FILE:LINE" of `call` into `text` and returns true, or returns
 * false: "a call". */
struct trace_places {
    /* NULL: calls are shown as addresses, "the call before 0x..." */
    bool (*place)(const struct trace_call *call, char *text, size_t size, void *user);
    void *user;
    /* A phrase of ours in another language, with the same fields and values; NULL: English. */
    const char *(*words)(const char *english);
};

/* Marks a phrase for the catalogue (po/update). */
#define N_(sentence) sentence

/* Writes what the finding says, without a full stop. `places` NULL: as with nothing in
 * it. */
void trace_sentence(const struct trace_record *record, const struct trace_places *places,
                    char *text, size_t size);

/* "FILE:LINE" of this side's device code, with the folders unless `brief`; false: it has none. */
bool trace_finding_place(const struct trace_record *record, bool brief, char *text, size_t size);

#endif
