/* Lookup of the row that serves an instruction: one hash table, made on first use, of the tables of
 * this host's level and the common ones. */
#include "emulator/base/hash.h"
#include "emulator/exec/ops/tables.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Uses the dynamic linker's copy of the processor's features. Asking the processor takes
 * microseconds under a hypervisor. */
#if defined __x86_64__ && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#ifdef CPU_FEATURE_ACTIVE
#define PROCESSOR_HAS(name, text) CPU_FEATURE_ACTIVE(name)
#else
#define PROCESSOR_HAS(name, text) __builtin_cpu_supports(text)
#endif

enum { BUCKETS = 4096 }; /* a power of two, more than twice the number of keys */

#define TOO_NEW                                                                                    \
    "the software device was built for a newer processor than this machine's. Build it here, or "  \
    "with -D OVERLAP_ALL_LEVELS=ON."

static struct row_index {
    pthread_once_t once;
    bool fits; /* the processor has one of the levels built */
    struct row_entry {
        const char *key; /* ends at a blank or the string's end */
        const struct exec_row *row;
    } entries[BUCKETS];
} rows = {.once = PTHREAD_ONCE_INIT};

static bool is_key(const char *there, const char *key, size_t length)
{
    return strncmp(there, key, length) == 0 && (there[length] == ' ' || there[length] == '\0');
}

static struct row_entry *place(const char *key, size_t length, uint64_t hash)
{
    for (size_t k = hash >> 32;; k++) {
        struct row_entry *entry = &rows.entries[k % BUCKETS];
        if (entry->row == NULL || is_key(entry->key, key, length)) return entry;
    }
}

static void add_table(const struct exec_row *row)
{
    for (; row->keys != NULL; row++) {
        for (const char *key = row->keys, *end = key; *key != '\0'; key = end) {
            uint64_t hash = HASH_START;
            while (*end != ' ' && *end != '\0') hash = hash_add(hash, (unsigned char)*end++);
            const size_t length = (size_t)(end - key);
            struct row_entry *entry = place(key, length, hash);
            if (length && entry->row == NULL) *entry = (struct row_entry){.key = key, .row = row};
            while (*end == ' ') end++;
        }
    }
}

/* Returns false when this processor has none of the levels that were built. */
static bool add_level(void)
{
#ifdef EXEC_WITH_V4
#define EXEC_ADD_V4(table) add_table(table##_v4);
    if (PROCESSOR_HAS(AVX512VL, "avx512vl") && PROCESSOR_HAS(AVX512BW, "avx512bw") &&
        PROCESSOR_HAS(AVX512DQ, "avx512dq") && PROCESSOR_HAS(AVX512CD, "avx512cd")) {
        EXEC_LEVELLED_TABLES(EXEC_ADD_V4)
        return true;
    }
#endif
#ifdef EXEC_WITH_V3
#define EXEC_ADD_V3(table) add_table(table##_v3);
    if (PROCESSOR_HAS(AVX2, "avx2") && PROCESSOR_HAS(BMI2, "bmi2") && PROCESSOR_HAS(FMA, "fma")) {
        EXEC_LEVELLED_TABLES(EXEC_ADD_V3)
        return true;
    }
#endif
#ifdef EXEC_WITH_BASE
#define EXEC_ADD_BASE(table) add_table(table##_base);
    EXEC_LEVELLED_TABLES(EXEC_ADD_BASE)
    return true;
#else
    return false;
#endif
}

static void build(void)
{
#define EXEC_ADD_TABLE(table) add_table(table);
    EXEC_COMMON_TABLES(EXEC_ADD_TABLE)
    rows.fits = add_level();
}

const char *exec_rows_missing(void)
{
    pthread_once(&rows.once, build);
    return rows.fits ? NULL : TOO_NEW;
}

const struct exec_row *exec_row_find(const char *key)
{
    pthread_once(&rows.once, build);
    if (!rows.fits) { /* without the rows every instruction would be unknown */
        fputs("overlap: " TOO_NEW "\n", stderr);
        abort();
    }
    const size_t length = strlen(key);
    return place(key, length, hash_bytes(key, length))->row;
}

void exec_row_each(void (*see)(void *user, const struct exec_row *row), void *user)
{
    pthread_once(&rows.once, build);
    /* A row with several keys has several entries; the one of its first key stands for the row. */
    for (size_t k = 0; k < BUCKETS; k++) {
        const struct row_entry *entry = &rows.entries[k];
        if (entry->row != NULL && entry->key == entry->row->keys) see(user, entry->row);
    }
}
