/* Texture and surface objects: from API descriptors to the executor's description. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/memory/parts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    BASE_ALIGNMENT = 512, /* CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */
    PITCH_ALIGNMENT = 32, /* CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT */
};

struct texture {
    struct object object;
    uint64_t handle;
    struct exec_texture bound;   /* known to the executor by the handle */
    struct exec_texture *levels; /* of a mipmapped array; else NULL */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampling;
    CUDA_RESOURCE_VIEW_DESC view; /* zeros: none was given */
};

static struct texture *texture_find(uint64_t handle, bool surface)
{
    const struct exec_texture *bound = exec_texture_find(handle, EXEC_NO_GRID);
    if (bound == NULL || bound->surface != surface) return NULL;
    return (struct texture *)(uintptr_t)((uintptr_t)bound - offsetof(struct texture, bound));
}

/* ---- resources --------------------------------------------------------------------------- */

static CUresult refuse(const char *what)
{
    return finding_unsupported("%s", what);
}

static void bind_texels_of(struct exec_texture *bound, const struct array *array)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    bound->address = array->region->address;
    bound->pitch = array->row_bytes;
    bound->slice = array->row_bytes * array->rows;
    bound->width = (uint32_t)d->Width;
    bound->height = (uint32_t)array->rows;
    bound->depth = (uint32_t)array->slices;
    bound->layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    bound->cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
    bound->dimensions = d->Height == 0 ? 1 : d->Depth == 0 || bound->layered || bound->cube ? 2 : 3;
    bound->texel = array->format->texel;
    bound->fractions = array->format->normalised != 0;
    bound->channels = (uint8_t)d->NumChannels;
}

static CUresult bind_array(struct exec_texture *bound, CUarray handle)
{
    NEED_POINTER(handle);
    const struct array *array = array_find(handle);
    if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
    bind_texels_of(bound, array);
    return CUDA_SUCCESS;
}

static CUresult bind_levels(struct texture *texture, CUmipmappedArray handle)
{
    NEED_POINTER(handle);
    const struct array *whole = mipmapped_find(handle);
    if (whole == NULL) return CUDA_ERROR_INVALID_HANDLE;
    texture->levels = calloc(whole->level_count, sizeof *texture->levels);
    if (texture->levels == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < whole->level_count; i++)
        bind_texels_of(&texture->levels[i], whole->levels[i]);
    texture->bound = texture->levels[0];
    texture->bound.level_count = whole->level_count;
    texture->bound.levels = texture->levels;
    return CUDA_SUCCESS;
}

/* Checks memory that a texture reads in place: it must be allocated entirely, and aligned. */
static CUresult check_memory(CUdeviceptr address, size_t bytes)
{
    const struct memory_region *region = memory_find(address);
    if (region != NULL && bytes <= region->address + region->size - address &&
        address % BASE_ALIGNMENT == 0)
        return CUDA_SUCCESS;
    struct trace_record found =
        finding_at_call(FINDING_TEXTURE_OF_NO_MEMORY, CUDA_ERROR_INVALID_VALUE);
    finding_address(&found, address);
    found.bytes = bytes;
    found.finding.numbers[0] = BASE_ALIGNMENT;
    finding_put(&found);
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult bind_texels(struct exec_texture *bound, CUarray_format format, unsigned channels)
{
    const struct array_format *known = array_format(format, channels);
    if (known == NULL || known->normalised) return CUDA_ERROR_INVALID_VALUE;
    bound->texel = known->texel;
    bound->channels = (uint8_t)channels;
    bound->height = bound->depth = 1;
    return CUDA_SUCCESS;
}

/* Most texels of linear memory: what fits in 4 GiB, at most 2^30, as on an H200. */
static size_t linear_most(const struct exec_texture *bound)
{
    const uint64_t fit = ((uint64_t)1 << 32) / exec_texel_bytes(bound), most = (uint64_t)1 << 30;
    return (size_t)(fit < most ? fit : most);
}

static CUresult bind_linear(struct exec_texture *bound, const CUDA_RESOURCE_DESC *resource)
{
    const size_t size = resource->res.linear.sizeInBytes;
    TRY(bind_texels(bound, resource->res.linear.format, resource->res.linear.numChannels));
    const size_t elements = size / exec_texel_bytes(bound);
    if (elements > linear_most(bound)) return CUDA_ERROR_INVALID_VALUE; /* none are all right */
    TRY(check_memory(resource->res.linear.devPtr, size));
    findings_given(resource->res.linear.devPtr);
    bound->address = resource->res.linear.devPtr;
    bound->pitch = bound->slice = size;
    bound->width = (uint32_t)elements;
    bound->dimensions = 1;
    bound->linear = true;
    return CUDA_SUCCESS;
}

static CUresult bind_rows(struct exec_texture *bound, const CUDA_RESOURCE_DESC *resource)
{
    size_t width = resource->res.pitch2D.width;
    const size_t height = resource->res.pitch2D.height;
    const size_t pitch = resource->res.pitch2D.pitchInBytes;
    TRY(bind_texels(bound, resource->res.pitch2D.format, resource->res.pitch2D.numChannels));
    const size_t bytes = exec_texel_bytes(bound);
    if (height == 0 || width > 131072 || height > 65000) return CUDA_ERROR_INVALID_VALUE;
    if (pitch == 0 || pitch % PITCH_ALIGNMENT != 0 || pitch > 2097120)
        return CUDA_ERROR_INVALID_VALUE;
    if (width == 0) width = pitch / bytes; /* an H200 does not end rows then */
    TRY(check_memory(resource->res.pitch2D.devPtr, pitch * (height - 1) + width * bytes));
    findings_given(resource->res.pitch2D.devPtr);
    bound->address = resource->res.pitch2D.devPtr;
    bound->pitch = pitch;
    bound->slice = pitch * height;
    bound->width = (uint32_t)width;
    bound->height = (uint32_t)height;
    bound->dimensions = 2;
    return CUDA_SUCCESS;
}

static CUresult bind(struct texture *texture, const CUDA_RESOURCE_DESC *resource)
{
    struct exec_texture *bound = &texture->bound;
    if (resource->flags != 0) return CUDA_ERROR_INVALID_VALUE;
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return bind_array(bound, resource->res.array.hArray);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return bind_levels(texture, resource->res.mipmap.hMipmappedArray);
    case CU_RESOURCE_TYPE_LINEAR:
        return bind_linear(bound, resource);
    case CU_RESOURCE_TYPE_PITCH2D:
        return bind_rows(bound, resource);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* ---- sampling ---------------------------------------------------------------------------- */

static bool is_wide_integer(const struct exec_texture *bound)
{
    return bound->texel == EXEC_TEXEL_U32 || bound->texel == EXEC_TEXEL_S32;
}

static CUresult set_sampling(struct exec_texture *bound, const CUDA_TEXTURE_DESC *sampling)
{
    const unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                           CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
    if (sampling->flags & ~known || (sampling->flags & CU_TRSF_SEAMLESS_CUBEMAP && !bound->cube))
        return CUDA_ERROR_INVALID_VALUE;
    for (int d = 0; d < 3; d++) {
        static const enum exec_addressing modes[] = {
            [CU_TR_ADDRESS_MODE_WRAP] = EXEC_ADDRESS_WRAP,
            [CU_TR_ADDRESS_MODE_CLAMP] = EXEC_ADDRESS_CLAMP,
            [CU_TR_ADDRESS_MODE_MIRROR] = EXEC_ADDRESS_MIRROR,
            [CU_TR_ADDRESS_MODE_BORDER] = EXEC_ADDRESS_BORDER,
        };
        if ((unsigned)sampling->addressMode[d] >= sizeof modes / sizeof *modes)
            return CUDA_ERROR_INVALID_VALUE;
        bound->addressing[d] = modes[sampling->addressMode[d]];
    }
    if ((unsigned)sampling->filterMode > CU_TR_FILTER_MODE_LINEAR) return CUDA_ERROR_INVALID_VALUE;
    bound->filters = sampling->filterMode == CU_TR_FILTER_MODE_LINEAR && !bound->linear;
    bound->normalized = sampling->flags & CU_TRSF_NORMALIZED_COORDINATES;
    const bool fractions = bound->fractions || !(sampling->flags & CU_TRSF_READ_AS_INTEGER);
    bound->promotes = fractions && !is_wide_integer(bound) && bound->texel < EXEC_TEXEL_F16;
    bound->srgb =
        sampling->flags & CU_TRSF_SRGB && bound->promotes && bound->texel == EXEC_TEXEL_U8;
    memcpy(bound->border, sampling->borderColor, sizeof bound->border);
    bound->seamless = sampling->flags & CU_TRSF_SEAMLESS_CUBEMAP;
    if ((unsigned)sampling->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    bound->mixes = sampling->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    bound->bias = sampling->mipmapLevelBias;
    bound->least = sampling->minMipmapLevelClamp;
    bound->most = sampling->maxMipmapLevelClamp;
    return CUDA_SUCCESS;
}

/* ---- views ------------------------------------------------------------------------------- */

/* A view's texels. Formats of one type follow one another, for 1, 2 and 4 channels. Returns false
 * for a compressed format, or none. */
static bool view_texels(CUresourceViewFormat format, struct exec_texture *bound)
{
    static const enum exec_texel types[] = {EXEC_TEXEL_U8,  EXEC_TEXEL_S8,  EXEC_TEXEL_U16,
                                            EXEC_TEXEL_S16, EXEC_TEXEL_U32, EXEC_TEXEL_S32,
                                            EXEC_TEXEL_F16, EXEC_TEXEL_F32};
    const unsigned place = (unsigned)format - CU_RES_VIEW_FORMAT_UINT_1X8;
    if (place >= 3 * sizeof types / sizeof *types) return false;
    bound->texel = types[place / 3];
    bound->fractions = false;
    bound->channels = (uint8_t)(1u << place % 3);
    return true;
}

/* Checks a view that says nothing of levels and layers. */
static CUresult check_view(const CUDA_RESOURCE_VIEW_DESC *view, const struct array *array)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    struct exec_texture texels;
    const bool compressed = view->format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 &&
                            view->format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7;
    if (compressed && view->width == 4 * d->Width && view->height == 4 * d->Height)
        return refuse("views of arrays in a compressed format");
    if (!view_texels(view->format, &texels) || exec_texel_bytes(&texels) != array->texel_bytes ||
        view->width != d->Width || view->height != d->Height || view->depth != d->Depth)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult view_levels(struct texture *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
    const unsigned first = view->firstMipmapLevel, count = texture->bound.level_count;
    unsigned last = view->lastMipmapLevel;
    if (count == 0) return first == 0 && last == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (first > last || first >= count) return CUDA_ERROR_INVALID_VALUE;
    if (last >= count) last = count - 1;
    texture->bound = texture->levels[first];
    texture->bound.levels = texture->levels + first;
    texture->bound.level_count = last - first + 1;
    return CUDA_SUCCESS;
}

static CUresult check_layers(const CUDA_RESOURCE_VIEW_DESC *view, const struct array *array)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    if (!(d->Flags & CUDA_ARRAY3D_LAYERED))
        return view->firstLayer == 0 && view->lastLayer == 0 ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE;
    if (view->firstLayer > view->lastLayer) return CUDA_ERROR_INVALID_VALUE;
    if (view->lastLayer >= d->Depth) return refuse("views of layers that are not there");
    const bool all = view->firstLayer == 0 && view->lastLayer == d->Depth - 1;
    return d->Flags & CUDA_ARRAY3D_CUBEMAP && !all ? refuse("views of some layers of cube maps")
                                                   : CUDA_SUCCESS;
}

static void view_part(struct exec_texture *bound, const CUDA_RESOURCE_VIEW_DESC *view)
{
    view_texels(view->format, bound);
    if (!bound->layered) return;
    bound->address += view->firstLayer * bound->slice;
    bound->depth = view->lastLayer - view->firstLayer + 1;
}

/* Narrows the bound texture to what the view shows. Its dimensions say nothing new: they have to be
 * the array's. */
static CUresult apply_view(struct texture *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
    const CUDA_RESOURCE_DESC *resource = &texture->resource;
    const bool is_array = resource->resType == CU_RESOURCE_TYPE_ARRAY;
    const bool has_levels = resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    const struct array *array = is_array     ? array_find(resource->res.array.hArray)
                                : has_levels ? mipmapped_find(resource->res.mipmap.hMipmappedArray)
                                             : NULL;
    if (array == NULL) return CUDA_ERROR_INVALID_VALUE;
    TRY(check_view(view, has_levels ? array->levels[0] : array));
    TRY(check_layers(view, array));
    TRY(view_levels(texture, view));
    for (unsigned i = 0; has_levels && i < array->level_count; i++)
        view_part(&texture->levels[i], view);
    view_part(&texture->bound, view);
    texture->view = *view;
    return CUDA_SUCCESS;
}

/* ---- objects ----------------------------------------------------------------------------- */

static enum trace_what what_of(const struct texture *texture)
{
    return texture->bound.surface ? TRACE_SURFACE : TRACE_TEXTURE;
}

enum { KEPT = 4096 };
static struct {
    struct texture *kept[KEPT]; /* NULL: none */
    size_t next;                /* the oldest one's place */
} ended;

static void texture_free(struct texture *texture)
{
    if (texture == NULL) return;
    exec_texture_remove(texture->handle);
    free(texture->levels);
    object_free(&texture->object);
}

/* Kernels that were launched before the object ended find it as it was, as on an H200, whose call
 * does not wait for them. So the latest ones that have ended are kept. */
static void keep_for_pending(struct texture *texture)
{
    struct texture **oldest = &ended.kept[ended.next];
    exec_texture_end(texture->handle, thread.call.request);
    texture_free(*oldest);
    *oldest = texture;
    ended.next = (ended.next + 1) % KEPT;
}

/* Ends a texture or surface object. */
static void texture_end(struct object *object, bool implicit)
{
    struct texture *texture = (struct texture *)object;
    trace_object(object, TRACE_DESTROY, what_of(texture), implicit ? TRACE_IMPLICIT : 0);
    object_remove(object);
    if (timeline_is_idle(driver.timeline))
        texture_free(texture);
    else
        keep_for_pending(texture);
}

/* Gives the bound texture or surface its handle and makes it valid. Takes ownership of
 * `texture`, also on failure. */
static CUresult texture_publish(struct texture *texture, uint64_t *handle)
{
    texture->handle = exec_texture_add(&texture->bound);
    if (texture->handle == 0) {
        free(texture->levels);
        free(texture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object_add_to(thread_context(), &texture->object, OBJECT_TEXTURE, texture_end);
    trace_object(&texture->object, TRACE_CREATE, what_of(texture), 0);
    *handle = texture->handle;
    return CUDA_SUCCESS;
}

CUresult driver_cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                  const CUDA_TEXTURE_DESC *pTexDesc,
                                  const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    uint64_t handle;
    NEED_POINTER(pTexObject);
    NEED_POINTER(pResDesc);
    NEED_POINTER(pTexDesc);
    struct texture *texture = calloc(1, sizeof *texture);
    if (texture == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    texture->resource = *pResDesc;
    texture->sampling = *pTexDesc;
    CUresult code = bind(texture, pResDesc);
    const unsigned levels = texture->bound.level_count;
    if (code == CUDA_SUCCESS && pResViewDesc != NULL) code = apply_view(texture, pResViewDesc);
    if (code == CUDA_SUCCESS) code = set_sampling(&texture->bound, pTexDesc);
    for (unsigned i = 0; i < levels && code == CUDA_SUCCESS; i++)
        code = set_sampling(&texture->levels[i], pTexDesc);
    if (code != CUDA_SUCCESS) {
        free(texture->levels);
        free(texture);
        return code;
    }
    TRY(texture_publish(texture, &handle));
    *pTexObject = handle;
    return CUDA_SUCCESS;
}

CUresult driver_cuTexObjectDestroy(CUtexObject texObject)
{
    if (texObject == 0) return CUDA_SUCCESS;
    struct texture *texture = texture_find(texObject, false);
    if (texture == NULL) return CUDA_ERROR_INVALID_VALUE;
    texture_end(&texture->object, false);
    return CUDA_SUCCESS;
}

CUresult driver_cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject)
{
    const struct texture *texture = texture_find(texObject, false);
    NEED_POINTER(pResDesc);
    NEED_POINTER(texture);
    *pResDesc = texture->resource;
    return CUDA_SUCCESS;
}

CUresult driver_cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)
{
    const struct texture *texture = texture_find(texObject, false);
    NEED_POINTER(pTexDesc);
    NEED_POINTER(texture);
    *pTexDesc = texture->sampling;
    return CUDA_SUCCESS;
}

CUresult driver_cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
                                               CUtexObject texObject)
{
    const struct texture *texture = texture_find(texObject, false);
    NEED_POINTER(pResViewDesc);
    NEED_POINTER(texture);
    *pResViewDesc = texture->view;
    return CUDA_SUCCESS;
}

CUresult driver_cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    uint64_t handle;
    NEED_POINTER(pSurfObject);
    NEED_POINTER(pResDesc);
    if (pResDesc->resType != CU_RESOURCE_TYPE_ARRAY || pResDesc->flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    NEED_POINTER(pResDesc->res.array.hArray);
    const struct array *array = array_find(pResDesc->res.array.hArray);
    if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
    /* The documentation wants the flag; an H200 does without. */
    if (!(array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST))
        finding_tell(FINDING_SURFACE_OF_PLAIN_ARRAY, CUDA_SUCCESS, "%s", "");
    struct texture *texture = calloc(1, sizeof *texture);
    if (texture == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    texture->resource = *pResDesc;
    bind_array(&texture->bound, pResDesc->res.array.hArray);
    texture->bound.surface = true;
    texture->bound.layered |= texture->bound.cube; /* a surface accesses the faces as layers */
    texture->bound.cube = false;
    TRY(texture_publish(texture, &handle));
    *pSurfObject = handle;
    return CUDA_SUCCESS;
}

CUresult driver_cuSurfObjectDestroy(CUsurfObject surfObject)
{
    if (surfObject == 0) return CUDA_SUCCESS;
    struct texture *texture = texture_find(surfObject, true);
    if (texture == NULL) return CUDA_ERROR_INVALID_VALUE;
    texture_end(&texture->object, false);
    return CUDA_SUCCESS;
}

CUresult driver_cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject)
{
    const struct texture *texture = texture_find(surfObject, true);
    NEED_POINTER(pResDesc);
    NEED_POINTER(texture);
    *pResDesc = texture->resource;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                   CUarray_format format, unsigned numChannels,
                                                   CUdevice dev)
{
    struct exec_texture bound;
    NEED_POINTER(maxWidthInElements);
    NEED_DEVICE(dev);
    TRY(bind_texels(&bound, format, numChannels));
    *maxWidthInElements = linear_most(&bound);
    return CUDA_SUCCESS;
}
