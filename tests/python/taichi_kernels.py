"""Taichi: fields and arrays, atomics, reductions, matrices and structs, sparse fields, templates,
functions, static loops, shared arrays, random numbers, and the gradient of a kernel."""
import numpy as np
import taichi as ti

ti.init(arch=ti.cuda, log_level=ti.ERROR, device_memory_GB=0.5, offline_cache=False)
assert ti.lang.impl.current_cfg().arch == ti.cuda

x = ti.field(ti.f32, shape=1000)
total = ti.field(ti.f32, shape=())


@ti.kernel
def fill():
    for i in x:
        x[i] = i * 2.0


@ti.kernel
def add_up() -> ti.f32:
    s = 0.0
    for i in x:
        s += x[i]
    return s


fill()
assert np.array_equal(x.to_numpy(), 2 * np.arange(1000))
assert add_up() == 999000


@ti.kernel
def count(values: ti.types.ndarray(dtype=ti.i32), bins: ti.types.ndarray(dtype=ti.i32)):
    for i in values:
        bins[values[i]] += 1


values = np.random.default_rng(1).integers(0, 8, 1000).astype(np.int32)
bins = np.zeros(8, dtype=np.int32)
count(values, bins)
assert np.array_equal(bins, np.bincount(values, minlength=8))

there = ti.ndarray(ti.f32, shape=(16, 16))


@ti.kernel
def transpose(a: ti.types.ndarray(dtype=ti.f32), b: ti.types.ndarray(dtype=ti.f32)):
    for i, j in a:
        b[j, i] = a[i, j]


a = np.arange(256, dtype=np.float32).reshape(16, 16)
transpose(a, there)
assert np.array_equal(there.to_numpy(), a.T)

m = ti.Matrix.field(3, 3, ti.f32, shape=4)


@ti.kernel
def products():
    for i in m:
        r = ti.Matrix([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, float(i + 1)]])
        m[i] = r @ r


products()
r = np.array([[1, 2, 0], [0, 1, 0], [0, 0, 4]], dtype=np.float32)
assert np.array_equal(m.to_numpy()[3], r @ r)

particle = ti.types.struct(pos=ti.math.vec3, mass=ti.f32)
particles = particle.field(shape=8)


@ti.func
def moved(p, d):
    return p + d


@ti.kernel
def move(d: ti.f32):
    for i in particles:
        particles[i].mass = 1.0
        particles[i].pos = moved(particles[i].pos, d)


move(0.5)
move(0.5)
assert np.array_equal(particles.pos.to_numpy(), np.ones((8, 3)))

sparse = ti.field(ti.i32)
ti.root.pointer(ti.i, 8).dense(ti.i, 8).place(sparse)


@ti.kernel
def activate():
    for i in range(64):
        if i % 16 == 0:
            sparse[i] = i


@ti.kernel
def active() -> ti.i32:
    n = 0
    for i in sparse:
        n += 1
    return n


activate()
assert active() == 32


@ti.kernel
def powers(n: ti.template()):
    for i in range(4):
        p = 1
        for _ in ti.static(range(n)):
            p *= i
        x[i] = p


powers(3)
assert list(x.to_numpy()[:4]) == [0, 1, 8, 27]

BLOCK = 64


@ti.kernel
def reverse(b: ti.types.ndarray(dtype=ti.f32)):
    ti.loop_config(block_dim=BLOCK)
    for i in range(256):
        room = ti.simt.block.SharedArray((BLOCK,), ti.f32)
        k = i % BLOCK
        room[k] = b[i]
        ti.simt.block.sync()
        b[i] = room[BLOCK - 1 - k]


b = np.arange(256, dtype=np.float32)
c = b.copy()
reverse(c)
assert np.array_equal(c, b.reshape(4, 64)[:, ::-1].reshape(-1))


@ti.kernel
def draw() -> ti.i32:
    n = 0
    for i in range(10000):
        if ti.random() < 0.5:
            n += 1
    return n


assert 4500 < draw() < 5500

y = ti.field(ti.f32, shape=8, needs_grad=True)
loss = ti.field(ti.f32, shape=(), needs_grad=True)


@ti.kernel
def squares():
    for i in y:
        loss[None] += y[i] ** 2


y.from_numpy(np.arange(8, dtype=np.float32))
with ti.ad.Tape(loss=loss):
    squares()
assert np.array_equal(y.grad.to_numpy(), 2 * np.arange(8))
print("PASSED")
