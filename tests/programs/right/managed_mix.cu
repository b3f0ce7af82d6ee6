// Right: a list in managed memory, managed variables, a file read into it, advice, prefetch,
// attachment to a stream.
#include "tests/programs/program.cuh"

#include <cstring>
#include <vector>
struct Node {
    int value;
    Node *next;
};
__managed__ int total;
__managed__ float table[16];
__global__ void walk(const Node *n)
{
    int s = 0;
    for (; n; n = n->next) s += n->value;
    total = s;
}
__global__ void twice(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}
__global__ void use(float *o)
{
    o[threadIdx.x] = table[threadIdx.x & 15] * 2;
}
int main()
{
    Node *head = nullptr;
    for (int i = 1; i <= 50; i++) {
        Node *n;
        CHECK(cudaMallocManaged(&n, sizeof *n));
        n->value = i;
        n->next = head;
        head = n;
    }
    walk<<<1, 1>>>(head);
    CHECK(cudaDeviceSynchronize());
    EXPECT(total == 1275);
    while (head) {
        Node *n = head->next;
        CHECK(cudaFree(head));
        head = n;
    }
    const int n = 70000;
    FILE *f = fopen("managed_mix.tmp", "w+b");
    EXPECT(f);
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = i;
    EXPECT(fwrite(v.data(), 4, n, f) == (size_t)n);
    rewind(f);
    int *a, *b;
    CHECK(cudaMallocManaged(&a, n * 4));
    CHECK(cudaMallocManaged(&b, n * 4, cudaMemAttachHost));
    EXPECT(fread(a, 4, n, f) == (size_t)n);
    fclose(f);
    remove("managed_mix.tmp");
    int dev = 0;
    cudaMemLocation loc = {cudaMemLocationTypeDevice, dev}, host = {cudaMemLocationTypeHost, 0};
    CHECK(cudaMemAdvise(a, n * 4, cudaMemAdviseSetReadMostly, loc));
    CHECK(cudaMemAdvise(a, n * 4, cudaMemAdviseUnsetReadMostly, loc));
    CHECK(cudaMemPrefetchAsync(a, n * 4, loc, 0, 0));
    twice<<<(n + 255) / 256, 256>>>(a, n);
    CHECK(cudaMemPrefetchAsync(a, n * 4, host, 0, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(a[i] == 2 * i);
    memset(b, 0, n * 4);
    for (int i = 0; i < n; i++) b[i] += i;
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamAttachMemAsync(s, b, 0, cudaMemAttachSingle));
    CHECK(cudaStreamSynchronize(s));
    twice<<<(n + 255) / 256, 256, 0, s>>>(b, n);
    CHECK(cudaStreamSynchronize(s));
    for (int i = 0; i < n; i++) EXPECT(b[i] == 2 * i);
    for (int i = 0; i < 16; i++) table[i] = i;
    float *o;
    CHECK(cudaMallocManaged(&o, 128));
    use<<<1, 32>>>(o);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) EXPECT(o[i] == 2.f * (i & 15));
    cudaPointerAttributes at;
    CHECK(cudaPointerGetAttributes(&at, a));
    EXPECT(at.type == cudaMemoryTypeManaged);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(o));
    CHECK(cudaStreamDestroy(s));
    puts("PASS");
    return 0;
}
