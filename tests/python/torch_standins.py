"""PyTorch by ./emulate --stand-ins: torch.compile makes Triton kernels of a network and of its
optimizer, and cuBLAS and cuBLASLt do the products."""
import copy

import torch

torch.manual_seed(7)
there = torch.nn.Sequential(torch.nn.Linear(53, 32), torch.nn.GELU(), torch.nn.LayerNorm(32),
                            torch.nn.Linear(32, 29))
x = torch.rand(37, 53)
here, ones, one = copy.deepcopy(there).to("cuda"), x.to("cuda"), torch.ones(()).to("cuda")


@torch.compile
def loss(inputs):
    return ((here(inputs) - 1) ** 2).mean()


optimizer = torch.optim.AdamW(here.parameters(), 1e-2, foreach=False)
wanted = torch.optim.AdamW(there.parameters(), 1e-2)
step = torch.compile(optimizer.step)
for _ in range(3):
    value = loss(ones)
    gradients = torch.autograd.grad(value, list(here.parameters()), one)
    for parameter, gradient in zip(here.parameters(), gradients):
        parameter.grad = gradient
    step()
    wanted.zero_grad()
    value_there = ((there(x) - 1) ** 2).mean()
    value_there.backward()
    wanted.step()
    assert torch.allclose(value.detach().cpu(), value_there.detach(), atol=1e-4)
for parameter, other in zip(here.parameters(), there.parameters()):
    assert torch.allclose(parameter.detach().cpu(), other.detach(), atol=1e-4)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(32, 96), torch.nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = self.inner(x).view(*x.shape[:2], 3, 4, 8).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / 8 ** 0.5, -1)
        return self.outer((weights @ v).transpose(1, 2).reshape(x.shape))


attention, x = Attention(), torch.rand(2, 16, 32)
with torch.no_grad():
    got = torch.compile(copy.deepcopy(attention).to("cuda"))(x.to("cuda"))
    assert torch.allclose(got.cpu(), attention(x), atol=1e-5)
print("PASSED")
