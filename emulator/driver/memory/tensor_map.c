/* Tensor maps, the arguments of tensor copies in kernels (cp.async.bulk.tensor).
 * exec/machine/tensor_map.h defines their contents and rules; this file checks the API's arguments.
 * CUDA Driver API, "Tensor Map Object Management".
 */
#include "emulator/exec/machine/tensor_map.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/memory/parts.h"

enum { NO_TYPE = EXEC_TENSOR_TYPES, FIRST_CAPABILITY = 90 };

/* The executor's number of a type; NO_TYPE: unsupported. */
static uint8_t type_number(CUtensorMapDataType type)
{
    static const struct {
        CUtensorMapDataType type;
        uint8_t number;
    } types[] = {
#define TENSOR_TYPE(symbol, number, driver, bytes, is_float, rounds, reduced)                      \
    {CU_TENSOR_MAP_DATA_TYPE_##driver, number},
#include "emulator/exec/machine/tensor_map.def"
#undef TENSOR_TYPE
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) return types[i].number;
    return NO_TYPE;
}

static CUresult wrong(const char *what)
{
    return finding_tell(FINDING_TENSOR_MAP_REFUSED, CUDA_ERROR_INVALID_VALUE, "%s", what);
}

/* Checks the address of a map: it has 128 bytes at a multiple of 64. */
static CUresult check_place(const CUtensorMap *map)
{
    NEED_POINTER(map);
    if ((uintptr_t)map % EXEC_TENSOR_MAP_ALIGNMENT == 0) return CUDA_SUCCESS;
    return wrong("the map's own address must be a multiple of 64");
}

/* Refuses invalid values of the enumerations, and valid ones that the device does not support. */
static CUresult check_modes(CUtensorMapDataType type, CUtensorMapInterleave interleave,
                            CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                            CUtensorMapFloatOOBfill fill)
{
    static const struct {
        const char *what;
        unsigned argument, last, supported;
    } known[] = {
        {"interleaved tensor maps (CU_TENSOR_MAP_INTERLEAVE_16B, _32B)", 0,
         CU_TENSOR_MAP_INTERLEAVE_32B, CU_TENSOR_MAP_INTERLEAVE_NONE},
        {"tensor maps that swizzle chunks of 32 or 64 bytes (CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B "
         "and its kin)",
         1, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, CU_TENSOR_MAP_SWIZZLE_128B},
        {"", 2, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
        {"", 3, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
         CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA},
        {"", 4, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B},
    };
    const unsigned arguments[] = {interleave, swizzle, promotion, fill, type};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (arguments[known[i].argument] > known[i].last)
            return wrong("a type, layout or mode is none that there is");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (arguments[known[i].argument] > known[i].supported)
            return finding_unsupported("%s", known[i].what);
    if (type_number(type) == NO_TYPE)
        return finding_unsupported("tensor maps of elements that have 4 or 6 bits");
    return CUDA_SUCCESS;
}

CUresult driver_cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                       cuuint32_t tensorRank, void *globalAddress,
                                       const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                       const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                       CUtensorMapL2promotion l2Promotion,
                                       CUtensorMapFloatOOBfill oobFill)
{
    struct exec_tensor_map map = {.address = (uint64_t)(uintptr_t)globalAddress};
    TRY(check_place(tensorMap));
    NEED_POINTER(globalDim);
    NEED_POINTER(boxDim);
    NEED_POINTER(elementStrides);
    if (device_capability() < FIRST_CAPABILITY)
        return finding_unsupported("tensor maps on a GPU of compute capability below 9.0");
    NEED_POINTER(globalStrides); /* required for one dimension as well, as on an H100 */
    TRY(check_modes(tensorDataType, interleave, swizzle, l2Promotion, oobFill));
    map.rank = (uint8_t)(tensorRank < UINT8_MAX ? tensorRank : UINT8_MAX);
    map.type = type_number(tensorDataType);
    map.swizzle = (uint8_t)swizzle;
    map.fill = (uint8_t)oobFill;
    for (unsigned k = 0; k < tensorRank && k < EXEC_TENSOR_DIMENSIONS; k++) {
        map.size[k] = globalDim[k];
        map.box[k] = boxDim[k];
        map.step[k] = (uint8_t)(elementStrides[k] < UINT8_MAX ? elementStrides[k] : UINT8_MAX);
        if (k + 1 < tensorRank && k + 1 < EXEC_TENSOR_DIMENSIONS) map.stride[k] = globalStrides[k];
    }
    const char *broken = exec_tensor_map_wrong(&map);
    if (broken != NULL) return wrong(broken);
    exec_tensor_map_seal(&map, tensorMap);
    return CUDA_SUCCESS;
}

CUresult driver_cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    struct exec_tensor_map map;
    TRY(check_place(tensorMap));
    if (!exec_tensor_map_open(&map, tensorMap))
        return wrong("there is no tensor map, or its bytes were changed");
    map.address = (uint64_t)(uintptr_t)globalAddress;
    const char *broken = exec_tensor_map_wrong(&map);
    if (broken != NULL) return wrong(broken);
    exec_tensor_map_seal(&map, tensorMap);
    return CUDA_SUCCESS;
}
