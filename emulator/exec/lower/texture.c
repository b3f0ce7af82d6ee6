/* Lowers texture and surface instructions. What the device does not support is reported here,
 * before any kernel runs. */
#include "emulator/exec/lower/lower.h"
#include "emulator/exec/ops/extra.h"

#include <stdio.h>

/* ---- what is supported ----------------------------------------------------------------------- */

static bool read_geometry(struct lower *lower, struct exec_image_access *access)
{
    static const struct {
        uint16_t geometry;
        uint8_t dimensions;
        bool layered, cube;
    } geometries[] = {
        {PTX_GEOMETRY_1D, 1, false, false},  {PTX_GEOMETRY_2D, 2, false, false},
        {PTX_GEOMETRY_3D, 3, false, false},  {PTX_GEOMETRY_A1D, 1, true, false},
        {PTX_GEOMETRY_A2D, 2, true, false},  {PTX_GEOMETRY_CUBE, 2, false, true},
        {PTX_GEOMETRY_ACUBE, 2, true, true},
    };
    for (size_t k = 0; k < sizeof geometries / sizeof *geometries; k++) {
        if (geometries[k].geometry != lower->at->modifiers.geometry) continue;
        access->dimensions = geometries[k].dimensions;
        access->layered = geometries[k].layered;
        access->cube = geometries[k].cube;
        return true;
    }
    lower_unsupported(lower, UNSUPPORTED_TEXTURE_SHAPE);
    return false;
}

static bool read_question(struct lower *lower, struct exec_image_access *access)
{
    static const struct {
        uint8_t query;
        enum image_question question;
    } questions[] = {
        {PTX_QUERY_WIDTH, IMAGE_WIDTH},
        {PTX_QUERY_HEIGHT, IMAGE_HEIGHT},
        {PTX_QUERY_DEPTH, IMAGE_DEPTH},
        {PTX_QUERY_ARRAY_SIZE, IMAGE_LAYERS},
        {PTX_QUERY_NORMALIZED_COORDS, IMAGE_NORMALIZED},
    };
    for (size_t k = 0; k < sizeof questions / sizeof *questions; k++) {
        access->question = questions[k].question;
        if (questions[k].query == lower->at->modifiers.query) return true;
    }
    lower_unsupported(lower, UNSUPPORTED_TEXTURE_QUERY);
    return false;
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Returns the slot with the handle. A texture that is a variable of the module is a texture
 * reference, which is not supported. */
static uint32_t handle_slot(struct lower *lower, const struct ptx_operand *address)
{
    if (address->reg == PTX_NO_REGISTER) {
        lower_unsupported(lower, UNSUPPORTED_TEXTURE_REFERENCE);
        return EXEC_NO_SLOT;
    }
    return lower_register(lower, address->reg, 8);
}

static bool read_coordinates(struct lower *lower, const struct ptx_operand *image,
                             struct exec_image_access *access)
{
    if (image->component > 1) {
        lower_unsupported(lower, UNSUPPORTED_SAMPLER);
        return false;
    }
    const uint32_t wanted = (uint32_t)access->dimensions + access->layered + access->cube;
    for (uint32_t k = 0; k < wanted; k++) {
        access->coordinates[k] = lower_source(lower, &image->elements[1 + k], 4);
        if (access->coordinates[k] == EXEC_NO_SLOT) return false;
    }
    return true;
}

/* The registers that receive results; wider ones are zero-extended. */
static void read_destinations(struct lower *lower, struct exec_image_access *access)
{
    const struct ptx_operand *d = &lower->at->operands[0];
    const bool vector = d->kind == PTX_OPERAND_VECTOR;
    access->count = vector ? d->count : 1;
    access->resident = vector && d->second < lower->source->register_count
                           ? lower->registers[d->second]
                           : EXEC_NO_SLOT;
    for (uint32_t k = 0; k < access->count; k++) {
        const struct ptx_operand *element = vector ? &d->elements[k] : d;
        const bool wanted = element->kind == PTX_OPERAND_REGISTER;
        access->elements[k] = wanted ? lower->registers[element->reg] : EXEC_NO_SLOT;
        access->widths[k] = wanted ? lower_width(lower->source->registers[element->reg].type) : 4;
    }
}

static bool read_values(struct lower *lower, struct exec_image_access *access)
{
    const struct ptx_operand *s = &lower->at->operands[1];
    const bool vector = s->kind == PTX_OPERAND_VECTOR;
    access->count = vector ? s->count : 1;
    access->resident = EXEC_NO_SLOT;
    for (uint32_t k = 0; k < access->count; k++) {
        access->widths[k] = access->bytes == 8 ? 8 : 4;
        access->elements[k] = lower_source(lower, vector ? &s->elements[k] : s, access->widths[k]);
        if (access->elements[k] == EXEC_NO_SLOT) return false;
    }
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static struct exec_image_access *new_access(struct lower *lower)
{
    char name[64];
    const struct ptx_modifiers *modifiers = &lower->at->modifiers;
    struct exec_image_access *access = arena_take(&lower->program->arena, 1, sizeof *access);
    const uint16_t which = modifiers->geometry ? modifiers->geometry : modifiers->query;
    snprintf(name, sizeof name, "%s.%s", ptx_opcode_name(lower->at->op),
             ptx_modifier_name((enum ptx_modifier)which));
    if (access != NULL) access->name = arena_text(&lower->program->arena, name);
    if (access != NULL) access->level = EXEC_NO_SLOT;
    return access;
}

static void emit(struct lower *lower, struct exec_image_access *access, uint32_t handle)
{
    struct exec_inst *inst = lower_row(lower, ptx_opcode_name(lower->at->op));
    inst->a = handle;
    inst->extra = access;
    inst->cache = (uint32_t)lower->program->cache_count++;
}

static void lower_texture(struct lower *lower, struct exec_image_access *access)
{
    const struct ptx_instruction *at = lower->at;
    const uint32_t plain = at->modifiers.lod == PTX_LOD_LEVEL  ? 3
                           : at->modifiers.lod == PTX_LOD_GRAD ? 4
                                                               : 2;
    access->real = at->type2 == PTX_F32;
    access->by_gradient = at->modifiers.lod == PTX_LOD_GRAD;
    access->component = at->modifiers.gather ? (uint8_t)(at->modifiers.gather - PTX_GATHER_R) : 0;
    if (!read_geometry(lower, access)) return;
    if (at->operand_count != plain || at->type == PTX_F16 || at->type == PTX_F16X2 ||
        (at->op == PTX_OP_TLD4 && (access->dimensions != 2 || access->cube))) {
        lower_unsupported(lower, UNSUPPORTED_TEXTURE_MODIFIER);
        return;
    }
    const uint32_t handle = handle_slot(lower, &at->operands[1].elements[0]);
    if (handle == EXEC_NO_SLOT || !read_coordinates(lower, &at->operands[1], access)) return;
    if (at->modifiers.lod == PTX_LOD_LEVEL) {
        access->level = lower_source(lower, &at->operands[2], 4);
        if (access->level == EXEC_NO_SLOT) return;
    }
    read_destinations(lower, access);
    emit(lower, access, handle);
}

static void lower_surface(struct lower *lower, struct exec_image_access *access)
{
    const struct ptx_instruction *at = lower->at;
    const bool loads = at->op == PTX_OP_SULD;
    const struct ptx_operand *image = &at->operands[loads ? 1 : 0];
    access->bytes = ptx_type_bytes(at->type);
    access->boundary = at->modifiers.boundary == PTX_BOUNDARY_TRAP    ? IMAGE_TRAP
                       : at->modifiers.boundary == PTX_BOUNDARY_CLAMP ? IMAGE_CLAMP
                                                                      : IMAGE_ZERO;
    if (!read_geometry(lower, access)) return;
    if (access->cube) {
        lower_unsupported(lower, UNSUPPORTED_TEXTURE_SHAPE);
        return;
    }
    access->formatted = at->modifiers.form == PTX_FORM_FORMATTED;
    if (access->formatted && access->bytes != 4) {
        lower_unsupported(lower, UNSUPPORTED_COMBINATION);
        return;
    }
    const uint32_t handle = handle_slot(lower, &image->elements[0]);
    if (handle == EXEC_NO_SLOT || !read_coordinates(lower, image, access)) return;
    if (loads)
        read_destinations(lower, access);
    else if (!read_values(lower, access))
        return;
    emit(lower, access, handle);
}

static void lower_query(struct lower *lower, struct exec_image_access *access)
{
    if (!read_question(lower, access)) return;
    const uint32_t handle = handle_slot(lower, &lower->at->operands[1]);
    if (handle == EXEC_NO_SLOT) return;
    read_destinations(lower, access);
    emit(lower, access, handle);
}

bool lower_images(struct lower *lower)
{
    static void (*const kinds[])(struct lower *, struct exec_image_access *) = {
        [PTX_OP_TEX] = lower_texture,  [PTX_OP_TLD4] = lower_texture, [PTX_OP_SULD] = lower_surface,
        [PTX_OP_SUST] = lower_surface, [PTX_OP_TXQ] = lower_query,    [PTX_OP_SUQ] = lower_query,
    };
    const enum ptx_opcode op = lower->at->op;
    if (op >= sizeof kinds / sizeof *kinds || kinds[op] == NULL) return false;
    struct exec_image_access *access = new_access(lower);
    if (access != NULL)
        kinds[op](lower, access);
    else
        lower->failed = true;
    return true;
}
