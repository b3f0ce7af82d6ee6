// Right: objects with virtual functions made by device new, recursion, function pointer tables, a
// tree from device malloc.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(x)                                                                                   \
    if (cudaError_t e = (x)) {                                                                     \
        fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e));                  \
        exit(1);                                                                                   \
    }

class Shape
{
  public:
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const
    {
        return 0;
    }
};

class Circle : public Shape
{
    float r;

  public:
    __device__ explicit Circle(float radius) : r(radius) {}
    __device__ float area() const override
    {
        return 3.14159265f * r * r;
    }
};

class Rect : public Shape
{
  protected:
    float w, h;

  public:
    __device__ Rect(float a, float b) : w(a), h(b) {}
    __device__ float area() const override
    {
        return w * h;
    }
    __device__ int corners() const override
    {
        return 4;
    }
};

class Box : public Rect
{
    float d;

  public:
    __device__ Box(float a, float b, float c) : Rect(a, b), d(c) {}
    __device__ float area() const override
    {
        return 2 * (w * h + w * d + h * d);
    }
    __device__ int corners() const override
    {
        return 2 * Rect::corners();
    }
};

__device__ unsigned destroyed;

__global__ void build(Shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = 1.0f + i % 5, b = 2.0f + i % 3;
    if (i % 3 == 0)
        shapes[i] = new Circle(a);
    else if (i % 3 == 1)
        shapes[i] = new Rect(a, b);
    else
        shapes[i] = new Box(a, b, 0.5f);
}

__global__ void measure(Shape **shapes, int n, float *area, int *corners)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && shapes[i]) {
        const Shape *s = shapes[(i * 7) % n];
        area[i] = s->area();
        corners[i] = s->corners();
    }
}

__global__ void tearDown(Shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !shapes[i]) return;
    delete shapes[i];
    shapes[i] = nullptr;
    atomicAdd(&destroyed, 1u);
}

// ---- recursion --------------------------------------------------------------
__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

struct TreeNode {
    int key;
    TreeNode *left, *right;
};

__device__ TreeNode *insert(TreeNode *t, int key)
{
    if (!t) {
        t = (TreeNode *)malloc(sizeof(TreeNode));
        if (t) {
            t->key = key;
            t->left = t->right = nullptr;
        }
        return t;
    }
    if (key < t->key)
        t->left = insert(t->left, key);
    else if (key > t->key)
        t->right = insert(t->right, key);
    return t;
}

__device__ int drain(TreeNode *t, int *out, int at)
{
    if (!t) return at;
    at = drain(t->left, out, at);
    out[at++] = t->key;
    at = drain(t->right, out, at);
    free(t);
    return at;
}

__global__ void treeSort(int *data, int *lens, int per, int *ack)
{
    int *mine = data + (blockIdx.x * blockDim.x + threadIdx.x) * per;
    TreeNode *root = nullptr;
    for (int i = 0; i < per; ++i) root = insert(root, mine[i]);
    lens[blockIdx.x * blockDim.x + threadIdx.x] = drain(root, mine, 0);
    if (threadIdx.x < 3 && blockIdx.x == 0) ack[threadIdx.x] = ackermann(2, threadIdx.x + 1);
}

// ---- function pointers --------------------------------------------------------
typedef float (*Op)(float, float);
__device__ float opAdd(float a, float b)
{
    return a + b;
}
__device__ float opMul(float a, float b)
{
    return a * b;
}
__device__ float opMax(float a, float b)
{
    return fmaxf(a, b);
}
__device__ Op table[3] = {opAdd, opMul, opMax};
__device__ Op chosen = opMul;

__global__ void applyOps(const float *a, const float *b, float *out, int n, Op extra)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = extra(table[i % 3](a[i], b[i]), 0.5f);
}

int main()
{
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    int bad = 0;

    const int n = 200;
    Shape **shapes;
    float *area;
    int *corners;
    CHECK(cudaMalloc(&shapes, n * sizeof(Shape *)));
    CHECK(cudaMalloc(&area, n * sizeof(float)));
    CHECK(cudaMalloc(&corners, n * sizeof(int)));
    build<<<4, 64>>>(shapes, n);
    measure<<<4, 64>>>(shapes, n, area, corners);
    tearDown<<<4, 64>>>(shapes, n);
    CHECK(cudaGetLastError());
    std::vector<float> ga(n);
    std::vector<int> gc(n);
    CHECK(cudaMemcpy(ga.data(), area, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(gc.data(), corners, n * sizeof(int), cudaMemcpyDeviceToHost));
    unsigned gone = 0;
    CHECK(cudaMemcpyFromSymbol(&gone, destroyed, sizeof(gone)));
    if (gone != (unsigned)n) {
        printf("%u objects destroyed\n", gone);
        ++bad;
    }
    for (int i = 0; i < n; ++i) {
        int k = (i * 7) % n;
        float a = 1.0f + k % 5, b = 2.0f + k % 3;
        float want = k % 3 == 0   ? 3.14159265f * a * a
                     : k % 3 == 1 ? a * b
                                  : 2 * (a * b + a * 0.5f + b * 0.5f);
        int wc = k % 3 == 0 ? 0 : k % 3 == 1 ? 4 : 8;
        if ((std::fabs(ga[i] - want) > 1e-4f * want || gc[i] != wc) && bad++ < 5)
            printf("shape %d: %f %d, expected %f %d\n", k, ga[i], gc[i], want, wc);
    }

    const int threads = 64, per = 24;
    std::vector<int> keys(threads * per), sorted(threads * per), lens(threads), ack(3);
    unsigned r = 5;
    for (int &k : keys) {
        r = r * 1103515245u + 12345u;
        k = (int)(r >> 16) % 40;
    }
    int *dk, *dl, *da;
    CHECK(cudaMalloc(&dk, keys.size() * sizeof(int)));
    CHECK(cudaMalloc(&dl, threads * sizeof(int)));
    CHECK(cudaMalloc(&da, 3 * sizeof(int)));
    CHECK(cudaMemcpy(dk, keys.data(), keys.size() * sizeof(int), cudaMemcpyHostToDevice));
    treeSort<<<2, 32>>>(dk, dl, per, da);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sorted.data(), dk, keys.size() * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(lens.data(), dl, threads * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(ack.data(), da, 3 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int t = 0; t < threads; ++t) {
        bool present[40] = {};
        for (int i = 0; i < per; ++i) present[keys[t * per + i]] = true;
        int at = 0;
        for (int k = 0; k < 40; ++k)
            if (present[k] && (at >= lens[t] || sorted[t * per + at++] != k)) {
                ++bad;
                printf("tree %d is wrong\n", t);
                break;
            }
        if (at != lens[t]) {
            ++bad;
            printf("tree %d has %d keys\n", t, lens[t]);
        }
    }
    for (int i = 0; i < 3; ++i)
        if (ack[i] != 2 * (i + 1) + 3) {
            printf("ackermann(2,%d) = %d\n", i + 1, ack[i]);
            ++bad;
        }

    Op extra;
    CHECK(cudaMemcpyFromSymbol(&extra, chosen, sizeof(extra)));
    std::vector<float> a(n), b(n), o(n);
    for (int i = 0; i < n; ++i) {
        a[i] = i * 0.25f;
        b[i] = 20.0f - i;
    }
    float *pa, *pb, *po;
    for (float **q : {&pa, &pb, &po}) CHECK(cudaMalloc(q, n * 4));
    CHECK(cudaMemcpy(pa, a.data(), n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(pb, b.data(), n * 4, cudaMemcpyHostToDevice));
    applyOps<<<2, 128>>>(pa, pb, po, n, extra);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(o.data(), po, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
        float w = 0.5f * (i % 3 == 0   ? a[i] + b[i]
                          : i % 3 == 1 ? a[i] * b[i]
                                       : std::fmax(a[i], b[i]));
        if (std::fabs(o[i] - w) > 1e-4f * (1 + std::fabs(w)) && bad++ < 9)
            printf("op %d: %f, expected %f\n", i, o[i], w);
    }
    for (void *p : {(void *)shapes, (void *)area, (void *)corners, (void *)dk, (void *)dl,
                    (void *)da, (void *)pa, (void *)pb, (void *)po})
        CHECK(cudaFree(p));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
