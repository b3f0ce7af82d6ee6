/* Arrays, textures and surfaces: conversion of the runtime's descriptors to the driver's. */
#include "emulator/driver/driver.h"
#include "emulator/runtime/runtime.h"

#include <string.h>

/* ---- channel formats ------------------------------------------------------------------------- */

static const struct {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
    unsigned channels; /* of a normalised format; 0: one, two or four */
} formats[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8, 0},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16, 0},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32, 0},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8, 0},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16, 0},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32, 0},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF, 0},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT, 0},
    {cudaChannelFormatKindUnsignedNormalized8X1, 8, CU_AD_FORMAT_UNORM_INT8X1, 1},
    {cudaChannelFormatKindUnsignedNormalized8X2, 8, CU_AD_FORMAT_UNORM_INT8X2, 2},
    {cudaChannelFormatKindUnsignedNormalized8X4, 8, CU_AD_FORMAT_UNORM_INT8X4, 4},
    {cudaChannelFormatKindUnsignedNormalized16X1, 16, CU_AD_FORMAT_UNORM_INT16X1, 1},
    {cudaChannelFormatKindUnsignedNormalized16X2, 16, CU_AD_FORMAT_UNORM_INT16X2, 2},
    {cudaChannelFormatKindUnsignedNormalized16X4, 16, CU_AD_FORMAT_UNORM_INT16X4, 4},
    {cudaChannelFormatKindSignedNormalized8X1, 8, CU_AD_FORMAT_SNORM_INT8X1, 1},
    {cudaChannelFormatKindSignedNormalized8X2, 8, CU_AD_FORMAT_SNORM_INT8X2, 2},
    {cudaChannelFormatKindSignedNormalized8X4, 8, CU_AD_FORMAT_SNORM_INT8X4, 4},
    {cudaChannelFormatKindSignedNormalized16X1, 16, CU_AD_FORMAT_SNORM_INT16X1, 1},
    {cudaChannelFormatKindSignedNormalized16X2, 16, CU_AD_FORMAT_SNORM_INT16X2, 2},
    {cudaChannelFormatKindSignedNormalized16X4, 16, CU_AD_FORMAT_SNORM_INT16X4, 4},
};
enum {
    FORMATS = sizeof formats / sizeof *formats,
    LAST_KIND = cudaChannelFormatKindUnsignedNormalized1010102,
};

static bool is_normalised(enum cudaChannelFormatKind kind)
{
    return kind >= cudaChannelFormatKindUnsignedNormalized8X1 &&
           kind <= cudaChannelFormatKindSignedNormalized16X4;
}

/* Converts a channel format: one, two or four channels of the same size, beginning with x. */
static cudaError_t format_of(const struct cudaChannelFormatDesc *desc, CUarray_format *format,
                             unsigned *channels)
{
    const int bits[4] = {desc->x, desc->y, desc->z, desc->w};
    if ((int)desc->f > LAST_KIND) return cudaErrorInvalidChannelDescriptor;
    if (desc->f > cudaChannelFormatKindNone && !is_normalised(desc->f)) {
        overlap_finding_unsupported("channels of packed, compressed and planar formats",
                                    cudaErrorNotSupported);
        return cudaErrorNotSupported;
    }
    *channels = 0;
    while (*channels < 4 && bits[*channels] != 0) ++*channels;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < *channels ? desc->x : 0)) return cudaErrorInvalidChannelDescriptor;
    if (*channels == 0 || *channels == 3) return cudaErrorInvalidChannelDescriptor;
    for (size_t i = 0; i < FORMATS; i++) {
        *format = formats[i].format;
        if (formats[i].kind == desc->f && formats[i].bits == desc->x)
            return formats[i].channels == 0 || formats[i].channels == *channels
                       ? cudaSuccess
                       : cudaErrorInvalidChannelDescriptor;
    }
    return cudaErrorInvalidChannelDescriptor;
}

static struct cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels)
{
    struct cudaChannelFormatDesc desc = {.f = cudaChannelFormatKindNone};
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i].format != format) continue;
        const int bits = formats[i].bits;
        desc =
            (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                           channels > 3 ? bits : 0, formats[i].kind};
    }
    return desc;
}

static size_t format_bytes(CUarray_format format)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].format == format) return (size_t)formats[i].bits / 8;
    return 0;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

cudaError_t runtime_cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                      struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR wanted = {
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (array == NULL || desc == NULL) return cudaErrorInvalidValue;
    cudaError_t error = format_of(desc, &wanted.Format, &wanted.NumChannels);
    if (error != cudaSuccess) return error;
    return runtime_error(cuArray3DCreate((CUarray *)array, &wanted));
}

cudaError_t runtime_cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                    size_t width, size_t height, unsigned int flags)
{
    if (flags & (cudaArrayLayered | cudaArrayCubemap)) return cudaErrorInvalidValue;
    return runtime_cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t runtime_cudaFreeArray(cudaArray_t array)
{
    return array != NULL ? runtime_error(cuArrayDestroy((CUarray)array)) : cudaSuccess;
}

cudaError_t runtime_cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                                             const struct cudaChannelFormatDesc *desc,
                                             struct cudaExtent extent, unsigned int numLevels,
                                             unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR wanted = {
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (mipmappedArray == NULL || desc == NULL) return cudaErrorInvalidValue;
    cudaError_t error = format_of(desc, &wanted.Format, &wanted.NumChannels);
    if (error != cudaSuccess) return error;
    return runtime_error(
        cuMipmappedArrayCreate((CUmipmappedArray *)mipmappedArray, &wanted, numLevels));
}

cudaError_t runtime_cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    return mipmappedArray != NULL
               ? runtime_error(cuMipmappedArrayDestroy((CUmipmappedArray)mipmappedArray))
               : cudaSuccess;
}

cudaError_t runtime_cudaGetMipmappedArrayLevel(cudaArray_t *levelArray,
                                               cudaMipmappedArray_const_t mipmappedArray,
                                               unsigned int level)
{
    return runtime_error(cuMipmappedArrayGetLevel(
        (CUarray *)levelArray, (CUmipmappedArray)(uintptr_t)mipmappedArray, level));
}

static cudaError_t describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    CUresult result = cuArray3DGetDescriptor(descriptor, (CUarray)(uintptr_t)array);
    return result == CUDA_ERROR_INVALID_HANDLE ? cudaErrorInvalidResourceHandle
                                               : runtime_error(result);
}

size_t runtime_array_element(cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    if (describe(array, &descriptor) != cudaSuccess) return 0;
    return format_bytes(descriptor.Format) * descriptor.NumChannels;
}

cudaError_t runtime_cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                     unsigned int *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t error = describe(array, &d);
    if (error != cudaSuccess) return error;
    if (desc != NULL) *desc = channels_of(d.Format, d.NumChannels);
    if (extent != NULL) *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags != NULL) *flags = d.Flags;
    return cudaSuccess;
}

cudaError_t runtime_cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    if (desc == NULL) return cudaErrorInvalidValue;
    return runtime_cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)(uintptr_t)array);
}

/* The runtime's structures have the same layout as the driver's. */
cudaError_t runtime_cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray,
                                      unsigned int planeIdx)
{
    return runtime_error(cuArrayGetPlane((CUarray *)pPlaneArray, (CUarray)hArray, planeIdx));
}

cudaError_t runtime_cudaArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                                 cudaArray_t array)
{
    return runtime_error(cuArrayGetSparseProperties(
        (CUDA_ARRAY_SPARSE_PROPERTIES *)sparseProperties, (CUarray)array));
}

cudaError_t
runtime_cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                              cudaMipmappedArray_t mipmap)
{
    return runtime_error(cuMipmappedArrayGetSparseProperties(
        (CUDA_ARRAY_SPARSE_PROPERTIES *)sparseProperties, (CUmipmappedArray)mipmap));
}

cudaError_t
runtime_cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                       cudaArray_t array, int device)
{
    return runtime_error(cuArrayGetMemoryRequirements(
        (CUDA_ARRAY_MEMORY_REQUIREMENTS *)memoryRequirements, (CUarray)array, device));
}

cudaError_t runtime_cudaMipmappedArrayGetMemoryRequirements(
    struct cudaArrayMemoryRequirements *memoryRequirements, cudaMipmappedArray_t mipmap, int device)
{
    return runtime_error(cuMipmappedArrayGetMemoryRequirements(
        (CUDA_ARRAY_MEMORY_REQUIREMENTS *)memoryRequirements, (CUmipmappedArray)mipmap, device));
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* One side of a copy of rows. */
struct end {
    cudaArray_const_t array; /* NULL: memory */
    size_t x, y;             /* bytes and rows, in an array */
    const void *pointer;
    size_t pitch;
};

/* The driver's memory type of the side that is not an array. Returns false if the direction does
 * not fit. */
static bool memory_of(enum cudaMemcpyKind kind, bool into_array, CUmemorytype *type)
{
    const enum cudaMemcpyKind host = into_array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    *type = kind == host                       ? CU_MEMORYTYPE_HOST
            : kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE
                                               : CU_MEMORYTYPE_UNIFIED;
    return kind == host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

/* Copies rows between an array and memory, or between arrays. `stream` NULL: synchronous. */
static cudaError_t copy_rows(const struct end *to, const struct end *from, size_t width,
                             size_t height, enum cudaMemcpyKind kind, const CUstream *stream)
{
    CUmemorytype memory = CU_MEMORYTYPE_DEVICE;
    const bool both = to->array != NULL && from->array != NULL;
    if (both ? kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault
             : !memory_of(kind, to->array != NULL, &memory))
        return cudaErrorInvalidMemcpyDirection;
    const struct end *plain = to->array == NULL ? to : from;
    if (!both && plain->pitch < width && height > 1) return cudaErrorInvalidPitchValue;
    if (width == 0 || height == 0) return cudaSuccess;
    const CUDA_MEMCPY2D copy = {
        .srcXInBytes = from->x,
        .srcY = from->y,
        .srcMemoryType = from->array != NULL ? CU_MEMORYTYPE_ARRAY : memory,
        .srcHost = from->pointer,
        .srcDevice = (CUdeviceptr)from->pointer,
        .srcArray = (CUarray)(uintptr_t)from->array,
        .srcPitch = from->pitch,
        .dstXInBytes = to->x,
        .dstY = to->y,
        .dstMemoryType = to->array != NULL ? CU_MEMORYTYPE_ARRAY : memory,
        .dstHost = (void *)(uintptr_t)to->pointer,
        .dstDevice = (CUdeviceptr)to->pointer,
        .dstArray = (CUarray)(uintptr_t)to->array,
        .dstPitch = to->pitch,
        .WidthInBytes = width,
        .Height = height,
    };
    return runtime_error(stream != NULL ? cuMemcpy2DAsync(&copy, *stream)
                                        : runtime_copy_rows(&copy));
}

cudaError_t runtime_cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                        const void *src, size_t spitch, size_t width, size_t height,
                                        enum cudaMemcpyKind kind)
{
    if (dst == NULL) return cudaErrorInvalidResourceHandle;
    return copy_rows(&(struct end){.array = dst, .x = wOffset, .y = hOffset},
                     &(struct end){.pointer = src, .pitch = spitch}, width, height, kind, NULL);
}

cudaError_t runtime_cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                             const void *src, size_t spitch, size_t width,
                                             size_t height, enum cudaMemcpyKind kind,
                                             cudaStream_t stream)
{
    const CUstream in = runtime_stream(stream);
    if (dst == NULL) return cudaErrorInvalidResourceHandle;
    return copy_rows(&(struct end){.array = dst, .x = wOffset, .y = hOffset},
                     &(struct end){.pointer = src, .pitch = spitch}, width, height, kind, &in);
}

cudaError_t runtime_cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src,
                                          size_t wOffset, size_t hOffset, size_t width,
                                          size_t height, enum cudaMemcpyKind kind)
{
    if (src == NULL) return cudaErrorInvalidResourceHandle;
    return copy_rows(&(struct end){.pointer = dst, .pitch = dpitch},
                     &(struct end){.array = src, .x = wOffset, .y = hOffset}, width, height, kind,
                     NULL);
}

cudaError_t runtime_cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src,
                                               size_t wOffset, size_t hOffset, size_t width,
                                               size_t height, enum cudaMemcpyKind kind,
                                               cudaStream_t stream)
{
    const CUstream in = runtime_stream(stream);
    if (src == NULL) return cudaErrorInvalidResourceHandle;
    return copy_rows(&(struct end){.pointer = dst, .pitch = dpitch},
                     &(struct end){.array = src, .x = wOffset, .y = hOffset}, width, height, kind,
                     &in);
}

cudaError_t runtime_cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                             cudaArray_const_t src, size_t wOffsetSrc,
                                             size_t hOffsetSrc, size_t width, size_t height,
                                             enum cudaMemcpyKind kind)
{
    if (dst == NULL || src == NULL) return cudaErrorInvalidResourceHandle;
    return copy_rows(&(struct end){.array = dst, .x = wOffsetDst, .y = hOffsetDst},
                     &(struct end){.array = src, .x = wOffsetSrc, .y = hOffsetSrc}, width, height,
                     kind, NULL);
}

/* ---- deprecated copies of byte runs, which continue in the next row -------------------------- */

/* Copies a run: the rest of a row, whole rows, and the beginning of a row. `side` advances through
 * the array, `other` through memory. */
static cudaError_t copy_run(struct end side, struct end other, bool into_array, size_t count,
                            enum cudaMemcpyKind kind, const CUstream *stream)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t error = describe(side.array, &d);
    const size_t row = error == cudaSuccess ? d.Width * runtime_array_element(side.array) : 0;
    if (error == cudaSuccess && side.x >= row) return cudaErrorInvalidValue;
    while (error == cudaSuccess && count > 0) {
        const bool whole = side.x == 0 && count >= row;
        const size_t width = whole ? row : count < row - side.x ? count : row - side.x;
        const size_t height = whole ? count / row : 1;
        other.pitch = width;
        error = into_array ? copy_rows(&side, &other, width, height, kind, stream)
                           : copy_rows(&other, &side, width, height, kind, stream);
        other.pointer = (const char *)other.pointer + width * height;
        side.x = whole ? 0 : (side.x + width) % row;
        side.y += side.x == 0 ? height : 0;
        count -= width * height;
    }
    return error;
}

cudaError_t runtime_cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                      const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return copy_run((struct end){.array = dst, .x = wOffset, .y = hOffset},
                    (struct end){.pointer = src}, true, count, kind, NULL);
}

cudaError_t runtime_cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                           const void *src, size_t count, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    const CUstream in = runtime_stream(stream);
    return copy_run((struct end){.array = dst, .x = wOffset, .y = hOffset},
                    (struct end){.pointer = src}, true, count, kind, &in);
}

cudaError_t runtime_cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset,
                                        size_t hOffset, size_t count, enum cudaMemcpyKind kind)
{
    return copy_run((struct end){.array = src, .x = wOffset, .y = hOffset},
                    (struct end){.pointer = dst}, false, count, kind, NULL);
}

cudaError_t runtime_cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset,
                                             size_t hOffset, size_t count, enum cudaMemcpyKind kind,
                                             cudaStream_t stream)
{
    const CUstream in = runtime_stream(stream);
    return copy_run((struct end){.array = src, .x = wOffset, .y = hOffset},
                    (struct end){.pointer = dst}, false, count, kind, &in);
}

/* Bytes of a row; 0: no array. */
static size_t row_of(cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    return describe(array, &d) == cudaSuccess ? d.Width * runtime_array_element(array) : 0;
}

static void advance(struct end *end, size_t width, size_t row)
{
    end->x = (end->x + width) % row;
    end->y += end->x == 0;
}

cudaError_t runtime_cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                           cudaArray_const_t src, size_t wOffsetSrc,
                                           size_t hOffsetSrc, size_t count,
                                           enum cudaMemcpyKind kind)
{
    struct end to = {.array = dst, .x = wOffsetDst, .y = hOffsetDst};
    struct end from = {.array = src, .x = wOffsetSrc, .y = hOffsetSrc};
    const size_t rows[2] = {row_of(dst), row_of(src)};
    cudaError_t error = cudaSuccess;
    if (rows[0] == 0 || rows[1] == 0) return cudaErrorInvalidResourceHandle;
    if (to.x >= rows[0] || from.x >= rows[1]) return cudaErrorInvalidValue;
    while (error == cudaSuccess && count > 0) {
        size_t width = count;
        if (width > rows[0] - to.x) width = rows[0] - to.x;
        if (width > rows[1] - from.x) width = rows[1] - from.x;
        error = copy_rows(&to, &from, width, 1, kind, NULL);
        advance(&to, width, rows[0]);
        advance(&from, width, rows[1]);
        count -= width;
    }
    return error;
}

/* ---- textures and surfaces ------------------------------------------------------------------- */

static cudaError_t resource_of(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    *to = (CUDA_RESOURCE_DESC){.flags = from->flags};
    switch (from->resType) {
    case cudaResourceTypeArray:
        to->resType = CU_RESOURCE_TYPE_ARRAY;
        to->res.array.hArray = (CUarray)from->res.array.array;
        return to->res.array.hArray != NULL ? cudaSuccess : cudaErrorInvalidResourceHandle;
    case cudaResourceTypeMipmappedArray:
        to->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
        return to->res.mipmap.hMipmappedArray != NULL ? cudaSuccess
                                                      : cudaErrorInvalidResourceHandle;
    case cudaResourceTypeLinear:
        to->resType = CU_RESOURCE_TYPE_LINEAR;
        to->res.linear.devPtr = (CUdeviceptr)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return format_of(&from->res.linear.desc, &to->res.linear.format,
                         &to->res.linear.numChannels);
    case cudaResourceTypePitch2D:
        to->resType = CU_RESOURCE_TYPE_PITCH2D;
        to->res.pitch2D.devPtr = (CUdeviceptr)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return format_of(&from->res.pitch2D.desc, &to->res.pitch2D.format,
                         &to->res.pitch2D.numChannels);
    }
    return cudaErrorInvalidValue;
}

static void resource_from(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to)
{
    *to = (struct cudaResourceDesc){.flags = from->flags};
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->resType = cudaResourceTypeArray;
        to->res.array.array = (cudaArray_t)from->res.array.hArray;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->resType = cudaResourceTypeMipmappedArray;
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->resType = cudaResourceTypeLinear;
        to->res.linear.devPtr = (void *)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        to->res.linear.desc = channels_of(from->res.linear.format, from->res.linear.numChannels);
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        to->resType = cudaResourceTypePitch2D;
        to->res.pitch2D.devPtr = (void *)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        to->res.pitch2D.desc = channels_of(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        break;
    default:
        break;
    }
}

/* The texel format of a resource. */
static CUarray_format resource_format(const CUDA_RESOURCE_DESC *resource)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Format = CU_AD_FORMAT_FLOAT};
    if (resource->resType == CU_RESOURCE_TYPE_LINEAR) return resource->res.linear.format;
    if (resource->resType == CU_RESOURCE_TYPE_PITCH2D) return resource->res.pitch2D.format;
    if (resource->resType == CU_RESOURCE_TYPE_ARRAY)
        (void)cuArray3DGetDescriptor(&d, resource->res.array.hArray); /* checked by the driver */
    CUarray level;
    if (resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
        cuMipmappedArrayGetLevel(&level, resource->res.mipmap.hMipmappedArray, 0) == CUDA_SUCCESS)
        (void)cuArray3DGetDescriptor(&d, level);
    return d.Format;
}

static cudaError_t sampling_of(const struct cudaTextureDesc *from,
                               const CUDA_RESOURCE_DESC *resource, CUDA_TEXTURE_DESC *to)
{
    const bool fractions = from->readMode == cudaReadModeNormalizedFloat;
    *to = (CUDA_TEXTURE_DESC){
        .filterMode = (CUfilter_mode)from->filterMode,
        .flags =
            (fractions ? 0u : CU_TRSF_READ_AS_INTEGER) |
            (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
            (from->sRGB ? CU_TRSF_SRGB : 0u) |
            (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
            (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u),
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (CUfilter_mode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
    };
    for (int d = 0; d < 3; d++) to->addressMode[d] = (CUaddress_mode)from->addressMode[d];
    memcpy(to->borderColor, from->borderColor, sizeof to->borderColor);
    const CUarray_format format = resource_format(resource);
    const bool is_float = format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF;
    if (!fractions && is_normalised(channels_of(format, 1).f)) return cudaErrorInvalidNormSetting;
    if (fractions && (is_float || format_bytes(format) == 4)) return cudaErrorInvalidNormSetting;
    if (from->filterMode == cudaFilterModeLinear && !fractions && !is_float)
        return cudaErrorInvalidFilterSetting;
    return cudaSuccess;
}

cudaError_t runtime_cudaCreateTextureObject(cudaTextureObject_t *pTexObject,
                                            const struct cudaResourceDesc *pResDesc,
                                            const struct cudaTextureDesc *pTexDesc,
                                            const struct cudaResourceViewDesc *pResViewDesc)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampling;
    CUtexObject made;
    CUDA_RESOURCE_VIEW_DESC view;
    const bool has_view = pResViewDesc != NULL && pResViewDesc->format != cudaResViewFormatNone;
    if (has_view)
        view = (CUDA_RESOURCE_VIEW_DESC){.format = (CUresourceViewFormat)pResViewDesc->format,
                                         .width = pResViewDesc->width,
                                         .height = pResViewDesc->height,
                                         .depth = pResViewDesc->depth,
                                         .firstMipmapLevel = pResViewDesc->firstMipmapLevel,
                                         .lastMipmapLevel = pResViewDesc->lastMipmapLevel,
                                         .firstLayer = pResViewDesc->firstLayer,
                                         .lastLayer = pResViewDesc->lastLayer};
    if (pTexObject == NULL || pResDesc == NULL) return cudaErrorInvalidValue;
    if (pTexDesc == NULL) return cudaErrorInvalidResourceHandle;
    cudaError_t error = resource_of(pResDesc, &resource);
    if (error == cudaSuccess) error = sampling_of(pTexDesc, &resource, &sampling);
    if (error != cudaSuccess) return error;
    error = runtime_error(cuTexObjectCreate(&made, &resource, &sampling, has_view ? &view : NULL));
    if (error == cudaSuccess) *pTexObject = made;
    return error;
}

cudaError_t runtime_cudaDestroyTextureObject(cudaTextureObject_t texObject)
{
    return texObject != 0 ? runtime_error(cuTexObjectDestroy(texObject)) : cudaSuccess;
}

cudaError_t runtime_cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                     cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_DESC resource;
    if (pResDesc == NULL) return cudaErrorInvalidValue;
    CUresult result = cuTexObjectGetResourceDesc(&resource, texObject);
    if (result == CUDA_SUCCESS) resource_from(&resource, pResDesc);
    return runtime_error(result);
}

cudaError_t runtime_cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc,
                                                    cudaTextureObject_t texObject)
{
    CUDA_TEXTURE_DESC from;
    if (pTexDesc == NULL) return cudaErrorInvalidValue;
    CUresult result = cuTexObjectGetTextureDesc(&from, texObject);
    if (result != CUDA_SUCCESS) return runtime_error(result);
    *pTexDesc = (struct cudaTextureDesc){
        .filterMode = (enum cudaTextureFilterMode)from.filterMode,
        .readMode = from.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                         : cudaReadModeNormalizedFloat,
        .normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
        .seamlessCubemap = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0,
        .maxAnisotropy = from.maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)from.mipmapFilterMode,
        .mipmapLevelBias = from.mipmapLevelBias,
        .minMipmapLevelClamp = from.minMipmapLevelClamp,
        .maxMipmapLevelClamp = from.maxMipmapLevelClamp,
    };
    for (int d = 0; d < 3; d++)
        pTexDesc->addressMode[d] = (enum cudaTextureAddressMode)from.addressMode[d];
    memcpy(pTexDesc->borderColor, from.borderColor, sizeof from.borderColor);
    return cudaSuccess;
}

cudaError_t runtime_cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                                         cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_VIEW_DESC from;
    if (pResViewDesc == NULL) return cudaErrorInvalidValue;
    CUresult result = cuTexObjectGetResourceViewDesc(&from, texObject);
    if (result == CUDA_SUCCESS)
        *pResViewDesc = (struct cudaResourceViewDesc){
            .format = (enum cudaResourceViewFormat)from.format,
            .width = from.width,
            .height = from.height,
            .depth = from.depth,
            .firstMipmapLevel = from.firstMipmapLevel,
            .lastMipmapLevel = from.lastMipmapLevel,
            .firstLayer = from.firstLayer,
            .lastLayer = from.lastLayer,
        };
    return runtime_error(result);
}

cudaError_t runtime_cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject,
                                            const struct cudaResourceDesc *pResDesc)
{
    CUDA_RESOURCE_DESC resource;
    CUsurfObject made;
    if (pSurfObject == NULL || pResDesc == NULL) return cudaErrorInvalidValue;
    if (pResDesc->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
    cudaError_t error = resource_of(pResDesc, &resource);
    if (error == cudaSuccess) error = runtime_error(cuSurfObjectCreate(&made, &resource));
    if (error == cudaSuccess) *pSurfObject = made;
    return error;
}

cudaError_t runtime_cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject)
{
    return surfObject != 0 ? runtime_error(cuSurfObjectDestroy(surfObject)) : cudaSuccess;
}

cudaError_t runtime_cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                     cudaSurfaceObject_t surfObject)
{
    CUDA_RESOURCE_DESC resource;
    if (pResDesc == NULL) return cudaErrorInvalidValue;
    CUresult result = cuSurfObjectGetResourceDesc(&resource, surfObject);
    if (result == CUDA_SUCCESS) resource_from(&resource, pResDesc);
    return runtime_error(result);
}

cudaError_t runtime_cudaDeviceGetTexture1DLinearMaxWidth(
    size_t *maxWidthInElements, const struct cudaChannelFormatDesc *fmtDesc, int device)
{
    CUarray_format format;
    unsigned channels;
    CUdevice handle;
    if (maxWidthInElements == NULL || fmtDesc == NULL) return cudaErrorInvalidValue;
    cudaError_t error = format_of(fmtDesc, &format, &channels);
    if (error == cudaSuccess) error = runtime_error(cuDeviceGet(&handle, device));
    if (error != cudaSuccess) return error;
    return runtime_error(
        cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format, channels, handle));
}
