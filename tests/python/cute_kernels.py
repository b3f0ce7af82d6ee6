"""NVIDIA's CuTe DSL: elements, a reduction through shared memory, a tile that comes by a tensor map,
a product by the tensor cores. The DSL compiles to machine code alone, and encodes the tensor map by
itself."""
import cutlass
import cutlass.cute as cute
import cutlass.cute.runtime as runtime
import numpy
from cuda.bindings import driver
from cutlass.cute.nvgpu import cpasync, warp


def check(answer):
    assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer
    return answer[1] if len(answer) > 1 else None


check(driver.cuInit(0))
check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(check(driver.cuDeviceGet(0))))))


class Array:
    """An array on the device."""

    def __init__(self, values):
        self.values = numpy.ascontiguousarray(values)
        self.address = int(check(driver.cuMemAlloc(self.values.nbytes)))
        check(driver.cuMemcpyHtoD(self.address, self.values, self.values.nbytes))

    def pointer(self, kind, alignment=128):
        return runtime.make_ptr(kind, self.address, cute.AddressSpace.gmem, assumed_align=alignment)

    def get(self):
        check(driver.cuMemcpyDtoH(self.values, self.address, self.values.nbytes))
        return self.values


# ---- elements ----------------------------------------------------------------------------------------


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    i = cute.arch.block_idx()[0] * cute.arch.block_dim()[0] + cute.arch.thread_idx()[0]
    if i < cute.size(a):
        c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer, n: cutlass.Int32):
    layout = cute.make_layout(n)
    add_kernel(cute.make_tensor(a, layout), cute.make_tensor(b, layout),
               cute.make_tensor(c, layout)).launch(grid=((n + 127) // 128, 1, 1), block=(128, 1, 1))


# ---- a reduction -------------------------------------------------------------------------------------


@cute.kernel
def sum_kernel(a: cute.Tensor, out: cute.Tensor):
    thread = cute.arch.thread_idx()[0]
    block = cute.arch.block_idx()[0]
    memory = cutlass.memory.SmemAllocator()
    partial = memory.allocate_tensor(cutlass.Float32, cute.make_layout(4), byte_alignment=16)
    value = a[block, thread]
    for k in cutlass.range_constexpr(5):
        value = value + cute.arch.shuffle_sync_bfly(value, offset=1 << k)
    if thread % 32 == 0:
        partial[thread // 32] = value
    cute.arch.sync_threads()
    if thread == 0:
        out[block] = partial[0] + partial[1] + partial[2] + partial[3]


@cute.jit
def sums(a: cute.Pointer, out: cute.Pointer, rows: cutlass.Int32):
    sum_kernel(cute.make_tensor(a, cute.make_layout((rows, 128), stride=(128, 1))),
               cute.make_tensor(out, cute.make_layout(rows))).launch(grid=(rows, 1, 1), block=(128, 1, 1))


# ---- a tensor map ------------------------------------------------------------------------------------

TILE = (32, 64)


@cute.kernel
def double_kernel(atom: cute.CopyAtom, source: cute.Tensor, out: cute.Tensor):
    thread = cute.arch.thread_idx()[0]
    bx, by, _ = cute.arch.block_idx()
    memory = cutlass.memory.SmemAllocator()
    tile = memory.allocate_tensor(cutlass.Float32, cute.make_layout(TILE, stride=(TILE[1], 1)), byte_alignment=128)
    barrier = memory.allocate_array(cutlass.Int64, 1)
    if thread == 0:
        cute.arch.mbarrier_init(barrier, 1)
        cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    boxes = cute.local_tile(source, TILE, (None, None))
    to, of = cpasync.tma_partition(atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2),
                                   cute.group_modes(boxes, 0, 2))
    if thread == 0:
        cute.arch.mbarrier_arrive_and_expect_tx(barrier, TILE[0] * TILE[1] * 4)
    if thread < 32:
        cute.copy(atom, of[None, bx, by], to, tma_bar_ptr=barrier)
    cute.arch.mbarrier_wait(barrier, 0)
    box = cute.local_tile(out, TILE, (bx, by))
    for k in range(TILE[0] * TILE[1] // 128):
        i = k * 128 + thread
        box[i // TILE[1], i % TILE[1]] = tile[i // TILE[1], i % TILE[1]] * 2.0


@cute.jit
def double(a: cute.Pointer, out: cute.Pointer, m: cutlass.Int32, n: cutlass.Int32):
    layout = cute.make_layout((m, n), stride=(n, 1))
    atom, source = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), cute.make_tensor(a, layout),
                                               cute.make_layout(TILE, stride=(TILE[1], 1)), TILE)
    double_kernel(atom, source, cute.make_tensor(out, layout)).launch(
        grid=(m // TILE[0], n // TILE[1], 1), block=(128, 1, 1))


# ---- a product ---------------------------------------------------------------------------------------


@cute.kernel
def product_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, mma: cute.TiledMma):
    part = mma.get_slice(cute.arch.thread_idx()[0])
    ra = part.make_fragment_A(part.partition_A(a))
    rb = part.make_fragment_B(part.partition_B(b))
    tc = part.partition_C(c)
    rc = part.make_fragment_C(tc)
    cute.autovec_copy(part.partition_A(a), ra)
    cute.autovec_copy(part.partition_B(b), rb)
    rc.fill(0.0)
    cute.gemm(mma, rc, ra, rb, rc)
    cute.autovec_copy(rc, tc)


@cute.jit
def product(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer):
    rows = cute.make_layout((16, 16), stride=(16, 1))
    mma = cute.make_tiled_mma(warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)))
    product_kernel(cute.make_tensor(a, rows), cute.make_tensor(b, cute.make_layout((8, 16), stride=(16, 1))),
                   cute.make_tensor(c, cute.make_layout((16, 8), stride=(8, 1))),
                   mma).launch(grid=(1, 1, 1), block=(32, 1, 1))


random = numpy.random.default_rng(1)
F16, F32 = cutlass.Float16, cutlass.Float32

a, b = (Array(random.standard_normal(1000, numpy.float32)) for _ in range(2))
c = Array(numpy.zeros(1000, numpy.float32))
add(a.pointer(F32), b.pointer(F32), c.pointer(F32), 1000)
assert (c.get() == a.values + b.values).all()

a = Array(random.standard_normal((9, 128), numpy.float32))
c = Array(numpy.zeros(9, numpy.float32))
sums(a.pointer(F32), c.pointer(F32), 9)
assert numpy.allclose(c.get(), a.values.sum(1), atol=1e-4)

a = Array(random.standard_normal((96, 128), numpy.float32))
c = Array(numpy.zeros((96, 128), numpy.float32))
double(a.pointer(F32), c.pointer(F32), 96, 128)
assert (c.get() == 2 * a.values).all()

a, b = (Array(random.standard_normal(shape).astype(numpy.float16)) for shape in ((16, 16), (8, 16)))
c = Array(numpy.zeros((16, 8), numpy.float32))
product(a.pointer(F16), b.pointer(F16), c.pointer(F32))
assert numpy.allclose(c.get(), a.values.astype(numpy.float32) @ b.values.T.astype(numpy.float32), atol=1e-3)
print("PASSED")
