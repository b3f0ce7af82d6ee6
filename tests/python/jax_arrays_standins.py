"""JAX on arrays: what it computes on the device is what it computes on the CPU, bit for bit where the
numbers are whole."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.sparse import BCOO, CSR

jax.config.update("jax_default_matmul_precision", "highest")  # a GPU's products are of TF32 otherwise
here, there = jax.devices("cuda")[0], jax.devices("cpu")[0]


def same(compute, tolerance=1e-5):
    with jax.default_device(there):
        wanted = jax.tree.map(np.asarray, compute())
    with jax.default_device(here):
        got = compute()
    for ours, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        assert ours.devices() == {here} and ours.dtype == theirs.dtype
        if theirs.dtype.kind in "iub":
            assert np.array_equal(ours, theirs)
        else:
            assert np.allclose(np.asarray(ours), theirs, rtol=tolerance, atol=tolerance), compute


def floats(*shape):
    return jnp.asarray(np.random.default_rng(sum(shape)).standard_normal(shape), jnp.float32)


def whole(most, *shape):
    return jnp.asarray(np.random.default_rng(most).integers(-most, most, shape), jnp.int32)


def elements():
    x, y = floats(1000), floats(999, 1)[:, 0][:500].repeat(2)
    z = whole(1000, 300)
    return [x * y - 2, jnp.sin(x), jnp.exp(y), lax.erf(x), jnp.where(x > y, x, y), z // 7, z % 7, z << 3,
            lax.population_count(z), jnp.concatenate([x, y]), jnp.pad(x, 3), jnp.flip(x), x.reshape(20, 50).T]


def sums():
    x, y = floats(70, 333), jnp.arange(1 << 16, dtype=jnp.int32) % 1000
    return [x.sum(0), x.sum(1), x.mean(), x.max(0), x.argmin(1), x.std(), y.sum(), y.reshape(256, -1).sum(1),
            jnp.cumsum(x[:, 0]), jnp.cumsum(y), lax.cummax(whole(50, 64, 65)), jax.nn.softmax(x)]


def orders():
    x, y = floats(3000), whole(500, 20, 130)
    return [jnp.sort(x), jnp.argsort(x), jnp.sort(y, 0), lax.top_k(x, 10), lax.sort([y[0], y[1]], num_keys=1),
            jnp.searchsorted(jnp.sort(x), x[:50]), jnp.sort(whole(1 << 30, 1 << 17))]


def places():
    x, i = floats(100, 20), jnp.abs(whole(100, 50))
    return [x[i], x.at[i].add(1.0), x.at[i % 100, i % 20].set(3.0), jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
            jnp.bincount(i, length=100), jax.ops.segment_sum(x[:50], i, 100), lax.dynamic_slice(x, (3, 4), (5, 5)),
            lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")]


def chances():
    one, two = jax.random.split(jax.random.key(42))
    return [jax.random.uniform(one, (1000,)), jax.random.normal(two, (300,)), jax.random.permutation(one, 100),
            jax.random.randint(two, (99,), 0, 1000), jax.random.gamma(one, 2.0, (20,))]


def derivatives():
    def f(x):
        return jnp.sum(jnp.sin(x) * x**2)

    def step(carry, x):
        return carry * 0.9 + x, carry

    x = floats(64)
    return [jax.jit(f)(x), jax.grad(f)(x), jax.vmap(jax.grad(f))(floats(10, 20)), jax.hessian(f)(x[:8]),
            jax.jacrev(lambda v: jnp.sort(v) ** 2)(x[:9]), lax.scan(step, 0.0, x),
            jax.grad(lambda v: lax.scan(step, 0.0, v)[0])(x), lax.fori_loop(0, 10, lambda i, v: v * 1.1 + i, x),
            lax.while_loop(lambda v: v[0] < 100, lambda v: (v[0] + 7, v[1] * 2), (0, 1.0))]


def products():
    x, y, z = floats(64, 96), floats(96, 80), whole(5, 32, 64).astype(jnp.int8)
    square = x @ x.T + 9 * jnp.eye(64)
    return [x @ y, jnp.einsum("bij,bjk->bik", floats(3, 20, 30), floats(3, 30, 10)), jnp.dot(x[0], x[1]),
            jnp.dot(z, z.T, preferred_element_type=jnp.int32), jnp.fft.rfft(floats(8, 60)),
            jnp.linalg.cholesky(square), jnp.linalg.solve(square, x), jnp.linalg.eigvalsh(square)]


def sparse_matrices():
    table = jnp.where(floats(50, 60) > 0.8, floats(50, 60), 0)
    matrix, other, lower = BCOO.fromdense(table), CSR.fromdense(table), floats(30) * 0.2
    middle, right = 4 + jnp.abs(floats(30)), floats(30, 3)
    multiply = jax.jit(lambda m, x: m @ x)
    return [multiply(matrix, floats(60)), multiply(matrix, floats(60, 8)), other @ floats(60), other.T @ floats(50),
            other.todense(), lax.linalg.tridiagonal_solve(lower.at[0].set(0), middle, lower.at[-1].set(0), right)]


def training():
    x, y = floats(64, 8), jnp.arange(64) % 3
    weights = {"in": floats(8, 32) * 0.3, "out": floats(32, 3) * 0.3}

    def loss(weights):
        guess = jnp.tanh(x @ weights["in"]) @ weights["out"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(guess), y[:, None], 1))

    step = jax.jit(lambda w: jax.tree.map(lambda a, g: a - 0.1 * g, w, jax.grad(loss)(w)), donate_argnums=0)
    for _ in range(5):
        weights = step(weights)
    return weights


for part in (elements, sums, orders, places, chances, derivatives):
    same(part)
same(products, 1e-3)
same(sparse_matrices, 1e-4)
same(training, 1e-4)
print("PASSED")
