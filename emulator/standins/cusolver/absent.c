/* The functions of cusolverDn.h, cusolverSp.h and cusolverRf.h, and what else libcusolver exports,
 * that the stand-in does not have: each names itself. */
#include "emulator/standins/cusolver/solver.h"

#define ABSENT(name) STANDIN_ABSENT(name, SOLVER_NOT_SUPPORTED)
#include "emulator/standins/cusolver/absent.def"
