#!/usr/bin/env python3
"""Writes random CUDA C++ programs: generate.py SEED COUNT [OPTIONS] > programs.cu

    nvcc -w -fmad=false -std=c++17 -Itests/differential_cuda -arch=sm_90 -o programs programs.cu
    ./programs [PROGRAM [FILE]]     a hash per kernel, and one of the atomics; all words to FILE

COUNT programs of one to three kernels each, numbered from SEED. They have no race and no undefined
behaviour, so that a GPU and the software device have to give the same bits. Options:
  --prefix=N   only the first N statements of every kernel, to find the one that differs
  --only=K     only program K
  --exact      nothing that -use_fast_math makes approximate
  --small      kernels of a third of the size
  --output=FILE  writes FILE
With contraction (nvcc's default) and in some programs without, ptxas -O1 and above gives other bits than
ptxas -O0 does of the same PTX; the software device gives those of -O0.
"""
import sys

from expressions import ALL, INTS, Scope
from statements import Statements


class Generator(Statements):
    # ---- what a program has besides kernels

    def make_structs(self):
        r = self.r
        for k in range(3):
            fields = []
            for f in range(2 + r.below(4)):
                c = r.below(10)
                if c == 0 and k:
                    fields.append(("f%d" % f, "S%d_%s" % (r.below(k), self.id)))
                elif c < 3:
                    fields.append(("f%d" % f, (r.pick(["u8", "s32", "f32", "s16", "f16", "u64"]), r.pick([2, 4, 8]))))
                elif c < 5:
                    fields.append(("f%d" % f, "bits"))
                else:
                    fields.append(("f%d" % f, r.pick(ALL)))
            if not isinstance(fields[0][1], str) or fields[0][1] not in ALL:
                fields.insert(0, ("head", r.pick(["u8", "s32", "f64", "f32"])))
            name = "S%d_%s" % (k, self.id)
            self.structs[name] = fields
            self.line("struct %s%s {" % ("alignas(16) " if r.chance(20) else "", name))
            for field, ft in fields:
                if ft == "bits":
                    self.line("    %s %s : %d;" % (r.pick(["u32", "s32", "u32"]), field, 1 + r.below(31)))
                elif isinstance(ft, tuple):
                    self.line("    %s %s[%d];" % (ft[0], field, ft[1]))
                else:
                    self.line("    %s %s;" % (ft, field))
            self.line("};")

    def start_struct(self, s, name, v):
        for field, ft in self.structs[name]:
            if ft == "bits":
                self.line("%s.%s = %s;" % (v, field, self.leaf(s, "u32")))
            elif isinstance(ft, tuple):
                self.line("for (int k = 0; k < %d; k++) %s.%s[k] = of<%s>(%s + (u32)k);" % (
                    ft[1], v, field, ft[0], self.leaf(s, "u32")))
            elif ft in self.structs:
                self.start_struct(s, ft, "%s.%s" % (v, field))
            else:
                self.line("%s.%s = %s;" % (v, field, self.leaf(s, ft)))

    def make_tables(self):
        r = self.r
        number = lambda n, bits: ", ".join("0x%x" % (r.bits() >> (64 - bits)) for _ in range(n))
        self.line("static __constant__ u32 table_%s[64] = {%s};" % (self.id, number(64, 32)))
        self.line("static __device__ u64 global_%s[32] = {%s};" % (self.id, number(32, 63)))
        self.line("static __constant__ s16 shorts_%s[16] = {%s};" % (self.id, number(16, 15)))
        self.line("static __device__ const f64 doubles_%s[8] = {%s};" % (
            self.id, ", ".join("%d.%d" % (r.below(1000) - 500, r.below(1000)) for _ in range(8))))

    def locals(self, s, sources):
        """Variables of all types, from what is at hand."""
        for t in ALL:
            for k in "ab":
                v = t + k
                self.line("%s %s = of<%s>(%s);" % (t, v, t, sources()))
                s.vars.setdefault(t, []).append(v)

    def make_function(self, number):
        r = self.r
        s = Scope()
        s.loads = False
        s.functions = self.functions[-4:]
        kind = r.pick(["CALLED", "CALLED", "DEV"])
        result = r.pick(ALL + sorted(self.structs) * 3)
        of = [r.pick(ALL + ["u32", "s32", "f32"] + sorted(self.structs)) for _ in range(1 + r.below(4))]
        name = "f%d_%s" % (number, self.id)
        self.line("%s %s %s(%s)" % (kind, result, name, ", ".join("%s a%d" % (t, k) for k, t in enumerate(of))))
        self.line("{")
        self.tab = 1
        words = []
        for k, t in enumerate(of):
            if t in self.structs:
                s.structs.setdefault(t, []).append("a%d" % k)
            else:
                words.append("(u64)bits(a%d)" % k)
        words = words or ["0x1234567ull"]
        self.locals(s, lambda: "%s * %dull + 0x%xull" % (r.pick(words), r.pick([1, 3, 0x100000001, 77]), r.below(1 << 20)))
        for k, t in enumerate(of):
            if t not in self.structs:
                s.vars[t].append("a%d" % k)
        if r.chance(40):
            self.line("u16 local[8];")
            self.line("for (int k = 0; k < 8; k++) local[k] = (u16)(u32a >> k);")
            s.arrays.append(("local", "u16", 8))
        if result in self.structs:
            self.line("%s result;" % result)
            self.start_struct(s, result, "result")
            s.structs.setdefault(result, []).append("result")
            s.ret = lambda of: "return %s;" % self.r.pick(of.structs[result])
        else:
            s.ret = lambda of: "return %s;" % self.leaf(of, result)
        s.depth = 2
        for _ in range(2 + r.below(4)):
            self.statement(s)
        self.line(s.ret(s))
        self.tab = 0
        self.line("}")
        self.functions.append((name, result, of))

    def make_fixed(self):
        """Functions for pointers, a recursive one, a template."""
        r = self.r
        for k in range(4):
            s = Scope()
            s.loads = False
            s.vars = {"u32": ["x"], "s32": ["y"]}
            self.line("CALLED u32 g%d_%s(u32 x, s32 y)" % (k, self.id))
            self.line("{")
            self.line("    if (%s) return %s;" % (self.cond(s, 2), self.expr(s, "u32", 2)))
            self.line("    return %s;" % self.expr(s, "u32", 3))
            self.line("}")
        self.line("typedef u32 (*pointer_%s)(u32, s32);" % self.id)
        self.line("static __device__ const pointer_%s pointers_%s[4] = {%s};" % (
            self.id, self.id, ", ".join("g%d_%s" % (k, self.id) for k in range(4))))
        s = Scope()
        s.loads = False
        s.vars = {"u32": ["n"], "s64": ["x"]}
        self.line("CALLED s64 deep_%s(u32 n, s64 x)" % self.id)
        self.line("{")
        self.line("    if (n == 0u) return %s;" % self.expr(s, "s64", 2))
        self.line("    if (%s) return (s64)((u64)deep_%s(n - 1u, %s) * 3ull + n);" % (self.cond(s, 1), self.id, self.expr(s, "s64", 1)))
        self.line("    return deep_%s(n >> 1, x ^ 5) ^ %s;" % (self.id, self.expr(s, "s64", 1)))
        self.line("}")
        self.line("CALLED void swapped_%s(u32 &a, s64 *b, u32 *c)" % self.id)
        self.line("{")
        self.line("    const u32 x = a;")
        self.line("    a = *c + (u32)*b;")
        self.line("    *c = x %s %du;" % (r.pick(["+", "^", "*"]), r.below(1000)))
        self.line("    *b = (s64)((u64)*b * 3ull ^ *c);")
        self.line("}")
        self.line("template <class T, int N> DEV T mixed_%s(T a, T b)" % self.id)
        self.line("{")
        self.line("    T kept[N];")
        self.line("    for (int k = 0; k < N; k++) kept[k] = (T)(a >> k);")
        self.line("    for (int k = 0; k < N; k++) kept[(u32)(b + (T)k) %% N] ^= (T)(b * (T)%d);" % (1 + r.below(99)))
        self.line("    if constexpr (N > 1) return mixed_%s<T, N / 2>(kept[0], kept[N - 1]);" % self.id)
        self.line("    return (T)(kept[0] + 1);")
        self.line("}")

    # ---- kernels

    def make_kernel(self, stage, threads, tile, dynamic):
        r = self.r
        s = Scope()
        s.loads = True
        s.functions = self.functions
        s.uniform, s.mask, s.tile = True, "live", tile
        given = r.pick(sorted(self.structs))
        restrict = " __restrict__" if r.chance(40) else ""
        self.line("static __global__ void k%d_%s(const u64 *%s in, u64 *%s out, u32 *slots, u32 n, s16 scalar, %s given, f32 small)"
                  % (stage, self.id, restrict, restrict, given))
        self.line("{")
        self.tab = 1
        if dynamic:
            self.line("extern __shared__ __align__(16) unsigned char shared[];")
        else:
            self.line("__shared__ __align__(16) unsigned char shared[8 * %d];" % threads)
        self.line("__shared__ __align__(8) u32 fixed[32], sums[%d];" % threads)
        self.line("const u32 threads = blockDim.x * blockDim.y * blockDim.z;")
        self.line("const u32 tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);")
        self.line("const u32 gid = tid + threads * (blockIdx.x + gridDim.x * blockIdx.y);")
        self.line("const s32 lane = (s32)(tid & 31u);")
        self.line("const u32 left = threads - (tid & ~31u);")
        self.line("const u32 live = left >= 32u ? 0xffffffffu : (1u << left) - 1u;")
        self.line("(void)shared, (void)fixed, (void)sums, (void)slots, (void)lane, (void)live;")
        step = r.pick([1, 1, 3, 5, 7])
        count = [0]

        def source():
            count[0] += 1
            if r.chance(10):
                return "gid * %du" % r.below(1 << 20)
            return "in[%du * n + (gid * %du + %du) %% n]" % (r.below(24), step, r.pick([0, 0, 1, 5]))
        self.locals(s, source)
        s.read = {"u32": ["tid", "gid", "n"], "s16": ["scalar"], "f32": ["small"], "s32": ["lane"]}
        for t, size in ((r.pick(["u32", "f32", "u8"]), r.pick([8, 16])), (r.pick(["s64", "f64", "s16"]), r.pick([4, 8]))):
            v = self.name("array")
            self.line("%s %s[%d];" % (t, v, size))
            self.line("for (int k = 0; k < %d; k++) %s[k] = of<%s>(in[(u32)k %% 24u * n + gid]);" % (size, v, t))
            s.arrays.append((v, t, size))
        for name in sorted(self.structs):
            v = self.name("thing")
            self.line("%s %s;" % (name, v))
            self.start_struct(s, name, v)
            s.structs[name] = [v]
        s.structs[given].append("given")
        many, last = (4 + r.below(3), 1 + r.below(2)) if self.small else (8 + r.below(10), 3 + r.below(4))
        for k in range(many + last):
            if self.prefix is not None and k >= self.prefix:
                break
            if k == many:
                s.uniform, s.mask = False, None
                s.ret = lambda of: "goto done;"
            self.statement(s)
        if s.ret:
            self.line("done:;")
        self.finish(s)
        self.tab = 0
        self.line("}")

    def finish(self, s):
        """Every variable has a word of the output, structs and arrays one together."""
        r = self.r
        k = 0
        for t in ALL:
            if t in ("f16", "b16"):
                self.line("out[%du * n + gid] = (u64)bits(%sa) | (u64)bits(%sb) << 32;" % (k, t, t))
                k += 1
            elif t in ("s8", "u8", "s16", "u16", "u32", "s32", "h2", "b2", "f32"):
                self.line("out[%du * n + gid] = (u64)bits(%sa) | (u64)bits(%sb) << 32;" % (k, t, t))
                k += 1
            else:
                self.line("out[%du * n + gid] = bits(%sa);" % (k, t))
                self.line("out[%du * n + gid] = bits(%sb);" % (k + 1, t))
                k += 2
        self.line("u64 rest = 1;")
        for array, t, size in s.arrays:
            self.line("for (int k = 0; k < %d; k++) rest = rest * 31ull + (u64)bits(%s[k]);" % (size, array))
        for name in sorted(s.structs):
            for v in s.structs[name]:
                self.fold_struct(name, v)
        self.line("out[%du * n + gid] = rest;" % k)
        for left in range(k + 1, 24):
            self.line("out[%du * n + gid] = rest * %dull ^ bits(%sa);" % (left, 2 * left + 1, r.pick(INTS)))
        vt = r.pick(["uint4", "uchar4", "float4", "short2", "double2", "ulonglong2", "ushort4", "float2", "uint3", "char3"])
        base = "((%s *)(out + 24u * n))" % vt
        wide = {"uint4": 16, "uchar4": 4, "float4": 16, "short2": 4, "double2": 16, "ulonglong2": 16, "ushort4": 8,
                "float2": 8, "uint3": 12, "char3": 3}[vt]
        stride = r.pick([k for k in (1, 2, 3, 4, 5) if k * wide <= 64])
        n = int(vt[-1])
        t = {"uint": "u32", "uchar": "u8", "float": "f32", "short": "s16", "double": "f64", "ulonglong": "u64",
             "ushort": "u16", "char": "s8"}[vt[:-1]]
        self.line("%s[gid * %du] = make_%s(%s);" % (base, stride, vt, ", ".join(
            "known(%s)" % self.leaf(s, t) for _ in range(n))))

    def fold_struct(self, name, v):
        for field, ft in self.structs[name]:
            at = "%s.%s" % (v, field)
            if ft == "bits":
                self.line("rest = rest * 33ull + (u64)(u32)%s;" % at)
            elif isinstance(ft, tuple):
                self.line("for (int k = 0; k < %d; k++) rest = rest * 35ull + (u64)bits(%s[k]);" % (ft[1], at))
            elif ft in self.structs:
                self.fold_struct(ft, at)
            else:
                self.line("rest = rest * 37ull + (u64)bits(%s);" % at)

    SLOT_OPS = [("atomicAdd", "u32"), ("atomicAdd", "u64"), ("atomicMax", "s32"), ("atomicMin", "u32"),
                ("atomicMax", "u64"), ("atomicMin", "s64"), ("atomicOr", "u32"), ("atomicXor", "u64"),
                ("atomicXor", "u32"), ("inc", "u32"), ("float", "f32"), ("double", "f64"), ("cas_add", "u32"),
                ("cas_xor", "u64"), ("group", "u32"), ("atomicMax", "s64"), ("atomicAdd", "s32"), ("cas_short", "u16")]

    def program(self):
        r = self.r
        self.line("// ---- %s" % self.id)
        self.make_structs()
        self.make_tables()
        self.make_fixed()
        for k in range(2 if self.small else 3 + r.below(4)):
            self.make_function(k)
        shape = r.pick([(32, 1, 1), (64, 1, 1), (48, 1, 1), (33, 1, 1), (8, 8, 1), (5, 7, 2), (16, 3, 2), (96, 1, 1),
                        (128, 1, 1), (7, 1, 1), (4, 4, 4), (100, 1, 1), (1, 50, 1), (32, 2, 1)])
        threads = shape[0] * shape[1] * shape[2]
        grid = r.pick([(1, 1), (2, 1), (3, 1), (2, 2), (5, 1)])
        stages = r.pick([1, 1, 2, 3])
        launches = []
        for stage in range(stages):
            self.slot_base = stage * 10
            self.slot_ops = [r.pick(self.SLOT_OPS) for _ in range(4)]
            dynamic = r.chance(40)
            self.make_kernel(stage, threads, threads % 32 == 0, dynamic)
            launches.append((stage, dynamic))
        n = threads * grid[0] * grid[1]
        self.line("static void launch_%s(u32 stage, const u64 *in, u64 *out, u32 *slots)" % self.id)
        self.line("{")
        self.line("    const dim3 grid(%d, %d), block(%d, %d, %d);" % (grid + shape))
        for stage, dynamic in launches:
            given = [l for l in self.out if l.startswith("static __global__ void k%d_%s(" % (stage, self.id))][0]
            struct = given.split("s16 scalar, ")[1].split(" ")[0]
            self.line("    if (stage == %d) {" % stage)
            self.line("        %s given;" % struct)
            self.line("        memset((void *)&given, %d, sizeof given);" % r.pick([0, 1, 0x3c, 0x40]))
            self.line("        k%d_%s<<<grid, block, %s>>>(in, out, slots, %d, %d, given, %s);" % (
                stage, self.id, "8 * %d" % threads if dynamic else "0", n, r.below(60000) - 30000, self.literal("f32")))
            self.line("    }")
        self.line("}")
        return "{\"%s\", %d, %d, 0x%xull, launch_%s}" % (self.id, n, stages, r.bits() | 1, self.id)


def main(arguments):
    numbers = [int(a) for a in arguments if not a.startswith("--")]
    options = dict((a.split("=") + [""])[:2] for a in arguments if a.startswith("--"))
    prefix = int(options["--prefix"]) if "--prefix" in options else None
    text = ['#include "random_cuda.cuh"\n']
    rows = []
    for seed in range(numbers[0], numbers[0] + numbers[1]):
        if "--only" in options and int(options["--only"]) != seed:
            continue
        g = Generator(seed, "--exact" in options, "--small" in options, prefix)
        rows.append(g.program())
        text += g.out
    text.append("static const Program programs[] = {\n    %s};\n" % ",\n    ".join(rows))
    text.append("int main(int argc, char **argv)\n{")
    text.append("    return run_programs(programs, sizeof programs / sizeof *programs, argc, argv);\n}")
    with open(options["--output"], "w") if "--output" in options else sys.stdout as file:
        print("\n".join(text), file=file)


main(sys.argv[1:])
