/* twelve: what the rows of twelve.def need to call CUDA 13's functions for programs of CUDA 12,
 * where some structures end earlier. Only in libcudart.so.12.
 *
 * Source: CUDA Runtime API 12.9. */
#ifndef OVERLAP_RUNTIME_TWELVE_H
#define OVERLAP_RUNTIME_TWELVE_H

#include "emulator/runtime/runtime.h"

/* The location that a device's number means, cudaCpuDeviceId too. */
struct cudaMemLocation twelve_location(int device);
/* Says that no single copy of a batch is to blame for an error. `index` may be NULL. Returns the
 * stream. */
cudaStream_t twelve_no_index(size_t *index, cudaStream_t stream);

/* The functions of CUDA 13 without `twelve_`; a structure is as long as CUDA 12 has it. */
cudaError_t twelve_cudaPointerGetAttributes(void *attributes, const void *ptr);
cudaError_t twelve_cudaCreateTextureObject(cudaTextureObject_t *texture, const void *resource,
                                           const struct cudaTextureDesc *how, const void *view);
cudaError_t twelve_cudaGetTextureObjectResourceDesc(void *resource, cudaTextureObject_t texture);
cudaError_t twelve_cudaGetTextureObjectResourceViewDesc(void *view, cudaTextureObject_t texture);
cudaError_t twelve_cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const void *resource);
cudaError_t twelve_cudaGetSurfaceObjectResourceDesc(void *resource, cudaSurfaceObject_t surface);

#endif
