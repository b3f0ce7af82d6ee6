#include "emulator/driver/findings/quote.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/hash.h"
#include "emulator/driver/core/core.h"

enum {
    LINES = 1 << 14, /* of all texts together; lines beyond that are not quoted */
    TEXTS = 512,
};

struct quote {
    uint64_t file; /* hash of its path */
    uint32_t line;
    char text[TRACE_NAME_SIZE];
};

static struct {
    pthread_mutex_t lock;
    struct quote *quotes;
    size_t count, room;
    uint32_t *slots;       /* 2 * room entries: index + 1 of the quote with this hash; 0: free */
    uint64_t texts[TEXTS]; /* hashes of the texts already processed */
    size_t text_count;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The path of the unit's file of that name; NULL: no such file, or several. */
static const char *path_of(const struct ptx_module *unit, const char *name, size_t length)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < unit->file_count; i++) {
        const char *path = unit->files[i];
        const size_t size = path != NULL ? strlen(path) : 0;
        if (size < length || strncmp(path + size - length, name, length) != 0) continue;
        if (size > length && path[size - length - 1] != '/' && name[0] != '/') continue;
        if (found != NULL && strcmp(found, path) != 0) return NULL;
        found = path;
    }
    return found;
}

/* Copies code without the blanks around it, cut off if it is too long. */
static void copy_code(char to[TRACE_NAME_SIZE], const char *from, size_t length)
{
    static const char more[] = "...";
    while (length > 0 && isspace((unsigned char)*from)) from++, length--;
    while (length > 0 && isspace((unsigned char)from[length - 1])) length--;
    const bool whole = length < TRACE_NAME_SIZE;
    if (!whole) length = TRACE_NAME_SIZE - sizeof more;
    memcpy(to, from, length);
    strcpy(to + length, whole ? "" : more);
}

/* Parses `NAME:LINE TEXT`, from behind the slashes to the end of the line. Returns false for any
 * other comment.
 */
static bool parse(const char *at, size_t length, const struct ptx_module *unit, struct quote *quote)
{
    const char *blank = memchr(at, ' ', length), *colon = blank;
    while (colon != NULL && colon > at && *colon != ':') colon--;
    if (colon == NULL || *colon != ':' || colon == at) return false;
    char *end;
    const unsigned long line = strtoul(colon + 1, &end, 10);
    const char *path = end == blank && line > 0 && line <= UINT32_MAX
                           ? path_of(unit, at, (size_t)(colon - at))
                           : NULL;
    if (path == NULL) return false;
    *quote = (struct quote){.file = hash_text(path), .line = (uint32_t)line};
    copy_code(quote->text, blank, length - (size_t)(blank - at));
    return true;
}

/* The slot of the quote, or the free one where it belongs. The table always has a free slot. */
static uint32_t *slot_of(const struct quote *quote)
{
    size_t k = hash_add(hash_add(hash_text(quote->text), quote->file), quote->line);
    for (;; k++) {
        uint32_t *slot = &kept.slots[k % (2 * kept.room)];
        const struct quote *there = &kept.quotes[*slot - (*slot > 0)];
        if (*slot == 0 || (there->file == quote->file && there->line == quote->line &&
                           strcmp(there->text, quote->text) == 0))
            return slot;
    }
}

/* Returns false at the limit, or if memory runs out. */
static bool grow(void)
{
    const size_t room = kept.room > 0 ? 2 * kept.room : 64;
    uint32_t *slots = room <= LINES ? calloc(2 * room, sizeof *slots) : NULL;
    struct quote *more = slots != NULL ? realloc(kept.quotes, room * sizeof *more) : NULL;
    if (more == NULL) {
        free(slots);
        return false;
    }
    free(kept.slots);
    kept.quotes = more;
    kept.slots = slots;
    kept.room = room;
    for (size_t i = 0; i < kept.count; i++) *slot_of(&kept.quotes[i]) = (uint32_t)i + 1;
    return true;
}

static void add(const struct quote *quote)
{
    if (kept.count == kept.room && !grow()) return;
    uint32_t *slot = slot_of(quote);
    if (*slot != 0) return; /* known already; another text of the same line is kept beside it */
    kept.quotes[kept.count++] = *quote;
    *slot = (uint32_t)kept.count;
}

static bool is_new(const char *text)
{
    const uint64_t hash = hash_text(text);
    for (size_t i = 0; i < kept.text_count; i++)
        if (kept.texts[i] == hash) return false;
    if (kept.text_count == TEXTS) return false;
    kept.texts[kept.text_count++] = hash;
    return true;
}

void quote_keep(const char *text, const struct ptx_module *unit)
{
    if (!trace_wants(driver.trace, TRACE_LINE) || !trace_wants(driver.trace, TRACE_STACK)) return;
    pthread_mutex_lock(&kept.lock);
    for (const char *at = is_new(text) ? text : ""; (at = strstr(at, "\n//")) != NULL;) {
        at += 3;
        struct quote quote;
        if (parse(at, strcspn(at, "\n"), unit, &quote)) add(&quote);
    }
    pthread_mutex_unlock(&kept.lock);
}

void quote_put(const struct trace_record *found)
{
    const char *file = trace_finding_word(&found->finding, WORD_FILE);
    const uint32_t line = found->finding.sides[0].line;
    const uint64_t hash = hash_text(file);
    const struct quote *quote = NULL;
    bool certain = true;
    if (line == 0) return;
    pthread_mutex_lock(&kept.lock);
    for (size_t i = 0; i < kept.count; i++) {
        if (kept.quotes[i].file != hash || kept.quotes[i].line != line) continue;
        certain = quote == NULL; /* two texts for one line: names of compiled strings repeat */
        quote = &kept.quotes[i];
    }
    if (quote != NULL && certain) {
        struct trace_record record = {.kind = TRACE_LINE, .count = line};
        trace_copy_string(record.text, sizeof record.text, file);
        trace_copy_string(record.name, sizeof record.name, quote->text);
        trace_put(driver.trace, &record);
    }
    pthread_mutex_unlock(&kept.lock);
}
