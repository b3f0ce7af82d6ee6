// Textures of two dimensions that are read with one coordinate, as a row of them: with and without
// a filter, in each way of addressing. texture_rows.txt has an H200's answers.
//
//     nvcc -std=c++17 -arch=sm_90 -o texture_rows tests/gpu/texture_rows.cu -lcuda
//     ./texture_rows > tests/gpu/texture_rows.txt
#include "ask.cuh"

constexpr int WIDTH = 4, MOST = 3, SAMPLES = 21;

__global__ void sample(cudaTextureObject_t texture, const float *at, float *out)
{
    out[threadIdx.x] = tex1D<float>(texture, at[threadIdx.x]);
}

static float *at, *out;

static void show(const char *name, cudaArray_t array, const cudaTextureDesc &sampling)
{
    cudaTextureObject_t texture = 0;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaError_t made = cudaCreateTextureObject(&texture, &resource, &sampling, nullptr);
    if (made != cudaSuccess) return answer(name, made);
    char line[SAMPLES * 16] = "";
    sample<<<1, SAMPLES>>>(texture, at, out);
    Q(cudaDeviceSynchronize());
    for (int i = 0; i < SAMPLES; i++) sprintf(line + strlen(line), " %g", out[i]);
    say("%s:%s", name, line);
    Q(cudaDestroyTextureObject(texture));
}

SECTION(rows)
{
    float texels[MOST * WIDTH];
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    Q(cudaMallocManaged(&at, SAMPLES * sizeof *at));
    Q(cudaMallocManaged(&out, SAMPLES * sizeof *out));
    for (int i = 0; i < MOST * WIDTH; i++) texels[i] = (float)(i * i + 1);
    for (int height = 1; height <= MOST; height++) {
        cudaArray_t array;
        const size_t pitch = WIDTH * sizeof(float);
        Q(cudaMallocArray(&array, &desc, WIDTH, height));
        Q(cudaMemcpy2DToArray(array, 0, 0, texels, pitch, pitch, height, cudaMemcpyHostToDevice));
        for (int mode = 0; mode < 4; mode++)
            for (const bool linear : {false, true})
                for (const bool normalized : {false, true}) {
                    char name[64];
                    cudaTextureDesc sampling = {};
                    for (cudaTextureAddressMode &each : sampling.addressMode)
                        each = (cudaTextureAddressMode)mode;
                    sampling.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
                    sampling.normalizedCoords = normalized;
                    sampling.borderColor[0] = 1000;
                    for (int i = 0; i < SAMPLES; i++)
                        at[i] = (float)(i - 6) * 0.375f / (normalized ? WIDTH : 1);
                    snprintf(name, sizeof name, "%d high, mode %d, %s, %s", height, mode,
                             linear ? "linear" : "nearest", normalized ? "normalised" : "texels");
                    show(name, array, sampling);
                }
        Q(cudaFreeArray(array));
    }
}
