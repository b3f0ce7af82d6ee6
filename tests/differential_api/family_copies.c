/* Copies and fills of every form and direction, right and wrong, one after another: error codes
 * and, after a success, the data. Every host address is valid for the bytes requested, because a
 * driver's behaviour with an invalid one is undefined. */
#include "tests/differential_api/kernels.h"
#include "tests/differential_api/program.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 4096, PLACES = 6, ROOM = 3 * SIZE };

static const char *const names[PLACES] = {"dev", "dev'", "pin", "host", "host'", "man"};

struct copies {
    char *place[PLACES]; /* SIZE bytes each; on the host followed by more */
};

static bool is_device(unsigned place)
{
    return place < 2;
}

static void show(struct program *p, struct copies *c, unsigned place)
{
    static char bytes[SIZE];
    cudaDeviceSynchronize();
    if (is_device(place))
        cudaMemcpy(bytes, c->place[place], SIZE, cudaMemcpyDeviceToHost);
    else
        memcpy(bytes, c->place[place], SIZE);
    note(p, "%s: %08x", names[place], digest(bytes, SIZE));
}

/* On the host everything stays within the memory; on the device the end may be exceeded. */
static size_t any_size(struct program *p, bool device)
{
    return device ? PICK(p, size_t, 0, 1, 3, 64, 100, 1000, 2048, SIZE, SIZE + 1, 3 * SIZE, 1 << 30)
                  : PICK(p, size_t, 0, 1, 3, 64, 100, 1000, 2048, SIZE);
}

static size_t any_offset(struct program *p)
{
    return PICK(p, size_t, 0, 0, 0, 1, 4, 100, 2048);
}

static void copy_1d(struct program *p, void *self)
{
    struct copies *c = self;
    unsigned a = draw(p, PLACES), b = draw(p, PLACES);
    size_t to = any_offset(p), from = any_offset(p),
           bytes = any_size(p, is_device(a) && is_device(b));
    int kind = PICK(p, int, 0, 1, 2, 3, 4, 4, 4, 4, 5, 99, -1);
    if (a == b) return;
    /* With a kind that contradicts a host address the driver would take it for a device address. */
    if (bytes > SIZE - 2048 && (!is_device(a) || !is_device(b))) bytes = SIZE - 2048;
    char *destination = c->place[a] + to, *source = c->place[b] + from;
    if (chance(p, 50))
        rt(p, cudaMemcpy(destination, source, bytes, (enum cudaMemcpyKind)kind),
           "cudaMemcpy(%s+%zu, %s+%zu, %zu, %d)", names[a], to, names[b], from, bytes, kind);
    else
        rt(p, cudaMemcpyAsync(destination, source, bytes, (enum cudaMemcpyKind)kind, NULL),
           "cudaMemcpyAsync(%s+%zu, %s+%zu, %zu, %d)", names[a], to, names[b], from, bytes, kind);
    show(p, c, a);
}

static void copy_driver(struct program *p, void *self)
{
    struct copies *c = self;
    unsigned a = draw(p, PLACES), b = draw(p, PLACES);
    size_t to = any_offset(p), from = any_offset(p),
           bytes = any_size(p, is_device(a) && is_device(b));
    if (a == b) return;
    if (bytes > SIZE - 2048 && (!is_device(a) || !is_device(b))) bytes = SIZE - 2048;
    char *destination = c->place[a] + to, *source = c->place[b] + from;
    CUdeviceptr d = (CUdeviceptr)destination, s = (CUdeviceptr)source;
    switch (draw(p, 7)) {
    case 0:
        dr(p, cuMemcpyHtoD(d, source, bytes), "cuMemcpyHtoD(%s+%zu, %s+%zu, %zu)", names[a], to,
           names[b], from, bytes);
        break;
    case 1:
        dr(p, cuMemcpyDtoH(destination, s, bytes), "cuMemcpyDtoH(%s+%zu, %s+%zu, %zu)", names[a],
           to, names[b], from, bytes);
        break;
    case 2:
        dr(p, cuMemcpyDtoD(d, s, bytes), "cuMemcpyDtoD(%s+%zu, %s+%zu, %zu)", names[a], to,
           names[b], from, bytes);
        break;
    case 3:
        dr(p, cuMemcpyHtoDAsync(d, source, bytes, NULL), "cuMemcpyHtoDAsync(%s+%zu, %s+%zu, %zu)",
           names[a], to, names[b], from, bytes);
        break;
    case 4:
        dr(p, cuMemcpyDtoHAsync(destination, s, bytes, NULL),
           "cuMemcpyDtoHAsync(%s+%zu, %s+%zu, %zu)", names[a], to, names[b], from, bytes);
        break;
    case 5:
        dr(p, cuMemcpyDtoDAsync(d, s, bytes, NULL), "cuMemcpyDtoDAsync(%s+%zu, %s+%zu, %zu)",
           names[a], to, names[b], from, bytes);
        break;
    default:
        dr(p, cuMemcpy(d, s, bytes), "cuMemcpy(%s+%zu, %s+%zu, %zu)", names[a], to, names[b], from,
           bytes);
        break;
    }
    show(p, c, a);
}

static void copy_2d(struct program *p, void *self)
{
    struct copies *c = self;
    unsigned a = draw(p, PLACES), b = draw(p, PLACES);
    size_t width = PICK(p, size_t, 0, 1, 16, 33, 64), height = PICK(p, size_t, 0, 1, 3, 16, 40);
    size_t to_pitch = PICK(p, size_t, 0, 16, 32, 64, 64, 100, 128),
           from_pitch = PICK(p, size_t, 0, 16, 32, 64, 64, 100, 128);
    int kind = PICK(p, int, 4, 4, 4, 0, 1, 2, 3, 9);
    if (a == b) return;
    if (chance(p, 50))
        rt(p,
           cudaMemcpy2D(c->place[a], to_pitch, c->place[b], from_pitch, width, height,
                        (enum cudaMemcpyKind)kind),
           "cudaMemcpy2D(%s, %zu, %s, %zu, %zu, %zu, %d)", names[a], to_pitch, names[b], from_pitch,
           width, height, kind);
    else
        rt(p,
           cudaMemcpy2DAsync(c->place[a], to_pitch, c->place[b], from_pitch, width, height,
                             (enum cudaMemcpyKind)kind, NULL),
           "cudaMemcpy2DAsync(%s, %zu, %s, %zu, %zu, %zu, %d)", names[a], to_pitch, names[b],
           from_pitch, width, height, kind);
    show(p, c, a);
}

static void copy_2d_driver(struct program *p, void *self)
{
    struct copies *c = self;
    unsigned a = draw(p, PLACES), b = draw(p, PLACES);
    CUDA_MEMCPY2D m = {
        .srcXInBytes = PICK(p, size_t, 0, 0, 4, 60),
        .srcY = PICK(p, size_t, 0, 0, 1, 3),
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = (CUdeviceptr)c->place[b],
        .srcPitch = PICK(p, size_t, 0, 16, 64, 64, 100, 128),
        .dstXInBytes = PICK(p, size_t, 0, 0, 4, 60),
        .dstY = PICK(p, size_t, 0, 0, 1, 3),
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = (CUdeviceptr)c->place[a],
        .dstPitch = PICK(p, size_t, 0, 16, 64, 64, 100, 128),
        .WidthInBytes = PICK(p, size_t, 0, 1, 16, 33, 64),
        .Height = PICK(p, size_t, 0, 1, 3, 16, 40),
    };
    if (a == b) return;
    if (chance(p, 5)) m.srcMemoryType = (CUmemorytype)9;
    bool unaligned = chance(p, 30);
    dr(p, unaligned ? cuMemcpy2DUnaligned(&m) : cuMemcpy2D(&m),
       "cuMemcpy2D%s(%s, %zu, %zu, %zu; %s, %zu, %zu, %zu; %zu, %zu; %d)",
       unaligned ? "Unaligned" : "", names[a], m.dstXInBytes, m.dstY, m.dstPitch, names[b],
       m.srcXInBytes, m.srcY, m.srcPitch, m.WidthInBytes, m.Height, (int)m.srcMemoryType);
    show(p, c, a);
}

static void copy_3d(struct program *p, void *self)
{
    struct copies *c = self;
    unsigned a = draw(p, PLACES), b = draw(p, PLACES);
    struct cudaMemcpy3DParms m = {
        .srcPos = {PICK(p, size_t, 0, 0, 4, 16), PICK(p, size_t, 0, 0, 1),
                   PICK(p, size_t, 0, 0, 1)},
        .dstPos = {PICK(p, size_t, 0, 0, 4, 16), PICK(p, size_t, 0, 0, 1),
                   PICK(p, size_t, 0, 0, 1)},
        .extent = {PICK(p, size_t, 0, 1, 16, 30), PICK(p, size_t, 0, 1, 3, 6),
                   PICK(p, size_t, 0, 1, 2, 3)},
        .kind = (enum cudaMemcpyKind)PICK(p, int, 4, 4, 4, 0, 1, 2, 3, 9),
    };
    size_t to_pitch = PICK(p, size_t, 0, 16, 64, 64), from_pitch = PICK(p, size_t, 0, 16, 64, 64);
    size_t rows = PICK(p, size_t, 1, 4, 8, 8);
    if (a == b) return;
    m.srcPtr = (struct cudaPitchedPtr){c->place[b], from_pitch, from_pitch, rows};
    m.dstPtr = (struct cudaPitchedPtr){c->place[a], to_pitch, to_pitch, rows};
    bool async = chance(p, 50);
    rt(p, async ? cudaMemcpy3DAsync(&m, NULL) : cudaMemcpy3D(&m),
       "cudaMemcpy3D%s(%s, %zu at %zu %zu %zu; %s, %zu at %zu %zu %zu; rows %zu; %zu %zu %zu; %d)",
       async ? "Async" : "", names[a], to_pitch, m.dstPos.x, m.dstPos.y, m.dstPos.z, names[b],
       from_pitch, m.srcPos.x, m.srcPos.y, m.srcPos.z, rows, m.extent.width, m.extent.height,
       m.extent.depth, (int)m.kind);
    show(p, c, a);
}

static void fill(struct program *p, void *self)
{
    struct copies *c = self;
    unsigned a = draw(p, PLACES);
    size_t at = PICK(p, size_t, 0, 0, 1, 2, 4, 100), count = any_size(p, true);
    size_t pitch = PICK(p, size_t, 0, 16, 64, 128), width = PICK(p, size_t, 0, 1, 16, 33, 64),
           height = PICK(p, size_t, 0, 1, 3, 16);
    unsigned value = PICK(p, unsigned, 0, 1, 0x5a, 0x1234, 0xdeadbeef);
    char *to = c->place[a] + at;
    CUdeviceptr d = (CUdeviceptr)to;
    /* Memory after a pinned or managed allocation may be in use. */
    if (!is_device(a) && count > 900) count = 900;
    switch (draw(p, 10)) {
    case 0:
        rt(p, cudaMemset(to, (int)value, count), "cudaMemset(%s+%zu, %u, %zu)", names[a], at, value,
           count);
        break;
    case 1:
        rt(p, cudaMemsetAsync(to, (int)value, count, NULL), "cudaMemsetAsync(%s+%zu, %u, %zu)",
           names[a], at, value, count);
        break;
    case 2:
        dr(p, cuMemsetD8(d, (unsigned char)value, count), "cuMemsetD8(%s+%zu, %u, %zu)", names[a],
           at, value, count);
        break;
    case 3:
        dr(p, cuMemsetD16(d, (unsigned short)value, count), "cuMemsetD16(%s+%zu, %u, %zu)",
           names[a], at, value, count);
        break;
    case 4:
        dr(p, cuMemsetD32(d, value, count), "cuMemsetD32(%s+%zu, %u, %zu)", names[a], at, value,
           count);
        break;
    case 5:
        dr(p, cuMemsetD32Async(d, value, count, NULL), "cuMemsetD32Async(%s+%zu, %u, %zu)",
           names[a], at, value, count);
        break;
    case 6:
        rt(p, cudaMemset2D(to, pitch, (int)value, width, height),
           "cudaMemset2D(%s+%zu, %zu, %u, %zu, %zu)", names[a], at, pitch, value, width, height);
        break;
    case 7:
        dr(p, cuMemsetD2D8(d, pitch, (unsigned char)value, width, height),
           "cuMemsetD2D8(%s+%zu, %zu, %u, %zu, %zu)", names[a], at, pitch, value, width, height);
        break;
    case 8:
        dr(p, cuMemsetD2D32(d, pitch, value, width / 4, height),
           "cuMemsetD2D32(%s+%zu, %zu, %u, %zu, %zu)", names[a], at, pitch, value, width / 4,
           height);
        break;
    default:
        rt(p,
           cudaMemset3D((struct cudaPitchedPtr){to, pitch, pitch, 8}, (int)value,
                        (struct cudaExtent){width, height > 8 ? 8 : height, 2}),
           "cudaMemset3D(%s+%zu, %zu, %u, %zu, %zu, 2)", names[a], at, pitch, value, width,
           height > 8 ? 8 : height);
        break;
    }
    show(p, c, a);
}

static void symbol(struct program *p, void *self)
{
    struct copies *c = self;
    unsigned a = draw(p, PLACES);
    bool constant = chance(p, 50);
    const void *which = constant ? symbol_constant() : symbol_variable();
    const char *name = constant ? "constant" : "variable";
    size_t count = PICK(p, size_t, 0, 4, 16, 64, 64, 65, 100),
           off = PICK(p, size_t, 0, 0, 4, 60, 64, 80);
    int kind = PICK(p, int, 0, 1, 2, 3, 4, 4, 9);
    void *address = NULL;
    size_t size = 77;
    if (chance(p, 5)) which = c->place[3], name = "none";
    switch (draw(p, 6)) {
    case 0:
        rt(p, cudaMemcpyToSymbol(which, c->place[a], count, off, (enum cudaMemcpyKind)kind),
           "cudaMemcpyToSymbol(%s, %s, %zu, %zu, %d)", name, names[a], count, off, kind);
        break;
    case 1:
        rt(p, cudaMemcpyFromSymbol(c->place[a], which, count, off, (enum cudaMemcpyKind)kind),
           "cudaMemcpyFromSymbol(%s, %s, %zu, %zu, %d)", names[a], name, count, off, kind);
        show(p, c, a);
        break;
    case 2:
        rt(p, cudaMemcpyToSymbolAsync(which, c->place[a], count, off, (enum cudaMemcpyKind)kind, 0),
           "cudaMemcpyToSymbolAsync(%s, %s, %zu, %zu, %d)", name, names[a], count, off, kind);
        break;
    case 3:
        rt(p,
           cudaMemcpyFromSymbolAsync(c->place[a], which, count, off, (enum cudaMemcpyKind)kind, 0),
           "cudaMemcpyFromSymbolAsync(%s, %s, %zu, %zu, %d)", names[a], name, count, off, kind);
        show(p, c, a);
        break;
    case 4:
        rt(p, cudaGetSymbolAddress(&address, which), "cudaGetSymbolAddress(%s)", name);
        note(p, "null: %d", address == NULL);
        break;
    default:
        rt(p, cudaGetSymbolSize(&size, which), "cudaGetSymbolSize(%s)", name);
        note(p, "%zu", size);
        break;
    }
    cudaDeviceSynchronize();
}

static void through_symbols(struct program *p, void *self)
{
    struct copies *c = self;
    void *arguments[] = {&c->place[0]};
    rt(p,
       cudaLaunchKernel(kernel_address(KERNEL_SYMBOLS), (dim3){1, 1, 1}, (dim3){32, 1, 1},
                        arguments, 0, NULL),
       "symbols<<<1, 32>>>(dev)");
    show(p, c, 0);
}

static void nulls(struct program *p, void *self)
{
    struct copies *c = self;
    size_t bytes = PICK(p, size_t, 0, 0, 16);
    int kind = PICK(p, int, 1, 2, 3, 4);
    switch (draw(p, 6)) {
    case 0:
        rt(p, cudaMemcpy(NULL, c->place[3], bytes, (enum cudaMemcpyKind)kind),
           "cudaMemcpy(NULL, host, %zu, %d)", bytes, kind);
        break;
    case 1:
        if (kind == cudaMemcpyHostToDevice && bytes > 0) return;
        rt(p, cudaMemcpy(c->place[0], NULL, bytes, (enum cudaMemcpyKind)kind),
           "cudaMemcpy(dev, NULL, %zu, %d)", bytes, kind);
        break;
    case 2:
        rt(p, cudaMemset(NULL, 0, bytes), "cudaMemset(NULL, 0, %zu)", bytes);
        break;
    case 3:
        dr(p, cuMemsetD8(0, 0, bytes), "cuMemsetD8(0, 0, %zu)", bytes);
        break;
    case 4:
        dr(p, cuMemcpyHtoD(0, c->place[3], bytes), "cuMemcpyHtoD(0, host, %zu)", bytes);
        break;
    default:
        dr(p, cuMemcpyDtoD(0, (CUdeviceptr)c->place[0], bytes), "cuMemcpyDtoD(0, dev, %zu)", bytes);
        break;
    }
}

static void last_error(struct program *p, void *self)
{
    (void)self;
    if (chance(p, 50))
        rt(p, cudaPeekAtLastError(), "cudaPeekAtLastError()");
    else
        rt(p, cudaGetLastError(), "cudaGetLastError()");
}

static const struct action actions[] = {
    {"1-D", 20, copy_1d},   {"driver", 16, copy_driver},
    {"2-D", 12, copy_2d},   {"driver 2-D", 8, copy_2d_driver},
    {"3-D", 8, copy_3d},    {"fill", 18, fill},
    {"symbol", 10, symbol}, {"kernel", 3, through_symbols},
    {"nulls", 4, nulls},    {"last error", 6, last_error},
};

void family_copies(struct program *p)
{
    struct copies c;
    void *memory;
    uint32_t zero[16] = {0};
    static char initial[SIZE];
    for (unsigned place = 0; place < PLACES; place++) {
        if (is_device(place))
            cudaMalloc(&memory, SIZE);
        else if (place == 2)
            cudaMallocHost(&memory, ROOM);
        else if (place == 5)
            cudaMallocManaged(&memory, ROOM, cudaMemAttachGlobal);
        else
            memory = malloc(ROOM);
        c.place[place] = memory;
        if (!is_device(place)) memset(memory, (int)place, ROOM);
        for (int i = 0; i < SIZE; i++) initial[i] = (char)(i * 7 + (int)place);
        if (is_device(place))
            cudaMemcpy(memory, initial, SIZE, cudaMemcpyHostToDevice);
        else
            memcpy(memory, initial, SIZE);
    }
    cudaMemcpyToSymbol(symbol_variable(), zero, 64, 0, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(symbol_constant(), zero, 64, 0, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    for (unsigned left = 12 + draw(p, 18); left > 0; left--) ACT(p, actions, &c);
    rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
    for (unsigned place = 0; place < PLACES; place++) {
        show(p, &c, place);
        if (is_device(place) || place == 5)
            cudaFree(c.place[place]);
        else if (place == 2)
            cudaFreeHost(c.place[place]);
        else
            free(c.place[place]);
    }
    cudaGetLastError();
}
