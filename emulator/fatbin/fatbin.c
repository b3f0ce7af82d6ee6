#include "emulator/fatbin/fatbin.h"
#include "emulator/fatbin/machine.h"

#include <lz4.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* All fields are little-endian, as on every host that CUDA runs on. */
#define WRAPPER_MAGIC 0x466243b1u
#define CONTAINER_MAGIC 0xba55ed50u

enum { WRAPPER_PLAIN = 1, WRAPPER_LINKED = 2 };
enum { ENTRY_PTX = 1, ENTRY_ELF = 2 };
enum {
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_EXACT = 0x100000, /* compute_90a and the like: for that architecture only */
};

struct wrapper {
    uint32_t magic;
    uint32_t version;
    const void *container;
    const void *const *linked; /* version 2: containers of the translation units, NULL-terminated */
};

struct container_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_size;
    uint64_t size; /* of all entries, without this header */
};

/* The part of an entry's header that every version has; header_size says where the payload is. */
struct entry_header {
    uint16_t kind;
    uint16_t unknown;
    uint32_t header_size;
    uint64_t size;            /* of the payload with its padding */
    uint32_t compressed_size; /* 0: not compressed */
    uint32_t options_offset;
    uint16_t minor;
    uint16_t major;
    uint32_t arch;
    uint32_t name_offset;
    uint32_t name_length;
    uint64_t flags;
    uint64_t zero;
    uint64_t text_size; /* 0: not compressed */
};

struct entry {
    struct entry_header header;
    const unsigned char *payload;
};

struct reader {
    unsigned capability;
    char *why;
    size_t why_size;
    bool later; /* beside machine code that would run accept what is in it, or PTX for later ones */
};

__attribute__((format(printf, 3, 4))) static enum fatbin_result
refuse(const struct reader *reader, enum fatbin_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (reader->why_size > 0) vsnprintf(reader->why, reader->why_size, format, arguments);
    va_end(arguments);
    return result;
}

/* ---- payloads -------------------------------------------------------------------------------- */

static bool inflate_lz4(char *text, size_t text_size, const void *payload, size_t size)
{
    int written = LZ4_decompress_safe(payload, text, (int)size, (int)text_size);
    return written >= 0 && (size_t)written == text_size;
}

static bool inflate_zstd(char *text, size_t text_size, const void *payload, size_t size)
{
    size_t written = ZSTD_decompress(text, text_size, payload, size);
    return !ZSTD_isError(written) && written == text_size;
}

static const struct compression {
    uint64_t flag;
    const char *name;
    bool (*inflate)(char *text, size_t text_size, const void *payload, size_t size);
} compressions[] = {
    {FLAG_LZ4, "LZ4", inflate_lz4},
    {FLAG_ZSTD, "zstd", inflate_zstd},
};

static enum fatbin_result append_text(const struct reader *reader, struct fatbin *fatbin,
                                      char *text, size_t size, unsigned arch)
{
    struct fatbin_unit *units =
        reallocarray(fatbin->units, fatbin->count + 1, sizeof(struct fatbin_unit));
    if (units == NULL) {
        free(text);
        return refuse(reader, FATBIN_NO_MEMORY, "no memory for the PTX of a fat binary");
    }
    fatbin->units = units;
    units[fatbin->count++] =
        (struct fatbin_unit){.text = text, .length = strnlen(text, size), .arch = arch};
    text[units[fatbin->count - 1].length] = '\0';
    return FATBIN_OK;
}

/* Copies or decompresses what an entry holds; the caller releases `*bytes`, which have room for a
 * zero behind them. */
static enum fatbin_result unpack(const struct reader *reader, const struct entry *entry,
                                 char **bytes, size_t *size)
{
    const struct entry_header *header = &entry->header;
    const char *what = header->kind == ENTRY_PTX ? "PTX for compute" : "machine code for sm";
    const struct compression *compression = NULL;
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++)
        if (header->flags & compressions[i].flag) compression = &compressions[i];

    *size = compression != NULL ? header->text_size : header->size;
    if (*size > FATBIN_TEXT_LIMIT ||
        (compression != NULL && header->compressed_size > header->size))
        return refuse(reader, FATBIN_DAMAGED,
                      "the fat binary is damaged: its %s_%u claims %zu bytes", what, header->arch,
                      *size);
    *bytes = malloc(*size + 1);
    if (*bytes == NULL)
        return refuse(reader, FATBIN_NO_MEMORY, "no memory for %zu bytes of %s_%u", *size, what,
                      header->arch);
    if (compression == NULL) {
        memcpy(*bytes, entry->payload, *size);
    } else if (!compression->inflate(*bytes, *size, entry->payload, header->compressed_size)) {
        free(*bytes);
        return refuse(reader, FATBIN_DAMAGED,
                      "the fat binary is damaged: its %s_%u does not decompress (%s)", what,
                      header->arch, compression->name);
    }
    return FATBIN_OK;
}

static enum fatbin_result append_entry(const struct reader *reader, struct fatbin *fatbin,
                                       const struct entry *entry)
{
    char *text;
    size_t size;
    enum fatbin_result result = unpack(reader, entry, &text, &size);
    return result == FATBIN_OK ? append_text(reader, fatbin, text, size, entry->header.arch)
                               : result;
}

/* ---- machine code ---------------------------------------------------------------------------- */

/* Appends the PTX that was kept in machine code: nothing, one text, or one per translation unit. */
static enum fatbin_result append_code(const struct reader *reader, struct fatbin *fatbin,
                                      const unsigned char *bytes, size_t size, unsigned arch)
{
    enum fatbin_result result = FATBIN_OK;
    size_t section = 0, length;
    char *text;
    while (result == FATBIN_OK && machine_text(bytes, size, &section, &text, &length))
        result = text != NULL
                     ? append_text(reader, fatbin, text, length, arch)
                     : refuse(reader, FATBIN_NO_MEMORY, "no memory for the PTX of machine code");
    return result;
}

static enum fatbin_result append_code_entry(const struct reader *reader, struct fatbin *fatbin,
                                            const struct entry *entry)
{
    char *bytes;
    size_t size;
    enum fatbin_result result = unpack(reader, entry, &bytes, &size);
    if (result == FATBIN_DAMAGED) return FATBIN_OK; /* or too large: it has no PTX for anybody */
    if (result != FATBIN_OK) return result;
    if (machine_is_code((const unsigned char *)bytes, size))
        result =
            append_code(reader, fatbin, (const unsigned char *)bytes, size, entry->header.arch);
    free(bytes);
    return result;
}

/* ---- containers ------------------------------------------------------------------------------ */

static bool suits(const struct reader *reader, const struct entry_header *header)
{
    return header->flags & FLAG_EXACT ? header->arch == reader->capability
                                      : header->arch <= reader->capability;
}

/* Returns whether a device of that capability would run machine code for `arch`. */
static bool runs(const struct reader *reader, unsigned arch, bool exact)
{
    if (exact) return arch == reader->capability;
    return arch / 10 == reader->capability / 10 && arch <= reader->capability;
}

/* What a container holds besides the chosen entry, for the message when no entry was chosen. */
struct inventory {
    bool machine_code;
    unsigned exact;      /* an architecture of machine code for it alone, as sm_90a; 0: none */
    unsigned lowest_ptx; /* 0: no PTX at all */
};

/* The candidates among a container's entries; a NULL payload means that there is none. */
struct choice {
    struct entry best;  /* the PTX for the highest suitable architecture */
    struct entry later; /* the PTX for the lowest later architecture */
    struct entry code;  /* the machine code that such a device would run */
};

static void consider(const struct reader *reader, const struct entry *entry, struct choice *choice,
                     struct inventory *inventory)
{
    const struct entry_header *header = &entry->header;
    if (header->kind == ENTRY_ELF) {
        inventory->machine_code = true;
        if (header->flags & FLAG_EXACT) inventory->exact = header->arch;
        if (!runs(reader, header->arch, header->flags & FLAG_EXACT)) return;
        if (choice->code.payload == NULL || header->arch >= choice->code.header.arch)
            choice->code = *entry;
        return;
    }
    if (header->kind != ENTRY_PTX) return;
    if (inventory->lowest_ptx == 0 || header->arch < inventory->lowest_ptx)
        inventory->lowest_ptx = header->arch;
    if (suits(reader, header)) {
        if (choice->best.payload == NULL || header->arch >= choice->best.header.arch)
            choice->best = *entry;
    } else if (!(header->flags & FLAG_EXACT) && header->arch > reader->capability) {
        if (choice->later.payload == NULL || header->arch < choice->later.header.arch)
            choice->later = *entry;
    }
}

/* Examines all entries of a container of at most `size` bytes. */
static enum fatbin_result choose(const struct reader *reader, const unsigned char *bytes,
                                 size_t size, struct choice *choice, struct inventory *inventory)
{
    struct container_header container;
    *choice = (struct choice){0};
    if (size < sizeof container)
        return refuse(reader, FATBIN_DAMAGED, "the fat binary is damaged: it ends in its header");
    memcpy(&container, bytes, sizeof container);
    if (container.magic != CONTAINER_MAGIC)
        return refuse(reader, FATBIN_DAMAGED,
                      "the fat binary is damaged: it begins with 0x%08x instead of 0x%08x",
                      container.magic, CONTAINER_MAGIC);
    if (container.version != 1)
        return refuse(reader, FATBIN_DAMAGED, "the fat binary has version %u; version 1 is known",
                      container.version);
    if (container.header_size < sizeof container || container.header_size > size ||
        container.size > size - container.header_size)
        return refuse(reader, FATBIN_DAMAGED,
                      "the fat binary is damaged: it claims %llu bytes and is shorter",
                      (unsigned long long)container.size);

    const unsigned char *at = bytes + container.header_size;
    uint64_t left = container.size;
    while (left > 0) {
        struct entry entry;
        if (left < sizeof entry.header)
            return refuse(reader, FATBIN_DAMAGED,
                          "the fat binary is damaged: an entry ends in its header");
        memcpy(&entry.header, at, sizeof entry.header);
        if (entry.header.header_size < sizeof entry.header || entry.header.header_size > left ||
            entry.header.size > left - entry.header.header_size)
            return refuse(reader, FATBIN_DAMAGED,
                          "the fat binary is damaged: an entry is longer than the fat binary");
        entry.payload = at + entry.header.header_size;
        consider(reader, &entry, choice, inventory);
        at = entry.payload + entry.header.size;
        left -= entry.header.header_size + entry.header.size;
    }
    return FATBIN_OK;
}

static enum fatbin_result append_container(const struct reader *reader, struct fatbin *fatbin,
                                           const void *container, size_t size,
                                           struct inventory *inventory)
{
    struct choice choice;
    enum fatbin_result result = choose(reader, container, size, &choice, inventory);
    const size_t count = fatbin->count;
    if (result != FATBIN_OK) return result;
    if (choice.best.payload != NULL) return append_entry(reader, fatbin, &choice.best);
    if (!reader->later || choice.code.payload == NULL) return FATBIN_OK;
    result = append_code_entry(reader, fatbin, &choice.code);
    if (result == FATBIN_OK && fatbin->count == count && choice.later.payload != NULL)
        result = append_entry(reader, fatbin, &choice.later);
    return result;
}

static enum fatbin_result nothing_found(const struct reader *reader,
                                        const struct inventory *inventory)
{
    if (inventory->lowest_ptx != 0)
        return refuse(
            reader, FATBIN_TOO_NEW,
            "this binary carries PTX for compute_%u and later, but the device has compute "
            "capability %u.%u; build with -gencode arch=compute_75,code=compute_75",
            inventory->lowest_ptx, reader->capability / 10, reader->capability % 10);
    if (inventory->exact != 0)
        return refuse(reader, FATBIN_NO_PTX,
                      "this binary carries no PTX, only machine code for sm_%ua; build with "
                      "-gencode arch=compute_%ua,code=[sm_%ua,compute_%ua]",
                      inventory->exact, inventory->exact, inventory->exact, inventory->exact);
    return refuse(reader, FATBIN_NO_PTX,
                  "this binary carries no PTX%s; build with -gencode "
                  "arch=compute_75,code=compute_75, or where NVRTC compiles, with "
                  "--gpu-architecture=compute_75 for nvrtcGetPTX",
                  inventory->machine_code ? ", only machine code" : "");
}

/* A translation unit without suitable PTX is skipped (every -rdc program contains one, the
 * toolkit's own device runtime). What is missing then is reported when the units are linked. */
static enum fatbin_result append_wrapper(const struct reader *reader, struct fatbin *fatbin,
                                         const struct wrapper *wrapper, struct inventory *inventory)
{
    if (wrapper->version != WRAPPER_PLAIN && wrapper->version != WRAPPER_LINKED)
        return refuse(reader, FATBIN_DAMAGED,
                      "the fat binary's wrapper has version %u; versions 1 and 2 are known",
                      wrapper->version);
    if (wrapper->container == NULL)
        return refuse(reader, FATBIN_DAMAGED, "the fat binary's wrapper points to nothing");
    enum fatbin_result result =
        append_container(reader, fatbin, wrapper->container, FATBIN_UNKNOWN_SIZE, inventory);
    if (wrapper->version == WRAPPER_PLAIN || wrapper->linked == NULL) return result;
    for (size_t i = 0; result == FATBIN_OK && wrapper->linked[i] != NULL; i++)
        result =
            append_container(reader, fatbin, wrapper->linked[i], FATBIN_UNKNOWN_SIZE, inventory);
    return result;
}

/* ---- plain text ------------------------------------------------------------------------------ */

/* PTX begins with .version, after white space and comments. */
static bool is_ptx(const char *text, size_t length)
{
    static const char version[] = ".version";
    const char *end = text + length;
    for (;;) {
        while (text < end && strchr(" \t\r\n", *text) != NULL) text++;
        if (end - text < (ptrdiff_t)(sizeof version - 1)) return false;
        if (memcmp(text, "//", 2) == 0) {
            text = memchr(text, '\n', (size_t)(end - text));
        } else if (memcmp(text, "/*", 2) == 0) {
            text = memmem(text + 2, (size_t)(end - text - 2), "*/", 2);
            if (text != NULL) text += 2;
        } else {
            return memcmp(text, version, sizeof version - 1) == 0;
        }
        if (text == NULL) return false;
    }
}

static enum fatbin_result append_plain(const struct reader *reader, struct fatbin *fatbin,
                                       const char *image, size_t size)
{
    size_t length = strnlen(image, size < FATBIN_TEXT_LIMIT ? size : FATBIN_TEXT_LIMIT);
    if (!is_ptx(image, length))
        return refuse(reader, FATBIN_NOT_AN_IMAGE,
                      "this is neither a fat binary nor PTX (PTX begins with .version)");
    char *text = malloc(length + 1);
    if (text == NULL)
        return refuse(reader, FATBIN_NO_MEMORY, "no memory for %zu bytes of PTX", length);
    memcpy(text, image, length);
    return append_text(reader, fatbin, text, length, 0);
}

/* ---- any image ------------------------------------------------------------------------------- */

static enum fatbin_result append_image(const struct reader *reader, struct fatbin *fatbin,
                                       const void *image, size_t size, struct inventory *inventory)
{
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
    uint32_t magic = 0;

    /* Text may be shorter than any header: no byte is read past its end. */
    const unsigned char *bytes = image;
    size_t known = strnlen(image, size < sizeof magic ? size : sizeof magic);
    if (known == sizeof magic) memcpy(&magic, bytes, sizeof magic);

    if (magic == WRAPPER_MAGIC && size == FATBIN_UNKNOWN_SIZE) {
        struct wrapper wrapper;
        memcpy(&wrapper, image, sizeof wrapper);
        return append_wrapper(reader, fatbin, &wrapper, inventory);
    }
    if (magic == CONTAINER_MAGIC) return append_container(reader, fatbin, image, size, inventory);
    if (known == sizeof elf && memcmp(bytes, elf, sizeof elf) == 0) {
        if (!machine_is_code(bytes, size))
            return refuse(reader, FATBIN_NOT_AN_IMAGE,
                          "this begins like an ELF file, but not like one of code for a device");
        inventory->machine_code = true;
        const unsigned arch = machine_arch(bytes);
        return runs(reader, arch, false) ? append_code(reader, fatbin, bytes, size, arch)
                                         : FATBIN_OK;
    }
    return append_plain(reader, fatbin, image, size);
}

enum fatbin_result fatbin_open(const void *image, size_t size, unsigned capability,
                               struct fatbin *fatbin, char *why, size_t why_size)
{
    struct reader reader = {.capability = capability, .why = why, .why_size = why_size};
    struct inventory inventory = {0};

    *fatbin = (struct fatbin){0};
    if (why_size > 0) *why = '\0';
    if (image == NULL) return refuse(&reader, FATBIN_NOT_AN_IMAGE, "the image is NULL");
    enum fatbin_result result = append_image(&reader, fatbin, image, size, &inventory);
    /* Only when no container has suitable PTX: of a library's parts for several devices, one
     * may. */
    reader.later = true;
    if (result == FATBIN_OK && fatbin->count == 0)
        result = append_image(&reader, fatbin, image, size, &inventory);
    if (result == FATBIN_OK && fatbin->count == 0) result = nothing_found(&reader, &inventory);
    if (result != FATBIN_OK) fatbin_close(fatbin);
    return result;
}

void fatbin_close(struct fatbin *fatbin)
{
    for (size_t i = 0; i < fatbin->count; i++) free(fatbin->units[i].text);
    free(fatbin->units);
    *fatbin = (struct fatbin){0};
}
