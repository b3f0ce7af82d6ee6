/* Stream-ordered allocation and memory pools. */
#include "tests/differential_api/program.h"

enum { SLOTS = 4 };

struct pools {
    void *address[SLOTS];
    size_t size[SLOTS];
    cudaStream_t stream;
    cudaMemPool_t pool, main;
};

static void allocate(struct program *p, void *self)
{
    struct pools *t = self;
    int i = (int)draw(p, SLOTS);
    size_t size = PICK(p, size_t, 0, 1, 100, 4096, 1 << 20);
    bool from = chance(p, 40);
    if (t->address[i] != NULL) return;
    t->size[i] = size;
    if (from)
        rt(p, cudaMallocFromPoolAsync(&t->address[i], size, t->pool, t->stream),
           "cudaMallocFromPoolAsync(&a%d, %zu)", i, size);
    else
        rt(p, cudaMallocAsync(&t->address[i], size, t->stream), "cudaMallocAsync(&a%d, %zu)", i,
           size);
    note(p, "null: %d", t->address[i] == NULL);
}

static void release(struct program *p, void *self)
{
    struct pools *t = self;
    int i = (int)draw(p, SLOTS);
    if (chance(p, 70))
        rt(p, cudaFreeAsync(t->address[i], t->stream), "cudaFreeAsync(a%d%s)", i,
           t->address[i] == NULL ? " (none)" : "");
    else
        rt(p, cudaFree(t->address[i]), "cudaFree(a%d%s)", i,
           t->address[i] == NULL ? " (none)" : "");
    t->address[i] = NULL;
}

static void use(struct program *p, void *self)
{
    struct pools *t = self;
    int i = (int)draw(p, SLOTS);
    unsigned char bytes[100];
    struct cudaPointerAttributes a = {.device = 77};
    if (t->address[i] == NULL || t->size[i] < 100) return;
    if (chance(p, 30)) {
        rt(p, cudaPointerGetAttributes(&a, t->address[i]), "cudaPointerGetAttributes(a%d)", i);
        note(p, "type %d device %d host %d", (int)a.type, a.device, a.hostPointer != NULL);
        return;
    }
    rt(p, cudaMemsetAsync(t->address[i], i + 1, 100, t->stream), "cudaMemsetAsync(a%d)", i);
    rt(p, cudaMemcpyAsync(bytes, t->address[i], 100, cudaMemcpyDefault, t->stream),
       "cudaMemcpyAsync(host, a%d)", i);
    rt(p, cudaStreamSynchronize(t->stream), "cudaStreamSynchronize()");
    note(p, "%08x", digest(bytes, sizeof bytes));
}

static void attributes(struct program *p, void *self)
{
    struct pools *t = self;
    int which = PICK(p, int, 1, 2, 3, 4, 4, 6, 7, 8, 99);
    cuuint64_t value = 77;
    cudaMemPool_t pool = chance(p, 50) ? t->pool : t->main;
    cudaDeviceSynchronize();
    if (which < 5 && chance(p, 40)) {
        value = PICK(p, cuuint64_t, 0, 1);
        rt(p, cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)which, &value),
           "cudaMemPoolSetAttribute(%d, %d)", pool == t->pool, which);
        value = which < 4;
        cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)which, &value);
        return;
    }
    rt(p, cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)which, &value),
       "cudaMemPoolGetAttribute(%d, %d)", pool == t->pool, which);
    /* The first three attributes are 32-bit integers. High-water marks are the process's and not
     * logged. */
    if (which <= 3)
        note(p, "%d", (int)(unsigned)value);
    else if (which == 4 || (which == 7 && pool == t->pool))
        note(p, "%llu", (unsigned long long)value);
}

static void access(struct program *p, void *self)
{
    struct pools *t = self;
    enum cudaMemAccessFlags flags = 77;
    struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = chance(p, 70) ? 0 : 99};
    struct cudaMemAccessDesc description = {here, PICK(p, enum cudaMemAccessFlags,
                                                       cudaMemAccessFlagsProtReadWrite,
                                                       cudaMemAccessFlagsProtNone)};
    cudaMemPool_t pool = chance(p, 50) ? t->pool : t->main;
    if (chance(p, 50)) {
        rt(p, cudaMemPoolGetAccess(&flags, pool, &here), "cudaMemPoolGetAccess(%d)", here.id);
        note(p, "%d", (int)flags);
    } else {
        rt(p, cudaMemPoolSetAccess(pool, &description, 1), "cudaMemPoolSetAccess(%d, %d)", here.id,
           (int)description.flags);
    }
}

static void pool(struct program *p, void *self)
{
    struct pools *t = self;
    cudaMemPool_t made = NULL, found = NULL;
    struct cudaMemPoolProps properties = {
        .allocType = PICK(p, enum cudaMemAllocationType, cudaMemAllocationTypePinned,
                          cudaMemAllocationTypePinned, cudaMemAllocationTypeInvalid),
        .location = {.type = cudaMemLocationTypeDevice, .id = chance(p, 80) ? 0 : 99},
    };
    switch (draw(p, 5)) {
    case 0:
        rt(p, cudaMemPoolCreate(&made, &properties), "cudaMemPoolCreate(%d, %d)",
           (int)properties.allocType, properties.location.id);
        if (made != NULL) rt(p, cudaMemPoolDestroy(made), "cudaMemPoolDestroy()");
        break;
    case 1:
        rt(p, cudaDeviceGetMemPool(&found, 0), "cudaDeviceGetMemPool(0)");
        note(p, "the default one: %d", found == t->main);
        break;
    case 2:
        rt(p, cudaDeviceGetDefaultMemPool(&found, 99), "cudaDeviceGetDefaultMemPool(99)");
        break;
    case 3:
        rt(p, cudaMemPoolTrimTo(t->pool, 0), "cudaMemPoolTrimTo(0)");
        break;
    default:
        rt(p, cudaDeviceSetMemPool(0, t->pool), "cudaDeviceSetMemPool(0, pool)");
        rt(p, cudaDeviceGetMemPool(&found, 0), "cudaDeviceGetMemPool(0)");
        note(p, "that one: %d", found == t->pool);
        cudaDeviceSetMemPool(0, t->main);
        break;
    }
}

static void wrong(struct program *p, void *self)
{
    struct pools *t = self;
    char local[16];
    switch (draw(p, 5)) {
    case 0:
        rt(p, cudaMallocAsync(NULL, 16, t->stream), "cudaMallocAsync(NULL)");
        break;
    case 1:
        rt(p, cudaFreeAsync(local, t->stream), "cudaFreeAsync(host)");
        break;
    case 2:
        rt(p, cudaMemPoolCreate(NULL, NULL), "cudaMemPoolCreate(NULL, NULL)");
        break;
    case 3:
        rt(p, cudaMemPoolDestroy(t->main), "cudaMemPoolDestroy(the default one)");
        break;
    default:
        rt(p, cudaGetLastError(), "cudaGetLastError()");
        break;
    }
}

static const struct action actions[] = {
    {"allocate", 20, allocate}, {"release", 10, release},
    {"use", 14, use},           {"attributes", 12, attributes},
    {"access", 6, access},      {"pool", 8, pool},
    {"wrong", 6, wrong},
};

void family_pools(struct program *p)
{
    struct pools t = {0};
    struct cudaMemPoolProps properties = {
        .allocType = cudaMemAllocationTypePinned,
        .location = {.type = cudaMemLocationTypeDevice, .id = 0},
    };
    cudaStreamCreate(&t.stream);
    rt(p, cudaMemPoolCreate(&t.pool, &properties), "cudaMemPoolCreate(&pool)");
    rt(p, cudaDeviceGetDefaultMemPool(&t.main, 0), "cudaDeviceGetDefaultMemPool(&main)");
    for (unsigned left = 15 + draw(p, 20); left > 0; left--) ACT(p, actions, &t);
    for (int i = 0; i < SLOTS; i++)
        if (t.address[i] != NULL) cudaFreeAsync(t.address[i], t.stream);
    cudaStreamSynchronize(t.stream);
    rt(p, cudaMemPoolDestroy(t.pool), "cudaMemPoolDestroy(pool)");
    cudaStreamDestroy(t.stream);
    cudaDeviceSynchronize();
    cudaGetLastError();
}
