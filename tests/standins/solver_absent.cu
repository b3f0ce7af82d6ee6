// Calls what the stand-in for cuSOLVER lacks: the functions return CUSOLVER_STATUS_NOT_SUPPORTED,
// and the device names them. Prints "all right" and exits with 0, or says what is wrong and exits
// with 1.
#define DISABLE_CUSOLVER_DEPRECATED
#include <cusolverDn.h>
#include <cusolverRf.h>
#include <cusolverSp.h>

#include <cstdio>

int main()
{
    cusolverDnHandle_t handle;
    csrqrInfo_t sparse = nullptr;
    cusolverRfHandle_t refactoring = nullptr;
    int wrong = 0, size = 0;
    wrong += cusolverDnCreate(&handle) != CUSOLVER_STATUS_SUCCESS;
    wrong += cusolverDnSgebrd_bufferSize(handle, 4, 4, &size) != CUSOLVER_STATUS_NOT_SUPPORTED;
    wrong += cusolverSpCreateCsrqrInfo(&sparse) != CUSOLVER_STATUS_NOT_SUPPORTED;
    wrong += cusolverRfCreate(&refactoring) != CUSOLVER_STATUS_NOT_SUPPORTED;
    wrong += cusolverDnDestroy(handle) != CUSOLVER_STATUS_SUCCESS;
    std::printf(wrong == 0 ? "all right\n" : "%d calls are wrong\n", wrong);
    return wrong != 0;
}
