/* The audit library: tells the dynamic linker which files to load for NVIDIA's libraries, whatever
 * path a program asks for. For libcuda and libcudart these are the device's own, for NVIDIA's
 * compilers the libraries of this folder that stand in front of them, and with OVERLAP_STANDINS=on
 * those of emulator/standins. The library path is not enough: packages from PyPI open NVIDIA's
 * libraries by full path, and DT_RPATH takes precedence over the library path.
 *
 * Statically linked runtimes are not loaded as files: see patch.h and, for Python, bindings.h.
 *
 * A library in front depends on the one behind it by a name that begins with BEHIND. That name is
 * resolved to the file that the program originally asked for.
 *
 * LD_AUDIT loads this library into a namespace of its own, where it shares nothing with the
 * program. Its functions are called with the loader's lock held.
 *
 * Source: rtld-audit(7).
 */
#include "emulator/front/behind.h"
#include "emulator/front/bindings.h"
#include "emulator/front/patch.h"
#include "emulator/front/search.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct library {
    const char *name; /* also matches names with more version numbers behind it */
    const char *any;  /* name without a version; NULL: may mean another version */
    const char *file;
    bool standin;         /* used only with OVERLAP_STANDINS=on */
    char asked[PATH_MAX]; /* what the program asked for; used for libraries in front only */
} libraries[] = {
    {"libcuda.so.1", "libcuda.so", "libcuda.so.1", false, ""},
    {"libcudart.so.13", NULL, "libcudart.so.13", false, ""},
    {"libcudart.so.12", NULL, "libcudart.so.12", false, ""},
    {"libnvrtc.so.13", "libnvrtc.so", "front/liboverlap_nvrtc.so", false, ""},
    {"libnvrtc.so.12", NULL, "front/liboverlap_nvrtc12.so", false, ""},
    {"libnvJitLink.so.13", "libnvJitLink.so", "front/liboverlap_nvjitlink.so", false, ""},
    {"libcublas.so.13", "libcublas.so", "standins/libcublas.so.13", true, ""},
    {"libcublasLt.so.13", "libcublasLt.so", "standins/libcublasLt.so.13", true, ""},
    {"libcudnn.so.9", "libcudnn.so", "standins/libcudnn.so.9", true, ""},
    {"libcufft.so.12", "libcufft.so", "standins/libcufft.so.12", true, ""},
    {"libcurand.so.10", "libcurand.so", "standins/libcurand.so.10", true, ""},
    {"libcusolver.so.12", "libcusolver.so", "standins/libcusolver.so.12", true, ""},
    {"libcusparse.so.12", "libcusparse.so", "standins/libcusparse.so.12", true, ""},
    {"libnccl.so.2", "libnccl.so", "standins/libnccl.so.2", true, ""},
};

static bool are_standins_wanted(void)
{
    const char *setting = getenv("OVERLAP_STANDINS");
    return setting != NULL && strcmp(setting, "on") == 0;
}

static bool is_meant(const struct library *library, const char *name)
{
    const size_t length = strlen(library->name);
    if (library->standin && !are_standins_wanted()) return false;
    if (library->any != NULL && strcmp(library->any, name) == 0) return true;
    return strncmp(library->name, name, length) == 0 &&
           (name[length] == '\0' || name[length] == '.');
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The path of a file of the device; NULL: not found. */
static char *own_file(const char *file)
{
    static char path[PATH_MAX];
    Dl_info self;
    if (dladdr((void *)libraries, &self) == 0 || self.dli_fname == NULL) return NULL;
    const int length = (int)(last_part(self.dli_fname) - self.dli_fname);
    const int written = snprintf(path, sizeof path, "%.*s%s", length, self.dli_fname, file);
    return written > 0 && written < (int)sizeof path ? path : NULL;
}

PUBLIC unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

PUBLIC char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *plain = last_part(name);
    const bool behind = strncmp(plain, BEHIND, sizeof BEHIND - 1) == 0;
    const struct link_map *asker =
        (const struct link_map *)*cookie; /* as it is made by the linker */
    if (flag != LA_SER_ORIG) return (char *)name;
    if (behind) plain += sizeof BEHIND - 1;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        struct library *library = &libraries[i];
        if (!is_meant(library, plain)) continue;
        if (behind) return *library->asked != '\0' ? library->asked : (char *)library->name;
        char *own = own_file(library->file);
        if (own == NULL || strcmp(name, own) == 0) return (char *)name;
        if (asker == NULL || !search_for(asker, name, library->asked, sizeof library->asked))
            snprintf(library->asked, sizeof library->asked, "%s", name);
        return own;
    }
    return (char *)name;
}

/* ---- runtimes that are linked statically --------------------------------------------------- */

enum { NEW_MOST = 4096 }; /* objects loaded at once */

/* The device's runtimes, of CUDA 13 and 12, and libcuda.so.1; NULL: not loaded. */
static struct patch_runtimes runtimes;
static const struct link_map *driver;
static const struct link_map *new_objects[NEW_MOST];
static size_t new_count;

PUBLIC unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
    (void)cookie;
    if (lmid != LM_ID_BASE) return 0;
    const char *own = own_file("libcuda.so.1");
    if (own != NULL) patch_variables(map, own);
    if (own != NULL && strcmp(map->l_name, own) == 0) driver = map;
    if (strcmp(last_part(map->l_name), "libcudart.so.13") == 0)
        runtimes.of_13 = map;
    else if (strcmp(last_part(map->l_name), "libcudart.so.12") == 0)
        runtimes.of_12 = map;
    else if (new_count < NEW_MOST)
        new_objects[new_count++] = map;
    return (bindings_publish(map) ? LA_FLG_BINDFROM : 0u) |
           (bindings_may_be_python(map) ? LA_FLG_BINDTO : 0u);
}

/* The cookies are the link maps, since nothing has changed them. */
PUBLIC uintptr_t la_symbind64(ElfW(Sym) * symbol, unsigned number, uintptr_t *from, uintptr_t *to,
                              unsigned *flags, const char *name)
{
    (void)number, (void)flags;
    return bindings_symbol((const struct link_map *)*from, (const struct link_map *)*to,
                           runtimes.of_13, name, symbol->st_value);
}

/* Tells the driver which runtime was found inside an object: emulator/driver/driver.h. */
static void tell_version(unsigned version)
{
    unsigned *newest = NULL;
    if (driver != NULL)
        newest = (unsigned *)patch_defined(driver, STT_OBJECT, "overlap_runtime_inside");
    if (newest != NULL && *newest < version) __atomic_store_n(newest, version, __ATOMIC_RELAXED);
}

/* At this point everything requested is mapped and none of its code has run. */
PUBLIC void la_activity(uintptr_t *cookie, unsigned flag)
{
    (void)cookie;
    if (flag != LA_ACT_CONSISTENT || (runtimes.of_13 == NULL && runtimes.of_12 == NULL)) return;
    for (size_t i = 0; i < new_count; i++) {
        const unsigned version = patch_runtime(new_objects[i], &runtimes);
        if (version != 0) tell_version(version);
    }
    new_count = 0;
}

PUBLIC unsigned la_objclose(uintptr_t *cookie)
{
    if (*cookie == (uintptr_t)runtimes.of_13) runtimes.of_13 = NULL;
    if (*cookie == (uintptr_t)runtimes.of_12) runtimes.of_12 = NULL;
    if (*cookie == (uintptr_t)driver) driver = NULL;
    new_count = 0; /* objects not patched by now will not be */
    return 0;
}
