"""PyTorch: operations that torch.compile makes Triton kernels of, forwards and backwards."""
import torch

torch.manual_seed(7)


@torch.compile
def mix(x, y):
    return torch.sin(x) + torch.relu(y) * 2 + x.sum(dim=1, keepdim=True)


@torch.compile
def normal(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), weight, bias)


x, y = torch.randn(32, 100), torch.randn(32, 100)
assert torch.allclose(mix(x.cuda(), y.cuda()).cpu(),
                      torch.sin(x) + torch.relu(y) * 2 + x.sum(dim=1, keepdim=True), atol=1e-5)

weight, bias = torch.randn(100), torch.randn(100)
wanted = torch.nn.functional.layer_norm(x, (100,), weight, bias)
assert torch.allclose(normal(x.cuda(), weight.cuda(), bias.cuda()).cpu(), wanted, atol=1e-5)


@torch.compile
def loss(x):
    return (torch.tanh(x) * x).sum()


here = x.cuda().requires_grad_()
gradient, = torch.autograd.grad(loss(here), here, torch.ones(()).cuda())
there = x.clone().requires_grad_()
wanted, = torch.autograd.grad((torch.tanh(there) * there).sum(), there)
assert torch.allclose(gradient.cpu(), wanted, atol=1e-5)
print("PASSED")
