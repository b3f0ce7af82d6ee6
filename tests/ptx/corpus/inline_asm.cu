// Inline PTX: blocks with their own registers and labels, carries, special registers, hints.
__device__ unsigned long long add128(unsigned long long a, unsigned long long b,
                                     unsigned long long *high)
{
    unsigned long long low;
    asm("{ .reg .u64 t;\n\t"
        "add.cc.u64 %0, %2, %3;\n\t"
        "addc.u64 t, %4, 0;\n\t"
        "mov.u64 %1, t; }"
        : "=l"(low), "=l"(*high)
        : "l"(a), "l"(b), "l"(*high));
    return low;
}

__global__ void inlined(unsigned *u, unsigned long long *l, float *f, double *d)
{
    l[0] = add128(l[1], l[2], &l[3]);
    for (int i = 0; i < 3; i++) {
        asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 r;\n\t"
                     "again: ld.volatile.global.u32 r, [%0];\n\t"
                     "setp.ne.u32 p, r, 0;\n\t"
                     "@!p bra again;\n\t}" ::"l"(u)
                     : "memory");
    }
    asm("mov.u32 %0, %%laneid;" : "=r"(u[1]));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(u[2]));
    asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, 0;"
        : "=r"(u[3]), "=r"(u[4])
        : "r"(u[5]), "r"(u[6]), "r"(u[7]));
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(u[8]) : "r"(u[9]));
    asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(u[10]) : "r"(u[11]), "r"(u[12]));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(u[13]) : "r"(u[14]), "r"(u[15]), "r"(u[16]));
    asm("mov.b64 %0, {%1, %2};" : "=l"(l[4]) : "r"(u[17]), "r"(u[18]));
    asm("mov.b64 {%0, %1}, %2;" : "=r"(u[19]), "=r"(u[20]) : "l"(l[5]));
    asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(u[21]), "=r"(u[22]) : "l"(u));
    asm("st.global.wt.f32 [%0], %1;" ::"l"(f), "f"(1.5f));
    asm("cvt.rni.sat.s32.f64 %0, %1;" : "=r"(u[23]) : "d"(d[0]));
    asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }"
        : "=r"(u[24])
        : "r"(u[25]));
    asm volatile("membar.gl; fence.acq_rel.sys; bar.sync 1, 64;" ::: "memory");
    asm("{ .reg .pred p; testp.normal.f32 p, %1; selp.u32 %0, 1, 0, p; }"
        : "=r"(u[26])
        : "f"(f[1]));
}
