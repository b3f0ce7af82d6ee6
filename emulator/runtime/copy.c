/* Copies and fills: each calls the driver's function for its direction and stream. */
#include "emulator/driver/driver.h"
#include "emulator/runtime/runtime.h"

/* The driver's variants for per-thread default streams. cuda.h declares them only under the plain
 * names. */
CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *copy);
CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t bytes);
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                              size_t height);

/* The driver's synchronous functions, which take no stream. */
static const struct synchronous {
    CUresult (*any)(CUdeviceptr to, CUdeviceptr from, size_t bytes);
    CUresult (*to_device)(CUdeviceptr to, const void *from, size_t bytes);
    CUresult (*to_host)(void *to, CUdeviceptr from, size_t bytes);
    CUresult (*on_device)(CUdeviceptr to, CUdeviceptr from, size_t bytes);
    CUresult (*rows)(const CUDA_MEMCPY2D *copy);
    CUresult (*slices)(const CUDA_MEMCPY3D *copy);
    CUresult (*fill)(CUdeviceptr to, unsigned char value, size_t bytes);
    CUresult (*fill_rows)(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                          size_t height);
} legacy = {cuMemcpy,   cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD, cuMemcpy2DUnaligned,
            cuMemcpy3D, cuMemsetD8,   cuMemsetD2D8},
  per_thread = {cuMemcpy_ptds,        cuMemcpyHtoD_v2_ptds,        cuMemcpyDtoH_v2_ptds,
                cuMemcpyDtoD_v2_ptds, cuMemcpy2DUnaligned_v2_ptds, cuMemcpy3D_v2_ptds,
                cuMemsetD8_v2_ptds,   cuMemsetD2D8_v2_ptds};

static const struct synchronous *synchronous(void)
{
    return runtime_per_thread() ? &per_thread : &legacy;
}

CUresult runtime_copy_rows(const CUDA_MEMCPY2D *copy)
{
    return synchronous()->rows(copy);
}

/* ---- one dimension --------------------------------------------------------------------------- */

/* Describes a copy between host addresses. The driver has no function for this direction; its
 * function for rows reports device addresses, unlike the one that accepts any address. */
static CUDA_MEMCPY2D between_host(void *to, const void *from, size_t bytes)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = from,
                           .srcPitch = bytes,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = to,
                           .dstPitch = bytes,
                           .WidthInBytes = bytes,
                           .Height = 1};
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const struct synchronous *driver = synchronous();
    const CUDA_MEMCPY2D row = between_host(to, from, bytes);
    switch (kind) {
    case cudaMemcpyHostToHost:
        return bytes > 0 ? runtime_error(driver->rows(&row)) : cudaSuccess;
    case cudaMemcpyDefault:
        return runtime_error(driver->any((CUdeviceptr)to, (CUdeviceptr)from, bytes));
    case cudaMemcpyHostToDevice:
        return runtime_error(driver->to_device((CUdeviceptr)to, from, bytes));
    case cudaMemcpyDeviceToHost:
        return runtime_error(driver->to_host(to, (CUdeviceptr)from, bytes));
    case cudaMemcpyDeviceToDevice:
        return runtime_error(driver->on_device((CUdeviceptr)to, (CUdeviceptr)from, bytes));
    }
    return bytes > 0 ? cudaErrorInvalidMemcpyDirection : cudaSuccess;
}

static cudaError_t copy_async(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                              CUstream stream)
{
    const CUDA_MEMCPY2D row = between_host(to, from, bytes);
    switch (kind) {
    case cudaMemcpyHostToHost:
        return bytes > 0 ? runtime_error(cuMemcpy2DAsync(&row, stream)) : cudaSuccess;
    case cudaMemcpyDefault:
        return runtime_error(cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, stream));
    case cudaMemcpyHostToDevice:
        return runtime_error(cuMemcpyHtoDAsync((CUdeviceptr)to, from, bytes, stream));
    case cudaMemcpyDeviceToHost:
        return runtime_error(cuMemcpyDtoHAsync(to, (CUdeviceptr)from, bytes, stream));
    case cudaMemcpyDeviceToDevice:
        return runtime_error(cuMemcpyDtoDAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, stream));
    }
    return bytes > 0 ? cudaErrorInvalidMemcpyDirection : cudaSuccess;
}

cudaError_t runtime_cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    if (count == 0) return cudaSuccess; /* whatever else is asked for, on an H200 */
    return copy(dst, src, count, kind);
}

cudaError_t runtime_cudaMemcpyAsync(void *dst, const void *src, size_t count,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (count == 0) return cudaSuccess;
    return copy_async(dst, src, count, kind, runtime_stream(stream));
}

/* ---- between devices ------------------------------------------------------------------------- */

/* Checks the ordinals. Addresses are unique among all devices, so naming the devices adds no
 * information. */
static cudaError_t check_devices(int first, int second)
{
    CUdevice handle;
    CUresult result = cuDeviceGet(&handle, first);
    if (result == CUDA_SUCCESS) result = cuDeviceGet(&handle, second);
    return runtime_error(result);
}

cudaError_t runtime_cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice,
                                   size_t count)
{
    cudaError_t error = check_devices(dstDevice, srcDevice);
    return error == cudaSuccess ? copy(dst, src, count, cudaMemcpyDeviceToDevice) : error;
}

cudaError_t runtime_cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                        size_t count, cudaStream_t stream)
{
    cudaError_t error = check_devices(dstDevice, srcDevice);
    if (error != cudaSuccess) return error;
    return copy_async(dst, src, count, cudaMemcpyDeviceToDevice, runtime_stream(stream));
}

/* ---- two and three dimensions ---------------------------------------------------------------- */

/* The driver's memory types of both ends of a copy. Returns false for an invalid direction. */
static bool ends_of(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to)
{
    static const struct {
        CUmemorytype from, to;
    } ends[] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
    };
    if ((size_t)kind >= sizeof ends / sizeof *ends) return false;
    *from = ends[kind].from;
    *to = ends[kind].to;
    return true;
}

static cudaError_t describe_rows(CUDA_MEMCPY2D *copy, void *dst, size_t dpitch, const void *src,
                                 size_t spitch, size_t width, size_t height,
                                 enum cudaMemcpyKind kind)
{
    *copy = (CUDA_MEMCPY2D){.srcHost = src,
                            .srcDevice = (CUdeviceptr)src,
                            .srcPitch = spitch,
                            .dstHost = dst,
                            .dstDevice = (CUdeviceptr)dst,
                            .dstPitch = dpitch,
                            .WidthInBytes = width,
                            .Height = height};
    if (width == 0 || height == 0) return cudaSuccess;
    /* The driver takes a pitch of 0 for dense rows; the runtime accepts it only for a single
     * row. */
    if (height > 1 && (dpitch < width || spitch < width)) return cudaErrorInvalidPitchValue;
    if (!ends_of(kind, &copy->srcMemoryType, &copy->dstMemoryType))
        return cudaErrorInvalidMemcpyDirection;
    return cudaSuccess;
}

cudaError_t runtime_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch,
                                 size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy;
    cudaError_t error = describe_rows(&copy, dst, dpitch, src, spitch, width, height, kind);
    if (error != cudaSuccess || width == 0 || height == 0) return error;
    return runtime_error(synchronous()->rows(&copy));
}

cudaError_t runtime_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                      size_t width, size_t height, enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    CUDA_MEMCPY2D copy;
    cudaError_t error = describe_rows(&copy, dst, dpitch, src, spitch, width, height, kind);
    if (error != cudaSuccess || width == 0 || height == 0) return error;
    return runtime_error(cuMemcpy2DAsync(&copy, runtime_stream(stream)));
}

/* Bytes per unit of a copy's extent and of both its positions: the element size of the array that
 * takes part, else 1. The documentation counts a position in memory in bytes all the same; an H200
 * does not. 0: an invalid array, or two arrays with different element sizes. */
static size_t element_of(cudaArray_const_t from, cudaArray_const_t to)
{
    size_t a = from != NULL ? runtime_array_element(from) : 0;
    size_t b = to != NULL ? runtime_array_element(to) : 0;
    if (from != NULL && to != NULL) return a == b ? a : 0;
    return from != NULL ? a : to != NULL ? b : 1;
}

/* Returns true if the pitch separates the rows and slices of the extent. The start offset is
 * checked by the driver. A single row needs no pitch. */
static bool pitch_fits(const struct cudaPitchedPtr *side, struct cudaExtent extent, size_t element)
{
    if (extent.depth > 1 && side->ysize < extent.height) return false;
    return (extent.height <= 1 && extent.depth <= 1) || side->pitch >= extent.width * element;
}

cudaError_t runtime_describe_copy(CUDA_MEMCPY3D *copy, const struct cudaMemcpy3DParms *p)
{
    if (p == NULL) return cudaErrorInvalidValue;
    const size_t element = element_of(p->srcArray, p->dstArray);
    const bool from_array = p->srcArray != NULL, to_array = p->dstArray != NULL;
    if (element == 0) return cudaErrorInvalidValue;
    if (p->extent.width > SIZE_MAX / element || p->srcPos.x > SIZE_MAX / element ||
        p->dstPos.x > SIZE_MAX / element)
        return cudaErrorInvalidValue;
    if ((from_array && p->srcPtr.ptr != NULL) || (to_array && p->dstPtr.ptr != NULL))
        return cudaErrorInvalidValue;
    *copy = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x * element,
                            .srcY = p->srcPos.y,
                            .srcZ = p->srcPos.z,
                            .srcHost = p->srcPtr.ptr,
                            .srcDevice = (CUdeviceptr)p->srcPtr.ptr,
                            .srcArray = (CUarray)p->srcArray,
                            .srcPitch = p->srcPtr.pitch,
                            .srcHeight = p->srcPtr.ysize,
                            .dstXInBytes = p->dstPos.x * element,
                            .dstY = p->dstPos.y,
                            .dstZ = p->dstPos.z,
                            .dstHost = p->dstPtr.ptr,
                            .dstDevice = (CUdeviceptr)p->dstPtr.ptr,
                            .dstArray = (CUarray)p->dstArray,
                            .dstPitch = p->dstPtr.pitch,
                            .dstHeight = p->dstPtr.ysize,
                            .WidthInBytes = p->extent.width * element,
                            .Height = p->extent.height,
                            .Depth = p->extent.depth};
    if (!ends_of(p->kind, &copy->srcMemoryType, &copy->dstMemoryType))
        return cudaErrorInvalidMemcpyDirection;
    /* An array is always device memory. */
    if ((from_array && copy->srcMemoryType == CU_MEMORYTYPE_HOST) ||
        (to_array && copy->dstMemoryType == CU_MEMORYTYPE_HOST))
        return cudaErrorInvalidValue;
    if (from_array) copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    if (to_array) copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    const bool fits = (from_array || pitch_fits(&p->srcPtr, p->extent, element)) &&
                      (to_array || pitch_fits(&p->dstPtr, p->extent, element));
    return fits ? cudaSuccess : cudaErrorInvalidPitchValue;
}

static bool is_empty(struct cudaExtent extent)
{
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

/* An empty copy is accepted whatever its other parameters are. */
cudaError_t runtime_cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D copy;
    if (p != NULL && is_empty(p->extent)) return cudaSuccess;
    cudaError_t error = runtime_describe_copy(&copy, p);
    if (error != cudaSuccess) return error;
    return runtime_error(synchronous()->slices(&copy));
}

cudaError_t runtime_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D copy;
    if (p != NULL && is_empty(p->extent)) return cudaSuccess;
    cudaError_t error = runtime_describe_copy(&copy, p);
    if (error != cudaSuccess) return error;
    return runtime_error(cuMemcpy3DAsync(&copy, runtime_stream(stream)));
}

/* Converts a copy between devices to an ordinary copy, after checking the devices and arrays. */
static cudaError_t between_devices(const struct cudaMemcpy3DPeerParms *p,
                                   struct cudaMemcpy3DParms *same)
{
    if (p == NULL) return cudaErrorInvalidValue;
    *same = (struct cudaMemcpy3DParms){.srcArray = p->srcArray,
                                       .srcPos = p->srcPos,
                                       .srcPtr = p->srcPtr,
                                       .dstArray = p->dstArray,
                                       .dstPos = p->dstPos,
                                       .dstPtr = p->dstPtr,
                                       .extent = p->extent,
                                       .kind = cudaMemcpyDeviceToDevice};
    return check_devices(p->dstDevice, p->srcDevice);
}

cudaError_t runtime_cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    struct cudaMemcpy3DParms same;
    cudaError_t error = between_devices(p, &same);
    return error == cudaSuccess ? runtime_cudaMemcpy3D(&same) : error;
}

cudaError_t runtime_cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p,
                                          cudaStream_t stream)
{
    struct cudaMemcpy3DParms same;
    cudaError_t error = between_devices(p, &same);
    return error == cudaSuccess ? runtime_cudaMemcpy3DAsync(&same, stream) : error;
}

/* ---- variables ------------------------------------------------------------------------------- */

cudaError_t runtime_part_of_variable(const void *symbol, size_t offset, size_t count,
                                     CUdeviceptr *address)
{
    size_t size;
    cudaError_t error = runtime_variable(symbol, address, &size);
    if (error != cudaSuccess) return error;
    *address += offset;
    return offset > size || count > size - offset ? cudaErrorInvalidValue : cudaSuccess;
}

static bool is_into_variable(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
           kind == cudaMemcpyDefault;
}

static bool is_from_variable(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
           kind == cudaMemcpyDefault;
}

/* Finds a part of a variable and checks the copy's direction. If both size and direction are wrong,
 * synchronous functions report the size and asynchronous ones the direction. */
static cudaError_t part_for_copy(const void *symbol, size_t offset, size_t count, bool right,
                                 bool asynchronous, CUdeviceptr *address)
{
    cudaError_t error = runtime_part_of_variable(symbol, offset, count, address);
    if (right || (error != cudaSuccess && error != cudaErrorInvalidValue)) return error;
    return asynchronous || error == cudaSuccess ? cudaErrorInvalidMemcpyDirection : error;
}

cudaError_t runtime_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count,
                                       size_t offset, enum cudaMemcpyKind kind)
{
    CUdeviceptr address;
    if (count == 0) return cudaSuccess;
    cudaError_t error =
        part_for_copy(symbol, offset, count, is_into_variable(kind), false, &address);
    return error == cudaSuccess ? copy((void *)address, src, count, kind) : error;
}

cudaError_t runtime_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                            size_t offset, enum cudaMemcpyKind kind,
                                            cudaStream_t stream)
{
    CUdeviceptr address;
    if (count == 0) return cudaSuccess;
    cudaError_t error =
        part_for_copy(symbol, offset, count, is_into_variable(kind), true, &address);
    if (error != cudaSuccess) return error;
    return copy_async((void *)address, src, count, kind, runtime_stream(stream));
}

cudaError_t runtime_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind)
{
    CUdeviceptr address;
    if (count == 0) return cudaSuccess;
    cudaError_t error =
        part_for_copy(symbol, offset, count, is_from_variable(kind), false, &address);
    return error == cudaSuccess ? copy(dst, (void *)address, count, kind) : error;
}

cudaError_t runtime_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count,
                                              size_t offset, enum cudaMemcpyKind kind,
                                              cudaStream_t stream)
{
    CUdeviceptr address;
    if (count == 0) return cudaSuccess;
    cudaError_t error =
        part_for_copy(symbol, offset, count, is_from_variable(kind), true, &address);
    if (error != cudaSuccess) return error;
    return copy_async(dst, (void *)address, count, kind, runtime_stream(stream));
}

cudaError_t runtime_cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr address;
    size_t size;
    if (devPtr == NULL) return cudaErrorInvalidValue;
    cudaError_t error = runtime_variable(symbol, &address, &size);
    if (error == cudaSuccess) *devPtr = (void *)address;
    return error;
}

cudaError_t runtime_cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr address;
    if (size == NULL) return cudaErrorInvalidValue;
    return runtime_variable(symbol, &address, size);
}

/* ---- fills ----------------------------------------------------------------------------------- */

cudaError_t runtime_cudaMemset(void *devPtr, int value, size_t count)
{
    if (count == 0) return cudaSuccess;
    return runtime_error(synchronous()->fill((CUdeviceptr)devPtr, (unsigned char)value, count));
}

cudaError_t runtime_cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    if (count == 0) return cudaSuccess;
    return runtime_error(
        cuMemsetD8Async((CUdeviceptr)devPtr, (unsigned char)value, count, runtime_stream(stream)));
}

cudaError_t runtime_cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    if (width == 0 || height == 0) return cudaSuccess;
    return runtime_error(
        synchronous()->fill_rows((CUdeviceptr)devPtr, pitch, (unsigned char)value, width, height));
}

cudaError_t runtime_cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width,
                                      size_t height, cudaStream_t stream)
{
    if (width == 0 || height == 0) return cudaSuccess;
    return runtime_error(cuMemsetD2D8Async((CUdeviceptr)devPtr, pitch, (unsigned char)value, width,
                                           height, runtime_stream(stream)));
}

/* Fills a 3-D box as areas of rows: one area if the slices follow each other without a gap, else
 * one per slice. Returns the number of areas. */
static size_t areas_of(struct cudaPitchedPtr to, struct cudaExtent extent, size_t *rows)
{
    bool whole = to.ysize == extent.height;
    *rows = whole ? extent.height * extent.depth : extent.height;
    return whole ? 1 : extent.depth;
}

static bool slices_fit(struct cudaPitchedPtr to, struct cudaExtent extent)
{
    if (extent.height > SIZE_MAX / extent.depth) return false;
    return extent.height <= to.ysize && (extent.depth <= 1 || extent.width <= to.pitch);
}

cudaError_t runtime_cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value,
                                 struct cudaExtent extent)
{
    size_t rows, areas = areas_of(pitchedDevPtr, extent, &rows);
    cudaError_t error = cudaSuccess;
    if (is_empty(extent)) return cudaSuccess;
    if (!slices_fit(pitchedDevPtr, extent)) return cudaErrorInvalidValue;
    for (size_t i = 0; error == cudaSuccess && i < areas; i++)
        error = runtime_cudaMemset2D((char *)pitchedDevPtr.ptr +
                                         i * pitchedDevPtr.pitch * pitchedDevPtr.ysize,
                                     pitchedDevPtr.pitch, value, extent.width, rows);
    return error;
}

cudaError_t runtime_cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                                      struct cudaExtent extent, cudaStream_t stream)
{
    size_t rows, areas = areas_of(pitchedDevPtr, extent, &rows);
    cudaError_t error = cudaSuccess;
    if (is_empty(extent)) return cudaSuccess;
    if (!slices_fit(pitchedDevPtr, extent)) return cudaErrorInvalidValue;
    for (size_t i = 0; error == cudaSuccess && i < areas; i++)
        error = runtime_cudaMemset2DAsync((char *)pitchedDevPtr.ptr +
                                              i * pitchedDevPtr.pitch * pitchedDevPtr.ysize,
                                          pitchedDevPtr.pitch, value, extent.width, rows, stream);
    return error;
}
