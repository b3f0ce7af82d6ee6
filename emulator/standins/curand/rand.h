/* rand: the stand-in for cuRAND's host library. A public function (generator.c) checks its
 * arguments, describes the call as a structure of parameters.h and launches a kernel of kernels.cu
 * in the generator's stream. The kernels draw from NVIDIA's own generators, which the toolkit's
 * curand_kernel.h defines. The library never computes numbers on the host, and keeps no
 * generator's state in device memory: the host records how far each subsequence has been drawn
 * (place.c), and each launch computes the states that it needs. So calls in different streams never
 * share memory.
 *
 * Sequence. For XORWOW, MRG32k3a and Philox4x32-10, the results, seeds, offsets, orderings (BEST,
 * DEFAULT, LEGACY) and continuation over calls follow the CPU generators of NVIDIA's library 10.4
 * (curandCreateGeneratorHost). In a comparison with them, bits and uniform results were identical;
 * normal and lognormal results differed by the rounding of transcendental functions. No comparison
 * with a GPU was made. Only the distribution is promised for Poisson results, for the orderings
 * SEEDED and DYNAMIC, and once the calls of a generator have needed more than RAND_MOST_SEGMENTS.
 *
 * Capture. A captured call advances the generator once, at capture. The first launch of the graph
 * yields the results that the call would have yielded; each later launch draws further on, so the
 * numbers are fresh. For this, each captured call has a counter of its own in device memory.
 *
 * Absent: MTGP32, MT19937, all quasirandom generators, and the functions of absent.def.
 *
 * Source: curand.h of CUDA 13.0 for the status of each error; the CPU generators of cuRAND 10.4.
 */
#ifndef OVERLAP_STANDINS_CURAND_RAND_H
#define OVERLAP_STANDINS_CURAND_RAND_H

#include "emulator/standins/curand/abi.h"
#include "emulator/standins/curand/parameters.h"
#include "emulator/standins/standins.h"

/* Puts the generator `offset` 32-bit numbers behind its beginning; a unit has `per_unit` of them.
 */
void rand_place_set(struct rand_place *place, uint32_t sequences, uint32_t per_unit,
                    uint64_t offset);

/* Advances by `units`, of each of which `draws` 32-bit numbers are consumed. When the place would
 * need too many segments, the subsequences that lag skip numbers, and none is drawn twice. */
void rand_place_advance(struct rand_place *place, uint64_t units, uint32_t draws);

/* The image that the kernels are loaded from: kernels.cu as PTX. */
extern const char rand_image[];

#endif
