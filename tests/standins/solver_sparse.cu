// The stand-in for cuSOLVER solves sparse systems. Runs on a GPU with NVIDIA's library as well.
// Prints "all right", or what is not so.
#define DISABLE_CUSOLVER_DEPRECATED // all of it is, and still used
#include "sparse.cuh"

#include <cusolverSp.h>

int failures;
static cusolverSpHandle_t handle;

template <class T> struct Calls;
#define CALLS(T, L)                                                                                \
    template <> struct Calls<T> {                                                                  \
        static constexpr auto qr = cusolverSp##L##csrlsvqr;                                        \
        static constexpr auto cholesky = cusolverSp##L##csrlsvchol;                                \
    }
CALLS(float, S);
CALLS(double, D);
CALLS(cuComplex, C);
CALLS(cuDoubleComplex, Z);

// Solves A X = B for an X that is known. `positive`: A is positive definite, for Cholesky.
template <class T> static void solve(bool positive, int base)
{
    enum { N = 45 };
    Table table = some<T>(N, N, 6);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i && positive; j++) table[i][j] = std::conj(table[j][i]);
        table[i][i] = Wide(60 + i % 3, 0);
    }
    Sparse<T, int> a(table, CUSPARSE_FORMAT_CSR, base);
    Vector<T> x(N), b(N);
    for (int i = 0; i < N; i++) {
        Wide sum = 0;
        for (int k = 0; k < N; k++) sum += table[i][k] * x(k, 0);
        b(i, 0) = sum;
    }
    b.send();
    CHECK_STATUS(cudaMemset(x.device, 0, N * sizeof(T)));
    CHECK_STATUS(cudaDeviceSynchronize());
    cusparseMatDescr_t description;
    CHECK_STATUS(cusparseCreateMatDescr(&description));
    CHECK_STATUS(cusparseSetMatIndexBase(description, (cusparseIndexBase_t)base));
    int singularity = 7;
    CHECK_STATUS((positive ? Calls<T>::cholesky : Calls<T>::qr)(
        handle, N, a.entries.count(), description, a.values.device, a.starts.device,
        a.places.device, b.device, 1e-9, 0, x.device, &singularity));
    const bool is_single = sizeof(T) == sizeof(float) || std::is_same<T, cuComplex>::value;
    check(singularity == -1 && x.is_there(is_single ? 1e-5 : 1e-12),
          positive ? "csrlsvchol" : "csrlsvqr", Type<T>::name);
    CHECK_STATUS(cusparseDestroyMatDescr(description));
}

// A row without entries leaves a pivot out.
static void singular()
{
    const Table table = {{2, 1, 0}, {0, 0, 0}, {1, 0, 3}};
    Sparse<double, int> a(table, CUSPARSE_FORMAT_CSR, 0);
    Vector<double> x(3), b(3);
    cusparseMatDescr_t description;
    int singularity = 7;
    CHECK_STATUS(cudaDeviceSynchronize());
    CHECK_STATUS(cusparseCreateMatDescr(&description));
    CHECK_STATUS(cusolverSpDcsrlsvqr(handle, 3, a.entries.count(), description, a.values.device,
                                     a.starts.device, a.places.device, b.device, 1e-9, 0, x.device,
                                     &singularity));
    check(singularity >= 0 && singularity < 3, "csrlsvqr of a singular matrix", "double");
    CHECK_STATUS(cusparseDestroyMatDescr(description));
}

template <class T> static void of_type()
{
    for (int base : {0, 1}) {
        solve<T>(false, base);
        solve<T>(true, base);
    }
}

int main()
{
    CHECK_STATUS(cusolverSpCreate(&handle));
    of_type<float>();
    of_type<double>();
    of_type<cuComplex>();
    of_type<cuDoubleComplex>();
    singular();
    CHECK_STATUS(cusolverSpDestroy(handle));
    return finish();
}
