"""PyTorch on several devices: copies between them behind streams and events, pinned memory, scatter
and gather, and torch.nn.DataParallel, which broadcasts by NCCL's stand-in."""
import torch
import triton
import triton.language as tl
from torch.nn.parallel import comm

N = 1 << 14


@triton.jit
def weigh(out, array, weight, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(weight) * tl.load(array + i, mask=i < n), mask=i < n)


class Weigh(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((1,), 3.0))

    def forward(self, array):
        out = torch.empty_like(array)
        with torch.cuda.device(array.device):
            weigh[((array.numel() + 1023) // 1024,)](out, array, self.weight, array.numel(), BLOCK=1024)
        return out


count = torch.cuda.device_count()
assert count == 2 and torch.cuda.can_device_access_peer(0, 1)
numbers = torch.randn(N, generator=torch.Generator().manual_seed(1))
net = Weigh().cuda()
with torch.no_grad():
    first, side = numbers.to("cuda:0"), torch.cuda.Stream(0)
    torch.cuda.synchronize(0)
    with torch.cuda.stream(side):
        heavy = net(first)
    torch.cuda.current_stream(0).wait_stream(side)
    second = heavy.to("cuda:1", non_blocking=True)
    assert torch.equal(second.cpu(), 3 * numbers)

    out = torch.empty(N, pin_memory=True)
    out.copy_(torch.nn.DataParallel(net)(first), non_blocking=True)
    torch.cuda.synchronize(0)
    assert torch.equal(out, 3 * numbers)

    chunks = comm.scatter(numbers, list(range(count)))
    assert torch.equal(comm.gather(chunks, destination=0).cpu(), numbers)
    copies = comm.broadcast(first, list(range(count)))
    assert all(torch.equal(copy.cpu(), numbers) for copy in copies)
print("PASSED")
