// The kernels behind the stand-in for cuSOLVER: each routine for each type. A block has one problem
// of a batch, and goes through it in phases with a barrier between them.
#include "emulator/standins/cusolver/schur.cuh"

#define KERNEL(name, suffix, parameters, T)                                                        \
    extern "C" __global__ void cusolver_##name##_##suffix(const parameters p)                      \
    {                                                                                              \
        name<T>(p);                                                                                \
    }
#define KERNELS(name, parameters)                                                                  \
    KERNEL(name, f32, parameters, float)                                                           \
    KERNEL(name, f64, parameters, double)                                                          \
    KERNEL(name, c32, parameters, Complex<float>)                                                  \
    KERNEL(name, c64, parameters, Complex<double>)
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
