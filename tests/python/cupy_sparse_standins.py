"""CuPy's sparse matrices by ./emulate --stand-ins: products, sums, formats, triangles, iterations."""
import cupy
import cupyx.scipy.sparse as sparse
import cupyx.scipy.sparse.linalg as linalg
import numpy

rng = numpy.random.default_rng(7)


def some(rows, columns, kind):
    table = numpy.where(rng.random((rows, columns)) < 0.15, rng.standard_normal((rows, columns)), 0)
    return (table * (1 + 0.5j if numpy.dtype(kind).kind == "c" else 1)).astype(kind)


def close(got, wanted, allowed=1e-4):
    got = got.toarray() if sparse.issparse(got) else got
    got = cupy.asnumpy(got)
    assert got.shape == wanted.shape and numpy.abs(got - wanted).max() <= allowed, (got, wanted)


for kind in numpy.float32, numpy.float64, numpy.complex64, numpy.complex128:
    a, b, c = some(60, 50, kind), some(50, 40, kind), some(60, 50, kind)
    x, y = rng.random((50, 7)).astype(kind), rng.random(60).astype(kind)
    for form in sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix:
        at = form(sparse.csr_matrix(cupy.asarray(a)))
        close(at, a)
        close(at @ cupy.asarray(x[:, 0]), a @ x[:, 0])
        close(at @ cupy.asarray(x), a @ x)
        close(at.T @ cupy.asarray(y), a.T @ y)
    of_a, of_c = sparse.csr_matrix(cupy.asarray(a)), sparse.csr_matrix(cupy.asarray(c))
    close(of_a @ sparse.csr_matrix(cupy.asarray(b)), a @ b)
    close(of_a - 2 * of_c, a - 2 * c)
    close(of_a.multiply(of_c), a * c)
    close(of_a[3:20, 5:30], a[3:20, 5:30])
    close(of_a.T.tocsr(), a.T)
    close(of_a.sum(axis=0), a.sum(axis=0, keepdims=True))

    lower = numpy.tril(some(40, 40, kind)) + 4 * numpy.eye(40, dtype=kind)
    right = rng.random(40).astype(kind)
    close(linalg.spsolve_triangular(sparse.csr_matrix(cupy.asarray(lower)), cupy.asarray(right)),
          numpy.linalg.solve(lower, right))
    square = some(40, 40, kind)
    square = square + square.conj().T + 20 * numpy.eye(40, dtype=kind)
    close(linalg.spsolve(sparse.csr_matrix(cupy.asarray(square)), cupy.asarray(right)),
          numpy.linalg.solve(square, right))
    for method in linalg.cg, linalg.gmres:
        close(method(sparse.csr_matrix(cupy.asarray(square)), cupy.asarray(right), rtol=1e-6)[0],
              numpy.linalg.solve(square, right))

# Places that come twice are added, and entries that are 0 go.
places = numpy.array([3, 1, 3, 0]), numpy.array([1, 2, 1, 0])
twice = sparse.coo_matrix((cupy.array([1.0, 2, 3, 4]), tuple(map(cupy.asarray, places))), shape=(5, 5))
wanted = numpy.zeros((5, 5))
numpy.add.at(wanted, places, [1.0, 2, 3, 4])
close(twice.tocsr(), wanted)
some_zeros = sparse.csr_matrix(cupy.asarray(wanted))
some_zeros.data[0] = 0
some_zeros.eliminate_zeros()
assert some_zeros.nnz == 2
print("PASSED")
