// Virtual memory, asked of a GPU: what is refused, access over holes, memory that is mapped in
// several places, what its addresses say of themselves, and memory that is shared by a file
// descriptor. Each line is a case and its answer. virtual.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o virtual tests/gpu/virtual.cu -lcuda
//     ./virtual > tests/gpu/virtual.txt
#include "gpu.cuh"

#include <fcntl.h>

using Memory = CUmemGenericAllocationHandle;

constexpr size_t UNIT = 2 << 20;
constexpr auto BY_FILE = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

static CUmemAllocationProp properties(CUmemAllocationHandleType shared)
{
    CUmemAllocationProp of = {};
    of.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    of.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    of.requestedHandleTypes = shared;
    return of;
}

static Memory make(CUmemAllocationHandleType shared, size_t size)
{
    Memory made;
    const CUmemAllocationProp of = properties(shared);
    NEED(cuMemCreate(&made, size, &of, 0));
    return made;
}

static CUmemAccessDesc access_of(CUmemAccess_flags flags)
{
    CUmemAccessDesc to = {};
    to.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    to.flags = flags;
    return to;
}

static const CUmemAccessDesc write_to = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                             read_from = access_of(CU_MEM_ACCESS_FLAGS_PROT_READ);

static unsigned word_at(CUdeviceptr address)
{
    unsigned word = 0;
    NEED(cuMemcpyDtoH(&word, address, sizeof word));
    return word;
}

// ---- what is refused
// -----------------------------------------------------------------------------

static void ask(const char *name, const CUmemAllocationProp &of)
{
    Memory made;
    size_t unit = 0;
    printf("%s, ", name);
    say("granularity", cuMemGetAllocationGranularity(&unit, &of, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say("memory", cuMemCreate(&made, UNIT, &of, 0));
}

static void refusals()
{
    const CUmemAllocationProp plain = properties(CU_MEM_HANDLE_TYPE_NONE);
    CUmemAllocationProp of = plain;
    of.location.id = -1;
    ask("device -1", of);
    of = plain;
    of.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    ask("no type", of);
    of = plain;
    of.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    ask("nowhere", of);
    of.location.type = (CUmemLocationType)9;
    ask("at no known location", of);
    ask("handles of Windows", properties(CU_MEM_HANDLE_TYPE_WIN32));
}

// ---- access
// --------------------------------------------------------------------------------------

// Access to everything between is for what is mapped there, from the first map to the last.
static void access(CUdeviceptr at)
{
    const Memory one = make(BY_FILE, UNIT), two = make(BY_FILE, 2 * UNIT);
    CUmemAccessDesc elsewhere = write_to;
    const auto set = [&](const char *name, size_t from, size_t units) {
        say(name, cuMemSetAccess(at + from * UNIT, units * UNIT, &write_to, 1));
    };
    set("access to nothing", 0, 1);
    NEED(cuMemMap(at, UNIT, 0, one, 0));
    NEED(cuMemMap(at + 2 * UNIT, 2 * UNIT, 0, two, 0));
    set("access up to a hole", 0, 2);
    set("access from a hole on", 1, 3);
    set("access to all", 0, 8);
    set("access to a half", 0, 3);
    set("access to a hole", 1, 1);
    elsewhere.location.id = -1;
    say("access from device -1", cuMemSetAccess(at, UNIT, &elsewhere, 1));
    say("unmap a hole", cuMemUnmap(at + UNIT, UNIT));
    NEED(cuMemUnmap(at, UNIT));
    NEED(cuMemUnmap(at + 2 * UNIT, 2 * UNIT));
    NEED(cuMemRelease(one));
    NEED(cuMemRelease(two));
}

// ---- addresses
// -----------------------------------------------------------------------------------

static unsigned long long asked(CUpointer_attribute attribute, CUdeviceptr at)
{
    unsigned long long answer = 0;
    NEED(cuPointerGetAttribute(&answer, attribute, at));
    return answer;
}

static void about(const char *name, CUdeviceptr at, CUdeviceptr start)
{
    printf("%s: type %llu, device %llu, context %llu, mapped %llu, managed %llu\n", name,
           asked(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at),
           asked(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at), asked(CU_POINTER_ATTRIBUTE_CONTEXT, at),
           asked(CU_POINTER_ATTRIBUTE_MAPPED, at), asked(CU_POINTER_ATTRIBUTE_IS_MANAGED, at));
    printf("handles %llu, access %llu, pool %llu\n",
           asked(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, at),
           asked(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at),
           asked(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at));
    printf("range from %llu, of %llu, mapping from %llu, of %llu\n",
           (asked(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at) - start) / UNIT,
           asked(CU_POINTER_ATTRIBUTE_RANGE_SIZE, at) / UNIT,
           (asked(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, at) - start) / UNIT,
           asked(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, at) / UNIT);
}

static void addresses(CUdeviceptr at)
{
    const Memory a = make(BY_FILE, UNIT), b = make(CU_MEM_HANDLE_TYPE_NONE, UNIT);
    unsigned mapped = 9;
    NEED(cuMemMap(at, UNIT, 0, a, 0));
    NEED(cuMemMap(at + UNIT, UNIT, 0, b, 0));
    NEED(cuMemMap(at + 2 * UNIT, UNIT, 0, a, 0));
    NEED(cuMemMap(at + 4 * UNIT, UNIT, 0, b, 0));
    say("access to three at once", cuMemSetAccess(at, 3 * UNIT, &write_to, 1));
    say("access over a hole", cuMemSetAccess(at, 5 * UNIT, &write_to, 1));
    about("may be shared", at + 5, at);
    about("may not", at + UNIT, at);
    say("a hole", cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, at + 3 * UNIT));
    const auto block = [](CUdeviceptr p) { return asked(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, p); };
    printf("blocks: the same twice %d, two %d\n", block(at) == block(at + 2 * UNIT),
           block(at) == block(at + UNIT));
    NEED(cuMemsetD32(at, 41, 4));
    printf("the second place shows %u\n", word_at(at + 2 * UNIT));
    say("read only", cuMemSetAccess(at + 2 * UNIT, UNIT, &read_from, 1));
    NEED(cuMemsetD32(at, 99, 1));
    printf("it shows %u, access %llu\n", word_at(at + 2 * UNIT),
           asked(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at + 2 * UNIT));
    say("unmap two at once", cuMemUnmap(at, 2 * UNIT));
    printf("the second place shows %u\n", word_at(at + 2 * UNIT));
    NEED(cuMemUnmap(at + 2 * UNIT, UNIT));
    NEED(cuMemUnmap(at + 4 * UNIT, UNIT));
    NEED(cuMemRelease(a));
    NEED(cuMemRelease(b));
}

// ---- sharing
// -------------------------------------------------------------------------------------

static CUresult import_from(Memory *memory, int file)
{
    return cuMemImportFromShareableHandle(memory, (void *)(uintptr_t)file, BY_FILE);
}

static void exports(Memory a, Memory b, int *file)
{
    int other = -1;
    say("export", cuMemExportToShareableHandle(file, a, BY_FILE, 0));
    printf("a file: %d, closed when another program begins: %d\n", *file >= 0,
           (fcntl(*file, F_GETFD) & FD_CLOEXEC) != 0);
    say("export what may not be", cuMemExportToShareableHandle(&other, b, BY_FILE, 0));
    say("export with flags", cuMemExportToShareableHandle(&other, a, BY_FILE, 1));
    say("export as nothing", cuMemExportToShareableHandle(&other, a, CU_MEM_HANDLE_TYPE_NONE, 0));
    say("export for Windows", cuMemExportToShareableHandle(&other, a, CU_MEM_HANDLE_TYPE_WIN32, 0));
    say("export to nowhere", cuMemExportToShareableHandle(nullptr, a, BY_FILE, 0));
}

static void imports(CUdeviceptr at, Memory a, int file)
{
    Memory imported, again, wrong;
    CUmemAllocationProp of;
    int other = -1;
    const int null = open("/dev/null", O_RDWR);
    say("import", import_from(&imported, file));
    say("import again", import_from(&again, file));
    printf("handles: as exported %d, the same %d\n", imported == a, imported == again);
    say("import as nothing",
        cuMemImportFromShareableHandle(&wrong, (void *)(uintptr_t)file, CU_MEM_HANDLE_TYPE_NONE));
    say("import what is not open", import_from(&wrong, 1023));
    say("import -1", import_from(&wrong, -1));
    say("import another file", import_from(&wrong, null));
    say("import to nowhere", import_from(nullptr, file));
    say("properties", cuMemGetAllocationPropertiesFromHandle(&of, imported));
    printf("type %d, handles %d, location %d %d\n", of.type, of.requestedHandleTypes,
           of.location.type, of.location.id);
    say("export what was imported", cuMemExportToShareableHandle(&other, imported, BY_FILE, 0));
    say("map", cuMemMap(at + 6 * UNIT, UNIT, 0, imported, 0));
    NEED(cuMemSetAccess(at + 6 * UNIT, UNIT, &write_to, 1));
    printf("it shows %u\n", word_at(at + 6 * UNIT));
    NEED(cuMemUnmap(at + 6 * UNIT, UNIT));
    NEED(cuMemRelease(imported));
    NEED(cuMemRelease(again));
    close(null);
}

static void sharing(CUdeviceptr at)
{
    const Memory a = make(BY_FILE, UNIT), b = make(CU_MEM_HANDLE_TYPE_NONE, UNIT);
    int file = -1;
    NEED(cuMemMap(at, UNIT, 0, a, 0));
    NEED(cuMemSetAccess(at, UNIT, &write_to, 1));
    NEED(cuMemsetD32(at, 99, 4));
    exports(a, b, &file);
    imports(at, a, file);
    close(file);
    NEED(cuMemUnmap(at, UNIT));
    NEED(cuMemRelease(a));
    NEED(cuMemRelease(b));
}

int main()
{
    CUcontext context;
    CUdeviceptr at;
    NEED(cuInit(0));
    NEED(cuCtxCreate(&context, nullptr, 0, 0));
    NEED(cuMemAddressReserve(&at, 8 * UNIT, 0, 0, 0));
    refusals();
    access(at);
    addresses(at);
    sharing(at);
    NEED(cuMemAddressFree(at, 8 * UNIT));
    NEED(cuCtxDestroy(context));
    return 0;
}
