/* The stand-in for cuDNN, which has handles and a version: what XLA asks of it before it compiles
 * anything. With an argument, what it has not. NVIDIA's header is no part of the toolkit, so the
 * functions are declared here. Exits with 0 if all is as it should be. */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

typedef struct cudnnContext *cudnnHandle_t;
int cudnnCreate(cudnnHandle_t *handle);
int cudnnDestroy(cudnnHandle_t handle);
int cudnnSetStream(cudnnHandle_t handle, CUstream stream);
int cudnnGetStream(cudnnHandle_t handle, CUstream *stream);
size_t cudnnGetVersion(void);
size_t cudnnGetCudartVersion(void);
int cudnnGetProperty(int which, int *value);
const char *cudnnGetErrorString(int status);
void cudnnGetLastErrorString(char *message, size_t size);
int cudnnGraphVersionCheck(void);
int cudnnBackendCreateDescriptor(int type, void **descriptor);
int cudnnBackendDestroyDescriptor(void *descriptor);

static int failures;

static void want(int is_so, const char *what)
{
    if (is_so) return;
    printf("not so: %s\n", what);
    failures++;
}

static void handles(void)
{
    cudnnHandle_t handle = NULL;
    CUstream stream = NULL, kept = NULL;
    int parts[3];
    want(cudnnCreate(&handle) == 0 && handle != NULL, "a handle is made, and a context");
    want(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS, "which is current");
    want(cudnnSetStream(handle, stream) == 0 && cudnnGetStream(handle, &kept) == 0, "a stream");
    want(kept == stream, "is kept");
    for (int i = 0; i < 3; i++) want(cudnnGetProperty(i, &parts[i]) == 0, "parts of the version");
    want(cudnnGetVersion() == (size_t)(parts[0] * 10000 + parts[1] * 100 + parts[2]),
         "the version");
    want(parts[0] == 9 && cudnnGetCudartVersion() >= 13000, "is one for CUDA 13");
    want(cudnnGraphVersionCheck() == 0, "its parts fit together");
    want(cuStreamDestroy(stream) == CUDA_SUCCESS && cudnnDestroy(handle) == 0, "both end");
    want(cudnnCreate(NULL) != 0 && cudnnDestroy(NULL) != 0, "a null pointer is refused");
}

static void absent(void)
{
    void *descriptor = NULL;
    char message[16];
    const int status = cudnnBackendCreateDescriptor(17, &descriptor);
    want(strcmp(cudnnGetErrorString(status), "CUDNN_STATUS_NOT_SUPPORTED") == 0, "its status");
    memset(message, '#', sizeof message);
    cudnnGetLastErrorString(message, sizeof message - 1);
    want(strlen(message) == sizeof message - 2, "a message has the room that it is given");
    want(cudnnBackendDestroyDescriptor(descriptor) == 0, "what was not made may be destroyed");
}

int main(int count, char **arguments)
{
    (void)arguments;
    if (count == 1)
        handles();
    else
        absent();
    if (failures == 0) puts("PASSED");
    return failures != 0;
}
