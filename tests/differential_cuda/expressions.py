"""Random expressions of every type of generate.py, without undefined behaviour."""

INTS = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
FLOATS = ["f32", "f64"]
HALVES = ["f16", "b16", "h2", "b2"]
ALL = INTS + FLOATS + HALVES
SIZE = {"s8": 8, "u8": 8, "s16": 16, "u16": 16, "s32": 32, "u32": 32, "s64": 64, "u64": 64}
VECTORS = {"char4": ("s8", 4), "uchar2": ("u8", 2), "uchar4": ("u8", 4), "short2": ("s16", 2),
           "ushort4": ("u16", 4), "short3": ("s16", 3), "int2": ("s32", 2), "int4": ("s32", 4),
           "uint3": ("u32", 3), "uint4": ("u32", 4), "longlong2": ("s64", 2),
           "float2": ("f32", 2), "float3": ("f32", 3), "float4": ("f32", 4),
           "double2": ("f64", 2)}
ROUND = ["rn", "rz", "ru", "rd"]


class Random:
    """The same numbers for every version of Python."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 0x1234567) & (2**64 - 1) or 1
        for _ in range(4):
            self.bits()

    def bits(self):
        s = self.state
        s ^= s >> 12
        s ^= s << 25 & (2**64 - 1)
        s ^= s >> 27
        self.state = s
        return s * 0x2545F4914F6CDD1D & (2**64 - 1)

    def below(self, n):
        return (self.bits() >> 11) % n

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, of):
        return of[self.below(len(of))]


class Scope:
    """What a statement may use: variables by type, and what is known of the threads that get here."""

    def __init__(self, parent=None):
        self.vars = dict((t, list(v)) for t, v in parent.vars.items()) if parent else {}
        self.read = dict((t, list(v)) for t, v in parent.read.items()) if parent else {}
        self.uniform = parent.uniform if parent else False  # all threads of the block are here
        self.mask = parent.mask if parent else None  # the lanes of the warp that are here
        self.loop = parent.loop if parent else False  # break and continue are allowed
        self.ret = parent.ret if parent else None  # how to leave, or None
        self.depth = parent.depth + 1 if parent else 0
        self.arrays = list(parent.arrays) if parent else []
        self.structs = dict((t, list(v)) for t, v in parent.structs.items()) if parent else {}
        self.functions = parent.functions if parent else []
        self.tile = parent.tile if parent else False


class Expressions:
    def __init__(self, seed, exact, small, prefix):
        self.r = Random(seed)
        self.exact = exact
        self.small = small
        self.prefix = prefix
        self.names = 0
        self.out = []
        self.tab = 0
        self.structs = {}
        self.functions = []
        self.id = "p%d" % seed

    # ---- text

    def line(self, text):
        self.out.append("    " * self.tab + text)

    def name(self, stem):
        self.names += 1
        return "%s%d" % (stem, self.names)

    # ---- expressions

    def literal(self, t):
        r = self.r
        if t in INTS:
            n = SIZE[t]
            value = r.pick([r.below(16), r.bits() & (2**n - 1), 2 ** r.below(n), 2**n - 1 - r.below(4)])
            text = "0x%xull" % value if n == 64 else "0x%xu" % (value & (2**n - 1))
            return "(%s)%s" % (t, text)
        if t == "f32":
            return r.pick(["0.5f", "1.0f", "-3.25f", "1e-3f", "65537.0f", "0.0f", "-0.0f", "1e20f",
                           "3.0f", "1.1754944e-38f", "2147483648.0f"])
        if t == "f64":
            return r.pick(["0.5", "1.0", "-3.25", "1e-3", "4294967297.0", "0.0", "-0.0", "1e200", "7.0",
                           "9007199254740993.0", "0.1"])
        return "of<%s>(0x%xull)" % (t, r.bits() if r.chance(30) else
                                    r.bits() & 0x8FFF8FFF8FFF8FFF | 0x3000300030003000)

    def leaf(self, s, t):
        r = self.r
        of = s.vars.get(t, []) + s.read.get(t, [])
        if of and r.chance(80):
            return r.pick(of)
        return self.literal(t)

    def index(self, s, size, depth=1):
        """An index below size, a power of two."""
        return "(%s & %du)" % (self.expr(s, "u32", depth), size - 1)

    def expr(self, s, t, depth):
        if depth <= 0:
            return self.leaf(s, t)
        r = self.r
        if r.chance(12):
            return self.leaf(s, t)
        if r.chance(8):
            return "(%s ? %s : %s)" % (self.cond(s, depth - 1), self.expr(s, t, depth - 1),
                                       self.expr(s, t, depth - 1))
        if r.chance(16):
            found = self.from_memory(s, t, depth)
            if found:
                return found
        if r.chance(7):
            found = self.call(s, t, depth)
            if found:
                return found
        if t in INTS:
            return self.int_expr(s, t, depth - 1)
        if t == "f32":
            return self.f32_expr(s, depth - 1)
        if t == "f64":
            return self.f64_expr(s, depth - 1)
        return self.half_expr(s, t, depth - 1)

    def from_memory(self, s, t, depth):
        """Something that lies in memory: an array, a struct, a table."""
        r = self.r
        of = []
        for array, et, size in s.arrays:
            if et == t:
                of.append("%s[%s]" % (array, self.index(s, size)))
        for name, names in s.structs.items():
            for field, ft in self.structs[name]:
                if ft == t:
                    for v in names:
                        of.append("%s.%s" % (v, field))
                elif ft == "bits" and t in ("s32", "u32"):
                    for v in names:
                        of.append("(%s)%s.%s" % (t, v, field))
                elif isinstance(ft, tuple) and ft[0] == t:
                    for v in names:
                        of.append("%s.%s[%s]" % (v, field, self.index(s, ft[1])))
        if t == "u32":
            of += ["table_%s[%s]" % (self.id, self.index(s, 64)),
                   "(u32)global_%s[%s]" % (self.id, self.index(s, 32))]
        if t == "s16":
            of.append("shorts_%s[%s]" % (self.id, self.index(s, 16)))
        if t == "f64":
            of.append("doubles_%s[%s]" % (self.id, self.index(s, 8)))
        return r.pick(of) if of else None

    def call(self, s, t, depth):
        r = self.r
        of = [f for f in s.functions if f[1] == t]
        if not of:
            return None
        f = r.pick(of)
        arguments = []
        for a in f[2]:
            if a in self.structs:
                names = s.structs.get(a)
                if not names:
                    return None
                arguments.append(r.pick(names))
            else:
                arguments.append(self.expr(s, a, depth - 2))
        return "%s(%s)" % (f[0], ", ".join(arguments))

    def cond(self, s, depth):
        r = self.r
        k = r.below(10)
        if k == 0:
            return "(%s %s %s)" % (self.cond(s, depth - 1), r.pick(["&&", "||", "!="]),
                                   self.cond(s, depth - 1)) if depth > 0 else "(%s & 1)" % self.leaf(s, "u32")
        if k < 4:
            return "((%s & %du) %s %du)" % (self.expr(s, "u32", depth), r.pick([1, 3, 7, 12, 16]),
                                            r.pick(["==", "!=", ">"]), r.pick([0, 1, 0, 2]))
        if k == 4:
            t = r.pick(HALVES[:2])
            return "%s(%s, %s)" % (r.pick(["__hlt", "__heq", "__hgeu", "__hne", "__hltu", "__hneu"]),
                                   self.expr(s, t, depth - 1), self.expr(s, t, depth - 1))
        if k == 5 and depth > 0:
            return r.pick(["isnan(%s)", "isinf(%s)", "signbit(known(%s))", "isfinite(%s)"]) % \
                self.expr(s, r.pick(FLOATS), depth - 1)
        t = r.pick(INTS + FLOATS)
        return "(%s %s %s)" % (self.expr(s, t, depth - 1), r.pick(["<", "<=", ">", ">=", "==", "!="]),
                               self.expr(s, t, depth - 1))

    def int_expr(self, s, t, d):
        r = self.r
        n = SIZE[t]
        k = r.below(100)
        wide = "u64" if n == 64 else "u32"
        e = lambda of: self.expr(s, of, d)
        if k < 25:
            return "(%s)((%s)%s %s (%s)%s)" % (t, wide, e(t), r.pick(["+", "-", "*", "&", "|", "^"]), wide, e(t))
        if k < 30:
            return "(%s)(%s(%s)%s)" % (t, r.pick(["~", "0 - "]), wide, e(t))
        if k < 36:
            return "(%s)((%s)%s << (%s & %du))" % (t, wide, e(t), e("u32"), n - 1)
        if k < 42:
            return "(%s)(%s >> (%s & %du))" % (t, e(t), e("u32"), n - 1)
        if k < 47:
            return "%s<%s>(%s, %s)" % (r.pick(["quotient", "remainder_of"]), t, e(t), e(t))
        if k < 50:
            by = r.pick([3, 7, 10, 16, 100, -5, 127, -8])
            return "(%s)(%s %s (%s)%d)" % (t, e(t), r.pick(["/", "%"]), t, abs(by) if t[0] == "u" else by)
        if k < 55:
            return "(%s)%s" % (t, self.cond(s, d))
        if k < 63:
            return "(%s)%s" % (t, e(r.pick(INTS)))
        if k < 70:
            return self.to_int(s, t, d)
        if k < 74:
            of = r.pick(FLOATS + HALVES)
            return "(%s)bits(%s)" % (t, self.expr(s, of, d))
        if k < 78:
            of = r.pick(["s32", "u32", "s64", "u64"])
            return "(%s)%s(%s, %s)" % (t, r.pick(["min", "max"]), e(of), e(of))
        if k < 80:
            return "(%s)(%s ? 1 : %s)" % (t, self.cond(s, d), e(t))
        return "(%s)%s" % (t, self.intrinsic(s, d))

    def to_int(self, s, t, d):
        r = self.r
        m = r.pick(ROUND)
        k = r.below(6)
        if k == 0:
            return "(%s)__double2%s_%s(%s)" % (t, r.pick(["int", "uint", "ll", "ull"]), m, self.expr(s, "f64", d))
        if k == 1:
            return "(%s)__half2%s_%s(%s)" % (t, r.pick(["int", "uint", "ll", "ull", "short", "ushort"]), m,
                                             self.expr(s, "f16", d))
        if k == 2:
            return "(%s)__bfloat162%s_%s(%s)" % (t, r.pick(["int", "uint", "ll", "ull", "short", "ushort"]), m,
                                                 self.expr(s, "b16", d))
        if k == 3:
            return "(%s)%s" % (t, r.pick(["lrintf(fminf(fmaxf(%s, -1e6f), 1e6f))", "(int)fminf(fmaxf(%s, -1e4f), 120.0f)"])
                               % self.expr(s, "f32", d))
        return "(%s)__float2%s_%s(%s)" % (t, r.pick(["int", "uint", "ll", "ull"]), m, self.expr(s, "f32", d))

    def intrinsic(self, s, d):
        r = self.r
        e = lambda t: self.expr(s, t, d)
        one32 = ["__brev", "__popc"]
        signed1 = ["__clz", "__ffs"]
        two_u = ["__umulhi", "__vadd2", "__vadd4", "__vsub2", "__vsub4", "__vaddss2", "__vaddss4",
                 "__vaddus2", "__vaddus4", "__vsubss2", "__vsubss4", "__vsubus2", "__vsubus4",
                 "__vmaxs2", "__vmaxs4", "__vmaxu2", "__vmaxu4", "__vmins2", "__vmins4", "__vminu2",
                 "__vminu4", "__vabsdiffs2", "__vabsdiffs4", "__vabsdiffu2", "__vabsdiffu4",
                 "__vcmpeq2", "__vcmpeq4", "__vcmpgts2", "__vcmpgts4", "__vcmpgtu4", "__vcmples2",
                 "__vcmpleu4", "__vcmpltu2", "__vcmplts4", "__vcmpne4", "__vavgs2", "__vavgs4",
                 "__vavgu2", "__vavgu4", "__vhaddu2", "__vhaddu4", "__vsads2", "__vsads4", "__vsadu2",
                 "__vsadu4", "__vseteq2", "__vsetgts4", "__vsetltu2", "__vsetne4", "__vsetleu4",
                 "__urhadd", "__uhadd", "__umul24", "__vimin_s16x2_relu",
                 "__vimax_s16x2_relu"]
        one_u = ["__vneg2", "__vneg4", "__vabs2", "__vabs4", "__vabsss2", "__vabsss4", "__vnegss2",
                 "__vnegss4"]
        three_u = ["__viaddmax_s16x2", "__viaddmin_u16x2", "__viaddmax_s16x2_relu", "__vimax3_s16x2",
                   "__vimin3_u16x2", "__viaddmin_s16x2_relu", "__usad", "__vimax3_u32",
                   "__viaddmax_u32", "__vimin3_s16x2_relu"]
        k = r.below(24)
        if k == 0:
            return "%s(%s)" % (r.pick(one32), e("u32"))
        if k == 1:
            return "%s(%s)" % (r.pick(signed1), e("s32"))
        if k == 2:
            return "%s(%s)" % (r.pick(["__clzll", "__ffsll", "__popcll", "__brevll"]), e("s64"))
        if k == 3:
            return "__byte_perm(%s, %s, %s)" % (e("u32"), e("u32"), e("u32"))
        if k in (4, 5):
            return "%s(%s, %s, %s)" % (r.pick(["__funnelshift_l", "__funnelshift_r", "__funnelshift_lc",
                                               "__funnelshift_rc"]), e("u32"), e("u32"), e("u32"))
        if k == 6:
            return "%s(%s, %s)" % (r.pick(["__mulhi", "__mul24", "__rhadd", "__hadd", "__vimax_s32_relu",
                                           "__vimin_s32_relu"]), e("s32"), e("s32"))
        if k == 7:
            return "__mul64hi(%s, %s)" % (e("s64"), e("s64"))
        if k == 8:
            return "__umul64hi(%s, %s)" % (e("u64"), e("u64"))
        if k == 9:
            return "%s(%s, %s, %s)" % (r.pick(["__dp4a", "__dp2a_lo", "__dp2a_hi"]), e("s32"), e("s32"), e("s32"))
        if k == 10:
            return "%s(%s, %s, %s)" % (r.pick(["__dp4a", "__dp2a_lo", "__dp2a_hi"]), e("u32"), e("u32"), e("u32"))
        if k == 11:
            return "__sad(%s, %s, %s)" % (e("s32"), e("s32"), e("u32"))
        if k == 12:
            return "%s(%s)" % (r.pick(one_u), e("u32"))
        if k in (13, 14):
            return "%s(%s, %s, %s)" % (r.pick(three_u), e("u32"), e("u32"), e("u32"))
        if k == 15:
            return "%s(%s, %s, %s)" % (r.pick(["__viaddmax_s32", "__viaddmin_s32_relu", "__vimax3_s32",
                                               "__vimin3_s32_relu"]), e("s32"), e("s32"), e("s32"))
        if k == 16:
            return "(abs((int)(%s | 1)))" % e("s32")
        return "%s(%s, %s)" % (r.pick(two_u), e("u32"), e("u32"))

    def f32_expr(self, s, d):
        r = self.r
        e = lambda t: self.expr(s, t, d)
        m = r.pick(ROUND)
        k = r.below(100)
        if k < 22:
            return "(%s %s %s)" % (e("f32"), r.pick(["+", "-", "*"]), e("f32"))
        if k < 34:
            return "%s_%s(%s, %s)" % (r.pick(["__fadd", "__fsub", "__fmul"]), m, e("f32"), e("f32"))
        if k < 42:
            f = r.pick(["fmaf", "__fmaf_" + m])
            return "%s(%s, %s, %s)" % (f, e("f32"), e("f32"), e("f32"))
        if k < 50:
            if self.exact:
                return "fminf(%s, %s)" % (e("f32"), e("f32"))
            return r.pick(["(%s / %s)", "__fdiv_" + m + "(%s, %s)"]) % (e("f32"), e("f32"))
        if k < 54:
            if self.exact:
                return "fabsf(%s)" % e("f32")
            return "%s(%s)" % (r.pick(["sqrtf", "__fsqrt_" + m, "__frcp_" + m, "__fsqrt_rn"]), e("f32"))
        if k < 60:
            return "%s(%s, %s)" % (r.pick(["fminf", "fmaxf", "fdimf"]), e("f32"), e("f32"))
        if k < 67:
            f = r.pick(["truncf", "floorf", "ceilf", "rintf", "roundf", "nearbyintf", "fabsf", "__saturatef", "-"])
            return "%s(%s)" % (f, e("f32"))
        if k < 70:
            return "copysignf(%s, known(%s))" % (e("f32"), e("f32"))
        if k < 78:
            kind, t = r.pick([("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64")])
            return "__%s2float_%s(%s)" % (kind, m, e(t))
        if k < 82:
            return "__double2float_%s(%s)" % (m, e("f64"))
        if k < 86:
            return r.pick(["__half2float(%s)" % e("f16"), "__bfloat162float(%s)" % e("b16"),
                           "__low2float(%s)" % e("h2"), "__high2float(%s)" % e("b2")])
        if k < 89:
            return "__uint_as_float(%s)" % e("u32")
        if k < 92:
            return "(f32)%s" % e(r.pick(INTS))
        if k < 94 and not self.exact:
            return "ldexpf(%s, (int)(%s & 63) - 32)" % (e("f32"), e("u32"))
        if k < 96 and not self.exact:
            return r.pick(["nextafterf(%s, %s)", "fmodf(%s, (%s) * 0.0f + 3.0f)"]) % (e("f32"), e("f32"))
        return "(f32)%s" % e("f64")

    def f64_expr(self, s, d):
        r = self.r
        e = lambda t: self.expr(s, t, d)
        m = r.pick(ROUND)
        k = r.below(100)
        if k < 24:
            return "(%s %s %s)" % (e("f64"), r.pick(["+", "-", "*"]), e("f64"))
        if k < 36:
            return "%s_%s(%s, %s)" % (r.pick(["__dadd", "__dsub", "__dmul"]), m, e("f64"), e("f64"))
        if k < 44:
            return "%s(%s, %s, %s)" % (r.pick(["fma", "__fma_" + m]), e("f64"), e("f64"), e("f64"))
        if k < 50:
            return r.pick(["(%s / %s)", "__ddiv_" + m + "(%s, %s)"]) % (e("f64"), e("f64"))
        if k < 54:
            return "%s(%s)" % (r.pick(["sqrt", "__dsqrt_" + m, "__drcp_" + m]), e("f64"))
        if k < 60:
            return "%s(%s, %s)" % (r.pick(["fmin", "fmax", "fdim"]), e("f64"), e("f64"))
        if k < 67:
            return "%s(%s)" % (r.pick(["trunc", "floor", "ceil", "rint", "round", "fabs", "-"]), e("f64"))
        if k < 70:
            return "copysign(%s, known(%s))" % (e("f64"), e("f64"))
        if k < 76:
            return r.pick(["__ll2double_%s(%s)" % (m, e("s64")), "__ull2double_%s(%s)" % (m, e("u64"))])
        if k < 84:
            return "(f64)%s" % e("f32")
        if k < 88:
            return "__longlong_as_double(%s)" % e("s64")
        if k < 91:
            return "__hiloint2double(%s, %s)" % (e("s32"), e("s32"))
        if k < 93:
            return "scalbn(%s, (int)(%s & 127) - 64)" % (e("f64"), e("u32"))
        return "(f64)%s" % e(r.pick(INTS))

    def half_expr(self, s, t, d):
        r = self.r
        e = lambda of: self.expr(s, of, d)
        k = r.below(100)
        two = t in ("h2", "b2")
        tail = "2" if two else ""
        if k < 30:
            f = r.pick(["__hadd", "__hsub", "__hmul"])
            return "%s%s%s(%s, %s)" % (f, tail, r.pick(["", "", "_rn", "_sat"]), e(t), e(t))
        if k < 40:
            return "__hfma%s%s(%s, %s, %s)" % (tail, r.pick(["", "_sat", "_relu"]), e(t), e(t), e(t))
        if k < 50:
            f = r.pick(["__hmin", "__hmax"])
            return "%s%s%s(%s, %s)" % (f, tail, r.pick(["", "_nan"]), e(t), e(t))
        if k < 56:
            return "%s%s(%s)" % (r.pick(["__hneg", "__habs"]), tail, e(t))
        if two:
            one = "f16" if t == "h2" else "b16"
            kind = "half2" if t == "h2" else "bfloat162"
            if k < 66:
                return "__halves2%s(%s, %s)" % (kind, e(one), e(one))
            if k < 72:
                return "%s(%s, %s)" % (r.pick(["__hlt2", "__heq2", "__hgeu2", "__hne2"]), e(t), e(t))
            if k < 78:
                return "__floats2%s_rn(%s, %s)" % ("half2" if t == "h2" else "bfloat162", e("f32"), e("f32"))
            if k < 84:
                f = r.pick(["__lows2", "__highs2"])
                return "%s%s(%s, %s)" % (f, kind, e(t), e(t))
            if k < 88:
                return "__lowhigh2highlow(%s)" % e(t)
            if k < 92:
                return "%s(%s, %s, %s)" % ("__hcmadd", e(t), e(t), e(t))
            return "of<%s>(%s)" % (t, e("u32"))
        kind = "half" if t == "f16" else "bfloat16"
        if k < 66:
            return "__float2%s_%s(%s)" % (kind, r.pick(ROUND), e("f32"))
        if k < 70:
            return "__double2%s(%s)" % (kind, e("f64"))
        if k < 80:
            of, ot = r.pick([("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64"), ("short", "s16"),
                             ("ushort", "u16")])
            return "__%s2%s_%s(%s)" % (of, kind, r.pick(ROUND), e(ot))
        if k < 86:
            return "%s(%s)" % (r.pick(["hfloor", "hceil", "hrint", "htrunc"]), e(t))
        if k < 92:
            pair = "h2" if t == "f16" else "b2"
            return "%s%s(%s)" % (r.pick(["__low2", "__high2"]), kind, e(pair))
        return "of<%s>(%s)" % (t, e("u16"))
