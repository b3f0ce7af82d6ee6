#include "grader/evidence/sources.h"

#include "trace/lines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The assumed load address of the library; any page address will do. */
#define PRETENDED_BASE 0x10000000u
#define INLINED_DEPTH 16

/* A range of addresses, relative to the load address, that comes from one of the student's
 * files. */
struct piece {
    unsigned long long start, end;
    char file[104];
};

#define ANSWERED 256

/* One entry of a direct-mapped cache of sources_place results, indexed by the offset. */
struct answered {
    uint64_t offset;
    struct place place;
    bool known, found;
};

struct sources {
    struct trace_lines *lines;
    struct answered *answered; /* ANSWERED entries */
    struct piece *pieces;
    size_t piece_count;
    char *shown_folder;
    char *root;
};

/* The linker's map (grader/build/reads.h) lies beside the library; without it file names alone
 * decide whose a line is. */
static void read_pieces(struct sources *sources, const char *library)
{
    char path[PATH_MAX], line[512];
    const char *slash = strrchr(library, '/');
    struct piece piece;

    snprintf(path, sizeof path, "%.*s/objects", slash != NULL ? (int)(slash - library) : 1,
             slash != NULL ? library : ".");
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%llx %llx %103[^\n]", &piece.start, &piece.end, piece.file) != 3)
            continue;
        struct piece *grown =
            realloc(sources->pieces, (sources->piece_count + 1) * sizeof *sources->pieces);
        if (grown == NULL) break;
        sources->pieces = grown;
        sources->pieces[sources->piece_count++] = piece;
    }
    if (file != NULL) fclose(file);
}

static const struct piece *piece_at(const struct sources *sources, uint64_t offset)
{
    for (size_t i = 0; i < sources->piece_count; i++)
        if (offset >= sources->pieces[i].start && offset < sources->pieces[i].end)
            return &sources->pieces[i];
    return NULL;
}

struct sources *sources_open(const char *library, const char *shown_folder, const char *root)
{
    struct sources *sources = calloc(1, sizeof *sources);
    if (sources == NULL) return NULL;
    sources->shown_folder = strdup(shown_folder);
    sources->root = strdup(root);
    sources->lines = trace_lines_open();
    sources->answered = calloc(ANSWERED, sizeof *sources->answered);
    if (sources->shown_folder == NULL || sources->root == NULL || sources->answered == NULL ||
        !trace_lines_add(sources->lines, library, PRETENDED_BASE)) {
        sources_close(sources);
        return NULL;
    }
    read_pieces(sources, library);
    return sources;
}

void sources_close(struct sources *sources)
{
    if (sources == NULL) return;
    trace_lines_close(sources->lines);
    free(sources->shown_folder);
    free(sources->root);
    free(sources->pieces);
    free(sources->answered);
    free(sources);
}

void sources_file(const struct sources *sources, const char *file, struct place *place)
{
    size_t prefix = strlen(SOURCES_SUBMISSION "/"), root = sources ? strlen(sources->root) : 0;

    if (sources != NULL && strncmp(file, SOURCES_SUBMISSION "/", prefix) == 0) {
        snprintf(place->file, sizeof place->file, "%s/%s", sources->shown_folder, file + prefix);
        place->submission = true;
        return;
    }
    static const char *const ours[] = {SOURCES_OURS "/", SOURCES_OURS_ON_THE_DEVICE "/"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strncmp(file, ours[i], strlen(ours[i])) == 0) {
            file += strlen(ours[i]);
            break;
        }
    if (root > 0 && strncmp(file, sources->root, root) == 0 && file[root] == '/') file += root + 1;
    snprintf(place->file, sizeof place->file, "%s", file);
}

static void note_place(const struct sources *sources, const struct trace_line *line,
                       struct place *place)
{
    memset(place, 0, sizeof *place);
    sources_file(sources, line->file, place);
    place->line = line->line;
    snprintf(place->function, sizeof place->function, "%s", line->function);
}

static bool find_place(const struct sources *sources, uint64_t offset, struct place *place)
{
    const uint64_t address = PRETENDED_BASE + offset;
    struct trace_line lines[INLINED_DEPTH];

    memset(place, 0, sizeof *place);
    if (sources == NULL) return false;
    if (!trace_lines_at(sources->lines, address, &lines[0])) {
        const struct piece *piece = piece_at(sources, offset);
        if (piece == NULL) return false;
        snprintf(place->file, sizeof place->file, "%s/%s", sources->shown_folder, piece->file);
        return place->submission = true;
    }
    note_place(sources, &lines[0], place);
    if (place->submission) return true;
    /* In C++ the student's cudaMalloc(&pointer, ...) is a template of the toolkit's header, inlined
     * into the student's function: the place is the line in that function. */
    const struct place innermost = *place;
    const size_t count = trace_lines_inlined(sources->lines, address, lines, INLINED_DEPTH);
    for (size_t i = 1; i < count && !place->submission; i++) note_place(sources, &lines[i], place);
    if (place->submission) return true;
    *place = innermost;
    /* The linker's map decides, whatever name the source gives itself. */
    const struct piece *piece = piece_at(sources, offset);
    if (piece != NULL) {
        place->submission = true;
        place->line = 0;
        snprintf(place->file, sizeof place->file, "%s/%s", sources->shown_folder, piece->file);
    }
    return true;
}

/* Caches lookups: a judge asks for the same few calls again and again, and libdw is slow. */
static const struct answered *answer(const struct sources *sources, uint64_t offset)
{
    struct answered *answered = &sources->answered[offset % ANSWERED];
    if (!answered->known || answered->offset != offset) {
        answered->found = find_place(sources, offset, &answered->place);
        answered->offset = offset;
        answered->known = true;
    }
    return answered;
}

bool sources_place(const struct sources *sources, uint64_t offset, struct place *place)
{
    if (sources == NULL) return find_place(sources, offset, place);
    const struct answered *answered = answer(sources, offset);
    *place = answered->place;
    return answered->found;
}

bool sources_know(const struct sources *sources, uint64_t offset, bool *submission)
{
    const struct answered *answered = sources != NULL ? answer(sources, offset) : NULL;
    *submission = answered != NULL && answered->place.submission;
    return answered != NULL && answered->found;
}

struct function_search {
    const struct sources *sources;
    struct place *place;
};

static bool is_students(const struct trace_line *declared, void *user)
{
    const struct function_search *search = user;
    struct place place = {.line = declared->line};
    sources_file(search->sources, declared->file, &place);
    snprintf(place.function, sizeof place.function, "%s", declared->function);
    if (place.submission) *search->place = place;
    return place.submission;
}

bool sources_function(const struct sources *sources, const char *function, struct place *place)
{
    struct function_search search = {sources, place};
    memset(place, 0, sizeof *place);
    return sources != NULL && trace_lines_function(sources->lines, function, is_students, &search);
}
