"""JAX's own kernels, by both of Pallas' ways to PTX: Triton's (blocks, masks, atomics, products, a
scan, attention and its derivative) and Mosaic's (bulk copies and barrier objects, wgmma, a product in
a pipeline)."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu, triton
from jax.experimental.pallas.ops.gpu import attention, hopper_matmul_mgpu

random = np.random.default_rng(3)


def floats(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def shape(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def same(got, wanted, tolerance=1e-4):
    assert np.allclose(np.asarray(got, np.float64), np.asarray(wanted, np.float64), rtol=tolerance, atol=tolerance)


by_triton = functools.partial(pl.pallas_call, compiler_params=triton.CompilerParams(num_warps=4))
row = pl.BlockSpec((128,), lambda i: i)
x, a, b = floats(1024), floats(128, 128, dtype=np.float16), floats(128, 128, dtype=np.float16)
product = a.astype(np.float32) @ b.astype(np.float32)


# ---- Triton


def add(x_ref, y_ref, to_ref):
    to_ref[...] = x_ref[...] + y_ref[...]


def twice(x_ref, to_ref):
    i = pl.program_id(0) * 64 + jnp.arange(64)
    triton.store(to_ref.at[i], triton.load(x_ref.at[i], mask=i < 100, other=0.0) * 2, mask=i < 100)


def count(x_ref, before_ref, to_ref):
    triton.atomic_add(to_ref, (x_ref[...],), jnp.ones(128, jnp.float32))


def multiply(a_ref, b_ref, to_ref):
    def part(k, sum):
        return sum + triton.dot(a_ref[:, pl.ds(k * 32, 32)], b_ref[pl.ds(k * 32, 32), :])

    to_ref[...] = jax.lax.fori_loop(0, 4, part, jnp.zeros((64, 64), jnp.float32))


def scan(x_ref, to_ref):
    to_ref[...] = jnp.cumsum(x_ref[...])


same(by_triton(add, out_shape=shape(1024), grid=(8,), in_specs=[row, row], out_specs=row)(x, x), x + x)
same(by_triton(twice, out_shape=shape(100), grid=(2,))(x[:100]), x[:100] * 2)
all_of_it = pl.BlockSpec((16,), lambda i: 0)
bins = random.integers(0, 16, 1024).astype(np.int32)
same(by_triton(count, out_shape=shape(16), grid=(8,), in_specs=[row, all_of_it], out_specs=all_of_it,
               input_output_aliases={1: 0})(bins, jnp.zeros(16)), np.bincount(bins, minlength=16))
same(by_triton(multiply, out_shape=shape(128, 128), grid=(2, 2),
               in_specs=[pl.BlockSpec((64, 128), lambda i, j: (i, 0)), pl.BlockSpec((128, 64), lambda i, j: (0, j))],
               out_specs=pl.BlockSpec((64, 64), lambda i, j: (i, j)))(a, b), product, 2e-2)
same(by_triton(scan, out_shape=shape(256))(x[:256]), np.cumsum(x[:256]), 1e-3)
q = jnp.asarray(floats(1, 128, 2, 64, dtype=np.float16))
same(attention.mha(q, q, q, segment_ids=None), attention.mha_reference(q, q, q, segment_ids=None), 3e-2)


def slope(of):
    return jax.grad(lambda v: of(v, v, v, segment_ids=None).astype(jnp.float32).sum())(q)


same(slope(attention.mha), slope(attention.mha_reference), 5e-2)


# ---- Mosaic


@functools.partial(mosaic_gpu.kernel, out_shape=shape(256),
                   scratch_shapes=[mosaic_gpu.SMEM((256,), jnp.float32), mosaic_gpu.Barrier()])
def by_copies(x_ref, to_ref, tile_ref, barrier_ref):
    mosaic_gpu.copy_gmem_to_smem(x_ref, tile_ref, barrier_ref)
    mosaic_gpu.barrier_wait(barrier_ref)
    tile_ref[...] = tile_ref[...] * 2
    mosaic_gpu.commit_smem()
    mosaic_gpu.copy_smem_to_gmem(tile_ref, to_ref)
    mosaic_gpu.wait_smem_to_gmem(0)


same(by_copies(x[:256]), x[:256] * 2)
pipeline = hopper_matmul_mgpu.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=2)
same(hopper_matmul_mgpu.matmul(jnp.asarray(a), jnp.asarray(b), None, pipeline), product, 3e-2)
print("PASSED")
