/* The promise: a program may close libcuda.so.1 while one of its threads has used it, and end. A
 * statically linked runtime does so when it cannot start, and NVIDIA's stays usable as well. */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_barrier_t used, closed;

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL) fprintf(stderr, "%s\n", dlerror());
    return found;
}

/* Uses the device, and ends after the library has been closed. */
static void *use(void *library)
{
    CUresult (*init)(unsigned);
    CUresult (*count)(int *);
    void *symbol = function(library, "cuInit");
    CUresult result = CUDA_ERROR_NOT_FOUND;
    int devices = 0;
    memcpy(&init, &symbol, sizeof init);
    symbol = function(library, "cuDeviceGetCount");
    memcpy(&count, &symbol, sizeof count);
    if (init != NULL && count != NULL && (result = init(0)) == CUDA_SUCCESS)
        result = count(&devices);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return result == CUDA_SUCCESS && devices > 0 ? library : NULL;
}

int main(void)
{
    pthread_t thread;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *fine = NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    pthread_barrier_init(&used, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    if (pthread_create(&thread, NULL, use, library) != 0) return 1;
    pthread_barrier_wait(&used);
    dlclose(library);
    pthread_barrier_wait(&closed);
    pthread_join(thread, &fine);
    return fine == NULL;
}
