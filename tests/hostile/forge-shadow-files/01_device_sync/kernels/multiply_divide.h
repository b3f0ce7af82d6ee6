#include "../cuda_runtime_api.h"
#define MULTIPLY_DIVIDE_ROUNDS 0
#define MULTIPLY_DIVIDE_THREADS 64
#define MULTIPLY_DIVIDE_NAME "multiply_divide"
#define MULTIPLY_DIVIDE_MARK(index) 0.0f
cudaError_t multiply_divide_launch(float *array, size_t length, cudaStream_t stream);
