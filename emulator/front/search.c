#include "emulator/front/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value of a row of the dynamic section: 0: there is none. */
static uint64_t dynamic_value(const struct link_map *map, int64_t tag)
{
    for (const ElfW(Dyn) *row = map->l_ld; row != NULL && row->d_tag != DT_NULL; row++)
        if (row->d_tag == tag) return row->d_un.d_val;
    return 0;
}

/* The dynamic linker has made addresses of these rows absolute, but for objects that it may not
 * write to. */
static const char *string_of(const struct link_map *map, uint64_t offset)
{
    uint64_t table = dynamic_value(map, DT_STRTAB);
    if (table == 0) return NULL;
    if (table < map->l_addr) table += map->l_addr;
    return (const char *)(uintptr_t)(table + offset);
}

/* Writes `folder`, whose $ORIGIN is the folder of the file `of`, and `name`. Returns whether there
 * is such a file. */
static bool is_in_folder(const char *folder, size_t length, const char *of, const char *name,
                         char *path, size_t size)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    const char *slash = strrchr(of, '/'), *origin = "";
    int origin_length = 0;
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        const size_t known = strlen(origins[i]);
        if (length < known || strncmp(folder, origins[i], known) != 0 || slash == NULL) continue;
        folder += known;
        length -= known;
        origin = of;
        origin_length = (int)(slash - of);
    }
    const int written =
        snprintf(path, size, "%.*s%.*s/%s", origin_length, origin, (int)length, folder, name);
    return written > 0 && (size_t)written < size && *path == '/' && access(path, R_OK) == 0;
}

/* Looks through folders with colons between them. */
static bool is_in_folders(const char *folders, const char *of, const char *name, char *path,
                          size_t size)
{
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        if (length > 0 && is_in_folder(folders, length, of, name, path, size)) return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

bool search_for(const struct link_map *asker, const char *name, char *path, size_t size)
{
    const uint64_t late = dynamic_value(asker, DT_RUNPATH), early = dynamic_value(asker, DT_RPATH);
    const char *folders = late != 0    ? string_of(asker, late)
                          : early != 0 ? string_of(asker, early)
                                       : NULL;
    if (folders == NULL || strchr(name, '/') != NULL) return false;
    if (late != 0 && is_in_folders(getenv("LD_LIBRARY_PATH"), "", name, path, size)) return false;
    return is_in_folders(folders, asker->l_name, name, path, size);
}
