// The algorithms of CUB, compiled from the toolkit's headers: by block and by device.
#include "tests/programs/program.cuh"

#include <algorithm>
#include <cub/cub.cuh>
#include <vector>

// Runs a device-wide algorithm in its two steps: how much room it needs, then the work.
template <typename Algorithm> static void run_on_device(Algorithm algorithm)
{
    size_t bytes = 0;
    void *room = nullptr;
    CHECK(algorithm(nullptr, bytes));
    CHECK(cudaMalloc(&room, bytes > 0 ? bytes : 1));
    CHECK(algorithm(room, bytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(room));
}

// Values in managed memory, which host and device both reach.
template <typename T> struct Values {
    T *data;
    int count;
    explicit Values(int n) : count(n)
    {
        CHECK(cudaMallocManaged(&data, n * sizeof(T)));
    }
    ~Values()
    {
        cudaFree(data);
    }
    T &operator[](int i)
    {
        return data[i];
    }
};

static const int n = 5003;

template <int threads> __global__ void block_algorithms(const int *in, int *out)
{
    using Load = cub::BlockLoad<int, threads, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, threads, 4, cub::BLOCK_STORE_TRANSPOSE>;
    using Scan = cub::BlockScan<int, threads>;
    using Sort = cub::BlockRadixSort<int, threads, 4>;
    using Reduce = cub::BlockReduce<int, threads>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
        typename Sort::TempStorage sort;
        typename Reduce::TempStorage reduce;
    } shared;
    int items[4];
    Load(shared.load).Load(in, items);
    __syncthreads();
    int sum = Reduce(shared.reduce).Sum(items);
    if (threadIdx.x == 0) out[2 * threads * 4] = sum;
    __syncthreads();
    Sort(shared.sort).Sort(items);
    __syncthreads();
    int sums[4];
    Scan(shared.scan).InclusiveSum(items, sums);
    __syncthreads();
    Store(shared.store).Store(out, items); // moves the items about
    __syncthreads();
    Store(shared.store).Store(out + threads * 4, sums);
}

static void block_wide()
{
    const int threads = 64, count = threads * 4;
    Values<int> in(count), out(2 * count + 1);
    std::vector<int> sorted(count);
    for (int i = 0; i < count; i++) sorted[i] = in[i] = value_at(i);
    block_algorithms<threads><<<1, threads>>>(in.data, out.data);
    CHECK(cudaDeviceSynchronize());
    std::sort(sorted.begin(), sorted.end());
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += sorted[i];
        EXPECT(out[i] == sorted[i] && out[count + i] == sum);
    }
    EXPECT(out[2 * count] == sum);
}

static void device_reduce()
{
    Values<int> in(n), sum(1), largest(1);
    int expected = 0, most = 0;
    for (int i = 0; i < n; i++) {
        expected += in[i] = value_at(i);
        if (in[i] > in[most]) most = i;
    }
    run_on_device([&](void *room, size_t &bytes) {
        return cub::DeviceReduce::Sum(room, bytes, in.data, sum.data, n);
    });
    run_on_device([&](void *room, size_t &bytes) {
        return cub::DeviceReduce::Max(room, bytes, in.data, largest.data, n);
    });
    EXPECT(sum[0] == expected && largest[0] == in[most]);
}

static void device_scan()
{
    Values<int> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = value_at(i);
    run_on_device([&](void *room, size_t &bytes) {
        return cub::DeviceScan::ExclusiveSum(room, bytes, in.data, out.data, n);
    });
    for (int i = 0, sum = 0; i < n; sum += in[i++]) EXPECT(out[i] == sum);
}

static void device_sort()
{
    Values<unsigned> keys(n), sorted(n);
    Values<int> values(n), carried(n);
    for (int i = 0; i < n; i++) keys[i] = static_cast<unsigned>(value_at(i)), values[i] = i;
    run_on_device([&](void *room, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(room, bytes, keys.data, sorted.data, values.data,
                                               carried.data, n);
    });
    for (int i = 0; i < n; i++) {
        EXPECT(sorted[i] == keys[carried[i]]);
        EXPECT(i == 0 || sorted[i - 1] < sorted[i] ||
               (sorted[i - 1] == sorted[i] && carried[i - 1] < carried[i])); // stable
    }
}

struct IsEven {
    __host__ __device__ bool operator()(int x) const
    {
        return x % 2 == 0;
    }
};

static void device_select()
{
    Values<int> in(n), out(n), count(1);
    for (int i = 0; i < n; i++) in[i] = value_at(i);
    run_on_device([&](void *room, size_t &bytes) {
        return cub::DeviceSelect::If(room, bytes, in.data, out.data, count.data, n, IsEven());
    });
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (in[i] % 2 == 0) EXPECT(out[kept++] == in[i]);
    EXPECT(count[0] == kept);
}

static void device_histogram()
{
    const int bins = 16;
    Values<float> in(n);
    Values<int> histogram(bins);
    int expected[bins] = {};
    for (int i = 0; i < n; i++) {
        int bin = i * i % 23 % bins;
        in[i] = static_cast<float>(bin) + 0.5f;
        expected[bin]++;
    }
    run_on_device([&](void *room, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(room, bytes, in.data, histogram.data, bins + 1,
                                                   0.0f, static_cast<float>(bins), n);
    });
    for (int b = 0; b < bins; b++) EXPECT(histogram[b] == expected[b]);
}

static void device_run_length()
{
    Values<int> in(n), unique(n), lengths(n), runs(1);
    for (int i = 0, value = 0, left = 1; i < n; i++) {
        if (left-- == 0) value++, left = value % 7;
        in[i] = value;
    }
    run_on_device([&](void *room, size_t &bytes) {
        return cub::DeviceRunLengthEncode::Encode(room, bytes, in.data, unique.data, lengths.data,
                                                  runs.data, n);
    });
    int at = 0;
    for (int r = 0; r < runs[0]; r++) {
        EXPECT(in[at] == unique[r] && (at == 0 || in[at - 1] != unique[r]));
        for (int k = 0; k < lengths[r]; k++) EXPECT(in[at++] == unique[r]);
    }
    EXPECT(at == n);
}

int main(int argc, char **argv)
{
    static const Program programs[] = {{"block_wide", block_wide},
                                       {"device_reduce", device_reduce},
                                       {"device_scan", device_scan},
                                       {"device_sort", device_sort},
                                       {"device_select", device_select},
                                       {"device_histogram", device_histogram},
                                       {"device_run_length", device_run_length}};
    return run_programs(argc, argv, programs);
}
