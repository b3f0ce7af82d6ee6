/* trace_sentence: makes the sentence of a finding from its fields and its row in
 * trace/findings.def, in English or in the language into which the reader's `words` translate the
 * phrases. No other code does this. It reads no files, and trusts nothing that student code could
 * have written into the record.
 */
#ifndef OVERLAP_TRACE_SENTENCE_H
#define OVERLAP_TRACE_SENTENCE_H

#include "trace/trace.h"

/* Enough for every sentence; a longer one is cut. */
enum { TRACE_SENTENCE_SIZE = 1024 };

/* How calls are shown. `place` writes "FILE:LINE" of `call` into `text` and returns true, or
 * returns false, and "a call" is shown. */
struct trace_places {
    /* NULL: calls are shown as addresses, "the call before 0x..." */
    bool (*place)(const struct trace_call *call, char *text, size_t size, void *user);
    void *user;
    /* Translates a phrase, with the same fields and values; NULL: English. */
    const char *(*words)(const char *english);
};

/* Marks a phrase for the catalogue of translations (po/update). */
#define N_(sentence) sentence

/* Writes the finding's sentence, without a full stop. `places` NULL: as if all its fields were
 * NULL. */
void trace_sentence(const struct trace_record *record, const struct trace_places *places,
                    char *text, size_t size);

/* Writes "FILE:LINE" of the first side's device code, with folders unless `brief`. Returns false if
 * there is none. */
bool trace_finding_place(const struct trace_record *record, bool brief, char *text, size_t size);

#endif
