/* Objects that are kept in a folder between runs: a file each, named by what it was made of. A file
 * that cannot be read, or was not written by this user, counts as absent; one that cannot be
 * written is done without. */
#include "emulator/base/array.h"
#include "emulator/base/hash.h"
#include "emulator/exec/native/native.h"
#include "emulator/exec/native/private.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_BYTES = 512 << 20, /* of all files, before the oldest are removed */
    LEFT_BYTES = 256 << 20, /* what is then left */
    FILE_NAME = 2 * 16,     /* and for some an ending */
    PATH_ROOM = PATH_MAX + FILE_NAME + 32,
};

/* What a file begins with; then come the names, each with its zero byte, and the object. `format`
 * changes with whatever is not part of the key: the layout of the file, and how objects are made.
 */
struct header {
    char format[16];
    struct native_key key;
    uint64_t name_bytes, object_bytes;
    uint64_t sum; /* hash of the names and the object */
};
static const char format[16] = "overlap native1";

/* Used by one thread at a time: the one that compiles (native.c). */
static struct {
    char folder[PATH_MAX]; /* empty: nothing is kept */
    bool swept;
} store;

void exec_native_keep(const char *folder)
{
    store.folder[0] = '\0';
    if (folder != NULL && strlen(folder) < sizeof store.folder) strcpy(store.folder, folder);
}

bool native_store_is_used(void)
{
    return store.folder[0] != '\0';
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Adds bytes to two hashes that have nothing in common. */
static void key_add(struct native_key *key, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = key->hashes[0];
    for (size_t k = 0; k < size; k++) hash = hash_add(hash, at[k]);
    key->hashes[0] = hash;
    hash = key->hashes[1];
    for (uint64_t word; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = hash_spread(hash ^ word);
        hash ^= hash >> 29;
    }
    for (size_t k = 0; k < size; k++) hash = hash_spread(hash + at[k] + 1);
    key->hashes[1] = hash;
}

bool native_key_of(const struct llvm *llvm, LLVMModuleRef module, const struct native_names *names,
                   struct native_key *key)
{
    LLVMMemoryBufferRef code = llvm->WriteBitcodeToMemoryBuffer(module);
    char *cpu = llvm->GetHostCPUName(), *features = llvm->GetHostCPUFeatures();
    if (code == NULL) goto out;
    key->size = llvm->GetBufferSize(code);
    key->hashes[0] = HASH_START;
    key->hashes[1] = HASH_GOLDEN;
    key_add(key, llvm->GetBufferStart(code), key->size);
    key_add(key, cpu, strlen(cpu) + 1);
    key_add(key, features, strlen(features) + 1);
    for (size_t k = 0; k < names->count; k++)
        key_add(key, names->list[k], strlen(names->list[k]) + 1);
    llvm->DisposeMemoryBuffer(code);
out:
    llvm->DisposeMessage(cpu);
    llvm->DisposeMessage(features);
    return code != NULL;
}

/* What follows the key in the names of files that say how much was done without the object. */
#define WITHOUT ".done"

static void name_file(char path[PATH_ROOM], const struct native_key *key, const char *ending)
{
    snprintf(path, PATH_ROOM, "%s/%016llx%016llx%s", store.folder,
             (unsigned long long)key->hashes[0], (unsigned long long)key->hashes[1], ending);
}

/* ---- names ----------------------------------------------------------------------------------- */

bool native_name_add(struct native_names *names, const char *name)
{
    if (!array_grow(&names->list, names->count, &names->room, sizeof *names->list)) return false;
    strcpy(names->list[names->count++], name);
    return true;
}

void native_object_end(const struct llvm *llvm, struct native_object *object)
{
    if (object->code != NULL) llvm->DisposeMemoryBuffer(object->code);
    free(object->called.list);
    *object = (struct native_object){.code = NULL};
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_names(struct native_names *names, const char *bytes, size_t size)
{
    for (size_t length; size > 0; bytes += length, size -= length) {
        length = strnlen(bytes, size) + 1;
        if (length > size || length > NATIVE_NAME || !native_name_add(names, bytes)) return false;
    }
    return true;
}

static bool read_object(const struct llvm *llvm, const struct native_key *key, const char *bytes,
                        size_t size, struct native_object *object)
{
    struct header header;
    if (size < sizeof header) return false;
    memcpy(&header, bytes, sizeof header);
    bytes += sizeof header;
    size -= sizeof header;
    if (memcmp(header.format, format, sizeof format) != 0 ||
        memcmp(&header.key, key, sizeof *key) != 0 || header.name_bytes > size ||
        header.object_bytes != size - header.name_bytes || header.sum != hash_bytes(bytes, size) ||
        !read_names(&object->called, bytes, header.name_bytes))
        return false;
    object->code = llvm->CreateMemoryBufferWithMemoryRangeCopy(bytes + header.name_bytes,
                                                               header.object_bytes, "native");
    return object->code != NULL;
}

/* Returns the whole file; the caller frees it. NULL: it is not there, or somebody else may have
 * written it. A file that is used becomes a new one, so that it is removed late. */
static char *read_own(const char *path, size_t *size)
{
    struct stat status;
    char *bytes = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return NULL;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        !(status.st_mode & (S_IWGRP | S_IWOTH)) && status.st_size < MOST_BYTES)
        bytes = malloc((size_t)status.st_size + 1);
    *size = 0;
    while (bytes != NULL && *size < (size_t)status.st_size) {
        const ssize_t part = read(file, bytes + *size, (size_t)status.st_size - *size);
        if (part <= 0) break;
        *size += (size_t)part;
    }
    if (bytes != NULL) futimens(file, NULL);
    close(file);
    return bytes;
}

bool native_store_find(const struct llvm *llvm, const struct native_key *key,
                       struct native_object *object)
{
    char path[PATH_ROOM];
    size_t size;
    name_file(path, key, "");
    char *bytes = read_own(path, &size);
    const bool fine = bytes != NULL && read_object(llvm, key, bytes, size, object);
    if (!fine) native_object_end(llvm, object);
    free(bytes);
    return fine;
}

uint64_t native_store_done(const struct native_key *key)
{
    char path[PATH_ROOM];
    uint64_t done = 0;
    size_t size;
    name_file(path, key, WITHOUT);
    char *bytes = read_own(path, &size);
    if (bytes != NULL && size == sizeof done) memcpy(&done, bytes, sizeof done);
    free(bytes);
    return done;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct old {
    char name[NAME_MAX + 1];
    struct timespec used;
    off_t bytes;
};

static int by_age(const void *a, const void *b)
{
    const struct timespec *one = &((const struct old *)a)->used;
    const struct timespec *other = &((const struct old *)b)->used;
    if (one->tv_sec != other->tv_sec) return one->tv_sec < other->tv_sec ? -1 : 1;
    return (one->tv_nsec > other->tv_nsec) - (one->tv_nsec < other->tv_nsec);
}

static struct old *list_files(int folder, DIR *files, size_t *count, off_t *sum)
{
    struct old *list = NULL;
    size_t room = 0;
    *count = 0;
    *sum = 0;
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        struct stat status;
        if (strlen(entry->d_name) < FILE_NAME ||
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (!array_grow(&list, *count, &room, sizeof *list)) break;
        list[*count] = (struct old){.used = status.st_mtim, .bytes = status.st_size};
        strcpy(list[(*count)++].name, entry->d_name);
        *sum += status.st_size;
    }
    return list;
}

/* Removes the files that were not used for longest, once there are too many. */
static void sweep(void)
{
    DIR *files = opendir(store.folder);
    if (files == NULL) return;
    size_t count;
    off_t sum;
    struct old *list = list_files(dirfd(files), files, &count, &sum);
    if (sum > MOST_BYTES) {
        qsort(list, count, sizeof *list, by_age);
        for (size_t k = 0; k < count && sum > LEFT_BYTES; sum -= list[k++].bytes)
            unlinkat(dirfd(files), list[k].name, 0);
    }
    free(list);
    closedir(files);
}

static bool write_all(int file, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        const ssize_t part = write(file, at, size);
        if (part <= 0) return false;
        at += part;
        size -= (size_t)part;
    }
    return true;
}

/* Puts the names and the object one behind the other. The caller frees them; NULL: no memory. */
static char *pack(const struct llvm *llvm, const struct native_object *object,
                  struct header *header)
{
    header->object_bytes = llvm->GetBufferSize(object->code);
    header->name_bytes = 0;
    for (size_t k = 0; k < object->called.count; k++)
        header->name_bytes += strlen(object->called.list[k]) + 1;
    char *bytes = malloc(header->name_bytes + header->object_bytes), *at = bytes;
    if (bytes == NULL) return NULL;
    for (size_t k = 0; k < object->called.count; k++) at = stpcpy(at, object->called.list[k]) + 1;
    memcpy(at, llvm->GetBufferStart(object->code), header->object_bytes);
    header->sum = hash_bytes(bytes, header->name_bytes + header->object_bytes);
    return bytes;
}

/* Writes a file of two parts, so that others see it whole or not at all. */
static void write_file(const char *path, const void *first, size_t first_size, const void *second,
                       size_t second_size)
{
    char made[PATH_ROOM + 32];
    snprintf(made, sizeof made, "%s.%ld", path, (long)getpid());
    const int file = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    const bool fine = write_all(file, first, first_size) && write_all(file, second, second_size);
    if ((close(file) != 0) | !fine || rename(made, path) != 0) unlink(made);
}

void native_store_keep(const struct llvm *llvm, const struct native_key *key,
                       const struct native_object *object)
{
    char path[PATH_ROOM];
    struct header header = {.key = *key};
    memcpy(header.format, format, sizeof format);
    if (!store.swept) sweep();
    store.swept = true;
    char *bytes = pack(llvm, object, &header);
    if (bytes == NULL) return;
    name_file(path, key, "");
    write_file(path, &header, sizeof header, bytes, header.name_bytes + header.object_bytes);
    name_file(path, key, WITHOUT);
    unlink(path);
    free(bytes);
}

void native_store_add(const struct native_key *key, uint64_t done)
{
    char path[PATH_ROOM];
    name_file(path, key, WITHOUT);
    write_file(path, &done, sizeof done, NULL, 0);
}
