// Textures and surfaces, by the objects of the runtime API.
#include <cuda_runtime.h>

__global__ void fetch(cudaTextureObject_t t, float *o, float4 *o4, uchar4 *bytes, short2 *pairs,
                      int *i)
{
    float x = o[0], y = o[1], z = o[2];
    int at = threadIdx.x;
    bool resident;
    o[3] = tex1Dfetch<float>(t, at);
    o4[0] = tex1Dfetch<float4>(t, at);
    bytes[0] = tex1Dfetch<uchar4>(t, at);
    pairs[1] = tex1Dfetch<short2>(t, at);
    o[4] = tex1D<float>(t, x);
    o[5] = tex2D<float>(t, x, y);
    bytes[3] = tex2D<uchar4>(t, x, y);
    o[6] = tex3D<float>(t, x, y, z);
    i[7] = tex2D<int>(t, x, y);
    o[7] = tex1DLayered<float>(t, x, at);
    o4[8] = tex2DLayered<float4>(t, x, y, at);
    o4[9] = tex2Dgather<float4>(t, x, y, 1);
    o[10] = tex2DLod<float>(t, x, y, z);
    o[11] = tex2DGrad<float>(t, x, y, make_float2(x, y), make_float2(x, y));
    o[12] = texCubemap<float>(t, x, y, z);
    o[13] = tex2D<float>(t, x, y, &resident);
    i[0] = resident;
}

__global__ void surface(cudaSurfaceObject_t s, float4 *o4, uchar4 *bytes, short2 *pairs, int *i,
                        unsigned char *byte, unsigned long long *wide)
{
    int at = threadIdx.x, w;
    byte[0] = surf1Dread<unsigned char>(s, at);
    i[1] = surf1Dread<int>(s, at * 4, cudaBoundaryModeZero);
    o4[1] = surf2Dread<float4>(s, at * 16, at, cudaBoundaryModeClamp);
    wide[0] = surf2Dread<unsigned long long>(s, at * 8, at);
    pairs[0] = surf2Dread<short2>(s, at * 4, at);
    i[7] = surf3Dread<int>(s, at, at, at);
    i[8] = surf2DLayeredread<int>(s, at, at, at);
    i[9] = surf1DLayeredread<int>(s, at, at);
    surf1Dwrite(byte[1], s, at);
    surf2Dwrite(o4[3], s, at * 16, at, cudaBoundaryModeClamp);
    surf2Dwrite(i[4], s, at * 4, at, cudaBoundaryModeZero);
    surf3Dwrite(i[4], s, at * 4, at, at);
    surf2DLayeredwrite(i[8], s, at, at, at);
    surf1DLayeredwrite(i[8], s, at, at);
    surf2Dwrite(wide[1], s, at, at);
    surf2Dwrite(pairs[1], s, at, at);
    surf2Dwrite(bytes[1], s, at, at);
    asm volatile("suq.height.b32 %0, [%1];" : "=r"(w) : "l"(s));
    i[10] = w;
}

__global__ void query(cudaTextureObject_t t, int *i)
{
    int w;
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t));
    i[0] = w;
}
