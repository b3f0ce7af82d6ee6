/* exec_texture_ops: what a compiled texture or surface instruction knows of itself beyond its
 * operands' slots. Private to emulator/exec.
 */
#ifndef OVERLAP_EXEC_OPS_TEXTURE_H
#define OVERLAP_EXEC_OPS_TEXTURE_H

#include "emulator/exec/machine/machine.h"
#include "emulator/exec/machine/texture.h"

#define IMAGE_NO_SLOT UINT32_MAX

enum image_boundary { IMAGE_TRAP, IMAGE_CLAMP, IMAGE_ZERO };
enum image_question { IMAGE_WIDTH, IMAGE_HEIGHT, IMAGE_DEPTH, IMAGE_LAYERS, IMAGE_NORMALIZED };

/* `extra` of such an instruction, whose slot a holds the handle. */
struct exec_image_access {
    const char *name;        /* of the instruction, for sentences: "tex.2d" */
    uint8_t dimensions;      /* that the instruction reads in; not counting layers */
    bool layered;            /* the first coordinate is a layer's index */
    bool real;               /* the other coordinates are f32, else s32 */
    uint32_t coordinates[4]; /* slots; the layer's, if there is one, is the first */
    uint32_t count;          /* of elements moved */
    uint32_t elements[4];    /* slots, IMAGE_NO_SLOT: not wanted */
    uint32_t widths[4];      /* of each slot, in bytes per lane: 4 or 8 */
    uint32_t resident;       /* predicate slot that is set, or IMAGE_NO_SLOT */
    uint32_t bytes;          /* of one element of a surface access */
    uint8_t component;       /* tld4 */
    enum image_boundary boundary;
    enum image_question question;
};

#endif
