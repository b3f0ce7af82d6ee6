// Right: Thrust transform_reduce, scans, set operations, fancy iterators, execution on a stream
// (synchronous and nosync).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <vector>

struct Square {
    __host__ __device__ double operator()(double x) const
    {
        return x * x;
    }
};

// Welford-style summary merged by a binary operator
struct Stats {
    double n, mean, m2, lo, hi;
};
struct ToStats {
    __host__ __device__ Stats operator()(double x) const
    {
        return Stats{1.0, x, 0.0, x, x};
    }
};
struct MergeStats {
    __host__ __device__ Stats operator()(const Stats &a, const Stats &b) const
    {
        double n = a.n + b.n;
        if (n == 0) return a;
        double d = b.mean - a.mean;
        return Stats{n, a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n,
                     a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    }
};
struct Fma3 {
    __host__ __device__ float operator()(const thrust::tuple<float, float, float> &t) const
    {
        return thrust::get<0>(t) * thrust::get<1>(t) + thrust::get<2>(t);
    }
};
struct Lcg {
    __host__ __device__ int operator()(unsigned i) const
    {
        unsigned x = i * 1664525u + 1013904223u;
        x ^= x >> 15;
        x *= 2246822519u;
        return (int)((x >> 8) % 4096u);
    }
};

static int failures = 0;
template <class V>
static void expect(const char *what, const thrust::device_vector<int> &d, const V &want)
{
    thrust::host_vector<int> got = d;
    if (got.size() != want.size() || !std::equal(want.begin(), want.end(), got.begin())) {
        printf("%s differs (%zu against %zu elements)\n", what, (size_t)got.size(),
               (size_t)want.size());
        ++failures;
    }
}

int main()
{
    const int n = 10007;

    // transform_reduce with doubles and a struct
    thrust::device_vector<double> x(n);
    std::vector<double> hx(n);
    for (int i = 0; i < n; ++i) hx[i] = std::sin(0.01 * i) * 10.0;
    thrust::copy(hx.begin(), hx.end(), x.begin());
    double ss = thrust::transform_reduce(x.begin(), x.end(), Square(), 0.0, thrust::plus<double>());
    Stats st = thrust::transform_reduce(x.begin(), x.end(), ToStats(),
                                        Stats{0, 0, 0, 1e300, -1e300}, MergeStats());
    double dot = thrust::inner_product(x.begin(), x.end() - 1, x.begin() + 1, 0.0);
    double rss = 0, rmean = 0, rdot = 0;
    for (int i = 0; i < n; ++i) {
        rss += hx[i] * hx[i];
        rmean += hx[i];
    }
    for (int i = 0; i + 1 < n; ++i) rdot += hx[i] * hx[i + 1];
    rmean /= n;
    double rvar = rss / n - rmean * rmean;
    if (std::fabs(ss - rss) > 1e-6 * rss || std::fabs(dot - rdot) > 1e-6 * std::fabs(rdot) ||
        std::fabs(st.mean - rmean) > 1e-8 || std::fabs(st.m2 / st.n - rvar) > 1e-6 ||
        st.lo != *std::min_element(hx.begin(), hx.end()) ||
        st.hi != *std::max_element(hx.begin(), hx.end())) {
        printf("statistics differ: ss %g/%g mean %g/%g var %g/%g\n", ss, rss, st.mean, rmean,
               st.m2 / st.n, rvar);
        ++failures;
    }

    // numbers made on the fly, scans
    auto gen = thrust::make_transform_iterator(thrust::make_counting_iterator(0u), Lcg());
    thrust::device_vector<int> a(gen, gen + n), inc(n), exc(n), segsum(n), seg(n);
    std::vector<int> ha(n), hi(n), he(n), hs(n), hseg(n);
    for (int i = 0; i < n; ++i) {
        ha[i] = Lcg()((unsigned)i);
        hseg[i] = i / 97;
    }
    thrust::copy(hseg.begin(), hseg.end(), seg.begin());
    int run = 0;
    for (int i = 0; i < n; ++i) {
        he[i] = run + 5;
        run += ha[i];
        hi[i] = run;
    }
    for (int i = 0; i < n; ++i) hs[i] = ha[i] + (i && hseg[i] == hseg[i - 1] ? hs[i - 1] : 0);
    thrust::inclusive_scan(a.begin(), a.end(), inc.begin());
    thrust::exclusive_scan(a.begin(), a.end(), exc.begin(), 5);
    thrust::inclusive_scan_by_key(seg.begin(), seg.end(), a.begin(), segsum.begin());
    expect("generated", a, ha);
    expect("inclusive_scan", inc, hi);
    expect("exclusive_scan", exc, he);
    expect("inclusive_scan_by_key", segsum, hs);

    // set operations over sorted sets on a stream of our own
    cudaStream_t s;
    cudaStreamCreate(&s);
    std::vector<int> A, B, r;
    for (int i = 0; i < 4000; ++i) {
        if (i % 3) A.push_back(i * 2);
        if (i % 5) B.push_back(i * 3);
    }
    thrust::device_vector<int> dA(A.begin(), A.end()), dB(B.begin(), B.end());
    auto pol = thrust::cuda::par.on(s);
    thrust::device_vector<int> out(A.size() + B.size());
    out.resize(
        thrust::set_intersection(pol, dA.begin(), dA.end(), dB.begin(), dB.end(), out.begin()) -
        out.begin());
    std::set_intersection(A.begin(), A.end(), B.begin(), B.end(), std::back_inserter(r));
    expect("set_intersection", out, r);
    out.resize(A.size() + B.size());
    r.clear();
    out.resize(thrust::set_union(pol, dA.begin(), dA.end(), dB.begin(), dB.end(), out.begin()) -
               out.begin());
    std::set_union(A.begin(), A.end(), B.begin(), B.end(), std::back_inserter(r));
    expect("set_union", out, r);
    out.resize(A.size() + B.size());
    r.clear();
    out.resize(
        thrust::set_difference(pol, dA.begin(), dA.end(), dB.begin(), dB.end(), out.begin()) -
        out.begin());
    std::set_difference(A.begin(), A.end(), B.begin(), B.end(), std::back_inserter(r));
    expect("set_difference", out, r);
    out.resize(A.size() + B.size());
    r.clear();
    thrust::merge(pol, dA.begin(), dA.end(), dB.begin(), dB.end(), out.begin());
    std::merge(A.begin(), A.end(), B.begin(), B.end(), std::back_inserter(r));
    expect("merge", out, r);

    // zip + permutation, no synchronisation until the explicit one
    thrust::host_vector<float> hp(2000), hq(2000), hres(2000);
    thrust::host_vector<int> perm(2000);
    for (int i = 0; i < 2000; ++i) {
        hp[i] = i * 0.5f;
        hq[i] = 3.0f - i;
        perm[i] = (i * 769) % 2000;
    }
    thrust::device_vector<float> p = hp, q = hq, res(2000);
    thrust::device_vector<int> dperm = perm;
    auto gathered = thrust::make_permutation_iterator(p.begin(), dperm.begin());
    auto first = thrust::make_zip_iterator(thrust::make_tuple(gathered, q.begin(), p.begin()));
    thrust::transform(thrust::cuda::par_nosync.on(s), first, first + 2000, res.begin(), Fma3());
    cudaStreamSynchronize(s);
    hres = res;
    for (int i = 0; i < 2000; ++i) {
        float want = hp[perm[i]] * hq[i] + hp[i];
        if (std::fabs(hres[i] - want) > 1e-3f * (1 + std::fabs(want))) {
            printf("fma3[%d] %f/%f\n", i, hres[i], want);
            ++failures;
            break;
        }
    }
    cudaStreamDestroy(s);
    if (failures) return printf("%d checks failed\n", failures), 1;
    printf("PASS\n");
    return 0;
}
