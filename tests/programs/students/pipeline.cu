// Frames through three stages: a reader thread fills pinned buffers, workers with their own streams
// filter them on the GPU, host functions hand them on to a writer.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static const int WIDTH = 64, HEIGHT = 48, PIXELS = WIDTH * HEIGHT, FRAMES = 14, WORKERS = 3;

static void throw_on_error(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

struct CudaFree {
    void operator()(void *p) const
    {
        cudaFree(p);
    }
};
struct CudaFreeHost {
    void operator()(void *p) const
    {
        cudaFreeHost(p);
    }
};
template <typename T> using device_ptr = std::unique_ptr<T[], CudaFree>;
template <typename T> using pinned_ptr = std::unique_ptr<T[], CudaFreeHost>;

template <typename T> device_ptr<T> make_device(size_t n)
{
    T *p;
    throw_on_error(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
    return device_ptr<T>(p);
}
template <typename T> pinned_ptr<T> make_pinned(size_t n)
{
    T *p;
    throw_on_error(cudaMallocHost(&p, n * sizeof(T)), "cudaMallocHost");
    return pinned_ptr<T>(p);
}

template <typename T> class Channel
{
  public:
    void put(T value)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        queue_.push_back(std::move(value));
        changed_.notify_one();
    }
    bool get(T &value)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
        if (queue_.empty()) return false;
        value = std::move(queue_.front());
        queue_.pop_front();
        return true;
    }
    void close()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<T> queue_;
    bool closed_ = false;
};

struct Frame {
    int number;
    pinned_ptr<uint8_t> in, out;
};

__global__ void sobel(const uint8_t *in, uint8_t *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    auto at = [=](int dx, int dy) {
        int sx = min(max(x + dx, 0), WIDTH - 1), sy = min(max(y + dy, 0), HEIGHT - 1);
        return (int)in[sy * WIDTH + sx];
    };
    int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    out[y * WIDTH + x] = (uint8_t)min(255, (int)sqrtf((float)(gx * gx + gy * gy)));
}

__global__ void invert(uint8_t *image)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PIXELS) image[i] = 255 - image[i];
}

static Channel<Frame *> to_filter, to_write;

static void CUDART_CB hand_on(void *frame)
{
    to_write.put(static_cast<Frame *>(frame));
}

static void worker()
{
    auto a = make_device<uint8_t>(PIXELS), b = make_device<uint8_t>(PIXELS);
    cudaStream_t stream;
    throw_on_error(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    Frame *frame;
    dim3 block(16, 16), grid((WIDTH + 15) / 16, (HEIGHT + 15) / 16);
    while (to_filter.get(frame)) {
        throw_on_error(
            cudaMemcpyAsync(a.get(), frame->in.get(), PIXELS, cudaMemcpyHostToDevice, stream),
            "copy in");
        sobel<<<grid, block, 0, stream>>>(a.get(), b.get());
        invert<<<(PIXELS + 255) / 256, 256, 0, stream>>>(b.get());
        throw_on_error(cudaGetLastError(), "launch");
        throw_on_error(
            cudaMemcpyAsync(frame->out.get(), b.get(), PIXELS, cudaMemcpyDeviceToHost, stream),
            "copy out");
        throw_on_error(cudaLaunchHostFunc(stream, hand_on, frame), "host function");
    }
    throw_on_error(cudaStreamSynchronize(stream), "synchronise");
    throw_on_error(cudaStreamDestroy(stream), "destroy");
}

int main()
{
    try {
        std::vector<std::unique_ptr<Frame>> frames(FRAMES);
        std::vector<std::thread> workers;
        for (int i = 0; i < WORKERS; i++) workers.emplace_back(worker);
        std::thread reader([&] {
            for (int f = 0; f < FRAMES; f++) {
                frames[f].reset(
                    new Frame{f, make_pinned<uint8_t>(PIXELS), make_pinned<uint8_t>(PIXELS)});
                for (int i = 0; i < PIXELS; i++)
                    frames[f]->in[i] = (uint8_t)((i % WIDTH) * (f + 1) ^ (i / WIDTH) * 5);
                to_filter.put(frames[f].get());
            }
            to_filter.close();
        });
        int written = 0;
        unsigned long long sum = 0;
        std::thread writer([&] {
            Frame *frame;
            while (written < FRAMES && to_write.get(frame)) {
                for (int i = 0; i < PIXELS; i++) sum += frame->out[i] * (frame->number + 1ull);
                written++;
            }
        });
        reader.join();
        for (auto &w : workers) w.join();
        writer.join();

        unsigned long long expected = 0;
        for (auto &frame : frames)
            for (int i = 0; i < PIXELS; i++) {
                auto at = [&](int dx, int dy) {
                    int x = std::min(std::max(i % WIDTH + dx, 0), WIDTH - 1);
                    int y = std::min(std::max(i / WIDTH + dy, 0), HEIGHT - 1);
                    return (int)frame->in[y * WIDTH + x];
                };
                int gx =
                    at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
                int gy =
                    at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
                int edge = std::min(255, (int)sqrtf((float)(gx * gx + gy * gy)));
                expected += (255 - edge) * (frame->number + 1ull);
            }
        printf("%d frames, checksum %llu, must be %llu\n", written, sum, expected);
        return written == FRAMES && sum == expected ? 0 : 1;
    } catch (const std::exception &e) {
        fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}
