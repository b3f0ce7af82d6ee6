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

/* Copies the part of a structure that CUDA 12 has, where a function has filled it. Returns `error`,
 * the function's. */
static cudaError_t give(void *part, const void *whole, size_t bytes, cudaError_t error)
{
    if (part != NULL && error == cudaSuccess) memcpy(part, whole, bytes);
    return error;
}

cudaError_t twelve_cudaPointerGetAttributes(void *attributes, const void *ptr)
{
    struct cudaPointerAttributes whole;
    return give(attributes, &whole, ATTRIBUTES,
                runtime_cudaPointerGetAttributes(attributes != NULL ? &whole : NULL, ptr));
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
    return give(
        resource, &whole, RESOURCE,
        runtime_cudaGetTextureObjectResourceDesc(resource != NULL ? &whole : NULL, texture));
}

cudaError_t twelve_cudaGetTextureObjectResourceViewDesc(void *view, cudaTextureObject_t texture)
{
    struct cudaResourceViewDesc whole;
    return give(
        view, &whole, VIEW,
        runtime_cudaGetTextureObjectResourceViewDesc(view != NULL ? &whole : NULL, texture));
}

cudaError_t twelve_cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const void *resource)
{
    struct cudaResourceDesc whole;
    return runtime_cudaCreateSurfaceObject(surface, resource_of(&whole, resource));
}

cudaError_t twelve_cudaGetSurfaceObjectResourceDesc(void *resource, cudaSurfaceObject_t surface)
{
    struct cudaResourceDesc whole;
    return give(
        resource, &whole, RESOURCE,
        runtime_cudaGetSurfaceObjectResourceDesc(resource != NULL ? &whole : NULL, surface));
}
