// Right: cudaHostRegister of mapped memory, device pointers with offsets,
// write-combined memory, threads.
#include "tests/programs/program.cuh"

#include <sys/mman.h>
#include <thread>
#include <vector>
__global__ void scale(float *p, int n, float f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= f;
}
int main()
{
    const int n = 1 << 14;
    size_t bytes = n * sizeof(float);
    float *m =
        (float *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(m != MAP_FAILED);
    for (int i = 0; i < n; i++) m[i] = i;
    CHECK(cudaHostRegister(m, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
    EXPECT(cudaHostRegister(m, bytes, 0) == cudaErrorHostMemoryAlreadyRegistered);
    cudaGetLastError();
    float *d;
    CHECK(cudaHostGetDevicePointer(&d, m + 1024, 0));
    scale<<<32, 128>>>(d, 4096, 2);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(m[i] == (i >= 1024 && i < 5120 ? 2.f * i : i));
    unsigned flags;
    float *w;
    CHECK(cudaHostAlloc(&w, bytes, cudaHostAllocWriteCombined | cudaHostAllocMapped));
    CHECK(cudaHostGetFlags(&flags, w));
    EXPECT(flags & cudaHostAllocWriteCombined);
    for (int i = 0; i < n; i++) w[i] = 1;
    std::vector<std::thread> team;
    for (int t = 0; t < 4; t++)
        team.emplace_back([=] {
            cudaStream_t s;
            CHECK(cudaStreamCreate(&s));
            float *q;
            CHECK(cudaHostGetDevicePointer(&q, w, 0));
            int part = n / 4;
            scale<<<(part + 127) / 128, 128, 0, s>>>(q + t * part, part, t + 1.f);
            CHECK(cudaStreamSynchronize(s));
            CHECK(cudaStreamDestroy(s));
        });
    for (auto &t : team) t.join();
    for (int i = 0; i < n; i++) EXPECT(w[i] == i / (n / 4) + 1);
    cudaPointerAttributes at;
    CHECK(cudaPointerGetAttributes(&at, m + 7));
    EXPECT(at.type == cudaMemoryTypeHost && at.hostPointer == m + 7);
    int x;
    CHECK(cudaPointerGetAttributes(&at, &x));
    EXPECT(at.type == cudaMemoryTypeUnregistered);
    CHECK(cudaHostUnregister(m));
    munmap(m, bytes);
    CHECK(cudaFreeHost(w));
    EXPECT(cudaHostUnregister(&x) == cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    puts("PASS");
    return 0;
}
