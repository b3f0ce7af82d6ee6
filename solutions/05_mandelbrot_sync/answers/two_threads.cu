/* Question 2 of lesson 05: two threads draw at the same time, with two windows. */
extern "C" {
#include "lessons/05_mandelbrot_sync/lesson.h"
}

#include <cstdio>
#include <cstring>
#include <pthread.h>

#define SIDE 64
#define BYTES (SIDE * SIDE * sizeof(float))

extern "C" int mandelbrot_write_png(const char *, size_t, size_t, const unsigned char *)
{
    return 0;
}

static const mandelbrot_view views[2] = {{SIDE, SIDE, -2, 2, -2, 2, 64, 2},
                                         {SIDE, SIDE, -1, 0, -1, 0, 64, 2}};
static float *together[2], *alone[2];

static void *draw(void *number)
{
    const int i = *(int *)number;
    if (mandelbrot_sync(&views[i], together[i], nullptr) != cudaSuccess) std::puts("an error");
    return nullptr;
}

int main()
{
    int numbers[2] = {0, 1};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        cudaMallocHost(&together[i], BYTES);
        cudaMallocHost(&alone[i], BYTES);
        mandelbrot_sync(&views[i], alone[i], nullptr);
    }
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], nullptr, draw, &numbers[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], nullptr);
    for (int i = 0; i < 2; i++) {
        std::printf("picture %d: %s\n", i,
                    std::memcmp(together[i], alone[i], BYTES) == 0 ? "as alone" : "differs");
        cudaFreeHost(together[i]);
        cudaFreeHost(alone[i]);
    }
    return 0;
}
