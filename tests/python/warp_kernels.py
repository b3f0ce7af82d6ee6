"""Warp: the same kernels on its devices "cuda" and "cpu": structs, atomics, matrices, tiles, queries of
hash grids, trees, meshes and volumes, sorts and scans, sparse products, gradients; and on "cuda" streams
and events, a graph that is captured, and arrays shared with CuPy."""
import cupy as cp
import numpy as np
import warp as wp
import warp.sparse

wp.config.quiet = True
N, TILE = 1000, 16


@wp.struct
class Body:
    x: wp.vec3
    mass: float
    tag: wp.int8


@wp.func
def energy(b: Body, v: wp.vec3):
    return 0.5 * b.mass * wp.dot(v, v)


@wp.kernel
def energies(bodies: wp.array(dtype=Body), v: wp.array(dtype=wp.vec3), out: wp.array(dtype=float),
             total: wp.array(dtype=wp.int64), most: wp.array(dtype=wp.int32)):
    i = wp.tid()
    e = energy(bodies[i], v[i])
    out[i] = e + wp.float(bodies[i].tag)
    wp.atomic_add(total, 0, wp.int64(e))
    wp.atomic_max(most, 0, wp.int32(e))


@wp.kernel
def algebra(v: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.mat33), e: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    m = wp.outer(v[i], v[i]) + wp.identity(n=3, dtype=float)
    q = wp.quat_from_axis_angle(wp.normalize(v[i]), 0.5)
    out[i] = wp.inverse(m) @ wp.quat_to_matrix(q)
    u, s, w = wp.svd3(m)
    e[i] = s


@wp.kernel
def noises(out: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(42, i)
    out[i] = wp.randf(state) + wp.noise(state, wp.vec3(float(i) * 0.1, 0.3, 0.7))


@wp.kernel
def neighbours(grid: wp.uint64, x: wp.array(dtype=wp.vec3), count: wp.array(dtype=int)):
    i = wp.tid()
    found = int(0)
    for j in wp.hash_grid_query(grid, x[i], 0.2):
        if wp.length(x[i] - x[j]) <= 0.2:
            found += 1
    count[i] = found


@wp.kernel
def overlaps(tree: wp.uint64, x: wp.array(dtype=wp.vec3), count: wp.array(dtype=int)):
    i = wp.tid()
    reach = wp.vec3(0.1, 0.1, 0.1)
    query = wp.bvh_query_aabb(tree, x[i] - reach, x[i] + reach)
    j = wp.int32(0)
    while wp.bvh_query_next(query, j):
        wp.atomic_add(count, i, 1)


@wp.kernel
def distances(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), d: wp.array(dtype=float),
              hit: wp.array(dtype=float)):
    i = wp.tid()
    q = wp.mesh_query_point_sign_normal(mesh, x[i], 10.0)
    d[i] = q.sign * wp.length(x[i] - wp.mesh_eval_position(mesh, q.face, q.u, q.v))
    r = wp.mesh_query_ray(mesh, x[i] + wp.vec3(0.0, 5.0, 0.0), wp.vec3(0.0, -1.0, 0.0), 100.0)
    if r.result:
        hit[i] = r.t


@wp.kernel
def sampled(volume: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.volume_sample_f(volume, x[i] * 8.0, wp.Volume.LINEAR)


# Tiles are compiled once for each size of a block: in modules of their own.
@wp.kernel(module="unique")
def tile_products(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = wp.tile_zeros(shape=(TILE, TILE), dtype=float)
    for k in range(a.shape[1] // TILE):
        p = wp.tile_load(a, shape=(TILE, TILE), offset=(i * TILE, k * TILE))
        q = wp.tile_load(b, shape=(TILE, TILE), offset=(k * TILE, j * TILE))
        wp.tile_matmul(p, q, total)
    wp.tile_store(c, total, offset=(i * TILE, j * TILE))


@wp.kernel(module="unique")
def tile_sums(a: wp.array2d(dtype=float), s: wp.array(dtype=float), top: wp.array(dtype=float)):
    i = wp.tid()
    row = wp.tile_load(a[i], shape=64)
    wp.tile_store(s, wp.tile_sum(wp.tile_map(wp.sin, row)), offset=i)
    wp.tile_store(top, wp.tile_max(row), offset=i)


@wp.kernel
def loss(x: wp.array(dtype=wp.vec3), total: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(total, 0, wp.sin(x[i][0]) * wp.exp(-x[i][1]) + wp.length_sq(x[i]))


@wp.kernel
def twice(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] * 2.0 + 1.0


rng = np.random.default_rng(1)
points = rng.uniform(-1, 1, (N, 3)).astype(np.float32)
square = rng.normal(size=(64, 64)).astype(np.float32)
numbers = rng.integers(-1000, 1000, N).astype(np.int32)
corners = np.array([[x, y, z] for x in (-.7, .7) for y in (-.7, .7) for z in (-.7, .7)], np.float32)
faces = np.array([0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                  2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3], np.int32)
bodies = np.zeros(N, Body.numpy_dtype())
bodies["x"], bodies["mass"], bodies["tag"] = points, np.arange(N) % 7, np.arange(N) % 100 - 50


def results(device):
    with wp.ScopedDevice(device):
        x = wp.array(points, dtype=wp.vec3)
        out = [wp.zeros(N, dtype=float), wp.zeros(1, dtype=wp.int64), wp.zeros(1, dtype=wp.int32)]
        wp.launch(energies, N, [wp.array(bodies, dtype=Body), x, *out])
        out += [wp.zeros(N, dtype=wp.mat33), wp.zeros(N, dtype=wp.vec3)]
        wp.launch(algebra, N, [x, *out[-2:]])
        out += [wp.zeros(N, dtype=float)]
        wp.launch(noises, N, [out[-1]])

        grid = wp.HashGrid(16, 16, 16)
        grid.build(x, 0.2)
        out += [wp.zeros(N, dtype=int)]
        wp.launch(neighbours, N, [grid.id, x, out[-1]])
        lowers, uppers = (wp.array(points + side, dtype=wp.vec3) for side in (-0.05, 0.05))
        tree = wp.Bvh(lowers, uppers)
        out += [wp.zeros(N, dtype=int)]
        wp.launch(overlaps, N, [tree.id, x, out[-1]])
        mesh = wp.Mesh(wp.array(corners, dtype=wp.vec3), wp.array(faces, dtype=int))
        out += [wp.zeros(N, dtype=float), wp.zeros(N, dtype=float)]
        wp.launch(distances, N, [mesh.id, x, *out[-2:]])
        volume = wp.Volume(wp.array(grid_file, dtype=wp.uint8))
        out += [wp.zeros(N, dtype=float)]
        wp.launch(sampled, N, [volume.id, x, out[-1]])

        a = wp.array(square)
        out += [wp.zeros((64, 64), dtype=float), wp.zeros(64, dtype=float), wp.zeros(64, dtype=float)]
        wp.launch_tiled(tile_products, dim=(4, 4), inputs=[a, a, out[-3]], block_dim=64)
        wp.launch_tiled(tile_sums, dim=64, inputs=[a, *out[-2:]], block_dim=32)

        keys = wp.array(np.concatenate([numbers, numbers]))
        values = wp.array(np.arange(2 * N, dtype=np.int32))
        wp.utils.radix_sort_pairs(keys, values, N)
        scanned = wp.zeros(N, dtype=int)
        wp.utils.array_scan(wp.array(numbers), scanned, inclusive=False)
        unique, lengths, n = wp.zeros(N, dtype=int), wp.zeros(N, dtype=int), wp.zeros(1, dtype=int)
        wp.utils.runlength_encode(keys[:N].contiguous(), unique, lengths, n)
        out += [keys[:N].contiguous(), values[:N].contiguous(), scanned, unique, lengths, n]
        rows = wp.array(numbers % 50)
        columns = wp.array(np.arange(N, dtype=np.int32) % 50)
        matrix = wp.sparse.bsr_from_triplets(50, 50, rows, columns, wp.array(points[:, 0].copy()))
        vector = wp.array(square.ravel()[:50])
        out += [wp.sparse.bsr_mv(matrix, vector), wp.sparse.bsr_mm(matrix, matrix).values]

        y = wp.array(points, dtype=wp.vec3, requires_grad=True)
        total = wp.zeros(1, dtype=float, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(loss, N, [y, total])
        tape.backward(total)
        out += [total, y.grad]
        return [o.numpy() for o in out]


# A volume is made on "cuda", and its file goes to both.
field = rng.normal(size=(17, 17, 17)).astype(np.float32)
with wp.ScopedDevice("cuda"):
    made = wp.Volume.load_from_numpy(field, (-8.0, -8.0, -8.0), 1.0, 0.0)
    grid_file = made.array().numpy()
there, here = results("cuda"), results("cpu")
for t, h in zip(there, here):
    np.testing.assert_allclose(t, h, rtol=2e-4, atol=2e-4)

device = wp.get_device("cuda")
x = wp.array(np.arange(N, dtype=np.float32), device=device)
first, second = wp.Stream(device), wp.Stream(device)
first.wait_stream(device.stream)
with wp.ScopedStream(first):
    wp.launch(twice, N, [x])
    event = first.record_event()
second.wait_event(event)
with wp.ScopedStream(second):
    wp.launch(twice, N, [x])
wp.synchronize_device(device)
assert np.array_equal(x.numpy(), 4 * np.arange(N) + 3)

with wp.ScopedCapture(device) as capture:
    for _ in range(3):
        wp.launch(twice, N, [x], device=device)
x.zero_()
wp.capture_launch(capture.graph)
wp.capture_launch(capture.graph)
assert np.array_equal(x.numpy(), np.full(N, 63))

shared = cp.asarray(x)
shared += 1
cp.cuda.Stream.null.synchronize()
assert np.array_equal(x.numpy(), np.full(N, 64))
back = wp.from_dlpack(cp.arange(N, dtype=cp.float32))
assert np.array_equal(back.numpy(), np.arange(N))
print("PASSED")
