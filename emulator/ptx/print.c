/* Prints a module as PTX text, for debugging and for tests: parsing the printed text and printing
 * again gives the same text. Blocks are flattened; names that they share get a number. */
#include "emulator/ptx/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a growing text -------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t length;
    size_t capacity;
    bool failed; /* out of memory: further text is dropped */
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *text, const char *format, ...)
{
    for (int attempt = 0; attempt < 2 && !text->failed; attempt++) {
        va_list arguments;
        va_start(arguments, format);
        size_t room = text->capacity - text->length;
        int wrote = vsnprintf(text->bytes != NULL ? text->bytes + text->length : NULL, room, format,
                              arguments);
        va_end(arguments);
        if (wrote < 0) break;
        if ((size_t)wrote < room) {
            text->length += (size_t)wrote;
            return;
        }
        size_t capacity = (text->capacity + (size_t)wrote) * 2 + 256;
        char *bytes = realloc(text->bytes, capacity);
        if (bytes == NULL) break;
        text->bytes = bytes;
        text->capacity = capacity;
    }
    text->failed = true;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The printed text, and the names in use in the function being printed. */
struct printer {
    struct text text;
    const struct ptx_module *module;
    struct arena arena;     /* of the function being printed */
    struct ptx_map taken;   /* name to its next number, uint32_t * */
    const char **registers; /* by index; NULL: as in the tree */
    const char **variables;
    const char **labels;
    const char **label_at; /* by instruction index: a label's name, or NULL */
    const struct ptx_function *function;
};

/* Returns a unique name: `wish`, or `wish` with a number behind it. */
static const char *unique(struct printer *printer, const char *wish)
{
    const char *name = wish;
    uint32_t *next = (uint32_t *)(uintptr_t)ptx_map_get(&printer->taken, wish, strlen(wish));
    while (next != NULL && ptx_map_get(&printer->taken, name, strlen(name)) != NULL) {
        size_t size = strlen(wish) + 16;
        char *made = arena_take(&printer->arena, size, 1);
        if (made == NULL) goto failed;
        snprintf(made, size, "%s_%u", wish, ++*next);
        name = made;
    }
    uint32_t *count = arena_take(&printer->arena, 1, sizeof *count);
    if (count == NULL || !ptx_map_put(&printer->taken, &printer->arena, name, strlen(name), count))
        goto failed;
    return name;

failed:
    printer->text.failed = true;
    return wish;
}

static const char **name_array(struct printer *printer, size_t count)
{
    const char **names = arena_take(&printer->arena, count + 1, sizeof *names);
    if (names == NULL) printer->text.failed = true;
    return names;
}

static void take_parameters(struct printer *printer, const struct ptx_variable *const *parameters,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) unique(printer, parameters[i]->name);
}

/* Chooses all names of a function before it is printed. */
static void choose_names(struct printer *printer, const struct ptx_function *function)
{
    const struct ptx_module *module = printer->module;
    printer->taken = (struct ptx_map){0};
    printer->function = function;
    printer->registers = name_array(printer, function->register_count);
    printer->variables = name_array(printer, function->variable_count);
    printer->labels = name_array(printer, function->label_count);
    printer->label_at = name_array(printer, function->instruction_count);
    if (printer->text.failed) return;

    for (uint32_t i = 0; i < module->variable_count; i++)
        unique(printer, module->variables[i]->name);
    for (uint32_t i = 0; i < module->function_count; i++)
        unique(printer, module->functions[i]->name);
    const struct ptx_prototype *prototype = &function->prototype;
    take_parameters(printer, prototype->returns, prototype->return_count);
    take_parameters(printer, prototype->parameters, prototype->parameter_count);
    for (uint32_t i = 0; i < function->variable_count; i++)
        printer->variables[i] = unique(printer, function->variables[i]->name);
    for (uint32_t i = 0; i < function->label_count; i++) {
        printer->labels[i] = unique(printer, function->labels[i].name);
        printer->label_at[function->labels[i].target] = printer->labels[i];
    }
    for (uint32_t i = 0; i < prototype->return_count + prototype->parameter_count; i++) {
        const struct ptx_variable *parameter =
            i < prototype->return_count ? prototype->returns[i]
                                        : prototype->parameters[i - prototype->return_count];
        if (parameter->space == PTX_SPACE_REG) printer->registers[parameter->reg] = parameter->name;
    }
    for (uint32_t i = 0; i < function->register_count; i++) {
        if (printer->registers[i] == NULL)
            printer->registers[i] = unique(printer, function->registers[i].name);
    }
}

static const char *register_name(const struct printer *printer, uint32_t reg)
{
    if (reg == PTX_SINK) return "_";
    if (printer->registers != NULL) return printer->registers[reg];
    return printer->function->registers[reg].name;
}

static const char *variable_name(const struct printer *printer, const struct ptx_variable *variable)
{
    const struct ptx_function *function = printer->function;
    bool is_body = variable->function == function && printer->variables != NULL &&
                   variable->index < function->variable_count &&
                   function->variables[variable->index] == variable;
    return is_body ? printer->variables[variable->index] : variable->name;
}

static void put_label(struct printer *printer, uint32_t target)
{
    if (printer->label_at != NULL && printer->label_at[target] != NULL) {
        put(&printer->text, "%s", printer->label_at[target]);
        return;
    }
    const struct ptx_function *function = printer->function;
    for (uint32_t i = 0; i < function->label_count; i++) {
        if (function->labels[i].target == target) {
            put(&printer->text, "%s", function->labels[i].name);
            return;
        }
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Converts a half to the equal single. */
static uint32_t half_to_single(uint32_t half)
{
    uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3FFu;
    if (exponent == 31) return sign | 0x7F800000u | mantissa << 13;
    if (exponent == 0) {
        if (mantissa == 0) return sign;
        for (exponent = 1; !(mantissa & 0x400u); exponent--) mantissa <<= 1;
        mantissa &= 0x3FFu;
    }
    return sign | (exponent + 112) << 23 | mantissa << 13;
}

static void put_number(struct text *text, uint64_t bits, enum ptx_type type)
{
    switch (type) {
    case PTX_F32:
        put(text, "0f%08X", (uint32_t)bits);
        return;
    case PTX_F64:
        put(text, "0d%016llX", (unsigned long long)bits);
        return;
    case PTX_F16:
        put(text, "0f%08X", half_to_single((uint32_t)bits));
        return;
    case PTX_BF16:
        put(text, "0f%08X", (uint32_t)bits << 16);
        return;
    default:
        break;
    }
    enum ptx_type_kind kind = ptx_type_kind(type);
    if (kind == PTX_KIND_SIGNED || kind == PTX_KIND_NONE) {
        put(text, "%lld", (long long)bits);
    } else {
        put(text, "%llu", (unsigned long long)bits);
    }
}

static void put_offset(struct text *text, int64_t offset)
{
    if (offset) put(text, "+%lld", (long long)offset);
}

static void put_symbol(struct printer *printer, const struct ptx_operand *operand)
{
    const char *name = operand->variable != NULL ? variable_name(printer, operand->variable)
                                                 : operand->function->name;
    put(&printer->text, "%s", name);
    put_offset(&printer->text, operand->offset);
}

static void put_address(struct printer *printer, const struct ptx_operand *operand)
{
    struct text *text = &printer->text;
    put(text, "[");
    if (operand->variable != NULL || operand->function != NULL) {
        put_symbol(printer, operand);
    } else if (operand->reg != PTX_NO_REGISTER) {
        put(text, "%s", register_name(printer, operand->reg));
        put_offset(text, operand->offset);
    } else {
        put(text, "%lld", (long long)operand->offset);
    }
    put(text, "]");
}

static void put_special(struct text *text, const struct ptx_operand *operand)
{
    static const char letters[] = "xyzw";
    const char *name = ptx_special_name(operand->special);
    uint32_t components = ptx_special_components(operand->special);
    if (components == 4) {
        put(text, "%s.%c", name, letters[operand->component & 3]);
    } else if (components > 4) { /* %envreg7, %pm3_64 */
        size_t length = strcspn(name, "_");
        put(text, "%.*s%u%s", (int)length, name, operand->component, name + length);
    } else {
        put(text, "%s", name);
    }
}

static void put_operand(struct printer *printer, const struct ptx_operand *operand,
                        enum ptx_type type);

/* [a, {b, c}] */
static void put_image(struct printer *printer, const struct ptx_operand *operand,
                      enum ptx_type type)
{
    struct text *text = &printer->text;
    put(text, "[");
    for (uint32_t i = 0; i < operand->count; i++) {
        const struct ptx_operand *element = &operand->elements[i];
        if (i) put(text, ", ");
        if (i == operand->component) put(text, "{");
        if (i >= operand->component)
            put_operand(printer, element, type);
        else if (element->reg != PTX_NO_REGISTER)
            put(text, "%s", register_name(printer, element->reg));
        else
            put_symbol(printer, element);
    }
    put(text, "}]");
}

static void put_operand(struct printer *printer, const struct ptx_operand *operand,
                        enum ptx_type type)
{
    struct text *text = &printer->text;
    char parts[8];
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        put(text, "%s%s%s", operand->negated ? type == PTX_PRED ? "!" : "-" : "",
            register_name(printer, operand->reg), (ptx_parts_print(operand->parts, parts), parts));
        break;
    case PTX_OPERAND_PAIR:
        put(text, "%s|%s", register_name(printer, operand->reg),
            register_name(printer, operand->second));
        break;
    case PTX_OPERAND_SPECIAL:
        put_special(text, operand);
        break;
    case PTX_OPERAND_IMMEDIATE:
        put_number(text, operand->bits, type);
        break;
    case PTX_OPERAND_ADDRESS:
        put_address(printer, operand);
        break;
    case PTX_OPERAND_VECTOR:
        put(text, "{");
        for (uint32_t i = 0; i < operand->count; i++) {
            if (i) put(text, ", ");
            put_operand(printer, &operand->elements[i], type);
        }
        put(text, "}");
        if (operand->second != PTX_NO_REGISTER)
            put(text, "|%s", register_name(printer, operand->second));
        break;
    case PTX_OPERAND_IMAGE:
        put_image(printer, operand, type);
        break;
    case PTX_OPERAND_SYMBOL:
        put_symbol(printer, operand);
        break;
    case PTX_OPERAND_LABEL:
        put_label(printer, operand->target);
        break;
    case PTX_OPERAND_TABLE:
        put(text, "%s", printer->function->tables[operand->target].name);
        break;
    case PTX_OPERAND_SINK:
        put(text, "_");
        break;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void put_field(struct text *text, const struct ptx_modifiers *modifiers,
                      enum ptx_field field)
{
    uint16_t value = ptx_modifiers_get(modifiers, field);
    if (value) put(text, ".%s", ptx_modifier_name((enum ptx_modifier)value));
}

/* Video instructions have their types first, then their modifiers. */
static void put_video(struct text *text, const struct ptx_instruction *instruction)
{
    static const enum ptx_field order[] = {
        PTX_FIELD_third, PTX_FIELD_plus_one, PTX_FIELD_sat,      PTX_FIELD_clamp,
        PTX_FIELD_scale, PTX_FIELD_compare,  PTX_FIELD_operation};
    put(text, "%s.%s.%s", ptx_opcode_name(instruction->op),
        ptx_type_name((enum ptx_type)instruction->type),
        ptx_type_name((enum ptx_type)instruction->type2));
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        put_field(text, &instruction->modifiers, order[i]);
}

/* Nearly every tensor core opcode has an order of its own. */
static bool put_matrix(struct text *text, const struct ptx_instruction *instruction)
{
    enum { MOST = 7, NONE = 0 }; /* no row has the first field */
    static const struct {
        enum ptx_opcode first, last;
        uint8_t before[MOST], behind[MOST]; /* the first two types */
    } orders[] = {
        {PTX_OP_WMMA_LOAD_A,
         PTX_OP_WMMA_STORE_D,
         {PTX_FIELD_aligned, PTX_FIELD_layout, PTX_FIELD_tile, PTX_FIELD_space},
         {NONE}},
        {PTX_OP_WMMA_MMA,
         PTX_OP_WMMA_MMA,
         {PTX_FIELD_aligned, PTX_FIELD_layout, PTX_FIELD_layout2, PTX_FIELD_tile,
          PTX_FIELD_rounding},
         {PTX_FIELD_factor, PTX_FIELD_addend, PTX_FIELD_satfinite}},
        {PTX_OP_WMMA_BITS,
         PTX_OP_WMMA_BITS,
         {PTX_FIELD_boolean, PTX_FIELD_counted, PTX_FIELD_together, PTX_FIELD_aligned,
          PTX_FIELD_layout, PTX_FIELD_layout2, PTX_FIELD_tile},
         {PTX_FIELD_factor, PTX_FIELD_addend}},
        {PTX_OP_MMA,
         PTX_OP_MMA,
         {PTX_FIELD_aligned, PTX_FIELD_tile, PTX_FIELD_layout, PTX_FIELD_layout2,
          PTX_FIELD_rounding, PTX_FIELD_satfinite},
         {PTX_FIELD_factor, PTX_FIELD_addend, PTX_FIELD_boolean, PTX_FIELD_counted}},
        {PTX_OP_MMA_SPARSE,
         PTX_OP_MMA_SPARSE,
         {PTX_FIELD_aligned, PTX_FIELD_tile, PTX_FIELD_layout, PTX_FIELD_layout2,
          PTX_FIELD_satfinite},
         {PTX_FIELD_factor, PTX_FIELD_addend}},
        {PTX_OP_WGMMA_MMA,
         PTX_OP_WGMMA_MMA,
         {PTX_FIELD_aligned, PTX_FIELD_tile},
         {PTX_FIELD_factor, PTX_FIELD_boolean, PTX_FIELD_counted, PTX_FIELD_satfinite}},
        {PTX_OP_LDMATRIX,
         PTX_OP_MOVMATRIX,
         {PTX_FIELD_aligned, PTX_FIELD_tile, PTX_FIELD_matrices, PTX_FIELD_trans, PTX_FIELD_space},
         {NONE}},
    };
    const uint8_t types[2] = {instruction->type, instruction->type2};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (instruction->op < orders[i].first || instruction->op > orders[i].last) continue;
        put(text, "%s", ptx_opcode_name(instruction->op));
        for (size_t k = 0; k < MOST && orders[i].before[k] != NONE; k++)
            put_field(text, &instruction->modifiers, orders[i].before[k]);
        for (size_t k = 0; k < 2; k++)
            if (types[k]) put(text, ".%s", ptx_type_name((enum ptx_type)types[k]));
        for (size_t k = 0; k < MOST && orders[i].behind[k] != NONE; k++)
            put_field(text, &instruction->modifiers, orders[i].behind[k]);
        return true;
    }
    return false;
}

/* Prints modifiers in the order of their fields; a few opcodes have one in another place. */
static void put_mnemonic(struct text *text, const struct ptx_instruction *instruction)
{
    const struct ptx_modifiers *modifiers = &instruction->modifiers;
    if (instruction->op >= PTX_OP_VADD && instruction->op <= PTX_OP_VSET4) {
        put_video(text, instruction);
        return;
    }
    if (put_matrix(text, instruction)) return;
    bool third_last = modifiers->third != PTX_ABSENT;
    bool mode_last = instruction->op == PTX_OP_PRMT;
    bool cache_first = instruction->op == PTX_OP_CP_ASYNC;
    put(text, "%s", ptx_opcode_name(instruction->op));
    if (cache_first) put_field(text, modifiers, PTX_FIELD_cache);
    for (unsigned i = 0; i < PTX_FIELD_COUNT; i++) {
        if ((i == PTX_FIELD_mode && mode_last) || (i == PTX_FIELD_cache && cache_first) ||
            (i == PTX_FIELD_third && third_last))
            continue;
        put_field(text, modifiers, (enum ptx_field)i);
    }
    if (instruction->type) put(text, ".%s", ptx_type_name((enum ptx_type)instruction->type));
    if (instruction->type2) put(text, ".%s", ptx_type_name((enum ptx_type)instruction->type2));
    if (mode_last) put_field(text, modifiers, PTX_FIELD_mode);
    if (third_last) put_field(text, modifiers, PTX_FIELD_third);
}

static void put_values(struct printer *printer, const struct ptx_operand *values, uint32_t count,
                       const struct ptx_variable *const *formal)
{
    put(&printer->text, "(");
    for (uint32_t i = 0; i < count; i++) {
        if (i) put(&printer->text, ", ");
        put_operand(printer, &values[i], formal[i]->type);
    }
    put(&printer->text, ")");
}

static void put_call(struct printer *printer, const struct ptx_call *call, const char *prototype)
{
    struct text *text = &printer->text;
    put(text, " ");
    if (call->result_count) {
        put_values(printer, call->results, call->result_count, call->prototype->returns);
        put(text, ", ");
    }
    put(text, "%s",
        call->function != NULL ? call->function->name : register_name(printer, call->reg));
    if (call->argument_count || call->function == NULL) {
        put(text, ", ");
        put_values(printer, call->arguments, call->argument_count, call->prototype->parameters);
    }
    if (call->function == NULL) put(text, ", %s", prototype);
}

static void put_instruction(struct printer *printer, const struct ptx_instruction *instruction,
                            const char *prototype)
{
    struct text *text = &printer->text;
    if (instruction->guard != PTX_NO_REGISTER)
        put(text, "@%s%s ", instruction->guard_negated ? "!" : "",
            register_name(printer, instruction->guard));
    if (instruction->text != NULL) {
        put(text, "%s;", instruction->text);
        return;
    }
    put_mnemonic(text, instruction);
    if (instruction->call != NULL) put_call(printer, instruction->call, prototype);
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        put(text, i ? ", " : " ");
        put_operand(printer, &instruction->operands[i], ptx_operand_type(instruction, i));
    }
    put(text, ";");
}

size_t ptx_print_instruction(const struct ptx_function *function,
                             const struct ptx_instruction *instruction, char *text, size_t size)
{
    struct printer printer = {.function = function};
    if (size == 0) return 0;
    text[0] = '\0';
    const struct ptx_call *call = instruction->call;
    put_instruction(&printer, instruction, call != NULL ? call->prototype->name : "");
    if (printer.text.bytes != NULL && !printer.text.failed)
        snprintf(text, size, "%s", printer.text.bytes);
    free(printer.text.bytes);
    return strlen(text);
}

/* ---- declarations ---------------------------------------------------------------------------- */

static const char *linkage_name(enum ptx_linkage linkage)
{
    static const char *const names[] = {"", ".visible ", ".extern ", ".weak ", ".common "};
    return names[linkage];
}

static void put_declaration(struct text *text, const struct ptx_variable *variable,
                            const char *name)
{
    put(text, ".%s%s .align %llu",
        variable->space == PTX_SPACE_REG ? "reg"
                                         : ptx_modifier_name((enum ptx_modifier)variable->space),
        variable->managed ? " .attribute(.managed)" : "", (unsigned long long)variable->alignment);
    if (variable->vector > 1) put(text, " .v%u", variable->vector);
    put(text, " .%s %s", ptx_type_name(variable->type), name);
    for (uint32_t i = 0; i < variable->dimensions; i++) {
        if (i == 0 && variable->is_unsized) {
            put(text, "[]");
        } else {
            put(text, "[%llu]", (unsigned long long)variable->dimension[i]);
        }
    }
}

/* A position in a variable's values. */
struct cursor {
    const struct ptx_variable *variable;
    const struct ptx_run *run;
    uint32_t relocation;
    uint64_t element_bytes;
    uint64_t end; /* no value starts here or after */
};

static void put_relocation(struct printer *printer, const struct ptx_relocation *relocation,
                           uint64_t element_bytes)
{
    struct text *text = &printer->text;
    const char *name =
        relocation->variable != NULL ? relocation->variable->name : relocation->function->name;
    bool masked = relocation->bytes != element_bytes || relocation->bytes < 4 || relocation->shift;
    if (masked) {
        const unsigned long long mask =
            relocation->bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * relocation->bytes) - 1;
        put(text, "0x%llX(", mask << relocation->shift);
    }
    put(text, relocation->generic ? "generic(%s)" : "%s", name);
    put_offset(text, relocation->addend);
    if (masked) put(text, ")");
}

static void put_element(struct printer *printer, struct cursor *cursor, uint64_t offset)
{
    const struct ptx_variable *variable = cursor->variable;
    uint64_t bits = 0;
    if (cursor->relocation < variable->relocation_count &&
        variable->relocations[cursor->relocation].offset == offset) {
        put_relocation(printer, &variable->relocations[cursor->relocation++],
                       cursor->element_bytes);
        return;
    }
    while (cursor->run != NULL && cursor->run->offset + cursor->run->length <= offset)
        cursor->run = cursor->run->next;
    if (cursor->run != NULL && cursor->run->offset <= offset) {
        const unsigned char *bytes = cursor->run->bytes + (offset - cursor->run->offset);
        for (uint64_t i = 0; i < cursor->element_bytes && i < 8; i++)
            bits |= (uint64_t)bytes[i] << 8 * i;
    }
    uint32_t width = ptx_type_bits(variable->type);
    if (ptx_type_kind(variable->type) == PTX_KIND_SIGNED && width < 64 && bits >> (width - 1))
        bits |= ~((UINT64_C(1) << width) - 1);
    put_number(&printer->text, bits, variable->type);
}

/* Returns the offset of the next value at or after `offset`. */
static uint64_t next_value(const struct cursor *cursor, uint64_t offset)
{
    uint64_t next = cursor->end;
    const struct ptx_run *run = cursor->run;
    while (run != NULL && run->offset + run->length <= offset) run = run->next;
    if (run != NULL) next = run->offset > offset ? run->offset : offset;
    if (cursor->relocation < cursor->variable->relocation_count) {
        uint64_t place = cursor->variable->relocations[cursor->relocation].offset;
        if (place < next) next = place;
    }
    return next;
}

static void put_list(struct printer *printer, struct cursor *cursor, uint32_t level,
                     uint64_t offset, uint64_t bytes)
{
    const struct ptx_variable *variable = cursor->variable;
    uint32_t levels = variable->dimensions + (variable->vector > 1);
    uint64_t child = cursor->element_bytes;
    if (level + 1 < levels) {
        child *= variable->vector;
        for (uint32_t i = level + 1; i < variable->dimensions; i++) child *= variable->dimension[i];
    }
    put(&printer->text, "{");
    for (uint64_t at = offset; child && at < offset + bytes; at += child) {
        if (next_value(cursor, at) >= offset + bytes || next_value(cursor, at) >= cursor->end)
            break;
        if (at != offset) put(&printer->text, ", ");
        if (level + 1 < levels) {
            put_list(printer, cursor, level + 1, at, child);
        } else {
            put_element(printer, cursor, at);
        }
    }
    put(&printer->text, "}");
}

static void put_initialiser(struct printer *printer, const struct ptx_variable *variable)
{
    struct cursor cursor = {.variable = variable,
                            .run = variable->contents,
                            .element_bytes = ptx_type_bytes(variable->type)};
    for (const struct ptx_run *run = cursor.run; run != NULL; run = run->next)
        cursor.end = run->offset + run->length;
    for (uint32_t i = 0; i < variable->relocation_count; i++) {
        uint64_t end = variable->relocations[i].offset + cursor.element_bytes;
        if (end > cursor.end) cursor.end = end;
    }
    put(&printer->text, " = ");
    if (variable->is_array || variable->vector > 1) {
        put_list(printer, &cursor, 0, 0, variable->size);
    } else {
        put_element(printer, &cursor, 0);
    }
}

static void put_parameters(struct printer *printer, const struct ptx_variable *const *parameters,
                           uint32_t count)
{
    put(&printer->text, "(");
    for (uint32_t i = 0; i < count; i++) {
        if (i) put(&printer->text, ", ");
        put_declaration(&printer->text, parameters[i], parameters[i]->name);
    }
    put(&printer->text, ")");
}

static void put_prototype(struct printer *printer, const struct ptx_prototype *prototype,
                          const char *name)
{
    if (prototype->return_count) {
        put_parameters(printer, prototype->returns, prototype->return_count);
        put(&printer->text, " ");
    }
    put(&printer->text, "%s", name);
    put_parameters(printer, prototype->parameters, prototype->parameter_count);
}

static void put_header(struct printer *printer, const struct ptx_function *function)
{
    struct text *text = &printer->text;
    const uint32_t *max = function->max_threads, *required = function->required_threads;
    put(text, "%s%s ", linkage_name(function->linkage), function->is_entry ? ".entry" : ".func");
    put_prototype(printer, &function->prototype, function->name);
    if (function->prototype.noreturn) put(text, " .noreturn");
    if (max[0]) put(text, " .maxntid %u, %u, %u", max[0], max[1], max[2]);
    if (required[0]) put(text, " .reqntid %u, %u, %u", required[0], required[1], required[2]);
    if (function->explicit_cluster) put(text, " .explicitcluster");
    if (function->blocks_are_clusters) put(text, " .blocksareclusters");
    if (function->cluster[0])
        put(text, " .reqnctapercluster %u, %u, %u", function->cluster[0], function->cluster[1],
            function->cluster[2]);
    if (function->min_blocks) put(text, " .minnctapersm %u", function->min_blocks);
    if (function->max_registers) put(text, " .maxnreg %u", function->max_registers);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void put_body_declarations(struct printer *printer, const struct ptx_function *function)
{
    struct text *text = &printer->text;
    const struct ptx_prototype *prototype = &function->prototype;
    for (uint32_t i = 0; i < function->register_count; i++) {
        bool is_parameter = false;
        for (uint32_t j = 0; j < prototype->return_count; j++)
            is_parameter |= printer->registers[i] == prototype->returns[j]->name;
        for (uint32_t j = 0; j < prototype->parameter_count; j++)
            is_parameter |= printer->registers[i] == prototype->parameters[j]->name;
        if (!is_parameter)
            put(text, "\t.reg .%s %s;\n", ptx_type_name(function->registers[i].type),
                printer->registers[i]);
    }
    for (uint32_t i = 0; i < function->variable_count; i++) {
        put(text, "\t%s", linkage_name(function->variables[i]->linkage));
        put_declaration(text, function->variables[i], printer->variables[i]);
        put(text, ";\n");
    }
    for (uint32_t i = 0; i < function->table_count; i++) {
        const struct ptx_table *table = &function->tables[i];
        put(text, "%s: .branchtargets ", table->name);
        for (uint32_t j = 0; j < table->count; j++) {
            if (j) put(text, ", ");
            put_label(printer, table->labels[j].target);
        }
        put(text, ";\n");
    }
}

/* The column only distinguishes positions: no .loc has column 0. */
static void put_location(struct text *text, const struct ptx_location *location)
{
    put(text, "\t.loc %u %u 1", location->file, location->line);
    if (location->outer_file != location->file || location->outer_line != location->line)
        put(text, ", function_name _, inlined_at %u %u 0", location->outer_file,
            location->outer_line);
    put(text, "\n");
}

static void put_body(struct printer *printer, const struct ptx_function *function)
{
    struct text *text = &printer->text;
    uint32_t location = 0, label = 0;
    put(text, "\n{\n");
    put_body_declarations(printer, function);
    for (uint32_t i = 0; i <= function->instruction_count; i++) {
        while (label < function->label_count && function->labels[label].target == i)
            put(text, "%s:\n", printer->labels[label++]);
        if (i == function->instruction_count) break;
        const struct ptx_instruction *instruction = &function->instructions[i];
        if (instruction->location != location) {
            location = instruction->location;
            put_location(text, &function->locations[location]);
        }
        const char *prototype = "";
        if (instruction->call != NULL && instruction->call->function == NULL) {
            prototype = unique(printer, instruction->call->prototype->name);
            put(text, "%s: .callprototype ", prototype);
            put_prototype(printer, instruction->call->prototype, "_");
            put(text, "%s;\n", instruction->call->prototype->noreturn ? " .noreturn" : "");
        }
        put(text, "\t");
        put_instruction(printer, instruction, prototype);
        put(text, "\n");
    }
    put(text, "}\n");
}

static void put_definition(struct printer *printer, const struct ptx_function *function)
{
    choose_names(printer, function);
    if (!printer->text.failed) {
        put_header(printer, function);
        put_body(printer, function);
    }
    arena_free(&printer->arena);
    printer->registers = printer->variables = printer->labels = printer->label_at = NULL;
    printer->function = NULL;
}

static void put_module(struct printer *printer)
{
    const struct ptx_module *module = printer->module;
    struct text *text = &printer->text;
    put(text, ".version %u.%u\n.target %s\n.address_size %u\n", module->version_major,
        module->version_minor, module->target, module->address_size);
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = module->functions[i];
        if (function->is_entry && function->is_defined) continue;
        put_header(printer, function);
        put(text, ";\n");
    }
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = module->variables[i];
        put(text, "%s", linkage_name(variable->linkage));
        put_declaration(text, variable, variable->name);
        if (variable->initialised) put_initialiser(printer, variable);
        put(text, ";\n");
    }
    for (int entries = 0; entries < 2; entries++) { /* the order in which a parser numbers them */
        for (uint32_t i = 0; i < module->function_count; i++) {
            const struct ptx_function *function = module->functions[i];
            if (function->is_defined && function->is_entry == (entries != 0))
                put_definition(printer, function);
        }
    }
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = module->functions[i];
        if (function->alias_of != NULL)
            put(text, ".alias %s, %s;\n", function->name, function->alias_of->name);
    }
    for (uint32_t i = 0; i < module->file_count; i++) {
        if (module->files[i] != NULL) put(text, ".file %u \"%s\"\n", i, module->files[i]);
    }
}

char *ptx_print(const struct ptx_module *module)
{
    struct printer printer = {.module = module};
    put_module(&printer);
    if (printer.text.failed) {
        free(printer.text.bytes);
        return NULL;
    }
    return printer.text.bytes;
}
