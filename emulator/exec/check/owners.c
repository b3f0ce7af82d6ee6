#include "emulator/exec/check/owners.h"

#include "emulator/base/pages.h"

struct exec_owners *exec_owners_create(uint64_t size, bool maps)
{
    enum { LINE = 64 };
    if (!maps) size = 0;
    const uint64_t sectors = (size + EXEC_OWNED_SECTOR - 1) / EXEC_OWNED_SECTOR;
    const uint64_t each = (sectors + LINE - 1) / LINE * LINE;
    const uint64_t taken =
        sizeof(struct exec_owners) + EXEC_ACCESS_COUNT * each * (1 + EXEC_OWNED_SECTOR);
    struct exec_owners *owners = pages_take(taken);
    if (owners == NULL) return NULL;
    owners->taken = taken;
    uint8_t *next = (uint8_t *)(owners + 1);
    for (int k = 0; k < EXEC_ACCESS_COUNT && maps; k++, next += each) owners->sectors[k] = next;
    for (int k = 0; k < EXEC_ACCESS_COUNT && maps; k++, next += each * EXEC_OWNED_SECTOR)
        owners->bytes[k] = next;
    return owners;
}

void exec_owners_destroy(struct exec_owners *owners, uint64_t touched)
{
    enum { FEW = 256 << 10 };
    if (owners != NULL) (touched < FEW ? pages_give_few : pages_give)(owners, owners->taken);
}
