// Instructions for shared memory that are given a generic address, as inline PTX often does, asked
// of an H200: PTX does not define them. What a GPU does is to take the address's low half, the
// offset.
//
//     nvcc -std=c++17 -arch=sm_90 -o generic_shared tests/gpu/generic_shared.cu -lcuda
//     ./generic_shared >tests/gpu/generic_shared.txt
#include "gpu.cuh"

__global__ void ask(unsigned *out)
{
    __shared__ unsigned words[4];
    unsigned old;
    for (unsigned k = 0; k < 4; k++) words[k] = 10 + k;
    asm volatile("st.shared.u32 [%0], 77;" ::"l"(&words[1]) : "memory");
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(out[0]) : "l"(&words[1]) : "memory");
    asm volatile("ld.shared.u32 %0, [%1+4];" : "=r"(out[1]) : "l"(&words[1]) : "memory");
    asm volatile("atom.shared.add.u32 %0, [%1], 5;" : "=r"(old) : "l"(&words[3]) : "memory");
    asm volatile("red.shared.max.u32 [%0], 99;" ::"l"(&words[0]) : "memory");
    asm volatile("atom.shared.cas.b32 %0, [%1], 12, 1000;"
                 : "=r"(out[2])
                 : "l"(&words[2])
                 : "memory");
    out[3] = old;
    for (unsigned k = 0; k < 4; k++) out[4 + k] = words[k];
}

int main()
{
    enum { WORDS = 8 };
    unsigned *out, words[WORDS];
    CHECK(cudaMalloc(&out, sizeof words));
    ask<<<1, 1>>>(out);
    CHECK(cudaMemcpy(words, out, sizeof words, cudaMemcpyDeviceToHost));
    for (unsigned k = 0; k < WORDS; k++) printf("word %u: %u\n", k, words[k]);
    CHECK(cudaFree(out));
    return 0;
}
