/* The functions that are exported but not supported. Each takes any arguments, so the real
 * prototypes are not needed (and would not fit). */
#include "emulator/nvml/nvml.h"

#define ABSENT(symbol)                                                                             \
    NVML_EXPORT nvmlReturn_t symbol(void);                                                         \
    nvmlReturn_t symbol(void)                                                                      \
    {                                                                                              \
        return NVML_ERROR_NOT_SUPPORTED;                                                           \
    }
#include "emulator/nvml/absent.def"
