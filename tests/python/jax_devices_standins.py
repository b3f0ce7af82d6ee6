"""JAX on two devices: arrays that are divided among them, and what they send each other (NCCL)."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices("cuda")
assert len(devices) >= 2, devices
mesh = Mesh(np.array(devices), ("x",))
N = len(devices)
rows = np.arange(4 * N * 6, dtype=np.float32).reshape(4 * N, 6)
divided = jax.device_put(rows, NamedSharding(mesh, P("x")))

total = jax.jit(lambda a: a.sum(0), out_shardings=NamedSharding(mesh, P()))(divided)
assert np.array_equal(total, rows.sum(0))

turned = jax.jit(lambda a: a.T, out_shardings=NamedSharding(mesh, P(None, "x")))(divided)
assert np.array_equal(turned, rows.T)


@jax.jit
@partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
def ring(a):
    return jax.lax.ppermute(a, "x", [(k, (k + 1) % N) for k in range(N)])


assert np.array_equal(ring(divided), np.roll(rows, 4, 0))


@jax.jit
@partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P())
def mean(a):
    return jax.lax.pmean(a.sum(), "x")


assert float(mean(divided)) == rows.sum() / N

# A step of a linear model whose rows are divided: the gradient is a sum over the devices.
weights = jnp.zeros(6)
wanted = jnp.asarray(rows) @ jnp.arange(6.0)


def loss(w, a):
    return ((a @ w - a @ jnp.arange(6.0)) ** 2).mean()


gradient = jax.jit(jax.grad(loss), out_shardings=NamedSharding(mesh, P()))(weights, divided)
with jax.default_device(jax.devices("cpu")[0]):
    expected = jax.grad(loss)(np.zeros(6, np.float32), rows)
assert np.allclose(gradient, expected, rtol=1e-4), (gradient, expected)
print("PASSED")
