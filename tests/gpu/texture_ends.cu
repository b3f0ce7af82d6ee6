// Texture and surface objects that end while a kernel that was given them is still to read, asked
// of a GPU: whether the call waits for the kernel, what the kernel reads, also after others were
// made, and whether the end of the array waits. texture_ends.txt has an H200's answers.
//
//     nvcc -std=c++17 -arch=sm_90 -o texture_ends tests/gpu/texture_ends.cu -lcuda
//     ./texture_ends > tests/gpu/texture_ends.txt
#include "ask.cuh"

constexpr int SIDE = 4;

static volatile int *go;
static int *out;

__global__ void read_texture(volatile int *go, cudaTextureObject_t object, int *out)
{
    while (!*go) {
    }
    *out = tex2D<int>(object, 1.5f, 1.5f);
}

__global__ void read_surface(volatile int *go, cudaSurfaceObject_t object, int *out)
{
    while (!*go) {
    }
    *out = surf2Dread<int>(object, (int)sizeof(int), 1);
}

static cudaArray_t filled(int value)
{
    cudaArray_t array;
    int texels[SIDE * SIDE];
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
    for (int &texel : texels) texel = value;
    Q(cudaMallocArray(&array, &desc, SIDE, SIDE, cudaArraySurfaceLoadStore));
    Q(cudaMemcpy2DToArray(array, 0, 0, texels, SIDE * sizeof(int), SIDE * sizeof(int), SIDE,
                          cudaMemcpyHostToDevice));
    return array;
}

static unsigned long long object_of(cudaArray_t array, bool surface)
{
    unsigned long long object = 0;
    cudaTextureDesc sampling = {};
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    if (surface)
        Q(cudaCreateSurfaceObject(&object, &resource));
    else
        Q(cudaCreateTextureObject(&object, &resource, &sampling, nullptr));
    return object;
}

static void *let_go(void *)
{
    usleep(500000);
    *go = 1;
    return nullptr;
}

// `others`: how many objects are made behind the end. `frees`: the array is freed as well.
static void ask(bool surface, int others, bool frees)
{
    pthread_t thread;
    Q(cudaHostAlloc((void **)&go, sizeof *go, cudaHostAllocMapped));
    Q(cudaMalloc((void **)&out, sizeof *out));
    cudaArray_t array = filled(111), other = filled(222);
    const unsigned long long object = object_of(array, surface);
    for (int i = 0; i < 2; i++) { // the first loads the kernel
        *go = i == 0;
        if (surface)
            read_surface<<<1, 1>>>(go, object, out);
        else
            read_texture<<<1, 1>>>(go, object, out);
        if (i == 0) Q(cudaDeviceSynchronize());
    }
    pthread_create(&thread, nullptr, let_go, nullptr);
    if (surface)
        A(cudaDestroySurfaceObject(object));
    else
        A(cudaDestroyTextureObject(object));
    VL("the end waits", *go);
    for (int i = 0; i < others; i++) VL("the same", object_of(other, surface) == object);
    VL("to make others waits", *go);
    if (frees) {
        A(cudaFreeArray(array));
        VL("to free the array waits", *go);
    }
    pthread_join(thread, nullptr);
    A(cudaDeviceSynchronize());
    int value = 0;
    Q(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    VL("the kernel reads", value);
}

SECTION(texture)
{
    ask(false, 0, false);
}

SECTION(texture_among_others)
{
    ask(false, 3, false);
}

SECTION(texture_and_array)
{
    ask(false, 3, true);
}

SECTION(surface)
{
    ask(true, 0, false);
}

SECTION(surface_among_others)
{
    ask(true, 3, false);
}

SECTION(surface_and_array)
{
    ask(true, 3, true);
}
