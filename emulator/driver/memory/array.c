/* CUDA arrays: creating them, and where their parts are in memory. */
#include "emulator/driver/memory/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/stream.h"

#include <stdlib.h>
#include <string.h>

/* ---- formats and sizes ------------------------------------------------------------------- */

const struct array_format *array_format(CUarray_format format, unsigned channels)
{
    static const struct array_format formats[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, EXEC_TEXEL_U8, 1, 0},
        {CU_AD_FORMAT_UNSIGNED_INT16, EXEC_TEXEL_U16, 2, 0},
        {CU_AD_FORMAT_UNSIGNED_INT32, EXEC_TEXEL_U32, 4, 0},
        {CU_AD_FORMAT_SIGNED_INT8, EXEC_TEXEL_S8, 1, 0},
        {CU_AD_FORMAT_SIGNED_INT16, EXEC_TEXEL_S16, 2, 0},
        {CU_AD_FORMAT_SIGNED_INT32, EXEC_TEXEL_S32, 4, 0},
        {CU_AD_FORMAT_HALF, EXEC_TEXEL_F16, 2, 0},
        {CU_AD_FORMAT_FLOAT, EXEC_TEXEL_F32, 4, 0},
        {CU_AD_FORMAT_UNORM_INT8X1, EXEC_TEXEL_U8, 1, 1},
        {CU_AD_FORMAT_UNORM_INT8X2, EXEC_TEXEL_U8, 1, 2},
        {CU_AD_FORMAT_UNORM_INT8X4, EXEC_TEXEL_U8, 1, 4},
        {CU_AD_FORMAT_UNORM_INT16X1, EXEC_TEXEL_U16, 2, 1},
        {CU_AD_FORMAT_UNORM_INT16X2, EXEC_TEXEL_U16, 2, 2},
        {CU_AD_FORMAT_UNORM_INT16X4, EXEC_TEXEL_U16, 2, 4},
        {CU_AD_FORMAT_SNORM_INT8X1, EXEC_TEXEL_S8, 1, 1},
        {CU_AD_FORMAT_SNORM_INT8X2, EXEC_TEXEL_S8, 1, 2},
        {CU_AD_FORMAT_SNORM_INT8X4, EXEC_TEXEL_S8, 1, 4},
        {CU_AD_FORMAT_SNORM_INT16X1, EXEC_TEXEL_S16, 2, 1},
        {CU_AD_FORMAT_SNORM_INT16X2, EXEC_TEXEL_S16, 2, 2},
        {CU_AD_FORMAT_SNORM_INT16X4, EXEC_TEXEL_S16, 2, 4},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const unsigned own = formats[i].normalised;
        const bool fits =
            own != 0 ? channels == own : channels == 1 || channels == 2 || channels == 4;
        if (formats[i].format == format) return fits ? &formats[i] : NULL;
    }
    return NULL;
}

static size_t attribute(CUdevice_attribute attribute)
{
    int value = 0;
    if (attribute != 0) driver_cuDeviceGetAttribute(&value, attribute, 0);
    return (size_t)value;
}

/* A cube map has six square faces per layer. */
static CUresult check_cube(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    const bool fits =
        d->Width <= attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH) &&
        d->Depth <= attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS);
    if (!fits || d->Height != d->Width || d->Depth == 0 || d->Depth % 6 != 0 ||
        (!layered && d->Depth != 6) || (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Checks against the largest arrays of its shape: it has to fit into one of them. */
static CUresult check_extent(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    static const struct {
        unsigned flags, dimensions;
        CUdevice_attribute width, height, depth; /* 0: no such dimension */
    } most[] = {
        {0, 1, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 0, 0},
        {0, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 0},
        {0, 3, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH},
        {0, 3, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE},
        {CUDA_ARRAY3D_TEXTURE_GATHER, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 0},
        {CUDA_ARRAY3D_LAYERED, 1, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 0,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS},
        {CUDA_ARRAY3D_LAYERED, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS},
    };
    const unsigned flags = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_TEXTURE_GATHER);
    const bool layered = flags & CUDA_ARRAY3D_LAYERED;
    if (d->Width == 0) return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP) return check_cube(d);
    if (layered ? d->Depth == 0 : d->Height == 0 && d->Depth != 0) return CUDA_ERROR_INVALID_VALUE;
    const unsigned dimensions = d->Height == 0 ? 1 : layered || d->Depth == 0 ? 2 : 3;
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        if (most[i].flags == flags && most[i].dimensions == dimensions &&
            d->Width <= attribute(most[i].width) && d->Height <= attribute(most[i].height) &&
            d->Depth <= attribute(most[i].depth))
            return CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult refuse(const char *what)
{
    return finding_unsupported("%s", what);
}

/* Formats that a GPU has and this device does not, each with its number of channels. */
static bool is_other_format(CUarray_format format, unsigned channels)
{
    static const struct {
        CUarray_format first, last;
        unsigned channels;
    } formats[] = {
        {CU_AD_FORMAT_UNORM_INT_101010_2, CU_AD_FORMAT_UNORM_INT_101010_2, 4},
        {CU_AD_FORMAT_BC1_UNORM, CU_AD_FORMAT_BC3_UNORM_SRGB, 4},
        {CU_AD_FORMAT_BC4_UNORM, CU_AD_FORMAT_BC4_SNORM, 1},
        {CU_AD_FORMAT_BC5_UNORM, CU_AD_FORMAT_BC5_SNORM, 2},
        {CU_AD_FORMAT_BC6H_UF16, CU_AD_FORMAT_BC6H_SF16, 3},
        {CU_AD_FORMAT_BC7_UNORM, CU_AD_FORMAT_BC7_UNORM_SRGB, 4},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (format >= formats[i].first && format <= formats[i].last)
            return channels == formats[i].channels;
    return false;
}

static CUresult check_flags(unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *what;
    } unsupported[] = {
        {CUDA_ARRAY3D_SPARSE, "sparse arrays (CUDA_ARRAY3D_SPARSE)"},
        {CUDA_ARRAY3D_DEFERRED_MAPPING, "arrays without memory (CUDA_ARRAY3D_DEFERRED_MAPPING)"},
        {CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, "video arrays (CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)"},
    };
    const unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                           CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_CUBEMAP;
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
        if (flags & unsupported[i].flag) return refuse(unsupported[i].what);
    return flags & ~known ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- life -------------------------------------------------------------------------------- */

struct array *array_find(CUarray handle)
{
    struct array *array = object_find(handle, OBJECT_ARRAY);
    return array != NULL && array->level_count == 0 ? array : NULL;
}

struct array *mipmapped_find(CUmipmappedArray handle)
{
    struct array *array = object_find(handle, OBJECT_ARRAY);
    return array != NULL && array->level_count > 0 ? array : NULL;
}

static CUresult array_allocate(struct array *array)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    array->row_bytes = d->Width * array->texel_bytes;
    array->rows = d->Height > 0 ? d->Height : 1;
    array->slices = d->Depth > 0 ? d->Depth : 1;
    array->region = memory_allocate(&(struct memory_request){
        .kind = MEMORY_DEVICE,
        .size = array->row_bytes * array->rows * array->slices,
        .context = thread_context()->object.id,
        .device = (unsigned)device_current(),
        .id = ++driver.ids,
        .caller = (uint64_t)(uintptr_t)thread.call.caller,
    });
    return array->region != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void array_end(struct object *object, bool implicit)
{
    struct array *array = (struct array *)object;
    if (array->region != NULL) {
        trace_memory(array->region, TRACE_DESTROY, implicit ? TRACE_IMPLICIT : 0);
        memory_release(array->region, (uint64_t)(uintptr_t)thread.call.caller);
    }
    /* When a context ends, each level ends by itself as one of the context's objects. */
    for (unsigned i = 0; i < array->level_count && !implicit; i++)
        array_end(&array->levels[i]->object, false);
    free(array->levels);
    object_remove(object);
    object_free(object);
}

/* Makes an array of any shape, including that of a mipmap level. */
static CUresult array_make(const CUDA_ARRAY3D_DESCRIPTOR *d, struct array **made)
{
    struct array *array = calloc(1, sizeof *array);
    if (array == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    array->descriptor = *d;
    array->format = array_format(d->Format, d->NumChannels);
    array->texel_bytes = array->format->bytes * d->NumChannels;
    CUresult code = array_allocate(array);
    if (code != CUDA_SUCCESS) {
        free(array);
        return code;
    }
    object_add_to(thread_context(), &array->object, OBJECT_ARRAY, array_end);
    trace_memory(array->region, TRACE_CREATE, 0);
    *made = array;
    return CUDA_SUCCESS;
}

static CUresult check_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    const unsigned channels = pAllocateArray->NumChannels;
    if (array_format(pAllocateArray->Format, channels) == NULL)
        return is_other_format(pAllocateArray->Format, channels)
                   ? refuse("arrays of packed and compressed formats")
                   : CUDA_ERROR_INVALID_VALUE;
    TRY(check_flags(pAllocateArray->Flags));
    return check_extent(pAllocateArray);
}

CUresult driver_cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    struct array *array;
    NEED_POINTER(pHandle);
    NEED_POINTER(pAllocateArray);
    TRY(check_descriptor(pAllocateArray));
    TRY(array_make(pAllocateArray, &array));
    thread_spend(timeline_model->allocate);
    thread.call.object = array->region->id;
    *pHandle = (CUarray)array;
    return CUDA_SUCCESS;
}

CUresult driver_cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    NEED_POINTER(pAllocateArray);
    return driver_cuArray3DCreate(pHandle, &(CUDA_ARRAY3D_DESCRIPTOR){
                                               .Width = pAllocateArray->Width,
                                               .Height = pAllocateArray->Height,
                                               .Format = pAllocateArray->Format,
                                               .NumChannels = pAllocateArray->NumChannels,
                                           });
}

CUresult driver_cuArrayDestroy(CUarray hArray)
{
    struct array *array = array_find(hArray);
    if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (array->is_level) return CUDA_SUCCESS; /* as on an H200: ends with the whole */
    thread.owed = wait_for_context_on_gpus(array->object.context);
    array = array_find(hArray); /* another thread may have destroyed it meanwhile */
    if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
    thread.call.object = array->region->id;
    array_end(&array->object, false);
    return CUDA_SUCCESS;
}

CUresult driver_cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    const struct array *array = array_find(hArray);
    NEED_POINTER(pArrayDescriptor);
    if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *pArrayDescriptor = array->descriptor;
    return CUDA_SUCCESS;
}

CUresult driver_cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    const struct array *array = array_find(hArray);
    NEED_POINTER(pArrayDescriptor);
    if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    return CUDA_SUCCESS;
}

/* ---- what is asked of arrays of other kinds ------------------------------------------------ */

/* There are no planar, sparse and deferred arrays here, and of a plain one nothing can be told. */
static CUresult of_plain_array(const void *answer, const struct array *array)
{
    NEED_POINTER(answer);
    return array != NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult driver_cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    (void)planeIdx;
    return of_plain_array(pPlaneArray, array_find(hArray));
}

CUresult driver_cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
                                           CUarray array)
{
    return of_plain_array(sparseProperties, array_find(array));
}

CUresult driver_cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
                                                    CUmipmappedArray mipmap)
{
    return of_plain_array(sparseProperties, mipmapped_find(mipmap));
}

CUresult driver_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                             CUarray array, CUdevice device)
{
    (void)device;
    return of_plain_array(memoryRequirements, array_find(array));
}

CUresult
driver_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                             CUmipmappedArray mipmap, CUdevice device)
{
    (void)device;
    return of_plain_array(memoryRequirements, mipmapped_find(mipmap));
}

/* ---- mipmaps ----------------------------------------------------------------------------- */

/* The descriptor of a level: dimensions are halved and rounded down, except layers and absent
 * dimensions. */
static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR of = *d;
    const bool has_layers = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    size_t *const sizes[] = {&of.Width, &of.Height, has_layers ? NULL : &of.Depth};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] != NULL && *sizes[i] > 0)
            *sizes[i] = *sizes[i] >> level > 0 ? *sizes[i] >> level : 1;
    return of;
}

static unsigned levels_most(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    unsigned most = 1;
    for (CUDA_ARRAY3D_DESCRIPTOR at = *d;
         at.Width > 1 || at.Height > 1 ||
         (!(at.Flags & CUDA_ARRAY3D_LAYERED) && !(at.Flags & CUDA_ARRAY3D_CUBEMAP) && at.Depth > 1);
         most++)
        at = level_of(&at, 1);
    return most;
}

/* More levels than possible are reduced to the possible number; there is at least one. */
CUresult driver_cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                       const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                       unsigned int numMipmapLevels)
{
    NEED_POINTER(pHandle);
    NEED_POINTER(pMipmappedArrayDesc);
    TRY(check_descriptor(pMipmappedArrayDesc));
    if (pMipmappedArrayDesc->Width >
        attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH))
        return CUDA_ERROR_INVALID_VALUE;
    const unsigned most = levels_most(pMipmappedArrayDesc);
    const unsigned count = numMipmapLevels == 0     ? 1
                           : numMipmapLevels > most ? most
                                                    : numMipmapLevels;
    struct array *whole = calloc(1, sizeof *whole);
    if (whole == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    whole->descriptor = *pMipmappedArrayDesc;
    whole->levels = calloc(count, sizeof *whole->levels);
    CUresult code = whole->levels != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    object_add_to(thread_context(), &whole->object, OBJECT_ARRAY, array_end);
    for (unsigned i = 0; i < count && code == CUDA_SUCCESS; i++) {
        const CUDA_ARRAY3D_DESCRIPTOR level = level_of(pMipmappedArrayDesc, i);
        code = array_make(&level, &whole->levels[i]);
        if (code != CUDA_SUCCESS) break;
        whole->levels[i]->is_level = true;
        whole->level_count = i + 1;
    }
    if (code != CUDA_SUCCESS) {
        array_end(&whole->object, false);
        return code;
    }
    thread_spend(timeline_model->allocate);
    thread.call.object = whole->levels[0]->region->id;
    *pHandle = (CUmipmappedArray)whole;
    return CUDA_SUCCESS;
}

CUresult driver_cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                                         unsigned int level)
{
    const struct array *whole = mipmapped_find(hMipmappedArray);
    NEED_POINTER(pLevelArray);
    if (whole == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (level >= whole->level_count) return CUDA_ERROR_INVALID_VALUE;
    *pLevelArray = (CUarray)whole->levels[level];
    return CUDA_SUCCESS;
}

CUresult driver_cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    struct array *whole = mipmapped_find(hMipmappedArray);
    if (whole == NULL) return CUDA_ERROR_INVALID_HANDLE;
    thread.owed = wait_for_context_on_gpus(whole->object.context);
    whole = mipmapped_find(hMipmappedArray); /* another thread may have destroyed it meanwhile */
    if (whole == NULL) return CUDA_ERROR_INVALID_HANDLE;
    array_end(&whole->object, false);
    return CUDA_SUCCESS;
}

/* ---- parts ------------------------------------------------------------------------------- */

CUresult array_place(CUarray handle, const struct array_part *part, uint64_t *address,
                     size_t *pitch, size_t *slice)
{
    const struct array *array = array_find(handle);
    if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (part->width > array->row_bytes || part->x > array->row_bytes - part->width ||
        part->height > array->rows || part->y > array->rows - part->height ||
        part->depth > array->slices || part->z > array->slices - part->depth) {
        const uint64_t numbers[TRACE_NUMBERS] = {part->width,      part->height, part->depth,
                                                 part->x,          part->y,      part->z,
                                                 array->row_bytes, array->rows,  array->slices};
        struct trace_record found =
            finding_at_call(FINDING_ARRAY_OUT_OF_BOUNDS, CUDA_ERROR_INVALID_VALUE);
        memcpy(found.finding.numbers, numbers, sizeof numbers);
        finding_put(&found);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pitch = array->row_bytes;
    *slice = array->row_bytes * array->rows;
    *address = array->region->address + part->z * *slice + part->y * *pitch + part->x;
    return CUDA_SUCCESS;
}
