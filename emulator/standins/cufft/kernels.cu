// The kernels behind the stand-in for cuFFT. A kernel of a pass takes one fft_pass; each thread has
// one butterfly. Lanes of a warp go along the first coordinate, which the host makes the contiguous
// one. Inverse transforms swap real and imaginary parts when they load and when they store.
#include "emulator/standins/cufft/parameters.h"

// ---- complex numbers ----------------------------------------------------------------------------

template <class R> struct alignas(2 * sizeof(R)) Complex {
    R re, im;
};

template <class R> __device__ Complex<R> operator+(Complex<R> a, Complex<R> b)
{
    return {a.re + b.re, a.im + b.im};
}
template <class R> __device__ Complex<R> operator-(Complex<R> a, Complex<R> b)
{
    return {a.re - b.re, a.im - b.im};
}
template <class R> __device__ Complex<R> operator*(Complex<R> a, Complex<R> b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// exp(-2 pi i k / n)
template <class R> __device__ Complex<R> root(const fft_roots &roots, uint32_t k)
{
    typedef Complex<double> Entry;
    Entry value = ((const Entry *)roots.low)[k & ((1u << FFT_LOW_BITS) - 1)];
    if (roots.high != nullptr) value = value * ((const Entry *)roots.high)[k >> FFT_LOW_BITS];
    return {(R)value.re, (R)value.im};
}

// ---- places -------------------------------------------------------------------------------------

// What a thread has: the offsets of its line, and which of the line's butterflies or elements.
struct Place {
    int64_t from, to;
    uint32_t index;
};

__device__ bool find(const fft_pass &p, Place &place)
{
    uint32_t rest = threadIdx.x + blockIdx.x * blockDim.x;
    place = {};
#pragma unroll
    for (uint32_t k = 0; k < FFT_COORDINATES; k++) {
        uint32_t here = 0;
        if (p.size[k] > 1) {
            const uint32_t next = rest / p.size[k];
            here = rest - next * p.size[k];
            rest = next;
        }
        if (k == p.axis) {
            place.index = here;
        } else {
            place.from += here * p.from.step[k];
            place.to += here * p.to.step[k];
        }
    }
    return rest == 0;
}

template <class R> __device__ Complex<R> swapped(Complex<R> x, uint32_t wanted)
{
    return wanted ? Complex<R>{x.im, x.re} : x;
}

// Element i of a line that begins at `line`.
template <class R> __device__ Complex<R> load(const fft_pass &p, int64_t line, uint32_t i)
{
    const int64_t step = p.from.step[p.axis];
    if (p.from.kind == FFT_REAL) return {((const R *)p.from.first)[line + i * step], 0};
    const Complex<R> *first = (const Complex<R> *)p.from.first + line;
    if (p.from.kind == FFT_COMPLEX) return first[i * step];
    const bool mirrored = i > p.n / 2;
    Complex<R> x = first[(mirrored ? p.n - i : i) * step];
    x.im = mirrored ? -x.im : x.im;
    return x;
}

template <class R> __device__ void store(const fft_pass &p, int64_t line, uint32_t i, Complex<R> x)
{
    const int64_t at = line + i * p.to.step[p.axis];
    if (i >= p.kept) return;
    if (p.to.kind == FFT_REAL)
        ((R *)p.to.first)[at] = x.re;
    else
        ((Complex<R> *)p.to.first)[at] = x;
}

// Elements i, i + apart, ... of a line. The kind is looked at once for all of them.
template <class R, int N>
__device__ void load_all(const fft_pass &p, int64_t line, uint32_t i, uint32_t apart,
                         Complex<R> (&x)[N])
{
    const int64_t step = p.from.step[p.axis], begin = line + i * step, jump = apart * step;
    if (p.from.kind == FFT_COMPLEX) {
        const Complex<R> *first = (const Complex<R> *)p.from.first + begin;
#pragma unroll
        for (int r = 0; r < N; r++) x[r] = first[r * jump];
    } else if (p.from.kind == FFT_REAL) {
        const R *first = (const R *)p.from.first + begin;
#pragma unroll
        for (int r = 0; r < N; r++) x[r] = {first[r * jump], 0};
    } else {
#pragma unroll
        for (int r = 0; r < N; r++) x[r] = load<R>(p, line, i + r * apart);
    }
    if (p.inverse) {
#pragma unroll
        for (int r = 0; r < N; r++) x[r] = {x[r].im, x[r].re};
    }
}

template <class R, int N>
__device__ void store_all(const fft_pass &p, int64_t line, uint32_t i, uint32_t apart,
                          Complex<R> (&x)[N])
{
    if (p.inverse) {
#pragma unroll
        for (int r = 0; r < N; r++) x[r] = {x[r].im, x[r].re};
    }
    if (p.to.kind == FFT_COMPLEX && p.kept == p.n) {
        const int64_t step = p.to.step[p.axis], jump = apart * step;
        Complex<R> *first = (Complex<R> *)p.to.first + line + i * step;
#pragma unroll
        for (int r = 0; r < N; r++) first[r * jump] = x[r];
    } else {
#pragma unroll
        for (int r = 0; r < N; r++) store(p, line, i + r * apart, x[r]);
    }
}

// ---- butterflies --------------------------------------------------------------------------------

// cos(2 pi k / N) and sin(2 pi k / N), k < N; indexes are constants once loops are unrolled.
template <int N> struct Circle;
#define CIRCLE(N, ...)                                                                             \
    __device__ constexpr double circle_##N[N][2] = {__VA_ARGS__};                                  \
    template <> struct Circle<N> {                                                                 \
        static __device__ constexpr double cosine(int k)                                           \
        {                                                                                          \
            return circle_##N[k % N][0];                                                           \
        }                                                                                          \
        static __device__ constexpr double sine(int k)                                             \
        {                                                                                          \
            return circle_##N[k % N][1];                                                           \
        }                                                                                          \
    };
CIRCLE(3, {1, 0}, {-0.5, 0.8660254037844386}, {-0.5, -0.8660254037844386})
CIRCLE(4, {1, 0}, {0, 1}, {-1, 0}, {0, -1})
CIRCLE(5, {1, 0}, {0.30901699437494745, 0.9510565162951535},
       {-0.8090169943749475, 0.5877852522924731}, {-0.8090169943749475, -0.5877852522924731},
       {0.30901699437494745, -0.9510565162951535})
CIRCLE(7, {1, 0}, {0.6234898018587335, 0.7818314824680298},
       {-0.2225209339563144, 0.9749279121818236}, {-0.9009688679024191, 0.4338837391175581},
       {-0.9009688679024191, -0.4338837391175581}, {-0.2225209339563144, -0.9749279121818236},
       {0.6234898018587335, -0.7818314824680298})
CIRCLE(8, {1, 0}, {0.7071067811865476, 0.7071067811865476}, {0, 1},
       {-0.7071067811865476, 0.7071067811865476}, {-1, 0},
       {-0.7071067811865476, -0.7071067811865476}, {0, -1},
       {0.7071067811865476, -0.7071067811865476})
CIRCLE(16, {1, 0}, {0.9238795325112867, 0.3826834323650898},
       {0.7071067811865476, 0.7071067811865476}, {0.3826834323650898, 0.9238795325112867}, {0, 1},
       {-0.3826834323650898, 0.9238795325112867}, {-0.7071067811865476, 0.7071067811865476},
       {-0.9238795325112867, 0.3826834323650898}, {-1, 0},
       {-0.9238795325112867, -0.3826834323650898}, {-0.7071067811865476, -0.7071067811865476},
       {-0.3826834323650898, -0.9238795325112867}, {0, -1},
       {0.3826834323650898, -0.9238795325112867}, {0.7071067811865476, -0.7071067811865476},
       {0.9238795325112867, -0.3826834323650898})

// The transform of N numbers, in place and in order.
template <int N, class R> struct Butterfly {
    static __device__ void run(Complex<R> (&x)[N])
    {
        if constexpr (N == 2) {
            const Complex<R> sum = x[0] + x[1];
            x[1] = x[0] - x[1];
            x[0] = sum;
        } else if constexpr (N % 2 == 0) {
            split(x);
        } else {
            direct(x);
        }
    }

    // x * exp(-2 pi i k / N)
    static __device__ Complex<R> turned(Complex<R> x, int k)
    {
        if (k == 0) return x;
        if (4 * k == N) return {x.im, -x.re};
        return x * Complex<R>{(R)Circle<N>::cosine(k), (R)-Circle<N>::sine(k)};
    }

    static __device__ void split(Complex<R> (&x)[N])
    {
        Complex<R> even[N / 2], odd[N / 2];
#pragma unroll
        for (int k = 0; k < N / 2; k++) {
            even[k] = x[2 * k];
            odd[k] = x[2 * k + 1];
        }
        Butterfly<N / 2, R>::run(even);
        Butterfly<N / 2, R>::run(odd);
#pragma unroll
        for (int k = 0; k < N / 2; k++) {
            const Complex<R> other = turned(odd[k], k);
            x[k] = even[k] + other;
            x[k + N / 2] = even[k] - other;
        }
    }

    // N is odd. Outputs q and N - q share the sums over pairs of inputs k and N - k.
    static __device__ void direct(Complex<R> (&x)[N])
    {
        Complex<R> sum[N / 2], difference[N / 2], first = x[0];
#pragma unroll
        for (int k = 1; k <= N / 2; k++) {
            sum[k - 1] = x[k] + x[N - k];
            difference[k - 1] = x[k] - x[N - k];
            first = first + sum[k - 1];
        }
#pragma unroll
        for (int q = 1; q <= N / 2; q++) {
            Complex<R> same = x[0], other = {0, 0};
#pragma unroll
            for (int k = 1; k <= N / 2; k++) {
                const R c = (R)Circle<N>::cosine(q * k), s = (R)Circle<N>::sine(q * k);
                same = {same.re + c * sum[k - 1].re, same.im + c * sum[k - 1].im};
                other = {other.re + s * difference[k - 1].im, other.im - s * difference[k - 1].re};
            }
            x[q] = same + other;
            x[N - q] = same - other;
        }
        x[0] = first;
    }
};

// ---- passes -------------------------------------------------------------------------------------

template <class R, int N> __device__ void pass(const fft_pass &p)
{
    Place place;
    if (!find(p, place)) return;
    Complex<R> x[N];
    load_all(p, place.from, place.index, p.n / N, x);
    uint32_t to = place.index * N;
    if (p.done > 1) {
        const uint32_t block = place.index / p.done, within = place.index - block * p.done;
#pragma unroll
        for (uint32_t r = 1; r < N; r++) x[r] = x[r] * root<R>(p.roots, r * within * p.spread);
        to = block * p.done * N + within;
    }
    Butterfly<N, R>::run(x);
    store_all(p, place.to, to, p.done, x);
}

// A pass of any radix, of which each thread has one output. A radix of 1 copies.
template <class R> __device__ void pass_any(const fft_pass &p)
{
    Place place;
    if (!find(p, place)) return;
    const uint32_t span = p.radix * p.done, block = place.index / span;
    const uint32_t within = place.index - block * span;
    const uint32_t first = block * p.done + within % p.done, apart = p.n / p.radix;
    const uint32_t step = within * p.spread;
    Complex<double> sum = {0, 0};
    uint32_t exponent = 0;
    for (uint32_t r = 0; r < p.radix; r++) {
        const Complex<R> x = swapped(load<R>(p, place.from, first + r * apart), p.inverse);
        const Complex<double> wide = {x.re, x.im};
        sum = sum + (r == 0 ? wide : wide * root<double>(p.roots, exponent));
        exponent += step;
        if (exponent >= p.n) exponent -= p.n;
    }
    const Complex<R> result = {(R)sum.re, (R)sum.im};
    store(p, place.to, place.index, swapped(result, p.inverse));
}

// ---- Bluestein's algorithm ----------------------------------------------------------------------
//
// X[k] = c[k] sum over i of (x[i] c[i]) conj(c[k - i]), with c[i] = exp(-pi i i^2 / n): a
// convolution, computed by transforms of a power of two.

// Multiplies by c and pads with zeros. The line of `to` is longer than that of `from`.
template <class R> __device__ void chirp_in(const fft_pass &p)
{
    Place place;
    if (!find(p, place)) return;
    Complex<double> product = {0, 0};
    if (place.index < p.n) {
        const Complex<R> x = swapped(load<R>(p, place.from, place.index), p.inverse);
        product = Complex<double>{x.re, x.im} * ((const Complex<double> *)p.factors)[place.index];
    }
    ((Complex<double> *)p.to.first)[place.to + place.index * p.to.step[p.axis]] = product;
}

template <class R> __device__ void chirp_out(const fft_pass &p)
{
    Place place;
    if (!find(p, place)) return;
    const Complex<double> product =
        ((const Complex<double> *)p.from.first)[place.from + place.index * p.from.step[p.axis]] *
        ((const Complex<double> *)p.factors)[place.index];
    const Complex<R> result = {(R)product.re, (R)product.im};
    store(p, place.to, place.index, swapped(result, p.inverse));
}

// Multiplies a spectrum by that of the filter.
extern "C" __global__ void cufft_filter_f64(const fft_pass p)
{
    typedef Complex<double> Number;
    Place place;
    if (!find(p, place)) return;
    const Number x = ((const Number *)p.from.first)[place.from + place.index * p.from.step[p.axis]];
    ((Number *)p.to.first)[place.to + place.index * p.to.step[p.axis]] =
        x * ((const Number *)p.factors)[place.index];
}

// ---- tables -------------------------------------------------------------------------------------

// exp(-pi i part / half), for part < 2 half. The angle is brought to at most half a turn first.
__device__ Complex<double> unit(uint64_t part, uint32_t half)
{
    const double signed_part =
        part > half ? (double)part - 2 * (double)half : (double)part; // exact
    double sine, cosine;
    sincospi(signed_part / half, &sine, &cosine);
    return {cosine, -sine};
}

// exp(-pi i k^2 / n)
__device__ Complex<double> chirp(uint64_t k, uint32_t n)
{
    return unit(k * k % (2 * (uint64_t)n), n);
}

__device__ uint32_t entry()
{
    return threadIdx.x + blockIdx.x * blockDim.x;
}

extern "C" __global__ void cufft_roots(const fft_table t)
{
    const uint32_t k = entry();
    if (k < t.entries) ((Complex<double> *)t.to)[k] = unit(2 * (uint64_t)k * t.stride, t.n);
}

extern "C" __global__ void cufft_chirp(const fft_table t)
{
    const uint32_t k = entry();
    if (k < t.entries) ((Complex<double> *)t.to)[k] = chirp(k, t.n);
}

// The filter conj(c[k]) for -n < k < n, around the circle of `entries`, which the inverse transform
// after it must not scale again.
extern "C" __global__ void cufft_filter_table(const fft_table t)
{
    const uint32_t k = entry();
    if (k >= t.entries) return;
    const uint32_t from_end = t.entries - k, nearest = k < from_end ? k : from_end;
    Complex<double> value = {0, 0};
    if (nearest < t.n) {
        value = chirp(nearest, t.n);
        value = {value.re / t.entries, -value.im / t.entries};
    }
    ((Complex<double> *)t.to)[k] = value;
}

// ---- the kernels of passes ----------------------------------------------------------------------

#define KERNEL(name, suffix, call)                                                                 \
    extern "C" __global__ void cufft_##name##_##suffix(const fft_pass p)                           \
    {                                                                                              \
        call(p);                                                                                   \
    }
#define OF_PRECISION(suffix, R)                                                                    \
    KERNEL(pass2, suffix, (pass<R, 2>))                                                            \
    KERNEL(pass3, suffix, (pass<R, 3>))                                                            \
    KERNEL(pass4, suffix, (pass<R, 4>))                                                            \
    KERNEL(pass5, suffix, (pass<R, 5>))                                                            \
    KERNEL(pass7, suffix, (pass<R, 7>))                                                            \
    KERNEL(pass8, suffix, (pass<R, 8>))                                                            \
    KERNEL(pass16, suffix, (pass<R, 16>))                                                          \
    KERNEL(pass_any, suffix, (pass_any<R>))                                                        \
    KERNEL(chirp_in, suffix, (chirp_in<R>))                                                        \
    KERNEL(chirp_out, suffix, (chirp_out<R>))
OF_PRECISION(f32, float)
OF_PRECISION(f64, double)
