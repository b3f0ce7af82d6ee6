#include "emulator/exec/check/proof.h"
#include "emulator/exec/decoded.h"
#include "emulator/memory/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* threadIdx.x, .y, .z, blockIdx.x, .y, .z, and the part of threadIdx.x that counts warps: then
       the first one counts lanes. */
    AXES = 7,
    WARPS = AXES - 1,
    FACTORS = AXES + EXEC_PROOF_LOOPS,
    MOST_BOUNDS = 8,
    MOST_PLACES = 128,
};

/* base + the sum of factors[k] * axis k. Of terms of 4 bytes only the low half of it counts. */
struct form {
    bool known;
    int64_t base;
    int64_t factors[FACTORS];
    bool is_pointer; /* into `region` */
    const struct memory_region *region;
};

/* The sum of factors[k] * axis k is at most `most`. */
struct bound {
    int64_t factors[AXES];
    int64_t most;
};

struct bounds {
    struct bound of[MOST_BOUNDS];
    size_t count;
    bool never; /* a condition holds for no thread */
};

struct span {
    int64_t low, high;
};

struct proof {
    const struct exec_launch *launch;
    const struct exec_proof *known;
    int64_t sizes[AXES];               /* of the axes */
    bool is_no_loop[EXEC_PROOF_LOOPS]; /* what looked like one */
    int64_t steps[EXEC_PROOF_LOOPS];
    int64_t rounds[EXEC_PROOF_LOOPS];                      /* at most; 0: any number */
    const struct memory_region *regions[EXEC_PROOF_ROOTS]; /* that the roots point to */
    struct form forms[];                                   /* of each term */
};

/* ---- forms ----------------------------------------------------------------------------------- */

static const struct form unknown;

static bool is_constant(const struct form *form)
{
    for (unsigned k = 0; k < FACTORS; k++)
        if (form->factors[k] != 0) return false;
    return form->known;
}

static struct form constant(uint64_t value)
{
    return (struct form){.known = true, .base = (int64_t)value};
}

/* A number of 4 or 8 bytes. */
static struct form number(uint64_t value, uint32_t bytes)
{
    return constant(bytes == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)value : value);
}

static struct form axis(unsigned k)
{
    struct form form = {.known = true};
    form.factors[k] = 1;
    return form;
}

static struct form thread_index(unsigned k)
{
    struct form form = axis(k);
    if (k == 0) form.factors[WARPS] = EXEC_LANES;
    return form;
}

/* Returns a + by * b; unknown where that is too large, or where both depend on the same loop: they
 * may come from different rounds. */
static struct form sum(const struct form *a, const struct form *b, int64_t by)
{
    struct form form = *a;
    bool bad = !a->known | !b->known | (a->is_pointer & b->is_pointer);
    int64_t part;
    for (unsigned k = 0; k < FACTORS; k++) {
        bad |= k >= AXES && a->factors[k] != 0 && b->factors[k] != 0;
        bad |= __builtin_mul_overflow(b->factors[k], by, &part);
        bad |= __builtin_add_overflow(form.factors[k], part, &form.factors[k]);
    }
    bad |= __builtin_mul_overflow(b->base, by, &part);
    bad |= __builtin_add_overflow(form.base, part, &form.base);
    if (b->is_pointer) {
        bad |= by != 1;
        form.is_pointer = true;
        form.region = b->region;
    }
    return bad ? unknown : form;
}

/* Returns the numbers that the form has for the launch's threads in the first round of all loops.
 * *fine: they are no larger than 2^62. */
static struct span span_of(const struct proof *proof, const struct form *form, bool *fine)
{
    struct span span = {form->base, form->base};
    bool bad = !form->known;
    for (unsigned k = 0; k < AXES; k++) {
        int64_t most;
        bad |= __builtin_mul_overflow(form->factors[k], proof->sizes[k] - 1, &most);
        int64_t *end = most > 0 ? &span.high : &span.low;
        bad |= __builtin_add_overflow(*end, most, end);
    }
    *fine = !bad && span.low > -(INT64_C(1) << 62) && span.high < INT64_C(1) << 62;
    return span;
}

/* Turns a form of 4 bytes into the number that it means as a signed or an unsigned one. Returns
 * unknown if for some thread the sum is not in that range. */
static struct form whole(const struct proof *proof, struct form form, bool is_signed)
{
    bool fine;
    const struct span span = span_of(proof, &form, &fine);
    if (!fine) return unknown;
    const int64_t low =
        is_signed ? (int64_t)(int32_t)(uint32_t)span.low : (int64_t)(uint32_t)span.low;
    const int64_t most = is_signed ? INT32_MAX : UINT32_MAX;
    if (span.high - span.low > most - low) return unknown;
    form.base += low - span.low;
    return form;
}

/* ---- terms ----------------------------------------------------------------------------------- */

static struct form parameter(const struct proof *proof, const struct exec_term *term)
{
    const struct exec_function_info *info = &proof->launch->function->info;
    uint64_t value = 0;
    if (term->value > info->parameter_bytes || info->parameter_bytes - term->value < term->bytes)
        return unknown;
    memcpy(&value, (const unsigned char *)proof->launch->parameters + term->value, term->bytes);
    return number(value, term->bytes);
}

/* An eight-byte parameter or a variable's address: if it is in a region, it is a pointer. */
static struct form pointer(struct form form)
{
    form.region = form.known ? memory_find((uint64_t)form.base) : NULL;
    form.is_pointer = form.region != NULL;
    return form;
}

static struct form multiplied(const struct form *a, const struct form *b)
{
    const struct form zero = {.known = true};
    if (a->is_pointer || b->is_pointer) return unknown;
    if (is_constant(b)) return sum(&zero, a, b->base);
    return is_constant(a) ? sum(&zero, b, a->base) : unknown;
}

static struct form shifted(const struct form *a, const struct form *b, uint32_t bytes)
{
    if (!is_constant(b) || b->base < 0 || b->base >= 8 * (int64_t)bytes || b->base > 62)
        return unknown;
    const struct form by = constant(UINT64_C(1) << b->base);
    return multiplied(a, &by);
}

/* Returns the largest power of two that divides the form whatever the axes are; 0: it is 0. */
static uint64_t divisor(const struct form *form)
{
    uint64_t bits = (uint64_t)form->base;
    for (unsigned k = 0; k < FACTORS; k++) bits |= (uint64_t)form->factors[k];
    return bits & -bits;
}

static bool has_loop(const struct form *form)
{
    for (unsigned k = AXES; k < FACTORS; k++)
        if (form->factors[k] != 0) return true;
    return false;
}

/* Splits a form into a multiple of 1 << bits, the returned one, and *rest, which is from 0 to less
 * than that. Unknown where it is no such sum. */
static struct form split(const struct proof *proof, const struct form *form, uint32_t bits,
                         struct form *rest)
{
    const int64_t unit = INT64_C(1) << bits;
    struct form high = *form;
    bool fine;
    *rest = (struct form){.known = true, .base = form->base & (unit - 1)};
    high.base -= rest->base;
    for (unsigned k = 0; k < FACTORS; k++) {
        if (form->factors[k] % unit == 0) continue;
        rest->factors[k] = form->factors[k];
        high.factors[k] = 0;
    }
    const struct span span = span_of(proof, rest, &fine);
    if (!form->known || form->is_pointer || !fine || has_loop(rest) || span.low < 0 ||
        span.high >= unit)
        return unknown;
    return high;
}

static struct form shifted_back(const struct proof *proof, struct form a, const struct form *b,
                                uint32_t bytes, bool is_signed)
{
    struct form rest;
    if (!is_constant(b) || b->base < 0 || b->base >= 8 * (int64_t)bytes || b->base > 62)
        return unknown;
    if (bytes == 4) a = whole(proof, a, is_signed);
    if (bytes == 8 && !is_signed) {
        bool fine;
        if (span_of(proof, &a, &fine).low < 0 || !fine) return unknown;
    }
    struct form high = split(proof, &a, (uint32_t)b->base, &rest);
    high.base >>= b->base;
    for (unsigned k = 0; k < FACTORS; k++) high.factors[k] /= INT64_C(1) << b->base;
    return high;
}

/* Returns how many bits are set in a number of the form 2^k - 1; 0: it is none. */
static uint32_t low_bits(uint64_t number)
{
    return number != 0 && number < INT64_MAX && (number & (number + 1)) == 0
               ? (uint32_t)__builtin_popcountll(number)
               : 0;
}

/* Of numbers alone: how many elements a thread has, say. */
static struct form calculated(const struct exec_term *term, struct form a, struct form b)
{
    if (!is_constant(&a) || !is_constant(&b) || a.is_pointer || b.is_pointer) return unknown;
    const bool is_signed = term->value != 0;
    if (term->bytes == 4) {
        a.base = is_signed ? (int32_t)(uint32_t)a.base : (int64_t)(uint32_t)a.base;
        b.base = is_signed ? (int32_t)(uint32_t)b.base : (int64_t)(uint32_t)b.base;
    }
    if (a.base < 0 || b.base < 0) return unknown;
    switch ((enum exec_term_op)term->op) {
    case EXEC_TERM_DIV:
        return b.base == 0 ? unknown : number((uint64_t)(a.base / b.base), term->bytes);
    case EXEC_TERM_REM:
        return b.base == 0 ? unknown : number((uint64_t)(a.base % b.base), term->bytes);
    case EXEC_TERM_MIN:
        return number((uint64_t)(a.base < b.base ? a.base : b.base), term->bytes);
    default:
        return number((uint64_t)(a.base > b.base ? a.base : b.base), term->bytes);
    }
}

/* a | b is a + b where no bit is set in both: one is less than a power of two that divides the
 * other. */
static struct form joined(const struct proof *proof, const struct form *a, const struct form *b)
{
    const struct form *both[] = {a, b};
    for (unsigned k = 0; k < 2 && a->known && b->known; k++) {
        const struct form *high = both[k], *low = both[1 - k];
        bool fine;
        const struct span span = span_of(proof, low, &fine);
        if (!fine || has_loop(low) || low->is_pointer || span.low < 0) continue;
        if (divisor(high) == 0 || (uint64_t)span.high < divisor(high)) return sum(a, b, 1);
    }
    return unknown;
}

/* a & b is a where all bits that a has are set in b, and a part of a where b has the low bits, or
 * all others. */
static struct form masked(const struct proof *proof, const struct form *a, const struct form *b)
{
    bool fine;
    if (is_constant(a) && is_constant(b)) return constant((uint64_t)(a->base & b->base));
    if (is_constant(a)) return masked(proof, b, a);
    if (!is_constant(b)) return unknown;
    struct form rest, high;
    if (low_bits((uint64_t)b->base) != 0) {
        high = split(proof, a, low_bits((uint64_t)b->base), &rest);
        if (high.known) return rest;
    } else if (low_bits(~(uint64_t)b->base) != 0) {
        high = split(proof, a, low_bits(~(uint64_t)b->base), &rest);
        if (high.known) return high;
    }
    const struct span span = span_of(proof, a, &fine);
    if (!fine || a->is_pointer || has_loop(a) || span.low < 0) return unknown;
    uint64_t reaches = 1;
    while (reaches <= (uint64_t)span.high) reaches *= 2;
    const uint64_t kept = (uint64_t)b->base | (divisor(a) - 1);
    return (~kept & (reaches - 1)) == 0 ? *a : unknown;
}

static struct form form_of(const struct proof *proof, const struct exec_term *term)
{
    const uint32_t *block = proof->launch->block, *grid = proof->launch->grid;
    const struct form *a = &proof->forms[term->a], *b = &proof->forms[term->b];
    switch ((enum exec_term_op)term->op) {
    case EXEC_TERM_VALUE:
        return number(term->value, term->bytes);
    case EXEC_TERM_PARAMETER:
        return term->bytes == 8 ? pointer(parameter(proof, term)) : parameter(proof, term);
    case EXEC_TERM_VARIABLE:
        return pointer(
            constant(proof->launch->function->program->variables[term->a].address + term->value));
    case EXEC_TERM_TID:
        return thread_index((unsigned)term->value);
    case EXEC_TERM_CTAID:
        return axis(3 + (unsigned)term->value);
    case EXEC_TERM_NTID:
        return constant(block[term->value]);
    case EXEC_TERM_NCTAID:
        return constant(grid[term->value]);
    case EXEC_TERM_LOOP: {
        const struct form rounds = axis(AXES + (unsigned)term->value);
        return proof->is_no_loop[term->value] ? unknown : sum(a, &rounds, 1);
    }
    case EXEC_TERM_ADD:
        return sum(a, b, 1);
    case EXEC_TERM_SUB:
        return sum(a, b, -1);
    case EXEC_TERM_MUL:
        return multiplied(a, b);
    case EXEC_TERM_SHL:
        return shifted(a, b, term->bytes);
    case EXEC_TERM_SHR:
        return shifted_back(proof, *a, b, term->bytes, term->value != 0);
    case EXEC_TERM_DIV:
    case EXEC_TERM_REM:
    case EXEC_TERM_MIN:
    case EXEC_TERM_MAX:
        return calculated(term, *a, *b);
    case EXEC_TERM_JOIN:
        return joined(proof, a, b);
    case EXEC_TERM_MASK:
        return masked(proof, a, b);
    case EXEC_TERM_SIGNED:
        return whole(proof, *a, true);
    case EXEC_TERM_UNSIGNED:
        return whole(proof, *a, false);
    case EXEC_TERM_LOW:
        return *a;
    default: /* predicates, which are looked at as guards */
        return unknown;
    }
}

/* Returns whether every loop adds the same number in each round, and sets the steps; and marks
 * those that do not. */
static bool find_steps(struct proof *proof)
{
    bool fine = true;
    for (size_t k = 0; k < proof->known->term_count; k++) {
        const struct exec_term *term = &proof->known->terms[k];
        if (term->op != EXEC_TERM_LOOP || proof->is_no_loop[term->value]) continue;
        struct form next = proof->forms[term->b];
        const struct form *now = &proof->forms[k];
        /* Both are of the same round. */
        for (unsigned l = 0; l < FACTORS; l++) next.factors[l] -= now->known * now->factors[l];
        proof->steps[term->value] = next.base - now->base;
        if (!now->known || !is_constant(&next) || next.region != now->region)
            fine = !(proof->is_no_loop[term->value] = true);
    }
    return fine;
}

static void find_forms(struct proof *proof)
{
    do {
        for (size_t k = 1; k < proof->known->term_count; k++)
            proof->forms[k] = form_of(proof, &proof->known->terms[k]);
    } while (!find_steps(proof));
    /* From here on the axis of a loop counts its rounds. */
    for (size_t k = 1; k < proof->known->term_count; k++)
        for (unsigned l = 0; l < EXEC_PROOF_LOOPS; l++) {
            int64_t *factor = &proof->forms[k].factors[AXES + l];
            if (__builtin_mul_overflow(*factor, proof->steps[l], factor)) proof->forms[k] = unknown;
        }
}

/* Sets the numbers that a predicate compares; unknown where they are not what they mean. */
static void operands_of(const struct proof *proof, const struct exec_term *term, struct form *a,
                        struct form *b)
{
    bool fine = true, fine_too = true;
    *a = proof->forms[term->a];
    *b = proof->forms[term->b];
    if (proof->known->terms[term->a].bytes == 4) {
        *a = whole(proof, *a, term->value != 0);
        *b = whole(proof, *b, term->value != 0);
    } else if (!term->value) {
        fine = span_of(proof, a, &fine).low >= 0 && fine;
        fine_too = span_of(proof, b, &fine_too).low >= 0 && fine_too;
    }
    if (!fine || !fine_too) *a = unknown;
}

/* ---- how often loops go round ---------------------------------------------------------------- */

/* Returns the least k >= 0 for which first + k * step is not below 0 (`equal`: above 0); -1: none.
 */
static int64_t rounds_below(int64_t first, int64_t step, bool equal)
{
    if (first > 0 || (first == 0 && !equal)) return 0;
    if (step <= 0) return -1;
    return equal ? -first / step + 1 : -first / step + (-first % step != 0);
}

/* Returns the least k >= 0 for which first + k * step is 0; -1: none. */
static int64_t rounds_until(int64_t first, int64_t step)
{
    if (first == 0) return 0;
    if (step == 0 || first % step != 0 || (first < 0) == (step < 0)) return -1;
    return -(first / step);
}

/* Returns how many rounds of a loop its predicate allows a thread at most; 0: any number. */
static int64_t rounds_of(const struct proof *proof, const struct exec_proof_loop *loop)
{
    const struct exec_term *term = &proof->known->terms[loop->term];
    bool holds = loop->holds, fine;
    while (term->op == EXEC_TERM_NOT) {
        term = &proof->known->terms[term->a];
        holds = !holds;
    }
    if (term->op != EXEC_TERM_LESS && term->op != EXEC_TERM_LESS_EQUAL &&
        term->op != EXEC_TERM_EQUAL)
        return 0;
    struct form a, b;
    operands_of(proof, term, &a, &b);
    const struct form difference = holds ? sum(&a, &b, -1) : sum(&b, &a, -1);
    int64_t step = 0;
    unsigned loops = 0;
    bool differs = false; /* among threads: those that go round most often count */
    const struct span span = span_of(proof, &difference, &fine);
    for (unsigned k = 0; k < FACTORS; k++) {
        if (difference.factors[k] == 0) continue;
        differs |= k < AXES;
        if (k < AXES) continue;
        step = difference.factors[k];
        loops++;
    }
    if (!fine || loops != 1 || step > INT32_MAX || step < -INT32_MAX) return 0;
    if (term->op == EXEC_TERM_EQUAL && (holds || differs)) return 0;
    const int64_t first = span.low + (loop->late ? step : 0);
    const bool equal = (term->op == EXEC_TERM_LESS_EQUAL) == holds;
    const int64_t more =
        term->op == EXEC_TERM_EQUAL ? rounds_until(first, step) : rounds_below(first, step, equal);
    return more + 1;
}

/* ---- what the guards tell -------------------------------------------------------------------- */

/* Adds a <= b, or a < b with `less`. */
static void add_bound(const struct proof *proof, struct bounds *bounds, const struct form *a,
                      const struct form *b, bool less)
{
    const struct form difference = sum(a, b, -1);
    struct bound bound;
    bool fine;
    span_of(proof, &difference, &fine);
    if (!fine || bounds->count == MOST_BOUNDS) return;
    bound.most = -difference.base - less;
    for (unsigned k = AXES; k < FACTORS; k++)
        if (difference.factors[k] != 0) return; /* of some round, not of this one */
    memcpy(bound.factors, difference.factors, sizeof bound.factors);
    bounds->of[bounds->count++] = bound;
}

static void compare(const struct proof *proof, struct bounds *bounds, const struct exec_term *term,
                    bool holds)
{
    struct form a, b;
    operands_of(proof, term, &a, &b);
    if (!a.known || !b.known) return;
    if (is_constant(&a) && is_constant(&b)) {
        const bool is = term->op == EXEC_TERM_EQUAL  ? a.base == b.base
                        : term->op == EXEC_TERM_LESS ? a.base < b.base
                                                     : a.base <= b.base;
        bounds->never |= is != holds;
        return;
    }
    if (term->op == EXEC_TERM_EQUAL) {
        if (!holds) return;
        add_bound(proof, bounds, &a, &b, false);
        add_bound(proof, bounds, &b, &a, false);
        return;
    }
    const bool less = term->op == EXEC_TERM_LESS;
    if (holds)
        add_bound(proof, bounds, &a, &b, less);
    else
        add_bound(proof, bounds, &b, &a, !less);
}

static void assume(const struct proof *proof, struct bounds *bounds, uint32_t index, bool holds)
{
    const struct exec_term *term = &proof->known->terms[index];
    switch ((enum exec_term_op)term->op) {
    case EXEC_TERM_NOT:
        assume(proof, bounds, term->a, !holds);
        return;
    case EXEC_TERM_BOTH:
    case EXEC_TERM_EITHER:
        if (holds != (term->op == EXEC_TERM_BOTH)) return;
        assume(proof, bounds, term->a, holds);
        assume(proof, bounds, term->b, holds);
        return;
    case EXEC_TERM_LESS:
    case EXEC_TERM_LESS_EQUAL:
    case EXEC_TERM_EQUAL:
        compare(proof, bounds, term, holds);
        return;
    default:
        return;
    }
}

static void bounds_of(const struct proof *proof, const struct exec_proof_access *access,
                      struct bounds *bounds)
{
    bounds->count = 0;
    bounds->never = false;
    for (size_t k = 0; k < access->guard_count; k++) {
        const struct exec_proof_guard *guard = &proof->known->guards[access->first_guard + k];
        assume(proof, bounds, guard->term, guard->holds);
    }
}

/* Keeps what holds in both cases. */
static void weaken(struct bounds *bounds, const struct bounds *others)
{
    size_t count = 0;
    for (size_t k = 0; k < bounds->count; k++) {
        struct bound bound = bounds->of[k];
        bool found = false;
        for (size_t l = 0; l < others->count; l++) {
            const struct bound *other = &others->of[l];
            if (memcmp(bound.factors, other->factors, sizeof bound.factors) != 0) continue;
            if (other->most > bound.most) bound.most = other->most;
            found = true;
        }
        if (found) bounds->of[count++] = bound;
    }
    bounds->count = count;
}

/* ---- digits ---------------------------------------------------------------------------------- */

/* An axis along which addresses differ: 0 to most. */
struct digit {
    int64_t factor; /* bytes, not negative */
    int64_t most;   /* of a loop: INT64_MAX */
    unsigned axis;
};

/* Bytes that one thread touches in one round, relative to where its form is. */
struct place {
    int64_t first, end;
};

struct layout {
    struct form form;
    struct place places[MOST_PLACES];
    size_t place_count;
    struct bounds bounds;
    struct span ranges[AXES]; /* of each axis, for the threads that touch anything */
};

/* Applies a bound to each axis, whatever the others are. */
static void find_range(struct span ranges[AXES], const struct bound *bound)
{
    int64_t least = 0;
    for (unsigned k = 0; k < AXES; k++) {
        const int64_t factor = bound->factors[k];
        int64_t part;
        if (__builtin_mul_overflow(factor, factor > 0 ? ranges[k].low : ranges[k].high, &part) ||
            __builtin_add_overflow(least, part, &least))
            return;
    }
    int64_t left; /* for one axis beyond what all of them have at least */
    if (__builtin_sub_overflow(bound->most, least, &left)) return;
    for (unsigned k = 0; k < AXES; k++) {
        const int64_t factor = bound->factors[k];
        struct span *range = &ranges[k];
        if (factor == 0) continue;
        const int64_t more = left < 0 ? 0 : left / (factor > 0 ? factor : -factor);
        if (more >= range->high - range->low) continue;
        if (factor > 0) range->high = range->low + more;
        if (factor < 0) range->low = range->high - more;
    }
}

/* Applies the bounds: twice, for what one of them tells may help another. Where no thread touches
 * anything, any range will do. */
static void find_ranges(const struct proof *proof, struct layout *layout)
{
    for (unsigned k = 0; k < AXES; k++) layout->ranges[k] = (struct span){0, proof->sizes[k] - 1};
    for (unsigned time = 0; time < 2; time++)
        for (size_t k = 0; k < layout->bounds.count; k++)
            find_range(layout->ranges, &layout->bounds.of[k]);
}

/* If a bound limits the sum of the axes so far, in proportion to their factors, returns how many
 * bytes the sum extends over at most; otherwise INT64_MAX. */
static int64_t bounded(const struct layout *layout, const struct bound *bound, const bool *used)
{
    int64_t least = 0, ratio = 0;
    for (unsigned k = 0; k < AXES; k++) {
        const int64_t factor = layout->form.factors[k], of = bound->factors[k];
        if (!used[k]) {
            if (of != 0 && layout->ranges[k].low != layout->ranges[k].high) return INT64_MAX;
            least += of * layout->ranges[k].low;
            continue;
        }
        if (of == 0 || factor % of != 0 || (ratio != 0 && factor / of != ratio)) return INT64_MAX;
        ratio = factor / of;
        least += of * (of > 0 ? layout->ranges[k].low : layout->ranges[k].high);
    }
    int64_t bytes;
    if (ratio == 0 || bound->most < least ||
        __builtin_mul_overflow(bound->most - least, ratio < 0 ? -ratio : ratio, &bytes))
        return INT64_MAX;
    return bytes;
}

static int by_first(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

/* Joins the places into one of the returned length, if they are within `least` bytes of each other.
 * Groups of places that repeat at equal distances, as in unrolled loops, become a digit. Returns 0
 * if they are neither. */
static int64_t join_places(struct layout *layout, int64_t least, struct digit *digit)
{
    int64_t begin = layout->places[0].first, length = 0, distance = 0;
    for (size_t k = 0; k < layout->place_count; k++) {
        const struct place *place = &layout->places[k];
        if (place->first - begin >= least) {
            if (distance != 0 && place->first - begin != distance) return 0;
            distance = place->first - begin;
            begin = place->first;
            digit->most++;
        }
        if (place->end - begin > length) length = place->end - begin;
    }
    digit->factor = distance;
    digit->axis = FACTORS;
    return length;
}

static size_t find_digits(const struct layout *layout, struct digit digits[FACTORS + 1])
{
    size_t count = 0;
    for (unsigned k = 0; k < FACTORS; k++) {
        const int64_t factor = layout->form.factors[k];
        const int64_t most = k < AXES ? layout->ranges[k].high - layout->ranges[k].low : INT64_MAX;
        if (k < AXES ? most == 0 : factor == 0) continue;
        digits[count++] =
            (struct digit){.factor = factor < 0 ? -factor : factor, .most = most, .axis = k};
    }
    return count;
}

static int by_factor(const void *a, const void *b)
{
    const struct digit *one = a, *other = b;
    return (one->factor > other->factor) - (one->factor < other->factor);
}

/* Returns whether two threads never touch the same byte: whether each digit is worth more than all
 * smaller ones together. */
static bool is_apart(struct layout *layout)
{
    struct digit digits[FACTORS + 1];
    bool used[AXES] = {false};
    size_t count = find_digits(layout, digits);
    int64_t least = INT64_MAX;
    struct digit repeats = {.most = 0};
    for (size_t k = 0; k < count; k++)
        if (digits[k].factor < least) least = digits[k].factor;
    const int64_t length = join_places(layout, least, &repeats);
    if (length == 0 || least == 0) return length != 0 && count == 0;
    if (repeats.most > 0) digits[count++] = repeats;
    qsort(digits, count, sizeof *digits, by_factor);
    int64_t reach = length, fixed = length; /* `fixed`: without the axes, which bounds may limit */
    for (size_t k = 0; k < count; k++) {
        const struct digit *digit = &digits[k];
        int64_t more;
        if (digit->factor < reach) return false;
        if (__builtin_mul_overflow(digit->factor, digit->most, &more) ||
            __builtin_add_overflow(reach, more, &reach)) {
            reach = INT64_MAX;
            continue;
        }
        if (digit->axis >= AXES) {
            fixed += more;
            continue;
        }
        used[digit->axis] = true;
        for (size_t l = 0; l < layout->bounds.count && reach != INT64_MAX; l++) {
            const int64_t bytes = bounded(layout, &layout->bounds.of[l], used);
            if (bytes < reach - fixed) reach = fixed + bytes;
        }
    }
    return true;
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool may_touch(const struct proof *proof, const struct exec_proof_access *access,
                      const struct memory_region *region)
{
    for (uint64_t rest = access->roots; rest; rest &= rest - 1)
        if (proof->regions[__builtin_ctzll(rest)] == region) return true;
    return false;
}

/* Takes the loops out of the form whose rounds are limited: the thread touches bytes up to `before`
 * before its address and up to `after` after it. Returns false if these are too many. */
static bool take_rounds(const struct proof *proof, const struct exec_proof_access *access,
                        struct form *form, int64_t *before, int64_t *after)
{
    *before = *after = 0;
    for (unsigned k = 0; k < EXEC_PROOF_LOOPS; k++) {
        int64_t *factor = &form->factors[AXES + k], bytes;
        const int64_t rounds = proof->rounds[k];
        if (*factor == 0 || rounds == 0) continue;
        /* In the loop the number has changed once less often than behind it. */
        if (__builtin_mul_overflow(*factor, rounds - (access->within >> k & 1), &bytes) ||
            (bytes < 0 ? __builtin_sub_overflow(*before, bytes, before)
                       : __builtin_add_overflow(*after, bytes, after)))
            return false;
        *factor = 0;
    }
    return true;
}

/* Adds an access to the layout of its region. Returns false if it does not fit. */
static bool add_access(const struct proof *proof, const struct exec_proof_access *access,
                       const struct memory_region *region, struct layout *layout)
{
    struct form whole = proof->forms[access->address], *form = &whole;
    struct bounds bounds;
    int64_t before, after;
    bounds_of(proof, access, &bounds);
    if (bounds.never) return true;
    if (!form->known || form->region != region || layout->place_count == MOST_PLACES ||
        !take_rounds(proof, access, form, &before, &after))
        return false;
    if (layout->place_count == 0) {
        layout->form = *form;
        layout->bounds = bounds;
    } else if (memcmp(layout->form.factors, form->factors, sizeof form->factors) != 0) {
        return false;
    } else {
        weaken(&layout->bounds, &bounds);
    }
    struct place *place = &layout->places[layout->place_count++];
    return !__builtin_sub_overflow(form->base, layout->form.base, &place->first) &&
           !__builtin_add_overflow(place->first, (int64_t)access->bytes, &place->end) &&
           !__builtin_sub_overflow(place->first, before, &place->first) &&
           !__builtin_add_overflow(place->end, after, &place->end);
}

static bool is_modified(const struct proof *proof, const struct memory_region *region)
{
    for (size_t k = 0; k < proof->known->access_count; k++)
        if (proof->known->accesses[k].modifies &&
            may_touch(proof, &proof->known->accesses[k], region))
            return true;
    return false;
}

static bool is_proven(const struct proof *proof, const struct memory_region *region)
{
    struct layout layout = {.place_count = 0};
    if (!is_modified(proof, region)) return true;
    for (size_t k = 0; k < proof->known->access_count; k++) {
        const struct exec_proof_access *access = &proof->known->accesses[k];
        if (may_touch(proof, access, region) && !add_access(proof, access, region, &layout))
            return false;
    }
    if (layout.place_count == 0) return true;
    qsort(layout.places, layout.place_count, sizeof *layout.places, by_first);
    find_ranges(proof, &layout);
    return is_apart(&layout);
}

/* Finds the region that a root points to, or that its texture is in. Returns false if it may be any
 * region: that of a variable that is not found, or those of a texture with several levels. Other
 * parameters are numbers. */
static bool find_region(struct proof *proof, exec_proof_texels *texels, size_t root)
{
    const struct exec_term *term = &proof->known->terms[proof->known->roots[root]];
    const struct form *form = &proof->forms[proof->known->roots[root]];
    proof->regions[root] = form->region;
    if (form->region != NULL) return true;
    if (term->op != EXEC_TERM_PARAMETER || !form->known) return false;
    bool several = false;
    proof->regions[root] = texels((uint64_t)form->base, &several);
    return !several;
}

void exec_proof_make(const struct exec_launch *launch, exec_proof_texels *texels,
                     struct exec_proven *proven)
{
    const struct exec_proof *known = launch->function->proof;
    proven->count = 0;
    if (known == NULL || launch->watch == NULL) return;
    struct proof *proof = malloc(sizeof *proof + known->term_count * sizeof *proof->forms);
    if (proof == NULL) return; /* then everything is checked */
    memset(proof->is_no_loop, 0, sizeof proof->is_no_loop);
    memset(proof->steps, 0, sizeof proof->steps);
    proof->launch = launch;
    proof->known = known;
    proof->forms[0] = unknown;
    for (unsigned k = 0; k < 3; k++) {
        proof->sizes[k] = launch->block[k];
        proof->sizes[3 + k] = launch->grid[k];
    }
    proof->sizes[WARPS] = (launch->block[0] + EXEC_LANES - 1) / EXEC_LANES;
    if (proof->sizes[WARPS] > 1) proof->sizes[0] = EXEC_LANES;
    find_forms(proof);
    bool placed = true;
    for (size_t k = 0; k < known->root_count; k++) placed &= find_region(proof, texels, k);
    for (size_t k = 0; k < EXEC_PROOF_LOOPS; k++)
        proof->rounds[k] = rounds_of(proof, &known->loops[k]);
    for (size_t k = 0; placed && k < known->root_count && proven->count < EXEC_PROVEN; k++) {
        const struct memory_region *region = proof->regions[k];
        if (region != NULL && !exec_proof_holds(proven, region) && is_proven(proof, region))
            proven->regions[proven->count++] = region;
    }
    free(proof);
}
