// Calls cuBLAS by the API before handles, which the stand-in lacks: the program is loaded, and the
// device names the call. Exits with 0 if it fails as it should.
#include <cublas.h>

int main()
{
    return cublasInit() == CUBLAS_STATUS_NOT_SUPPORTED ? 0 : 1;
}
