/* What the compiler's host code registers before main: fat binaries, and their kernels and
 * variables by host address. A fat binary becomes a library of the driver at the first use of one
 * of its symbols; the driver loads the library into each context at its first use there. */
#include "emulator/runtime/runtime.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>

struct binary {
    const void *image;
    pthread_mutex_t lock; /* protects library and the result of loading it */
    CUlibrary library;    /* NULL until it is loaded */
    struct symbol *symbols;
    struct managed *managed;
};

/* A kernel or a device variable. Found by its host address, owned by its fat binary. */
struct symbol {
    const void *host; /* must be first: the tree is ordered by it */
    const char *name; /* in the PTX; the string belongs to the program */
    struct binary *binary;
    CUkernel kernel; /* NULL for variables and until the first use; atomic */
    struct symbol *next;
};

/* A __managed__ variable. Host code accesses it through a pointer that __cudaInitModule fills
 * in. */
struct managed {
    void **pointer;
    const char *name;
    struct managed *next;
};

static struct {
    pthread_rwlock_t lock;
    void *functions; /* trees of struct symbol, see tsearch(3) */
    void *variables;
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static int by_host_address(const void *a, const void *b)
{
    const void *const *first = a, *const *second = b;
    return (*first > *second) - (*first < *second);
}

static struct symbol *find(void *const *tree, const void *host)
{
    pthread_rwlock_rdlock(&registry.lock);
    void *node = tfind(&host, tree, by_host_address);
    pthread_rwlock_unlock(&registry.lock);
    return node != NULL ? *(struct symbol **)node : NULL;
}

/* ---- registration ---------------------------------------------------------------------------- */

/* Adds a symbol. Registration cannot report errors; if memory runs out the symbol stays unknown,
 * and its use is refused. */
static void add_symbol(void **tree, struct binary *binary, const void *host, const char *name)
{
    struct symbol *symbol = malloc(sizeof *symbol);
    if (binary == NULL || symbol == NULL) {
        free(symbol);
        return;
    }
    *symbol =
        (struct symbol){.host = host, .name = name, .binary = binary, .next = binary->symbols};
    pthread_rwlock_wrlock(&registry.lock);
    void *node = tsearch(symbol, tree, by_host_address);
    if (node != NULL && *(struct symbol **)node == symbol) {
        binary->symbols = symbol;
        symbol = NULL;
    }
    pthread_rwlock_unlock(&registry.lock);
    free(symbol); /* registered before, or no memory */
}

RUNTIME_EXPORT void **__cudaRegisterFatBinary(void *image)
{
    struct binary *binary = calloc(1, sizeof *binary);
    if (binary == NULL) return NULL;
    binary->image = image;
    pthread_mutex_init(&binary->lock, NULL);
    return (void **)binary;
}

RUNTIME_EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle; /* nothing is loaded before its first use */
}

RUNTIME_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device,
                                           const char *name, int thread_limit, uint3 *tid,
                                           uint3 *bid, dim3 *block, dim3 *grid, int *warp_size)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size; /* all unused since CUDA 4 */
    add_symbol(&registry.functions, (struct binary *)handle, host, name);
}

RUNTIME_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                                      int external, size_t size, int constant, int global)
{
    (void)device, (void)external, (void)size, (void)constant, (void)global; /* the PTX has it */
    add_symbol(&registry.variables, (struct binary *)handle, host, name);
}

RUNTIME_EXPORT void __cudaRegisterManagedVar(void **handle, void **pointer, char *device,
                                             const char *name, int external, size_t size,
                                             int constant, int global)
{
    struct binary *binary = (struct binary *)handle;
    struct managed *managed = malloc(sizeof *managed);
    (void)device, (void)external, (void)size, (void)constant, (void)global;
    if (binary == NULL || managed == NULL) {
        free(managed);
        return;
    }
    *managed = (struct managed){.pointer = pointer, .name = name, .next = binary->managed};
    binary->managed = managed;
    add_symbol(&registry.variables, binary, pointer, name);
}

/* Called at the program's end, or when a shared object with device code is closed. The driver keeps
 * the library, because its kernels may still run. */
RUNTIME_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    struct binary *binary = (struct binary *)handle;
    if (binary == NULL) return;
    pthread_rwlock_wrlock(&registry.lock);
    for (struct symbol *symbol = binary->symbols, *next; symbol != NULL; symbol = next) {
        next = symbol->next;
        void *const *trees[] = {&registry.functions, &registry.variables};
        for (size_t i = 0; i < 2; i++) {
            void *node = tfind(symbol, trees[i], by_host_address);
            if (node != NULL && *(struct symbol **)node == symbol)
                tdelete(symbol, (void **)trees[i], by_host_address);
        }
        free(symbol);
    }
    pthread_rwlock_unlock(&registry.lock);
    for (struct managed *managed = binary->managed, *next; managed != NULL; managed = next) {
        next = managed->next;
        free(managed);
    }
    pthread_mutex_destroy(&binary->lock);
    free(binary);
}

/* ---- use ------------------------------------------------------------------------------------- */

static CUresult load(struct binary *binary, CUlibrary *library)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&binary->lock);
    if (binary->library == NULL)
        result = cuLibraryLoadData(&binary->library, binary->image, NULL, NULL, 0, NULL, NULL, 0);
    if (result != CUDA_SUCCESS) binary->library = NULL;
    *library = binary->library;
    pthread_mutex_unlock(&binary->lock);
    return result;
}

cudaError_t runtime_kernel(const void *symbol, CUkernel *kernel)
{
    CUlibrary library;
    const char *name;
    struct symbol *known = find(&registry.functions, symbol);
    if (known == NULL) {
        if (symbol == NULL) return cudaErrorInvalidDeviceFunction;
        if (cuKernelGetName(&name, (CUkernel)symbol) != CUDA_SUCCESS)
            return cudaErrorInvalidResourceHandle;
        *kernel = (CUkernel)symbol;
        return cudaSuccess;
    }
    CUkernel found = __atomic_load_n(&known->kernel, __ATOMIC_ACQUIRE);
    if (found != NULL) *kernel = found;
    if (found != NULL) return cudaSuccess;
    CUresult result = load(known->binary, &library);
    if (result == CUDA_SUCCESS) result = cuLibraryGetKernel(kernel, library, known->name);
    if (result == CUDA_SUCCESS) __atomic_store_n(&known->kernel, *kernel, __ATOMIC_RELEASE);
    return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : runtime_error(result);
}

cudaError_t runtime_function(const void *symbol, CUfunction *function)
{
    CUkernel kernel;
    cudaError_t error = runtime_kernel(symbol, &kernel);
    return error == cudaSuccess ? runtime_error(cuKernelGetFunction(function, kernel)) : error;
}

/* Arguments of a walk over the registered kernels that searches the one with the function `wanted`
 * in the current context. */
static _Thread_local struct {
    CUfunction wanted;
    const void *found;
} walk;

static void visit(const void *node, VISIT order, int depth)
{
    struct symbol *symbol = *(struct symbol *const *)node;
    CUkernel kernel = __atomic_load_n(&symbol->kernel, __ATOMIC_ACQUIRE);
    CUfunction function;
    (void)depth;
    if ((order != postorder && order != leaf) || kernel == NULL) return;
    if (cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS && function == walk.wanted)
        walk.found = symbol->host;
}

const void *runtime_symbol(CUfunction function)
{
    walk.wanted = function;
    walk.found = function;
    pthread_rwlock_rdlock(&registry.lock);
    twalk(registry.functions, visit);
    pthread_rwlock_unlock(&registry.lock);
    return walk.found;
}

cudaError_t runtime_variable(const void *symbol, CUdeviceptr *address, size_t *size)
{
    CUlibrary library;
    const struct symbol *known = find(&registry.variables, symbol);
    if (known == NULL) return cudaErrorInvalidSymbol;
    CUresult result = load(known->binary, &library);
    if (result == CUDA_SUCCESS) result = cuLibraryGetGlobal(address, size, library, known->name);
    return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : runtime_error(result);
}

/* Called before the host's first access to a managed variable of the fat binary; sets the pointers
 * that the host then reads. On failure they stay NULL, and the access crashes the program. Where
 * host code names such a variable as a symbol, the compiler passes what the pointer holds. */
RUNTIME_EXPORT char __cudaInitModule(void **handle)
{
    struct binary *binary = (struct binary *)handle;
    cudaError_t error = runtime_enter("cudaInitModule", __builtin_return_address(0),
                                      RUNTIME_CURRENT, RUNTIME_LEGACY);
    for (struct managed *managed = binary != NULL ? binary->managed : NULL;
         error == cudaSuccess && managed != NULL; managed = managed->next) {
        CUdeviceptr address;
        size_t size;
        error = runtime_variable(managed->pointer, &address, &size);
        if (error != cudaSuccess) break;
        *managed->pointer = (void *)address;
        if (find(&registry.variables, *managed->pointer) == NULL)
            add_symbol(&registry.variables, binary, *managed->pointer, managed->name);
    }
    return runtime_leave(error) == cudaSuccess;
}
