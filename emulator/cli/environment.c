#include "emulator/cli/environment.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulator/cli/options.h"
#include "emulator/cli/program.h"
#include "trace/gpus.h"
#include "trace/trace.h"

enum { PATH_ROOM = PATH_MAX + 64 };

/* Prepends `first` and a separator to a variable's value. */
static bool put_before(const char *name, const char *first, char separator)
{
    const char *now = getenv(name);
    const bool is_first = now == NULL || *now == '\0';
    size_t size = strlen(first) + (now != NULL ? strlen(now) : 0) + 2;
    char *value = malloc(size);
    if (value == NULL) return false;
    snprintf(value, size, is_first ? "%s" : "%s%c%s", first, separator, now);
    bool done = setenv(name, value, 1) == 0;
    free(value);
    return done;
}

static bool put_in_front(const char *name, const char *first)
{
    return put_before(name, first, ':');
}

/* The name to use for a library in LD_PRELOAD or LD_AUDIT: a blank separates names in the former
 * and a colon in the latter, so a library with such a path is named without folders and found on
 * the library path. */
static const char *loadable(const char *path)
{
    return strpbrk(path, " :") == NULL ? path : strrchr(path, '/') + 1;
}

/* The dynamic linker splits the library path at colons and semicolons, PATH is split at colons, and
 * the linker may expand '$'. */
bool environment_is_plain(const char *path)
{
    return strpbrk(path, ":;$") == NULL;
}

/* Writes a plain path for the device's folder: its own, or a link in `temporary`. Returns false if
 * there is none. */
static bool name_plainly(const char *libraries, const char *temporary, char *name)
{
    const bool plain = environment_is_plain(libraries);
    snprintf(name, PATH_ROOM, "%s%s", plain ? libraries : temporary, plain ? "" : "/device");
    if (plain) return true;
    errno = EINVAL;
    return environment_is_plain(name) && symlink(libraries, name) == 0;
}

/* ---- the caches of Python's packages ------------------------------------------------------- */

/* PyCUDA requires its folder to exist. */
static const struct {
    const char *variable;
    const char *folder; /* NULL: there is a cache only where the user has chosen one */
} caches[] = {
    {"PYCUDA_CACHE_DIR", "pycuda"},
    {"NUMBA_CACHE_DIR", "numba"},
    {"CUPY_CACHE_DIR", "cupy"},
    {"TRITON_CACHE_DIR", "triton"},
    {"TORCHINDUCTOR_CACHE_DIR", "inductor"},
    {"TORCH_EXTENSIONS_DIR", "extensions"},
    {"KEOPS_CACHE_FOLDER", "keops"},
    {"CUTE_DSL_CACHE_DIR", "cute"},
    {"JAX_COMPILATION_CACHE_DIR", NULL},
};

/* Creates the folder and its parents. */
static bool make_folders(const char *path)
{
    char part[PATH_ROOM];
    struct stat status;
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
    return stat(part, &status) == 0 && S_ISDIR(status.st_mode) && access(part, W_OK) == 0;
}

/* Writes the folder for caches of the program's user. Returns false if there is none. */
static bool cache_root(char *root)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache != NULL && *cache == '/')
        return snprintf(root, PATH_MAX, "%s/overlap", cache) < PATH_MAX;
    return home != NULL && *home == '/' &&
           snprintf(root, PATH_MAX, "%s/.cache/overlap", home) < PATH_MAX;
}

/* Nobody else may write where machine code is kept. Where no folder can be made, none is kept. */
static bool set_native_cache(const char *root)
{
    char path[PATH_ROOM];
    struct stat status;
    snprintf(path, sizeof path, "%s/native", root);
    if (getenv("OVERLAP_NATIVE_CACHE") != NULL || !make_folders(path)) return true;
    if (stat(path, &status) != 0 || status.st_uid != geteuid()) return true;
    if ((status.st_mode & 077) != 0 && chmod(path, 0700) != 0) return true;
    return setenv("OVERLAP_NATIVE_CACHE", path, 1) == 0;
}

static bool set_caches(const char *temporary)
{
    char root[PATH_MAX], path[PATH_ROOM];
    const bool rooted = cache_root(root);
    if (rooted && !set_native_cache(root)) return false;
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        const char *chosen = getenv(caches[i].variable);
        bool made = false;
        if (caches[i].folder == NULL && (chosen == NULL || *chosen == '\0')) continue;
        if (chosen != NULL && *chosen != '\0')
            made = snprintf(path, sizeof path, "%s/overlap", chosen) < PATH_MAX;
        else if (rooted)
            made = snprintf(path, sizeof path, "%s/%s", root, caches[i].folder) < PATH_MAX;
        if (!made || !make_folders(path)) {
            snprintf(path, sizeof path, "%s/%s", temporary, caches[i].variable);
            mkdir(path, 0777);
        }
        if (setenv(caches[i].variable, path, 1) != 0) return false;
    }
    return true;
}

/* ---- compilers that are not found through PATH ----------------------------------------------- */

static const struct {
    const char *variable, *program;
    const char *behind; /* keeps the user's choice, for the program in front */
} compilers[] = {
    {"TRITON_PTXAS_PATH", "ptxas", "OVERLAP_BEHIND_PTXAS"},
    {"TRITON_PTXAS_BLACKWELL_PATH", "ptxas-blackwell", "OVERLAP_BEHIND_PTXAS_BLACKWELL"},
};

static bool set_compilers(const char *libraries)
{
    char front[PATH_ROOM + 32];
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        const char *chosen = getenv(compilers[i].variable);
        snprintf(front, sizeof front, "%s/front/%s", libraries, compilers[i].program);
        /* Inside another ./emulate the program in front is the choice already. */
        if (chosen != NULL && *chosen != '\0' && strcmp(chosen, front) != 0 &&
            setenv(compilers[i].behind, chosen, 1) != 0)
            return false;
        if (setenv(compilers[i].variable, front, 1) != 0) return false;
    }
    return true;
}

/* ---- defaults for packages ------------------------------------------------------------------- */

/* Set unless the user has set the variable. */
static const struct {
    const char *variable, *value;
} defaults[] = {
    /* Without its cache each tensor is an allocation of its own, so its bounds are checked. */
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1"},
    /* torch.compile would time products of padded matrices, filled by PyTorch's own operations,
     * which are machine code. */
    {"TORCHINDUCTOR_SHAPE_PADDING", "0"},
    /* JAX too: each array and each temporary one is an allocation, of the stream's order. Its
     * "platform" rounds their sizes up to those of virtual memory. */
    {"XLA_PYTHON_CLIENT_ALLOCATOR", "cuda_async"},
    {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
    /* JAX would ask CUPTI for its version, which looks for NVIDIA's driver first. */
    {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1"},
    /* With lines its machine code has the PTX (fatbin/machine.h). */
    {"CUTE_DSL_LINEINFO", "1"},
};

/* Put before what the user has set, which takes precedence. XLA would compile each fusion several
 * times and measure which is fastest, by a clock that is a model; without that, its own kernel for
 * a product of bytes has a tile that is too small for its instruction, and counts everything twice.
 */
#define XLA_DEFAULTS "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false"

static bool set_defaults(void)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (setenv(defaults[i].variable, defaults[i].value, 0) != 0) return false;
    return put_before("XLA_FLAGS", XLA_DEFAULTS, ' ');
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* PyCUDA looks for the toolkit's libraries beside nvcc, and would find the nvcc in front. */
static bool set_toolkit(void)
{
    char nvcc[PATH_MAX], path[PATH_MAX];
    if (!program_on_path("nvcc", nvcc) || realpath(nvcc, path) == NULL) return true;
    for (int i = 0; i < 2; i++) { /* /bin/nvcc */
        char *slash = strrchr(path, '/');
        if (slash != NULL) *slash = '\0';
    }
    return setenv("CUDA_ROOT", path, 0) == 0;
}

bool environment_find(const char *libraries)
{
    char front[PATH_ROOM], nvcc[PATH_ROOM + 8];
    if (!set_toolkit()) return false;
    snprintf(front, sizeof front, "%s/front", libraries);
    snprintf(nvcc, sizeof nvcc, "%s/nvcc", front);
    /* FlashInfer asks the nvcc of CUDA_HOME, whatever is on PATH. */
    return put_in_front("PATH", front) && setenv("FLASHINFER_NVCC", nvcc, 0) == 0;
}

/* Preloads libraries. The runtimes must be loaded before an object that contains a static one; a
 * program that needs the shared runtime loads it by itself.
 */
static bool set_preloaded(const struct program *program, const char *libraries)
{
    char threads[PATH_ROOM + 32], runtime[PATH_ROOM + 32], front[PATH_ROOM + 32];
    char before[PATH_ROOM + 32];
    snprintf(front, sizeof front, "%s/liboverlap_front.so", libraries);
    snprintf(threads, sizeof threads, "%s/liboverlap_threads.so", libraries);
    snprintf(runtime, sizeof runtime, "%s/libcudart.so.13", libraries);
    snprintf(before, sizeof before, "%s/libcudart.so.12", libraries);
    /* That of CUDA 13 comes first: who asks for no version is of CUDA 13. */
    if (!program->loads_runtime && (!put_in_front("LD_PRELOAD", loadable(before)) ||
                                    !put_in_front("LD_PRELOAD", loadable(runtime))))
        return false;
#ifdef __SANITIZE_ADDRESS__
    /* The device was built with AddressSanitizer, which therefore also gets into other programs. */
    if (!program->loads_runtime && !put_in_front("ASAN_OPTIONS", "detect_leaks=0")) return false;
#endif
    return put_in_front("LD_PRELOAD", loadable(front)) &&
           put_in_front("LD_PRELOAD", loadable(threads)) &&
           /* Otherwise a program with AddressSanitizer refuses to run behind a preloaded
            * library. */
           put_in_front("ASAN_OPTIONS", "verify_asan_link_order=0");
}

bool environment_set(const struct options *options, const struct program *program,
                     const char *folder, const char *temporary, const char *trace)
{
    char audit[PATH_ROOM + 32], libraries[PATH_ROOM];
    if (!name_plainly(folder, temporary, libraries)) return false;
    snprintf(audit, sizeof audit, "%s/liboverlap_audit.so", libraries);
    return setenv(TRACE_PATH_VARIABLE, trace, 1) == 0 && setenv("OVERLAP_QUIET", "1", 1) == 0 &&
           (options->order == NULL || setenv("OVERLAP_ORDER", options->order, 1) == 0) &&
           (options->gpu == NULL || setenv(GPUS_VARIABLE, options->gpu, 1) == 0) &&
           (options->timeline == NULL || setenv("OVERLAP_TURNS", "on", 0) == 0) &&
           setenv("OVERLAP_NATIVE", "on", 0) == 0 &&
           (!options->standins || setenv("OVERLAP_STANDINS", "on", 1) == 0) &&
           (options->fail == NULL || setenv("OVERLAP_FAIL", options->fail, 1) == 0) &&
           put_in_front("LD_LIBRARY_PATH", libraries) &&
           put_in_front("LD_AUDIT", loadable(audit)) && set_preloaded(program, libraries) &&
           set_compilers(libraries) && set_defaults() && set_caches(temporary);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *level)
{
    (void)status, (void)type, (void)level;
    remove(path);
    return 0; /* continue */
}

void environment_remove(const char *temporary)
{
    nftw(temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
