#include "emulator/fatbin/lines.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------- */

struct cursor {
    const unsigned char *at, *end; /* reads behind the end give zeros */
};

static uint64_t number(struct cursor *cursor, unsigned bytes)
{
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->at = cursor->end;
        return 0;
    }
    memcpy(&value, cursor->at, bytes);
    cursor->at += bytes;
    return value;
}

/* LEB128, unsigned; `bits` is how many there were. */
static uint64_t packed(struct cursor *cursor, unsigned *bits)
{
    uint64_t value = 0, part = 0x80;
    for (*bits = 0; cursor->at < cursor->end && part & 0x80; *bits += 7) {
        part = number(cursor, 1);
        if (*bits < 64) value |= (part & 0x7f) << *bits;
    }
    return value;
}

static uint64_t unsigned_packed(struct cursor *cursor)
{
    unsigned bits;
    return packed(cursor, &bits);
}

static int64_t signed_packed(struct cursor *cursor)
{
    unsigned bits;
    const uint64_t value = packed(cursor, &bits);
    const bool negative = bits > 0 && bits < 64 && value >> (bits - 1) & 1;
    return (int64_t)(negative ? value | UINT64_MAX << bits : value);
}

static const char *string(struct cursor *cursor)
{
    const char *text = (const char *)cursor->at;
    const unsigned char *zero = cursor->at < cursor->end
                                    ? memchr(cursor->at, '\0', (size_t)(cursor->end - cursor->at))
                                    : NULL;
    cursor->at = zero != NULL ? zero + 1 : cursor->end;
    return zero != NULL ? text : "";
}

/* ---- tables of lines ------------------------------------------------------------------------- */

/* An instruction's place: addresses count from a symbol, whose number both tables have. */
struct row {
    uint64_t symbol, address;
    size_t order; /* later rows of one address are of functions that are put in line */
    uint32_t file, line;
    bool ends; /* behind the last instruction */
};

/* Rows of all units of a section, and the names of their files, if `names` is not NULL. */
struct table {
    struct span content;
    struct section relocations; /* no content: none */
    struct row *rows;
    size_t count, room;
    FILE *names; /* .file lines */
    uint32_t files;
};

/* One unit's header, and the state of its program (DWARF 2, 6.2.2). */
struct unit {
    struct cursor cursor;
    unsigned step, range, first_special;
    int base;
    const unsigned char *operands; /* counts, by opcode from 1 on */
    uint32_t first_file;           /* number of its file 1, less one */
    struct row state;
};

static bool put(struct table *table, const struct unit *unit, bool ends)
{
    if (table->count == table->room) {
        const size_t room = table->room != 0 ? 2 * table->room : 256;
        struct row *rows = reallocarray(table->rows, room, sizeof *rows);
        if (rows == NULL) return false;
        table->rows = rows;
        table->room = room;
    }
    table->rows[table->count] = unit->state;
    table->rows[table->count].order = table->count;
    table->rows[table->count].file += unit->first_file;
    table->rows[table->count].ends = ends;
    table->count++;
    return true;
}

/* An address of the program is relocated: the entry for its place has the symbol. */
static void set_address(const struct table *table, struct unit *unit)
{
    const uint64_t place = (uint64_t)(unit->cursor.at - table->content.bytes);
    const bool adds = table->relocations.type == SHT_RELA;
    const size_t entry = adds ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    const struct span *content = &table->relocations.content;
    unit->state.address = number(&unit->cursor, 8);
    for (size_t at = 0; at + entry <= content->size; at += entry) {
        Elf64_Rela relocation = {0};
        memcpy(&relocation, content->bytes + at, entry);
        if (relocation.r_offset != place) continue;
        unit->state.symbol = ELF64_R_SYM(relocation.r_info);
        if (adds) unit->state.address = (uint64_t)relocation.r_addend;
        return;
    }
}

static bool extended(struct table *table, struct unit *unit)
{
    enum { END = 1, SET_ADDRESS = 2 };
    const uint64_t size = unsigned_packed(&unit->cursor);
    if (size == 0 || size > (uint64_t)(unit->cursor.end - unit->cursor.at)) return false;
    const unsigned char *next = unit->cursor.at + size;
    const uint64_t code = number(&unit->cursor, 1);
    bool fine = true;
    if (code == SET_ADDRESS) set_address(table, unit);
    if (code == END) {
        fine = put(table, unit, true);
        unit->state = (struct row){.file = 1, .line = 1};
    }
    unit->cursor.at = next; /* ptxas has some of its own, about functions that are put in line */
    return fine;
}

/* Opcodes that do what a debugger wants are left out: their operands are skipped. */
static bool standard(struct table *table, struct unit *unit, unsigned opcode)
{
    enum { COPY = 1, ADVANCE, ADVANCE_LINE, FILE_IS, ADD_LONGEST = 8, ADVANCE_FIXED };
    struct cursor *cursor = &unit->cursor;
    switch (opcode) {
    case COPY:
        return put(table, unit, false);
    case ADVANCE:
        unit->state.address += unsigned_packed(cursor) * unit->step;
        break;
    case ADVANCE_LINE:
        unit->state.line += (uint32_t)signed_packed(cursor);
        break;
    case FILE_IS:
        unit->state.file = (uint32_t)unsigned_packed(cursor);
        break;
    case ADD_LONGEST:
        unit->state.address += (uint64_t)unit->step * ((255 - unit->first_special) / unit->range);
        break;
    case ADVANCE_FIXED:
        unit->state.address += number(cursor, 2);
        break;
    default:
        for (unsigned k = unit->operands[opcode - 1]; k > 0; k--) unsigned_packed(cursor);
    }
    return true;
}

static bool run(struct table *table, struct unit *unit)
{
    unit->state = (struct row){.file = 1, .line = 1};
    while (unit->cursor.at < unit->cursor.end) {
        const unsigned opcode = (unsigned)number(&unit->cursor, 1);
        bool fine = true;
        if (opcode >= unit->first_special) {
            const unsigned special = opcode - unit->first_special;
            unit->state.address += (uint64_t)unit->step * (special / unit->range);
            unit->state.line += (uint32_t)(unit->base + (int)(special % unit->range));
            fine = put(table, unit, false);
        } else {
            fine = opcode == 0 ? extended(table, unit) : standard(table, unit, opcode);
        }
        if (!fine) return false;
    }
    return true;
}

/* Reads the folders and files of a unit's header. Returns whether the first file, if there is one,
 * has the name. */
static bool read_files(struct table *table, struct unit *unit, struct cursor *header,
                       const char *name)
{
    enum { FOLDERS = 64 };
    const char *folders[FOLDERS], *file;
    size_t count = 0, files = 0;
    bool is_meant = true;
    for (const char *folder; *(folder = string(header)) != '\0';)
        if (count < FOLDERS) folders[count++] = folder;
    unit->first_file = table->files;
    while (*(file = string(header)) != '\0') {
        const uint64_t folder = unsigned_packed(header);
        unsigned_packed(header); /* time */
        unsigned_packed(header); /* size */
        if (files++ == 0) is_meant = name == NULL || strcmp(name, file) == 0;
        if (table->names == NULL) continue;
        const bool has_folder = *file != '/' && folder >= 1 && folder <= count;
        fprintf(table->names, ".file %u \"%s%s%s\"\n", ++table->files,
                has_folder ? folders[folder - 1] : "", has_folder ? "/" : "", file);
    }
    return is_meant;
}

/* Reads a unit; one whose first file has another name than `name` is skipped, if that is given. */
static bool read_unit(struct table *table, struct cursor *all, const char *name)
{
    const uint64_t size = number(all, 4);
    if (size == 0 || size > (uint64_t)(all->end - all->at)) return false;
    struct unit unit = {.cursor = {all->at, all->at + size}};
    struct cursor header = unit.cursor;
    all->at += size;
    const uint64_t version = number(&header, 2), header_size = number(&header, 4);
    if (version < 2 || version > 3 || header_size > (uint64_t)(header.end - header.at))
        return false;
    unit.cursor.at = header.at + header_size;
    unit.step = (unsigned)number(&header, 1);
    number(&header, 1); /* whether rows begin statements */
    unit.base = (int8_t)number(&header, 1);
    unit.range = (unsigned)number(&header, 1);
    unit.first_special = (unsigned)number(&header, 1);
    unit.operands = header.at;
    if (unit.range == 0 || unit.first_special == 0 ||
        unit.first_special - 1 > (size_t)(header.end - header.at))
        return false;
    header.at += unit.first_special - 1;
    header.end = unit.cursor.at > header.at ? unit.cursor.at : header.at;
    return !read_files(table, &unit, &header, name) || run(table, &unit);
}

static bool read_table(const struct sections *sections, const char *section, const char *name,
                       struct table *table)
{
    char relocations[64];
    struct section lines;
    if (!sections_find(sections, section, &lines)) return false;
    table->content = lines.content;
    snprintf(relocations, sizeof relocations, ".rela%s", section);
    if (!sections_find(sections, relocations, &table->relocations)) {
        snprintf(relocations, sizeof relocations, ".rel%s", section);
        if (!sections_find(sections, relocations, &table->relocations))
            table->relocations = (struct section){0};
    }
    struct cursor all = {lines.content.bytes, lines.content.bytes + lines.content.size};
    while (all.at < all.end)
        if (!read_unit(table, &all, name)) return false;
    return table->count > 0;
}

/* ---- the two together ------------------------------------------------------------------------ */

static int in_order(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->symbol != b->symbol) return a->symbol < b->symbol ? -1 : 1;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The last row of the table, which is sorted, that is not behind the place; NULL: none. */
static const struct row *row_at(const struct table *table, const struct row *place)
{
    size_t first = 0, behind = table->count;
    while (first < behind) {
        const size_t middle = first + (behind - first) / 2;
        const struct row *row = &table->rows[middle];
        const bool is_before = row->symbol != place->symbol ? row->symbol < place->symbol
                                                            : row->address <= place->address;
        if (is_before)
            first = middle + 1;
        else
            behind = middle;
    }
    const struct row *row = first > 0 ? &table->rows[first - 1] : NULL;
    return row != NULL && row->symbol == place->symbol && !row->ends ? row : NULL;
}

/* Which row of the source each line of the PTX is of; NULL: none. */
static const struct row **match(struct table *source, const struct table *ptx, size_t line_count)
{
    const struct row **rows = calloc(line_count + 1, sizeof *rows);
    if (rows == NULL) return NULL;
    qsort(source->rows, source->count, sizeof *source->rows, in_order);
    for (size_t i = 0; i < ptx->count; i++) {
        const struct row *row = &ptx->rows[i];
        if (!row->ends && row->line <= line_count && rows[row->line] == NULL)
            rows[row->line] = row_at(source, row);
    }
    return rows;
}

/* Whether a statement may begin behind the line; `before` is what held before it. */
static bool ends_statement(const char *line, size_t length, bool before)
{
    const char *comment = memmem(line, length, "//", 2);
    if (comment != NULL) length = (size_t)(comment - line);
    while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL) length--;
    return length == 0 ? before : strchr(";{}:", line[length - 1]) != NULL;
}

static void write_lines(FILE *out, const char *text, const struct row *const *rows)
{
    bool may_begin = false;
    for (size_t line = 1; *text != '\0'; line++) {
        const size_t length = strcspn(text, "\n");
        if (rows[line] != NULL && may_begin)
            fprintf(out, ".loc %u %u 0\n", rows[line]->file, rows[line]->line);
        may_begin = ends_statement(text, length, may_begin);
        fprintf(out, "%.*s\n", (int)length, text);
        text += length + (text[length] != '\0');
    }
}

static size_t count_lines(const char *text)
{
    size_t count = 1;
    while ((text = strchr(text, '\n')) != NULL) text++, count++;
    return count;
}

char *lines_put(const struct sections *sections, const char *name, const char *text)
{
    char *files = NULL, *placed = NULL;
    size_t files_size = 0, placed_size = 0;
    struct table source = {.names = open_memstream(&files, &files_size)}, ptx = {0};
    const struct row **rows = NULL;
    FILE *out = NULL;
    if (source.names != NULL && read_table(sections, ".debug_line", NULL, &source) &&
        read_table(sections, ".nv_debug_line_sass", name, &ptx))
        rows = match(&source, &ptx, count_lines(text));
    if (source.names != NULL && fclose(source.names) != 0) files = NULL;
    if (rows != NULL && files != NULL) out = open_memstream(&placed, &placed_size);
    if (out != NULL) {
        write_lines(out, text, rows);
        fputs(files, out);
        if (fclose(out) != 0) {
            free(placed);
            placed = NULL;
        }
    }
    free(rows);
    free(source.rows);
    free(ptx.rows);
    free(files);
    return placed;
}
