"""Random statements for generate.py: of one thread, of a warp's lanes, of all threads of a block."""
from expressions import ALL, INTS, FLOATS, SIZE, VECTORS, Expressions, Scope


class Statements(Expressions):

    def assign(self, s, depth=3):
        r = self.r
        if r.chance(25):
            t = r.pick(INTS)
            if s.vars.get(t) and SIZE[t] >= 32 and t[0] == "u":
                op = r.pick(["+=", "-=", "*=", "^=", "|=", "&="])
                self.line("%s %s %s;" % (r.pick(s.vars[t]), op, self.expr(s, t, depth)))
                return
        t = r.pick(ALL + ["u32", "s32", "f32", "u64"])
        if not s.vars.get(t):
            t = "u32"
        self.line("%s = %s;" % (r.pick(s.vars[t]), self.expr(s, t, depth)))

    def store(self, s):
        """Into an array, a struct, a part of a vector, through a pun."""
        r = self.r
        k = r.below(7)
        if k < 3 and s.arrays:
            array, t, size = r.pick(s.arrays)
            self.line("%s[%s] = %s;" % (array, self.index(s, size), self.expr(s, t, 2)))
        elif k == 3 and s.structs:
            self.struct_store(s)
        elif k == 4 and s.structs:
            name = r.pick(sorted(s.structs))
            of = [f for f in s.functions if f[1] == name and
                  all(a in s.structs for a in f[2] if a in self.structs)]
            if of:
                f = r.pick(of)
                self.line("%s = %s(%s);" % (r.pick(s.structs[name]), f[0], ", ".join(
                    r.pick(s.structs[a]) if a in self.structs else self.expr(s, a, 1) for a in f[2])))
            else:
                self.line("%s = %s;" % (r.pick(s.structs[name]), r.pick(s.structs[name])))
        elif k == 5:
            self.pun(s)
        else:
            self.vector(s)

    def struct_store(self, s):
        r = self.r
        name = r.pick(sorted(s.structs))
        v = r.pick(s.structs[name])
        field, ft = r.pick(self.structs[name])
        if ft == "bits":
            self.line("%s.%s = %s;" % (v, field, self.expr(s, "u32", 2)))
        elif isinstance(ft, tuple):
            self.line("%s.%s[%s] = %s;" % (v, field, self.index(s, ft[1]), self.expr(s, ft[0], 2)))
        elif ft in self.structs:
            self.line("%s.%s.%s = %s;" % (v, field, self.structs[ft][0][0],
                                          self.expr(s, self.structs[ft][0][1], 1)))
        else:
            self.line("%s.%s = %s;" % (v, field, self.expr(s, ft, 2)))

    def pun(self, s):
        r = self.r
        a, b = r.pick([("f64", "u8"), ("u64", "u16"), ("f32", "s8"), ("u64", "f32"), ("f64", "s32"),
                       ("u32", "f16"), ("h2", "u16")])
        v = r.pick(s.vars[a])
        of = self.name("q")
        count = {"f64": 8, "u64": 8, "f32": 4, "u32": 4, "h2": 4}[a] // \
            {"u8": 1, "s8": 1, "u16": 2, "f16": 2, "f32": 4, "s32": 4}[b]
        self.line("{")
        if r.chance(50):
            self.line("    union { decltype(bits(%s)) w; %s p[%d]; } %s;" % (v, b, count, of))
            self.line("    %s.w = bits(%s);" % (of, v))
            at = "%s.p[%s]" % (of, self.index(s, count))
            self.line("    %s = known(%s);" % (at, self.expr(s, b, 1)))
            self.line("    for (int k = 0; k < %d; k++) %s.p[k] = known(%s.p[k]);" % (count, of, of))
            self.line("    %s = of<%s>(%s.w);" % (v, a, of))
        else:
            self.line("    decltype(bits(%s)) w = bits(%s);" % (v, v))
            self.line("    %s p[%d];" % (b, count))
            self.line("    memcpy(p, &w, sizeof w);")
            self.line("    p[%s] = %s;" % (self.index(s, count), self.expr(s, b, 1)))
            self.line("    for (int k = 0; k < %d; k++) p[k] = known(p[k]);" % count)
            self.line("    memcpy(&w, p, sizeof w);")
            self.line("    %s = of<%s>(w);" % (v, a))
        self.line("}")

    def vector(self, s):
        """A vector is loaded from the input or made, computed with, and taken apart."""
        r = self.r
        vt = r.pick(sorted(VECTORS))
        t, n = VECTORS[vt]
        of = self.name("v")
        self.line("{")
        if s.loads and vt not in ("short3", "uint3", "float3") or s.loads and r.chance(30):
            size = {"s8": 1, "u8": 1, "s16": 2, "u16": 2, "s32": 4, "u32": 4, "f32": 4, "s64": 8, "f64": 8}[t] * n
            most = 8 * 1024 * 24 // size
            how = r.pick(["%s", "%s", "__ldg(&%s)", "__ldcs(&%s)", "__ldcg(&%s)"]) if n != 3 else "%s"
            at = "((const %s *)in)[(gid * %du + %s) %% %du]" % (vt, r.pick([1, 1, 2, 3, 5]), self.index(s, 64), most)
            self.line("    %s %s = %s;" % (vt, of, how % at))
        else:
            self.line("    %s %s = make_%s(%s);" % (vt, of, vt, ", ".join(self.expr(s, t, 1) for _ in range(n))))
        for _ in range(1 + r.below(3)):
            self.line("    %s.%s = %s;" % (of, "xyzw"[r.below(n)], self.expr(s, t, 1)))
        if s.vars.get(t):
            self.line("    %s = %s.%s;" % (r.pick(s.vars[t]), of, "xyzw"[r.below(n)]))
        self.line("    u32a ^= %s;" % " + ".join("(u32)bits(%s.%s) * %du" % (of, "xyzw"[k], 2 * k + 1) for k in range(n)))
        self.line("}")

    def block(self, s, size):
        self.tab += 1
        for _ in range(size):
            self.statement(s)
        self.tab -= 1

    def branch(self, s):
        r = self.r
        inner = Scope(s)
        inner.loads = s.loads
        inner.uniform = False
        inner.loop = s.loop and s.mask is None
        other = Scope(inner)
        other.loads = s.loads
        other.depth = inner.depth
        if s.uniform and r.chance(30):
            inner.uniform = other.uniform = True
            self.line("if (%s) {" % self.uniform_cond(s))
            self.block(inner, 1 + r.below(4))
        else:
            c = self.cond(s, 2)
            if s.mask:
                m = self.name("m")
                self.line("const u32 %s = __ballot_sync(%s, %s);" % (m, s.mask, c))
                c = "%s >> lane & 1" % m
                inner.mask, other.mask = m, "(%s & ~%s)" % (s.mask, m)
            self.line("if (%s) {" % c)
            self.block(inner, 1 + r.below(4))
        if r.chance(50):
            self.line("} else {")
            self.block(other, 1 + r.below(4))
        self.line("}")

    def uniform_cond(self, s):
        return self.r.pick(["(n & 3u) == 1u", "blockIdx.x & 1", "(table_%s[blockIdx.x & 63] & 1)" % self.id,
                            "scalar > 3", "gridDim.x * blockDim.x > 100"])

    def for_loop(self, s):
        r = self.r
        inner = Scope(s)
        inner.loads = s.loads
        i = self.name("i")
        inner.read.setdefault("s32", []).append(i)
        k = r.below(6)
        if k < 2 and (s.uniform or s.mask):
            self.line("for (int %s = 0; %s < %s; %s++) {" % (
                i, i, r.pick(["3", "5", "(int)(n & 3u) + 1", "(int)(blockIdx.x & 3u)"]), i))
            inner.loop = False
        elif k == 2 and s.mask:
            # A loop that lanes leave one by one, with the mask of those who are left.
            m, limit = self.name("m"), self.expr(s, "u32", 2)
            limit_name = self.name("n")
            self.line("const u32 %s = %s & 7u;" % (limit_name, limit))
            self.line("u32 %s = %s;" % (m, s.mask))
            self.line("for (int %s = 0;; %s++) {" % (i, i))
            self.line("    const bool go = (u32)%s < %s;" % (i, limit_name))
            self.line("    %s = __ballot_sync(%s, go);" % (m, m))
            self.line("    if (!go) break;")
            inner.mask, inner.uniform, inner.loop = m, False, False
        else:
            inner.uniform, inner.mask, inner.loop = False, None, True
            if k == 3:
                self.line("for (int %s = (int)(%s & 15u); %s > 0; %s -= %d) {" % (
                    i, self.expr(s, "u32", 2), i, i, 1 + r.below(3)))
            elif k == 4:
                c = self.name("n")
                self.line("int %s = (int)(%s & 7u);" % (c, self.expr(s, "u32", 2)))
                self.line("while (%s-- > 0 && !(%s)) {" % (c, self.cond(s, 1)))
                self.line("    const int %s = %s * 3;" % (i, c))
            else:
                bound = self.name("n")
                self.line("const int %s = (int)(%s & 7u) + 2;" % (bound, self.expr(s, "u32", 2)))
                self.line("for (int %s = 0; %s < %s; %s++) {" % (i, i, bound, i))
                if r.chance(30):
                    self.out.insert(-1, "#pragma unroll 1")
        self.block(inner, 1 + r.below(4))
        self.line("}")

    def switch(self, s):
        r = self.r
        inner = Scope(s)
        inner.loads = s.loads
        inner.uniform = False
        inner.mask = None
        inner.loop = False
        count = r.pick([2, 4, 7])
        sparse = r.chance(30)
        selector = self.name("k")
        self.line("const u32 %s = %s %% %du;" % (selector, self.expr(s, "u32", 2), count + 1))
        through = 25
        if s.mask and r.chance(50):
            inner.mask = self.name("m")
            self.line("const u32 %s = __match_any_sync(%s, %s);" % (inner.mask, s.mask, selector))
            through = 0
        self.line("switch (%s%s) {" % (selector, " * 37u" if sparse else ""))
        for k in range(count):
            self.line("case %du: {" % (k * 37 if sparse else k))
            one = Scope(inner)
            one.loads = s.loads
            one.depth = inner.depth
            self.block(one, 1 + r.below(2))
            self.line("}" + ("" if r.chance(through) else " break;"))
        self.line("default:")
        self.tab += 1
        self.assign(inner)
        self.tab -= 1
        self.line("}")

    def goto(self, s):
        """Forward over some statements, or back for a counted number of times."""
        r = self.r
        inner = Scope(s)
        inner.loads = s.loads
        inner.uniform, inner.mask, inner.loop = False, None, False
        label = self.name("L")
        if r.chance(60):
            self.line("if (%s) goto %s;" % (self.cond(s, 2), label))
            self.line("{")
            self.block(inner, 1 + r.below(3))
            if r.chance(40):
                self.line("    if (%s) goto %s;" % (self.cond(s, 1), label))
                self.block(inner, 1)
            self.line("}")
            self.line("%s:;" % label)
        else:
            again = self.name("again")
            self.line("{")
            self.line("    u32 %s = 0;" % again)
            self.line("%s:" % label)
            self.line("    {")
            self.block(inner, 1 + r.below(2))
            self.line("    }")
            self.line("    if (%s++ < (%s & 3u)) goto %s;" % (again, self.leaf(s, "u32"), label))
            self.line("}")

    def leave(self, s):
        if s.loop and self.r.chance(60):
            self.line("if (%s) %s;" % (self.cond(s, 2), self.r.pick(["break", "continue"])))
        elif s.ret:
            self.line("if (%s) %s" % (self.cond(s, 2), s.ret(s)))
        else:
            self.assign(s)

    # ---- where threads meet

    def exchange(self, s):
        """Through shared memory, between all threads of the block."""
        r = self.r
        sync = r.pick(["__syncthreads();", "__syncthreads();", "cg::this_thread_block().sync();"])
        t = r.pick(["u32", "s16", "f32", "u64", "u8", "f64", "f16"])
        k = r.below(5)
        d = r.pick(s.vars[t])
        if k < 3:
            self.line("((%s *)shared)[tid] = %s;" % (t, self.expr(s, t, 2)))
            self.line(sync)
            self.line("%s = ((%s *)shared)[%s];" % (
                d, t, r.pick(["(tid * %du + %du) %% threads" % (2 * r.below(6) + 1, r.below(99)),
                              "%s %% threads" % self.expr(s, "u32", 1), "threads - 1u - tid"])))
            self.line(sync)
        elif k == 3 and r.chance(25):
            self.line("cg::memcpy_async(cg::this_thread_block(), (u32 *)shared, (const u32 *)in + %du * %s, 4u * threads);" % (
                r.pick([1, 2, 4]), r.pick(["(blockIdx.x & 7u)", "3u", "(n & 15u)"])))
            self.line("cg::wait(cg::this_thread_block());")
            self.line("u32a += ((u32 *)shared)[(tid + %du) %% threads];" % r.below(32))
            self.line(sync)
        elif k == 3:
            self.line("for (u32 k = tid; k < 32u; k += threads) fixed[k] = k * %du;" % r.below(9))
            self.line(sync)
            op = r.pick(["atomicAdd", "atomicMin", "atomicMax", "atomicXor", "atomicOr", "atomicAnd", "cas_add"])
            if r.chance(60):
                self.line("%s(&fixed[%s], %s);" % (op, self.index(s, 32), self.expr(s, "u32", 1)))
            else:
                op = r.pick(["atomicAdd", "atomicMin", "atomicMax", "atomicXor", "cas_xor"])
                self.line("%s((u64 *)&fixed[2u * %s], %s);" % (op, self.index(s, 16), self.expr(s, "u64", 1)))
            self.line(sync)
            self.line("u32a += fixed[(tid + %du) & 31u];" % r.below(32))
            self.line(sync)
        else:
            f = r.pick(["__syncthreads_count(%s)", "__syncthreads_or(%s)", "__syncthreads_and(%s)"])
            self.line("u32b += (u32)" + f % self.cond(s, 2) + ";")
            if r.chance(50):
                self.line("for (u32 w = 128; w > 0; w >>= 1) {")
                self.line("    if (w == 128) sums[tid] = %s;" % self.expr(s, "u32", 1))
                self.line("    __syncthreads();")
                self.line("    if (tid < w && tid + w < threads) sums[tid] += sums[tid + w];")
                self.line("}")
                self.line("__syncthreads();")
                self.line("u32a ^= sums[0];")
                self.line("__syncthreads();")

    def in_warp(self, s):
        r = self.r
        m = s.mask
        k = r.below(13)
        t = r.pick(["s32", "u32", "f32", "u64", "s64", "f64", "f16", "h2"])
        d = r.pick(s.vars[t])
        width = r.pick([32, 32, 16, 8, 4])
        if k == 0:
            self.line("%s = from_lane(%s, %s, %s);" % (d, m, self.expr(s, t, 2), self.expr(s, "u32", 1)))
        elif k < 4:
            f = r.pick(["from_up", "from_down", "from_xor"])
            self.line("%s = %s(%s, lane, %s, %du, %d);" % (d, f, m, self.expr(s, t, 2), r.below(32), width))
        elif k == 4:
            self.line("u32b ^= __ballot_sync(%s, %s);" % (m, self.cond(s, 2)))
        elif k == 5:
            self.line("s32a += %s(%s, %s) ? 5 : 9;" % (r.pick(["__any_sync", "__all_sync"]), m, self.cond(s, 2)))
        elif k == 6:
            t = r.pick(["u32", "u64", "f32", "s32", "f64"])
            small = {"u32": "(%s & 3u)", "u64": "(%s & 3ull)", "s32": "(%s %% 3)", "f32": "truncf(known(%s))",
                     "f64": "known(%s)"}[t]
            self.line("u32a += __match_any_sync(%s, %s);" % (m, small % self.expr(s, t, 1)))
        elif k == 7:
            self.line("{")
            self.line("    int all;")
            self.line("    u32b += __match_all_sync(%s, %s, &all);" % (m, self.expr(s, "u32", 1) + " & 1u"))
            self.line("    s32b ^= all;")
            self.line("}")
        elif k < 10:
            t = r.pick(["u32", "s32"])
            f = r.pick(["add", "min", "max"] + (["and", "or", "xor"] if t == "u32" else []))
            if t == "s32" and f == "add":
                self.line("s32b ^= __reduce_add_sync(%s, %s & 0xffff);" % (m, self.expr(s, t, 2)))
            else:
                self.line("%s = __reduce_%s_sync(%s, %s);" % (r.pick(s.vars[t]), f, m, self.expr(s, t, 2)))
        elif k == 10:
            self.line("__syncwarp(%s);" % m)
            self.assign(s)
        elif k == 11:
            self.line("u64a += (u64)__fns(%s, %s & 31u, (int)(%s & 7u) - 3);" % (
                self.expr(s, "u32", 1), self.expr(s, "u32", 1), self.expr(s, "u32", 1)))
        else:
            # Through shared memory, between the lanes that are here.
            self.line("sums[tid] = %s;" % self.expr(s, "u32", 1))
            self.line("__syncwarp(%s);" % m)
            self.line("u32a += sums[(tid & ~31u) + (u32)nth(%s, (u32)lane + %du)];" % (m, r.below(32)))
            self.line("__syncwarp(%s);" % m)

    def tile(self, s):
        r = self.r
        width = r.pick([2, 4, 8, 16, 32])
        g = self.name("g")
        self.line("{")
        self.line("    auto %s = cg::tiled_partition<%d>(cg::this_thread_block());" % (g, width))
        k = r.below(8)
        t = r.pick(["u32", "s32", "f32", "u64", "f64"])
        d = r.pick(s.vars[t])
        if k == 0:
            self.line("    %s = %s.shfl(%s, (int)%s);" % (d, g, self.expr(s, t, 2), self.index(s, width)))
        elif k == 1:
            self.line("    %s = %s.shfl_xor(%s, %d);" % (d, g, self.expr(s, t, 2), r.below(width)))
        elif k == 2:
            self.line("    u32a ^= %s.ballot(%s) + %s.thread_rank() + %s.meta_group_rank();" % (g, self.cond(s, 2), g, g))
        elif k == 3:
            op = r.pick(["plus", "less", "greater", "bit_xor", "bit_or", "bit_and"])
            t = r.pick(["u32", "u64"])
            self.line("    %s = cg::reduce(%s, %s, cg::%s<%s>());" % (r.pick(s.vars[t]), g, self.expr(s, t, 2), op, t))
        elif k == 4:
            f = r.pick(["inclusive_scan", "exclusive_scan"])
            t = r.pick(["u32", "u64"])
            self.line("    %s = cg::%s(%s, %s, cg::plus<%s>());" % (r.pick(s.vars[t]), f, g, self.expr(s, t, 2), t))
        elif k == 5:
            self.line("    auto part = cg::binary_partition(%s, %s);" % (g, self.cond(s, 2)))
            self.line("    u32b += part.size() * 33u + part.thread_rank() + part.shfl(%s, 0);" % self.expr(s, "u32", 1))
            self.line("    u32a ^= cg::reduce(part, %s, cg::plus<u32>());" % self.expr(s, "u32", 1))
        elif k == 6:
            self.line("    auto part = cg::labeled_partition(%s, %s & 3u);" % (g, self.expr(s, "u32", 1)))
            self.line("    u32b += part.size() * 33u + part.thread_rank() + part.shfl(%s, (int)part.size() - 1);"
                      % self.expr(s, "u32", 1))
        else:
            self.line("    %s = %s.any(%s) ? %s : %s;" % (
                d, g, self.cond(s, 1), self.expr(s, t, 1), self.expr(s, t, 1)))
        self.line("}")

    def add_up(self, s):
        """Atomics on global memory whose result does not depend on the order. One operation a slot."""
        r = self.r
        if not s.loads:
            return self.assign(s)
        slot = r.below(len(self.slot_ops))
        op, t = self.slot_ops[slot]
        at = "(%s *)(slots + %d)" % (t, 2 * (self.slot_base + slot))
        e = self.expr(s, t, 2)
        if op == "inc":
            self.line("atomicInc(%s, 1000u);" % at)
        elif op == "float":
            self.line("atomicAdd(%s, (f32)(%s & 15u));" % (at, self.expr(s, "u32", 1)))
        elif op == "double":
            self.line("atomicAdd(%s, (f64)(%s & 1023u));" % (at, self.expr(s, "u32", 1)))
        elif op == "group":
            self.line("{")
            self.line("    auto here = cg::coalesced_threads();")
            self.line("    if (here.thread_rank() == 0) atomicAdd(%s, here.size());" % at)
            self.line("}")
        else:
            self.line("%s(%s, %s);" % (op, at, e))

    def lambda_(self, s):
        r = self.r
        k = r.below(8)
        if k == 6:
            self.line("{")
            self.line("    u32 own[4] = {%s, %s, %s, 7u};" % tuple(self.expr(s, "u32", 1) for _ in range(3)))
            self.line("    swapped_%s(own[%s], &s64b, &own[%s]);" % (self.id, self.index(s, 4), self.index(s, 4)))
            self.line("    const u32 *const from = %s ? own : %s ? table_%s : (const u32 *)global_%s;" % (
                self.cond(s, 1), self.cond(s, 1), self.id, self.id))
            self.line("    u32b ^= sum_of(from + (%s & 1u), %s & 3u);" % (self.expr(s, "u32", 1), self.expr(s, "u32", 1)))
            self.line("}")
        elif k == 7:
            f, kind = r.pick(["float", "double"]), r.pick(["__NV_E4M3", "__NV_E5M2"])
            self.line("u32a ^= (u32)__nv_cvt_%s_to_fp8(known(%s), %s, %s) << (%s & 15u);" % (
                f, self.expr(s, "f32" if f == "float" else "f64", 2), r.pick(["__NV_SATFINITE", "__NV_NOSAT"]), kind,
                self.expr(s, "u32", 1)))
            self.line("f16a = __half(__nv_cvt_fp8_to_halfraw((u8)%s, %s));" % (self.expr(s, "u32", 1), kind))
        elif k == 5:
            self.line("{")
            self.line("    const %s __int128 w = (%s __int128)%s * %s %s %s;" % (
                *[r.pick(["unsigned", "signed"])] * 2, self.expr(s, "s64", 1), self.expr(s, r.pick(["u32", "s32"]), 1),
                r.pick(["+", "-", "^"]), self.expr(s, "s64", 1)))
            self.line("    u64a = (u64)(w >> (%s & 127u));" % self.expr(s, "u32", 1))
            self.line("    s64b ^= (s64)(w %s %s) + (w < %s);" % (
                r.pick(["/ 10", "% 1000003", "/ (u32)(7 + tid)", "& 12345", "| 77"]), "", self.expr(s, "s64", 1)))
            self.line("}")
        elif k == 0:
            self.line("{")
            self.line("    auto f = [&](u32 x, f32 y) { u32b += x; return %s(y, f32a); };" %
                      r.pick(["__fadd_rn", "__fmul_rz", "fminf"]))
            self.line("    f32b = f(%s, %s) + f(%s, f32a);" % (self.expr(s, "u32", 1), self.expr(s, "f32", 1),
                                                               self.expr(s, "u32", 1)))
            self.line("}")
        elif k == 1:
            self.line("{")
            self.line("    Shape shape(%s);" % self.expr(s, "u32", 1))
            self.line("    Disc disc(%s, %s);" % (self.expr(s, "u32", 1), self.expr(s, "f32", 1)))
            self.line("    Box box(%s, %s, %s);" % (self.expr(s, "u32", 1), self.expr(s, "f32", 1), self.expr(s, "u64", 1)))
            self.line("    Shape *const shapes[3] = {&shape, &disc, &box};")
            self.line("    u32a += shapes[%s %% 3u]->area(%s);" % (self.expr(s, "u32", 2), self.expr(s, "u32", 1)))
            self.line("    f32a = shapes[%s %% 3u]->scale(%s);" % (self.expr(s, "u32", 1), self.expr(s, "f32", 1)))
            self.line("}")
        elif k == 2:
            self.line("u32b ^= pointers_%s[%s](%s, %s);" % (self.id, self.index(s, 4, 2), self.expr(s, "u32", 1),
                                                           self.expr(s, "s32", 1)))
        elif k == 3:
            self.line("s64a ^= deep_%s(%s & 7u, %s);" % (self.id, self.expr(s, "u32", 2), self.expr(s, "s64", 1)))
        else:
            t = r.pick(["u32", "s16", "u64", "u8"])
            self.line("%s = mixed_%s<%s, %d>(%s, %s);" % (r.pick(s.vars[t]), self.id, t, 1 + r.below(4),
                                                          self.expr(s, t, 1), self.expr(s, t, 1)))

    def statement(self, s):
        r = self.r
        k = r.below(100)
        if k < 22 and s.depth < (4 if k < 10 else 3):
            self.line("{")
            self.tab += 1
            (self.branch if k < 10 else self.for_loop if k < 18 else self.switch)(s)
            self.tab -= 1
            self.line("}")
        elif s.depth < 3 and k < 25:
            self.goto(s)
        elif k < 30 and (s.loop or s.ret):
            self.leave(s)
        elif k < 36 and s.loads:
            self.lambda_(s)
        elif k < 44 and s.uniform and s.loads:
            self.exchange(s)
        elif k < 54 and s.mask:
            self.in_warp(s)
        elif k < 58 and s.uniform and s.tile:
            self.tile(s)
        elif k < 62:
            self.add_up(s)
        elif k < 78:
            self.store(s)
        else:
            self.assign(s)
