// The kernels behind the stand-in for cuSOLVER: each routine for each type. A block has one problem
// of a batch, and goes through it in phases with a barrier between them.
#include "emulator/standins/cusolver/schur.cuh"
#include "emulator/standins/cusolver/sparse.cuh"

#define KERNELS(name, parameters) KERNELS_OF(cusolver, name, parameters)
KERNELS(potrf, solver_factors)
KERNELS(potrs, solver_factors)
KERNELS(potri, solver_factors)
KERNELS(lauum, solver_factors)
KERNELS(trtri, solver_factors)
KERNELS(getrf, solver_factors)
KERNELS(getrs, solver_factors)
KERNELS(laswp, solver_factors)
KERNELS(gesv, solver_factors)
KERNELS(geqrf, solver_reflections)
KERNELS(orgqr, solver_reflections)
KERNELS(ormqr, solver_reflections)
KERNELS(gels, solver_reflections)
KERNELS(eigen, solver_eigen)
KERNELS(singular, solver_singular)
KERNELS(geev, solver_general)
KERNELS(sparse_qr, solver_sparse)
KERNELS(sparse_cholesky, solver_sparse)
