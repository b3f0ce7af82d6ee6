/* A program with nvcc's default, the static runtime; and, as PLUGIN, a library with one, which the
 * program loads. Adds two vectors. "leak" keeps one; "version" asks the runtime for its own. */
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

enum { N = 1000 };

__global__ void add(const float *a, const float *b, float *c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}

extern "C" int add_vectors(bool leak)
{
    float host[N], *a, *b, *c;
    int wrong = 0;
    for (int i = 0; i < N; i++) host[i] = (float)i;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMalloc(&c, sizeof host); /* here: leak */
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
    add<<<(N + 255) / 256, 256>>>(a, b, c);
    cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) wrong += host[i] != 2.0f * (float)i;
    cudaFree(a);
    cudaFree(b);
    if (!leak) cudaFree(c);
    return wrong;
}

#ifndef PLUGIN
int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "version") == 0) {
        int runtime = 0, driver = 0;
        cudaRuntimeGetVersion(&runtime);
        cudaDriverGetVersion(&driver);
        printf("%d %d\n", runtime, driver);
        return 0;
    }
    if (strcmp(what, "plugin") == 0) {
        void *library = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
        int (*of_plugin)(bool) =
            library != NULL ? (int (*)(bool))dlsym(library, "add_vectors") : NULL;
        if (of_plugin == NULL) return 3;
        printf("%s\n", of_plugin(false) == 0 ? "PASSED" : "FAILED");
        return dlclose(library);
    }
    printf("%s\n", add_vectors(strcmp(what, "leak") == 0) == 0 ? "PASSED" : "FAILED");
    return 0;
}
#endif
