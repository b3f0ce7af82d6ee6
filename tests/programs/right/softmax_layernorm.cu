// Right: transformer building blocks: online softmax (warp per row), layernorm forward and
// backward, fused cross-entropy, GELU.
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace cg = cooperative_groups;

#define cudaCheck(err) (cudaCheck_(err, __FILE__, __LINE__))
static void cudaCheck_(cudaError_t error, const char *file, int line)
{
    if (error != cudaSuccess) {
        printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

__global__ void layernorm_forward(float *out, float *mean, float *rstd, const float *inp,
                                  const float *weight, const float *bias, int N, int C)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N) return;
    const float *x = inp + idx * C;
    float sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) sum += x[i];
    float m = cg::reduce(warp, sum, cg::plus<float>{}) / C;
    sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        float d = x[i] - m;
        sum += d * d;
    }
    float s = rsqrtf(cg::reduce(warp, sum, cg::plus<float>{}) / C + 1e-5f);
    if (warp.thread_rank() == 0) {
        __stcs(mean + idx, m);
        __stcs(rstd + idx, s);
    }
    for (int c = warp.thread_rank(); c < C; c += warp.size())
        __stcs(out + idx * C + c, s * (__ldcs(x + c) - m) * weight[c] + bias[c]);
}

// dweight and dbias are gathered in shared memory first
__global__ void layernorm_backward(float *dinp, float *dweight, float *dbias, const float *dout,
                                   const float *inp, const float *weight, const float *mean,
                                   const float *rstd, int N, int C)
{
    extern __shared__ float shared[];
    float *sb = shared, *sw = shared + C;
    for (int i = threadIdx.x; i < 2 * C; i += blockDim.x) shared[i] = 0.0f;
    __syncthreads();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx < N) {
        const float *dy = dout + idx * C, *x = inp + idx * C;
        float m = mean[idx], s = rstd[idx], dn = 0.0f, dnn = 0.0f;
        for (int i = warp.thread_rank(); i < C; i += 32) {
            float norm = (x[i] - m) * s, d = weight[i] * dy[i];
            dn += d;
            dnn += d * norm;
        }
        dn = cg::reduce(warp, dn, cg::plus<float>{}) / C;
        dnn = cg::reduce(warp, dnn, cg::plus<float>{}) / C;
        for (int i = warp.thread_rank(); i < C; i += 32) {
            float norm = (x[i] - m) * s;
            atomicAdd(&sb[i], dy[i]);
            atomicAdd(&sw[i], norm * dy[i]);
            dinp[idx * C + i] += (weight[i] * dy[i] - dn - norm * dnn) * s;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        atomicAdd(&dbias[i], sb[i]);
        atomicAdd(&dweight[i], sw[i]);
    }
}

struct __align__(8) SumMax
{
    float maxval, sum;
};
__device__ SumMax merge(SumMax a, SumMax b)
{
    bool ab = a.maxval > b.maxval;
    SumMax big = ab ? a : b, small = ab ? b : a;
    big.sum += small.sum * expf(small.maxval - big.maxval);
    return big;
}

// probabilities, losses and the gradient of the logits in one go; P > V: rows are padded
__global__ void fused_classifier(float *probs, float *dlogits, float *losses, const float *logits,
                                 const int *targets, int N, int V, int P)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N) return;
    const float *x = logits + idx * P;
    SumMax sm{-INFINITY, 0.0f};
    for (int i = warp.thread_rank(); i < V; i += 32) sm = merge(sm, SumMax{x[i], 1.0f});
    sm = cg::reduce(warp, sm, [](SumMax a, SumMax b) { return merge(a, b); });
    int t = targets[idx];
    for (int i = warp.thread_rank(); i < P; i += 32) {
        float p = i < V ? expf(x[i] - sm.maxval) / sm.sum : 0.0f;
        probs[idx * P + i] = p;
        dlogits[idx * P + i] = i < V ? (p - (i == t ? 1.0f : 0.0f)) / N : 0.0f;
        if (i == t) losses[idx] = -logf(p);
    }
}

__global__ void gelu(float4 *v, int n4)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 q = v[i];
    auto g = [](float x) {
        return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
    };
    v[i] = make_float4(g(q.x), g(q.y), g(q.z), g(q.w));
}

typedef std::vector<float> vec;
static float *dev(const vec &h)
{
    float *d;
    cudaCheck(cudaMalloc(&d, h.size() * sizeof(float)));
    cudaCheck(cudaMemcpy(d, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice));
    return d;
}
static int bad = 0;
static void validate(const char *name, const float *d, const vec &want, float tol)
{
    vec got(want.size());
    cudaCheck(cudaMemcpy(got.data(), d, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < want.size(); ++i)
        if (!(fabsf(got[i] - want[i]) <= tol * (1.0f + fabsf(want[i]))) && bad++ < 8)
            printf("%s[%zu]: %f, expected %f\n", name, i, got[i], want[i]);
}

int main()
{
    const int N = 42, C = 80, V = 130, P = 160;
    unsigned s = 1337;
    auto fill = [&](size_t n, float scale) {
        vec v(n);
        for (auto &e : v) {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            e = ((s >> 8) / 16777216.0f * 2.0f - 1.0f) * scale;
        }
        return v;
    };
    vec inp = fill(N * C, 2), w = fill(C, 1), b = fill(C, 1), dout = fill(N * C, 1),
        logits = fill(N * P, 4), zero(N * C, 0.0f), zc(C, 0.0f);
    std::vector<int> tgt(N);
    for (int i = 0; i < N; ++i) tgt[i] = (i * 37) % V;

    vec out(N * C), mean(N), rstd(N), dinp(N * C), dw(C, 0.0f), db(C, 0.0f), probs(N * P, 0.0f),
        dl(N * P, 0.0f), loss(N), act(N * C);
    for (int i = 0; i < N; ++i) {
        double m = 0, v = 0, dn = 0, dnn = 0;
        for (int c = 0; c < C; ++c) m += inp[i * C + c] / C;
        for (int c = 0; c < C; ++c) v += (inp[i * C + c] - m) * (inp[i * C + c] - m) / C;
        double r = 1.0 / std::sqrt(v + 1e-5);
        mean[i] = (float)m;
        rstd[i] = (float)r;
        for (int c = 0; c < C; ++c) {
            double nrm = (inp[i * C + c] - m) * r, d = (double)w[c] * dout[i * C + c];
            out[i * C + c] = (float)(nrm * w[c] + b[c]);
            dn += d / C;
            dnn += d * nrm / C;
            db[c] += dout[i * C + c];
            dw[c] += (float)(nrm * dout[i * C + c]);
        }
        for (int c = 0; c < C; ++c) {
            double nrm = (inp[i * C + c] - m) * r, x = out[i * C + c];
            dinp[i * C + c] = (float)(((double)w[c] * dout[i * C + c] - dn - nrm * dnn) * r);
            act[i * C + c] =
                (float)(0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))));
        }
        double mx = -1e30, sum = 0;
        for (int k = 0; k < V; ++k) mx = std::fmax(mx, logits[i * P + k]);
        for (int k = 0; k < V; ++k) sum += std::exp(logits[i * P + k] - mx);
        for (int k = 0; k < V; ++k) {
            double p = std::exp(logits[i * P + k] - mx) / sum;
            probs[i * P + k] = (float)p;
            dl[i * P + k] = (float)((p - (k == tgt[i])) / N);
            if (k == tgt[i]) loss[i] = (float)-std::log(p);
        }
    }

    float *dInp = dev(inp), *dW = dev(w), *dB = dev(b), *dDout = dev(dout), *dOut = dev(zero),
          *dMean = dev(mean), *dRstd = dev(rstd);
    float *dDinp = dev(zero), *dDw = dev(zc), *dDb = dev(zc), *dLog = dev(logits),
          *dProbs = dev(logits), *dDl = dev(logits), *dLoss = dev(mean);
    int *dTgt;
    cudaCheck(cudaMalloc(&dTgt, N * sizeof(int)));
    cudaCheck(cudaMemcpy(dTgt, tgt.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    cudaCheck(cudaMemset(dMean, 0, N * sizeof(float)));
    cudaCheck(cudaMemset(dRstd, 0, N * sizeof(float)));

    const int block = 128;
    layernorm_forward<<<CEIL_DIV(N * 32, block), block>>>(dOut, dMean, dRstd, dInp, dW, dB, N, C);
    cudaCheck(cudaGetLastError());
    layernorm_backward<<<CEIL_DIV(N * 32, block), block, 2 * C * sizeof(float)>>>(
        dDinp, dDw, dDb, dDout, dInp, dW, dMean, dRstd, N, C);
    cudaCheck(cudaGetLastError());
    fused_classifier<<<CEIL_DIV(N * 32, block), block>>>(dProbs, dDl, dLoss, dLog, dTgt, N, V, P);
    cudaCheck(cudaGetLastError());
    validate("out", dOut, out, 1e-4f);
    gelu<<<CEIL_DIV(N * C / 4, block), block>>>((float4 *)dOut, N * C / 4);
    cudaCheck(cudaGetLastError());
    validate("gelu", dOut, act, 1e-4f);
    validate("mean", dMean, mean, 1e-5f);
    validate("rstd", dRstd, rstd, 1e-5f);
    validate("dinp", dDinp, dinp, 1e-4f);
    validate("dweight", dDw, dw, 1e-3f);
    validate("dbias", dDb, db, 1e-3f);
    validate("probs", dProbs, probs, 1e-5f);
    validate("dlogits", dDl, dl, 1e-5f);
    validate("losses", dLoss, loss, 1e-4f);
    for (float *p :
         {dInp, dW, dB, dDout, dOut, dMean, dRstd, dDinp, dDw, dDb, dLog, dProbs, dDl, dLoss})
        cudaCheck(cudaFree(p));
    cudaCheck(cudaFree(dTgt));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
