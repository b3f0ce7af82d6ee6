"""Triton: masks, reductions, atomics, scans, sorts, transposes, random numbers, histograms, matrix
products of three types by the tensor cores, one by tensor maps, and attention that keeps a running
maximum.

PyTorch's own operations are machine code, which does not run here: arrays are made on the host."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

torch.manual_seed(7)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(out, x, stride, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    row = tl.load(x + at, mask=inside, other=-float("inf"))
    power = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + at, power / tl.sum(power, axis=0), mask=inside)


@triton.jit
def total(out, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0), axis=0))


@triton.jit
def running(out, x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


@triton.jit
def sort(out, x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def transpose(out, x, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + n[:, None] * M + m[None, :], tl.trans(tile))


@triton.jit
def dropout(out, x, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


@triton.jit
def histogram(out, x, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.arange(0, BINS), tl.histogram(tl.load(x + at), BINS))


@triton.jit
def product(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (first + k)[None, :])
        y = tl.load(b + (first + k)[:, None] * N + n[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(c + m[:, None] * N + n[None, :], sums.to(c.dtype.element_ty))


@triton.jit
def product_by_maps(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([m, k]), b.load([n, k]).T, sums)
    c.store([m, n], sums.to(tl.float16))


@triton.jit
def attention(q, k, v, out, scale, LENGTH: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, width = tl.arange(0, BLOCK), tl.arange(0, WIDTH)
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    result = tl.zeros((BLOCK, WIDTH), tl.float32)
    query = tl.load(q + row[:, None] * WIDTH + width[None, :])
    for first in range(0, LENGTH, BLOCK):
        at = (first + column)[:, None] * WIDTH + width[None, :]
        scores = tl.dot(query, tl.trans(tl.load(k + at))) * scale
        more = tl.maximum(most, tl.max(scores, axis=1))
        power = tl.exp(scores - more[:, None])
        shrink = tl.exp(most - more)
        sums = sums * shrink + tl.sum(power, axis=1)
        result = tl.dot(power.to(tl.float16), tl.load(v + at), result * shrink[:, None])
        most = more
    tl.store(out + row[:, None] * WIDTH + width[None, :], (result / sums[:, None]).to(tl.float16))


x, y = torch.rand(9843), torch.rand(9843)
out = torch.empty(9843, device="cuda")
add[(10,)](x.cuda(), y.cuda(), out, 9843, BLOCK=1024)
assert torch.equal(out.cpu(), x + y)

x = torch.randn(37, 200)
out = torch.empty(37, 200, device="cuda")
softmax[(37,)](out, x.cuda(), 200, 200, BLOCK=256)
assert torch.allclose(out.cpu(), torch.softmax(x, 1))

x = torch.arange(10000, dtype=torch.int32)
out = torch.zeros(1, dtype=torch.int32, device="cuda")
total[(10,)](out, x.cuda(), 10000, BLOCK=1024)
assert out.cpu().item() == x.sum().item()

x = torch.randint(0, 100, (1024,), dtype=torch.int32)
out = torch.empty(1024, dtype=torch.int32, device="cuda")
running[(1,)](out, x.cuda(), BLOCK=1024)
assert torch.equal(out.cpu(), x.cumsum(0).int())
sort[(1,)](out, x.cuda(), BLOCK=1024)
assert torch.equal(out.cpu(), x.sort()[0])

x = torch.randn(64, 32)
out = torch.empty(32, 64, device="cuda")
transpose[(1,)](out, x.cuda(), M=64, N=32)
assert torch.equal(out.cpu(), x.T)

out = torch.empty(5000, device="cuda")
dropout[(5,)](out, torch.ones(5000).cuda(), 5000, 0.5, 123, BLOCK=1024)
assert 0.45 < (out.cpu() == 0).float().mean() < 0.55

x = torch.randint(0, 16, (4096,), dtype=torch.int32)
out = torch.zeros(16, dtype=torch.int32, device="cuda")
histogram[(4,)](out, x.cuda(), BINS=16, BLOCK=1024)
assert torch.equal(out.cpu(), torch.bincount(x, minlength=16).int())

for dtype, off in (torch.float16, 1e-2), (torch.bfloat16, 5e-2), (torch.float32, 1e-1):
    a, b = torch.randn(128, 96).to(dtype), torch.randn(96, 128).to(dtype)
    c = torch.empty(128, 128, dtype=dtype, device="cuda")
    product[(2, 2)](a.cuda(), b.cuda(), c, 128, 96, BM=64, BN=64, BK=32)
    wanted = a.float() @ b.float()
    assert (c.cpu().float() - wanted).abs().max() < off * wanted.abs().max()

a, b = torch.randn(128, 256).half(), torch.randn(128, 256).half()
here = [a.cuda(), b.cuda(), torch.empty(128, 128, dtype=torch.float16, device="cuda")]
product_by_maps[(2, 2)](*(TensorDescriptor.from_tensor(x, [64, 64]) for x in here), 256, BM=64,
                        BN=64, BK=64)
wanted = a.float() @ b.float().T
assert (here[2].cpu().float() - wanted).abs().max() < 1e-2 * wanted.abs().max()

q, k, v = (torch.randn(128, 64).half() for _ in range(3))
out = torch.empty(128, 64, dtype=torch.float16, device="cuda")
attention[(2,)](q.cuda(), k.cuda(), v.cuda(), out, 0.125, LENGTH=128, WIDTH=64, BLOCK=64)
wanted = torch.softmax(q.float() @ k.float().T * 0.125, 1) @ v.float()
assert (out.cpu().float() - wanted).abs().max() < 1e-2
print("PASSED")
