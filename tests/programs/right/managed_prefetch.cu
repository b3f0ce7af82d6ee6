// Right: managed memory: prefetch and advice where supported, a linked structure, a __managed__
// variable, stream attachment.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <new>

inline cudaError_t checkCuda(cudaError_t result, int line)
{
    if (result != cudaSuccess) {
        fprintf(stderr, "CUDA Runtime Error (line %d): %s\n", line, cudaGetErrorString(result));
        exit(1);
    }
    return result;
}
#define CK(x) checkCuda((x), __LINE__)

__managed__ unsigned long long visited;
__managed__ int thresholdDegree = 3;

class Managed
{
  public:
    void *operator new(size_t len)
    {
        void *p;
        CK(cudaMallocManaged(&p, len));
        CK(cudaDeviceSynchronize());
        return p;
    }
    void operator delete(void *p)
    {
        CK(cudaDeviceSynchronize());
        CK(cudaFree(p));
    }
};

struct Node : public Managed {
    int key;
    int children;
    double weight;
    Node *next;
};

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void walkLists(Node **heads, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long seen = 0;
    for (Node *p = heads[i]; p; p = p->next) {
        if (p->children >= thresholdDegree) p->weight *= 2.0;
        p->key += i;
        ++seen;
    }
    atomicAdd(&visited, seen);
}

__global__ void square(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = v[i] * v[i];
}

int main()
{
    int dev = 0, concurrent = 0, managed = 0;
    CK(cudaGetDevice(&dev));
    CK(cudaDeviceGetAttribute(&managed, cudaDevAttrManagedMemory, dev));
    CK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, dev));
    if (!managed) {
        printf("no managed memory\nPASS\n");
        return 0;
    }
    int bad = 0;

    // arrays, moved ahead of their use
    const int n = 20000;
    float *x, *y;
    CK(cudaMallocManaged(&x, n * sizeof(float)));
    CK(cudaMallocManaged(&y, n * sizeof(float)));
    for (int i = 0; i < n; ++i) {
        x[i] = 1.0f * (i % 17);
        y[i] = 2.0f;
    }
    cudaMemLocation onGpu = {}, onCpu = {};
    onGpu.type = cudaMemLocationTypeDevice;
    onGpu.id = dev;
    onCpu.type = cudaMemLocationTypeHost;
    if (concurrent) {
        CK(cudaMemAdvise(x, n * sizeof(float), cudaMemAdviseSetReadMostly, onGpu));
        CK(cudaMemPrefetchAsync(x, n * sizeof(float), onGpu, 0, 0));
        CK(cudaMemPrefetchAsync(y, n * sizeof(float), onGpu, 0, 0));
    }
    for (int rep = 0; rep < 3; ++rep) {
        saxpy<<<16, 256>>>(n, 1.5f, x, y);
        CK(cudaGetLastError());
        if (concurrent && rep == 2) CK(cudaMemPrefetchAsync(y, n * sizeof(float), onCpu, 0, 0));
        CK(cudaDeviceSynchronize());
        float want0 = 2.0f, want16 = 2.0f + (rep + 1) * 24.0f;
        if ((y[0] != want0 || std::fabs(y[16] - want16) > 1e-4f) && bad++ < 5)
            printf("rep %d: %f %f\n", rep, y[0], y[16]);
    }
    for (int i = 0; i < n; ++i)
        if (std::fabs(y[i] - (2.0f + 4.5f * (i % 17))) > 1e-3f && bad++ < 5)
            printf("y[%d] = %f\n", i, y[i]);

    // lists built by the host, changed by the device, read by the host
    const int lists = 40;
    Node **heads;
    CK(cudaMallocManaged(&heads, lists * sizeof(Node *)));
    unsigned long long total = 0;
    for (int i = 0; i < lists; ++i) {
        heads[i] = nullptr;
        for (int k = 0; k <= i % 5; ++k) {
            Node *p = new Node;
            p->key = k * 100;
            p->children = k;
            p->weight = 1.0 + k;
            p->next = heads[i];
            heads[i] = p;
            ++total;
        }
    }
    visited = 0;
    thresholdDegree = 2;
    walkLists<<<2, 32>>>(heads, lists);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    if (visited != total) {
        printf("visited %llu of %llu\n", (unsigned long long)visited, total);
        ++bad;
    }
    for (int i = 0; i < lists; ++i) {
        Node *p = heads[i];
        for (int k = i % 5; k >= 0; --k) {
            double w = (1.0 + k) * (k >= 2 ? 2.0 : 1.0);
            if (!p || p->key != k * 100 + i || p->weight != w) {
                printf("list %d broken at %d\n", i, k);
                ++bad;
                break;
            }
            Node *next = p->next;
            delete p;
            p = next;
        }
    }

    // two streams, each owning its buffer: the host may fill B while the kernel works on A
    cudaStream_t sa, sb;
    CK(cudaStreamCreate(&sa));
    CK(cudaStreamCreate(&sb));
    const int m = 4096;
    float *A, *B;
    CK(cudaMallocManaged(&A, m * sizeof(float), cudaMemAttachHost));
    CK(cudaMallocManaged(&B, m * sizeof(float), cudaMemAttachHost));
    CK(cudaStreamAttachMemAsync(sa, A, 0, cudaMemAttachSingle));
    CK(cudaStreamAttachMemAsync(sb, B, 0, cudaMemAttachSingle));
    CK(cudaStreamSynchronize(sa));
    CK(cudaStreamSynchronize(sb));
    for (int i = 0; i < m; ++i) A[i] = (float)i;
    square<<<m / 256, 256, 0, sa>>>(A, m);
    CK(cudaGetLastError());
    for (int i = 0; i < m; ++i) B[i] = (float)-i; // sb is idle
    square<<<m / 256, 256, 0, sb>>>(B, m);
    CK(cudaGetLastError());
    CK(cudaStreamSynchronize(sa));
    for (int i = 0; i < m; ++i)
        if (A[i] != (float)i * i && bad++ < 9) printf("A[%d] = %f\n", i, A[i]);
    CK(cudaStreamSynchronize(sb));
    for (int i = 0; i < m; ++i)
        if (B[i] != (float)i * i && bad++ < 9) printf("B[%d] = %f\n", i, B[i]);

    CK(cudaStreamDestroy(sa));
    CK(cudaStreamDestroy(sb));
    CK(cudaFree(x));
    CK(cudaFree(y));
    CK(cudaFree(A));
    CK(cudaFree(B));
    CK(cudaFree(heads));
    if (bad) {
        printf("%d problems\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
