// Virtual functions of objects made in a kernel; lambdas composed on the host.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

class Shape
{
  public:
    __device__ virtual ~Shape() {}

    __device__ virtual float area() const = 0;

    __device__ virtual const char *name() const
    {
        return "shape";
    }
};

class Circle : public Shape
{
    float r;

  public:
    __device__ Circle(float r) : r(r) {}

    __device__ float area() const override
    {
        return 3.0f * r * r;
    }
};

class Rect : public Shape
{
  protected:
    float a, b;

  public:
    __device__ Rect(float a, float b) : a(a), b(b) {}

    __device__ float area() const override
    {
        return a * b;
    }

    __device__ const char *name() const override
    {
        return "rect";
    }
};

class Square final : public Rect
{
  public:
    __device__ Square(float s) : Rect(s, s) {}

    __device__ const char *name() const override
    {
        return "square";
    }
};

__global__ void build(Shape **s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) switch (i % 3) {
        case 0:
            s[i] = new Circle(i);
            break;
        case 1:
            s[i] = new Rect(i, 2);
            break;
        default:
            s[i] = new Square(i);
        }
}

__global__ void areas(Shape **s, float *o, int *len, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        o[i] = s[i]->area();
        int k = 0;
        for (const char *p = s[i]->name(); *p; p++) k++;
        len[i] = k;
    }
}

__global__ void destroy(Shape **s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) delete s[i];
}

template <class F> __global__ void for_each(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}

template <class F, class G> struct Composed {
    F f;
    G g;

    template <class X> __host__ __device__ auto operator()(X x) const
    {
        return f(g(x));
    }
};

template <class F, class G> Composed<F, G> compose(F f, G g)
{
    return {f, g};
}

int main()
{
    const int n = 200;
    Shape **s;
    float *o;
    int *l;
    cudaMalloc(&s, n * sizeof(Shape *));
    cudaMallocManaged(&o, n * 4);
    cudaMallocManaged(&l, n * 4);
    build<<<2, 100>>>(s, n);
    areas<<<2, 100>>>(s, o, l, n);
    destroy<<<2, 100>>>(s, n);
    if (cudaDeviceSynchronize()) return 1;
    int bad = 0;
    for (int i = 0; i < n; i++) {
        float w = i % 3 == 0 ? 3.f * i * i : i % 3 == 1 ? 2.f * i : (float)i * i;
        bad += o[i] != w || l[i] != (i % 3 == 0 ? 5 : i % 3 == 1 ? 4 : 6);
    }
    int base = 5;
    auto sq = [] __host__ __device__(int x) { return x * x; };
    auto add = [base] __host__ __device__(int x) { return x + base; };
    auto c = compose(sq, add);
    for_each<<<3, 64>>>(n, [=] __device__(int i) { o[i] = c(i); });
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) bad += o[i] != c(i);
    cudaFree(s);
    cudaFree(o);
    cudaFree(l);
    printf("%d\n", bad);
    return bad;
}
