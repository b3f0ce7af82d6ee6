/* Allocating, freeing, registering; attributes of pointers. */
#include "tests/differential_api/program.h"

#include <stdlib.h>

enum { SLOTS = 5 };

enum kind { NONE, DEVICE, PINNED, MANAGED, REGISTERED, PLAIN_HOST };

static const char *const kind_names[] = {"none", "dev", "pin", "man", "reg", "host"};

struct memory {
    enum kind kind[SLOTS];
    void *address[SLOTS];
    size_t size[SLOTS];
    char *page; /* never registered */
};

#define NAME(m, i) kind_names[(m)->kind[i]], i

static void release(struct memory *m, int i)
{
    switch (m->kind[i]) {
    case DEVICE:
    case MANAGED:
        cudaFree(m->address[i]);
        break;
    case PINNED:
        cudaFreeHost(m->address[i]);
        break;
    case REGISTERED:
        cudaHostUnregister(m->address[i]);
        free(m->address[i]);
        break;
    default:
        break;
    }
    m->kind[i] = NONE;
    m->address[i] = NULL;
}

static size_t any_size(struct program *p)
{
    return PICK(p, size_t, 0, 1, 4, 100, 256, 512, 4096, 5000, 65536, 1 << 20);
}

static void allocate(struct program *p, void *self)
{
    struct memory *m = self;
    int i = (int)draw(p, SLOTS);
    size_t size = any_size(p);
    unsigned flags;
    void *address = NULL;
    CUdeviceptr pointer = 0;
    if (m->kind[i] != NONE) return;
    m->size[i] = size;
    switch (draw(p, 8)) {
    case 0:
        m->kind[i] = DEVICE;
        rt(p, cudaMalloc(&address, size), "cudaMalloc(&m%d, %zu)", i, size);
        break;
    case 1:
        m->kind[i] = DEVICE;
        dr(p, cuMemAlloc(&pointer, size), "cuMemAlloc(&m%d, %zu)", i, size);
        address = (void *)pointer;
        break;
    case 2:
        m->kind[i] = PINNED;
        rt(p, cudaMallocHost(&address, size), "cudaMallocHost(&m%d, %zu)", i, size);
        break;
    case 3:
        m->kind[i] = PINNED;
        flags = PICK(p, unsigned, 0, 1, 2, 3, 4, 7, 8, 16, 32, 0x100);
        rt(p, cudaHostAlloc(&address, size, flags), "cudaHostAlloc(&m%d, %zu, %u)", i, size, flags);
        break;
    case 4:
        m->kind[i] = PINNED;
        flags = PICK(p, unsigned, 0, 1, 2, 3, 4, 7, 8, 16, 32, 0x100);
        dr(p, cuMemHostAlloc(&address, size, flags), "cuMemHostAlloc(&m%d, %zu, %u)", i, size,
           flags);
        break;
    case 5:
        m->kind[i] = MANAGED;
        flags = PICK(p, unsigned, 0, 1, 1, 1, 2, 3, 4, 7);
        rt(p, cudaMallocManaged(&address, size, flags), "cudaMallocManaged(&m%d, %zu, %u)", i, size,
           flags);
        break;
    case 6:
        m->kind[i] = MANAGED;
        flags = PICK(p, unsigned, 0, 1, 1, 1, 2, 3, 4, 7);
        dr(p, cuMemAllocManaged(&pointer, size, flags), "cuMemAllocManaged(&m%d, %zu, %u)", i, size,
           flags);
        address = (void *)pointer;
        break;
    default:
        m->kind[i] = REGISTERED;
        address = aligned_alloc(4096, 8192);
        size = PICK(p, size_t, 1, 100, 4096, 5000, 8192);
        flags = PICK(p, unsigned, 0, 0, 1, 2, 3, 16, 32);
        m->size[i] = size;
        if (rt(p, cudaHostRegister(address, size, flags), "cudaHostRegister(m%d, %zu, %u)", i, size,
               flags) != cudaSuccess) {
            free(address);
            address = NULL;
        }
        break;
    }
    note(p, "null: %d", address == NULL);
    m->address[i] = address;
    if (address == NULL) m->kind[i] = NONE;
}

static void free_one(struct program *p, void *self)
{
    struct memory *m = self;
    int i = (int)draw(p, SLOTS);
    /* Mostly the matching function; otherwise one that must return an error. */
    enum kind as = chance(p, 60) ? m->kind[i] : PICK(p, enum kind, DEVICE, PINNED, REGISTERED);
    size_t off = chance(p, 15) ? 4 : 0;
    char *address = m->address[i] != NULL ? (char *)m->address[i] + off : NULL;
    bool gone = off == 0 && (as == m->kind[i] || (as == DEVICE && m->kind[i] == MANAGED));
    bool driver = chance(p, 40);
    switch (as) {
    case DEVICE:
    case MANAGED:
        if (driver)
            dr(p, cuMemFree((CUdeviceptr)address), "cuMemFree(%s%d+%zu)", NAME(m, i), off);
        else
            rt(p, cudaFree(address), "cudaFree(%s%d+%zu)", NAME(m, i), off);
        break;
    case PINNED:
        if (driver)
            dr(p, cuMemFreeHost(address), "cuMemFreeHost(%s%d+%zu)", NAME(m, i), off);
        else
            rt(p, cudaFreeHost(address), "cudaFreeHost(%s%d+%zu)", NAME(m, i), off);
        break;
    case REGISTERED:
        if (driver)
            dr(p, cuMemHostUnregister(address), "cuMemHostUnregister(%s%d+%zu)", NAME(m, i), off);
        else
            rt(p, cudaHostUnregister(address), "cudaHostUnregister(%s%d+%zu)", NAME(m, i), off);
        break;
    default:
        return;
    }
    if (!gone) return;
    if (as == REGISTERED) free(m->address[i]);
    m->kind[i] = NONE;
    m->address[i] = NULL;
}

static void *any_address(struct program *p, struct memory *m, int *i, size_t *off)
{
    *i = (int)draw(p, SLOTS);
    *off = 0;
    if (m->kind[*i] == NONE) return chance(p, 50) ? NULL : m->page;
    *off = m->size[*i] > 8 && chance(p, 40) ? m->size[*i] / 2 : 0;
    return (char *)m->address[*i] + *off;
}

static void attributes(struct program *p, void *self)
{
    struct memory *m = self;
    int i;
    size_t off;
    void *address = any_address(p, m, &i, &off);
    struct cudaPointerAttributes a;
    const char *name = address == NULL ? "NULL" : kind_names[m->kind[i]];
    unsigned flags = 77;
    void *other = NULL;
    CUdeviceptr base = 0, pointer = 0;
    size_t size = 0;
    int value = 77;
    enum CUpointer_attribute_enum attribute;
    switch (draw(p, 6)) {
    case 0:
        a = (struct cudaPointerAttributes){.device = 77};
        rt(p, cudaPointerGetAttributes(&a, address), "cudaPointerGetAttributes(%s%d+%zu)", name, i,
           off);
        note(p, "type %d device %d device pointer %d host pointer %d", (int)a.type, a.device,
             a.devicePointer == address, a.hostPointer == address);
        break;
    case 1:
        rt(p, cudaHostGetFlags(&flags, address), "cudaHostGetFlags(%s%d+%zu)", name, i, off);
        /* A driver packs small allocations into a block and reports the block's flags, those of its
         * first allocation. Only the portable flag can differ. */
        note(p, "%u", flags & ~(unsigned)cudaHostAllocPortable);
        break;
    case 2:
        flags = chance(p, 80) ? 0 : 1;
        rt(p, cudaHostGetDevicePointer(&other, address, flags),
           "cudaHostGetDevicePointer(%s%d+%zu, %u)", name, i, off, flags);
        note(p, "the same: %d", other == address);
        break;
    case 3:
        dr(p, cuMemGetAddressRange(&base, &size, (CUdeviceptr)address),
           "cuMemGetAddressRange(%s%d+%zu)", name, i, off);
        if (m->kind[i] == DEVICE || m->kind[i] == PINNED)
            note(p, "base %d size %zu", base == (CUdeviceptr)m->address[i], size);
        break;
    case 4:
        attribute = PICK(p, enum CUpointer_attribute_enum, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                         CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                         CU_POINTER_ATTRIBUTE_MAPPED, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
        dr(p, cuPointerGetAttribute(&value, attribute, (CUdeviceptr)address),
           "cuPointerGetAttribute(%d, %s%d+%zu)", (int)attribute, name, i, off);
        note(p, "%d", value);
        break;
    default:
        attribute = PICK(p, enum CUpointer_attribute_enum, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                         CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
        dr(p, cuPointerGetAttribute(&pointer, attribute, (CUdeviceptr)address),
           "cuPointerGetAttribute(%d, %s%d+%zu)", (int)attribute, name, i, off);
        note(p, "the address: %d, of the allocation: %d", pointer == (CUdeviceptr)address,
             pointer == (CUdeviceptr)m->address[i]);
        break;
    }
}

static void many_attributes(struct program *p, void *self)
{
    int i, ordinal = 77;
    size_t off;
    void *address = any_address(p, self, &i, &off);
    CUmemorytype type = 77;
    unsigned managed = 77;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *data[] = {&type, &ordinal, &managed};
    dr(p, cuPointerGetAttributes(3, which, data, (CUdeviceptr)address),
       "cuPointerGetAttributes(%s%d+%zu)",
       address == NULL ? "NULL" : kind_names[((struct memory *)self)->kind[i]], i, off);
    note(p, "%d %d %u", (int)type, ordinal, managed);
}

static void pitched(struct program *p, void *self)
{
    size_t width = PICK(p, size_t, 0, 1, 100, 512, 513, 1000, 4096),
           height = PICK(p, size_t, 0, 1, 3, 10), pitch = 77;
    unsigned element = PICK(p, unsigned, 0, 1, 2, 3, 4, 8, 16, 32);
    void *address = NULL;
    CUdeviceptr pointer = 0;
    struct cudaPitchedPtr three = {0};
    (void)self;
    switch (draw(p, 3)) {
    case 0:
        rt(p, cudaMallocPitch(&address, &pitch, width, height), "cudaMallocPitch(%zu, %zu)", width,
           height);
        note(p, "pitch %zu null %d", pitch, address == NULL);
        cudaFree(address);
        break;
    case 1:
        dr(p, cuMemAllocPitch(&pointer, &pitch, width, height, element),
           "cuMemAllocPitch(%zu, %zu, %u)", width, height, element);
        note(p, "pitch %zu null %d", pitch, pointer == 0);
        cuMemFree(pointer);
        break;
    default:
        rt(p, cudaMalloc3D(&three, (struct cudaExtent){width, height, 2}),
           "cudaMalloc3D(%zu, %zu, 2)", width, height);
        note(p, "pitch %zu sizes %zu %zu null %d", three.pitch, three.xsize, three.ysize,
             three.ptr == NULL);
        cudaFree(three.ptr);
        break;
    }
}

static void registering(struct program *p, void *self)
{
    struct memory *m = self;
    char *page = aligned_alloc(4096, 8192);
    size_t off = PICK(p, size_t, 0, 64, 4096), size = PICK(p, size_t, 64, 4096);
    rt(p, cudaHostRegister(page, 4096, 0), "cudaHostRegister(page, 4096)");
    if (off + size <= 4096)
        rt(p, cudaHostRegister(page + off, size, 0), "cudaHostRegister(page+%zu, %zu)", off, size);
    rt(p, cudaHostUnregister(page + 64), "cudaHostUnregister(page+64)");
    rt(p, cudaHostUnregister(page), "cudaHostUnregister(page)");
    if (off == 0) rt(p, cudaHostUnregister(page), "cudaHostUnregister(page)");
    cudaHostUnregister(page);
    free(page);
    (void)m;
}

static void wrong(struct program *p, void *self)
{
    struct memory *m = self;
    void *address = NULL;
    CUdeviceptr pointer = 0;
    int value = 0;
    switch (draw(p, 14)) {
    case 0:
        rt(p, cudaMalloc(NULL, 16), "cudaMalloc(NULL)");
        break;
    case 1:
        dr(p, cuMemAlloc(NULL, 16), "cuMemAlloc(NULL)");
        break;
    case 2:
        rt(p, cudaMallocHost(NULL, 16), "cudaMallocHost(NULL)");
        break;
    case 3:
        rt(p, cudaMalloc(&address, (size_t)1 << PICK(p, int, 44, 50, 63)), "cudaMalloc(too much)");
        break;
    case 4:
        dr(p, cuMemAlloc(&pointer, (size_t)1 << PICK(p, int, 44, 50, 63)), "cuMemAlloc(too much)");
        break;
    case 5:
        rt(p, cudaFree(NULL), "cudaFree(NULL)");
        break;
    case 6:
        rt(p, cudaFreeHost(NULL), "cudaFreeHost(NULL)");
        break;
    case 7:
        dr(p, cuMemFreeHost(NULL), "cuMemFreeHost(NULL)");
        break;
    case 8:
        rt(p, cudaFree(m->page), "cudaFree(host)");
        break;
    case 9:
        rt(p, cudaHostRegister(NULL, 64, 0), "cudaHostRegister(NULL, 64)");
        break;
    case 10:
        rt(p, cudaHostRegister(m->page, 0, 0), "cudaHostRegister(host, 0)");
        break;
    case 11:
        rt(p, cudaHostUnregister(NULL), "cudaHostUnregister(NULL)");
        break;
    case 12:
        rt(p, cudaPointerGetAttributes(NULL, m->page), "cudaPointerGetAttributes(NULL, host)");
        break;
    default:
        dr(p,
           cuPointerGetAttribute(&value, (CUpointer_attribute)PICK(p, int, 0, 99, -1),
                                 (CUdeviceptr)m->page),
           "cuPointerGetAttribute(a wrong one, host)");
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
    {"allocate", 24, allocate},     {"free", 16, free_one},
    {"attributes", 24, attributes}, {"many attributes", 5, many_attributes},
    {"pitched", 6, pitched},        {"registering", 3, registering},
    {"wrong", 10, wrong},           {"last error", 10, last_error},
};

void family_memory(struct program *p)
{
    struct memory m = {.page = aligned_alloc(4096, 4096)};
    cudaFree(NULL);
    for (unsigned left = 20 + draw(p, 25); left > 0; left--) ACT(p, actions, &m);
    for (int i = 0; i < SLOTS; i++) release(&m, i);
    free(m.page);
    cudaDeviceSynchronize();
    cudaGetLastError();
}
