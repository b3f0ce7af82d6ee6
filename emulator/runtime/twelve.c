#include "emulator/runtime/twelve.h"

#include <stdint.h>
#include <string.h>

/* Bytes of structures in CUDA 12. In CUDA 13 reserved ones are behind them. */
enum { ATTRIBUTES = 24, RESOURCE = 64, VIEW = 48 };

struct cudaMemLocation twelve_location(int device)
{
    return device == cudaCpuDeviceId ? (struct cudaMemLocation){cudaMemLocationTypeHost, 0}
                                     : (struct cudaMemLocation){cudaMemLocationTypeDevice, device};
}

cudaStream_t twelve_no_index(size_t *index, cudaStream_t stream)
{
    if (index != NULL) *index = SIZE_MAX;
    return stream;
}

cudaError_t twelve_cudaPointerGetAttributes(void *attributes, const void *ptr)
{
    struct cudaPointerAttributes whole;
    if (attributes == NULL) return runtime_cudaPointerGetAttributes(NULL, ptr);
    const cudaError_t error = runtime_cudaPointerGetAttributes(&whole, ptr);
    if (error == cudaSuccess) memcpy(attributes, &whole, ATTRIBUTES);
    return error;
}

/* ---- textures and surfaces ------------------------------------------------------------------- */

/* Returns the structure as CUDA 13 has it; NULL for NULL. */
static const struct cudaResourceDesc *resource_of(struct cudaResourceDesc *whole, const void *part)
{
    memset(whole, 0, sizeof *whole);
    if (part != NULL) memcpy(whole, part, RESOURCE);
    return part != NULL ? whole : NULL;
}

cudaError_t twelve_cudaCreateTextureObject(cudaTextureObject_t *texture, const void *resource,
                                           const struct cudaTextureDesc *how, const void *view)
{
    struct cudaResourceDesc whole;
    struct cudaResourceViewDesc whole_view = {0};
    if (view != NULL) memcpy(&whole_view, view, VIEW);
    return runtime_cudaCreateTextureObject(texture, resource_of(&whole, resource), how,
                                           view != NULL ? &whole_view : NULL);
}

cudaError_t twelve_cudaGetTextureObjectResourceDesc(void *resource, cudaTextureObject_t texture)
{
    struct cudaResourceDesc whole;
    if (resource == NULL) return runtime_cudaGetTextureObjectResourceDesc(NULL, texture);
    const cudaError_t error = runtime_cudaGetTextureObjectResourceDesc(&whole, texture);
    if (error == cudaSuccess) memcpy(resource, &whole, RESOURCE);
    return error;
}

cudaError_t twelve_cudaGetTextureObjectResourceViewDesc(void *view, cudaTextureObject_t texture)
{
    struct cudaResourceViewDesc whole;
    if (view == NULL) return runtime_cudaGetTextureObjectResourceViewDesc(NULL, texture);
    const cudaError_t error = runtime_cudaGetTextureObjectResourceViewDesc(&whole, texture);
    if (error == cudaSuccess) memcpy(view, &whole, VIEW);
    return error;
}

cudaError_t twelve_cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const void *resource)
{
    struct cudaResourceDesc whole;
    return runtime_cudaCreateSurfaceObject(surface, resource_of(&whole, resource));
}

cudaError_t twelve_cudaGetSurfaceObjectResourceDesc(void *resource, cudaSurfaceObject_t surface)
{
    struct cudaResourceDesc whole;
    if (resource == NULL) return runtime_cudaGetSurfaceObjectResourceDesc(NULL, surface);
    const cudaError_t error = runtime_cudaGetSurfaceObjectResourceDesc(&whole, surface);
    if (error == cudaSuccess) memcpy(resource, &whole, RESOURCE);
    return error;
}
