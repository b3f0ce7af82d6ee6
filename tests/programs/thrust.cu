// Thrust, compiled from the toolkit's headers: vectors that own their memory, algorithms over them,
// in the default stream, in one's own, and without waiting.
#include "tests/programs/program.cuh"

#include <algorithm>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

static const int n = 3001;

static thrust::host_vector<int> some_values()
{
    thrust::host_vector<int> values(n);
    for (int i = 0; i < n; i++) values[i] = value_at(i);
    return values;
}

static bool is_sorted(const thrust::device_vector<int> &device)
{
    thrust::host_vector<int> values = device;
    return std::is_sorted(values.begin(), values.end());
}

static void sorts()
{
    thrust::device_vector<int> values = some_values();
    thrust::sort(values.begin(), values.end());
    EXPECT(is_sorted(values));

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    values = some_values();
    thrust::sort(thrust::cuda::par.on(stream), values.begin(), values.end());
    EXPECT(is_sorted(values));

    values = some_values();
    thrust::sort(thrust::cuda::par_nosync.on(stream), values.begin(), values.end());
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(is_sorted(values));
    CHECK(cudaStreamDestroy(stream));
}

struct Square {
    __host__ __device__ long long operator()(int x) const
    {
        return 1LL * x * x;
    }
};

static void reductions_and_scans()
{
    const thrust::host_vector<int> values = some_values();
    thrust::device_vector<int> device = values, scanned(n);
    long long squares = 0;
    for (int value : values) squares += 1LL * value * value;
    EXPECT(thrust::transform_reduce(device.begin(), device.end(), Square(), 0LL,
                                    thrust::plus<long long>()) == squares);
    thrust::inclusive_scan(device.begin(), device.end(), scanned.begin());
    thrust::host_vector<int> sums = scanned;
    for (int i = 0, sum = 0; i < n; i++) EXPECT(sums[i] == (sum += values[i]));
}

static void keys_and_values()
{
    const thrust::host_vector<int> values = some_values();
    thrust::device_vector<int> keys = values, places(n);
    thrust::sequence(places.begin(), places.end());
    thrust::sort_by_key(keys.begin(), keys.end(), places.begin());
    thrust::host_vector<int> order = places;
    for (int i = 1; i < n; i++) EXPECT(values[order[i - 1]] <= values[order[i]]);
}

int main(int argc, char **argv)
{
    static const Program programs[] = {{"sorts", sorts},
                                       {"reductions_and_scans", reductions_and_scans},
                                       {"keys_and_values", keys_and_values}};
    return run_programs(argc, argv, programs);
}
