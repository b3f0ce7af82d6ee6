// Right: Thrust sort, sort_by_key, stable_sort with a comparator, unique, reduce_by_key,
// lower_bound.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
#include <vector>

struct Particle {
    int cell;
    float energy;
};

struct ByCellThenEnergy {
    __host__ __device__ bool operator()(const Particle &a, const Particle &b) const
    {
        if (a.cell != b.cell) return a.cell < b.cell;
        return a.energy > b.energy;
    }
};

struct IsEven {
    __host__ __device__ bool operator()(int v) const
    {
        return (v & 1) == 0;
    }
};

template <class A, class B> static bool same(const char *name, const A &got, const B &want)
{
    if (got.size() != want.size()) {
        printf("%s: %zu elements, expected %zu\n", name, (size_t)got.size(), (size_t)want.size());
        return false;
    }
    for (size_t i = 0; i < want.size(); ++i)
        if (!(got[i] == want[i])) {
            printf("%s: first difference at %zu\n", name, i);
            return false;
        }
    return true;
}

int main()
{
    const int n = 12345;
    std::mt19937 gen(20240517);
    std::uniform_int_distribution<int> dist(-3000, 3000);
    std::vector<int> h(n);
    for (int &v : h) v = dist(gen);
    bool ok = true;

    // plain sort and descending sort
    {
        thrust::device_vector<int> d(h.begin(), h.end());
        std::vector<int> ref = h;
        std::sort(ref.begin(), ref.end());
        thrust::sort(d.begin(), d.end());
        thrust::host_vector<int> back = d;
        ok &= same("sort", back, ref);

        thrust::sort(d.begin(), d.end(), thrust::greater<int>());
        std::reverse(ref.begin(), ref.end());
        back = d;
        ok &= same("sort descending", back, ref);
    }

    // stable sort by key carries the index along
    {
        thrust::device_vector<int> keys(h.begin(), h.end());
        thrust::device_vector<int> idx(n);
        thrust::sequence(idx.begin(), idx.end());
        thrust::stable_sort_by_key(keys.begin(), keys.end(), idx.begin());
        std::vector<int> ref(n);
        std::iota(ref.begin(), ref.end(), 0);
        std::stable_sort(ref.begin(), ref.end(), [&](int a, int b) { return h[a] < h[b]; });
        thrust::host_vector<int> back = idx;
        ok &= same("stable_sort_by_key", back, ref);
    }

    // word-count style: sort, reduce_by_key, lookup
    {
        thrust::device_vector<int> d(h.begin(), h.end());
        thrust::sort(d.begin(), d.end());
        thrust::device_vector<int> keys(n), counts(n);
        auto ends = thrust::reduce_by_key(d.begin(), d.end(), thrust::constant_iterator<int>(1),
                                          keys.begin(), counts.begin());
        size_t distinct = ends.first - keys.begin();
        keys.resize(distinct);
        counts.resize(distinct);
        std::map<int, int> ref;
        for (int v : h) ++ref[v];
        std::vector<int> rk, rc;
        for (auto &kv : ref) {
            rk.push_back(kv.first);
            rc.push_back(kv.second);
        }
        thrust::host_vector<int> bk = keys, bc = counts;
        ok &= same("reduce_by_key keys", bk, rk);
        ok &= same("reduce_by_key counts", bc, rc);

        auto last = thrust::unique(d.begin(), d.end());
        d.erase(last, d.end());
        thrust::host_vector<int> bu = d;
        ok &= same("unique", bu, rk);

        std::vector<int> probes = {-4000, -3000, -17, 0, 1, 999, 2999, 4000};
        thrust::device_vector<int> dp(probes.begin(), probes.end()), where(probes.size());
        thrust::lower_bound(d.begin(), d.end(), dp.begin(), dp.end(), where.begin());
        std::vector<int> rw;
        for (int p : probes)
            rw.push_back((int)(std::lower_bound(rk.begin(), rk.end(), p) - rk.begin()));
        thrust::host_vector<int> bw = where;
        ok &= same("lower_bound", bw, rw);
    }

    // comparison sort of structs
    {
        std::vector<Particle> p(3000);
        for (size_t i = 0; i < p.size(); ++i) p[i] = {(int)(gen() % 50), (float)(gen() % 100000)};
        thrust::device_vector<Particle> d(p.begin(), p.end());
        thrust::stable_sort(d.begin(), d.end(), ByCellThenEnergy());
        std::stable_sort(p.begin(), p.end(), ByCellThenEnergy());
        thrust::host_vector<Particle> back = d;
        for (size_t i = 0; i < p.size(); ++i)
            if (back[i].cell != p[i].cell || back[i].energy != p[i].energy) {
                printf("struct sort: first difference at %zu\n", i);
                ok = false;
                break;
            }
    }

    // reductions
    {
        thrust::device_vector<int> d(h.begin(), h.end());
        long long sum = thrust::reduce(d.begin(), d.end(), 0LL, thrust::plus<long long>());
        int top = thrust::reduce(d.begin(), d.end(), -100000, thrust::maximum<int>());
        long evens = thrust::count_if(d.begin(), d.end(), IsEven());
        long long rsum = std::accumulate(h.begin(), h.end(), 0LL);
        int rtop = *std::max_element(h.begin(), h.end());
        long revens = std::count_if(h.begin(), h.end(), IsEven());
        if (sum != rsum || top != rtop || evens != revens) {
            printf("reduce: %lld/%lld %d/%d %ld/%ld\n", sum, rsum, top, rtop, evens, revens);
            ok = false;
        }
    }
    puts(ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
