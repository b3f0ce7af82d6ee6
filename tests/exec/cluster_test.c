/* Clusters: special registers, whose shared memory an address is in, the cluster barrier, and the
 * faults of misuse. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/exec/device.h"

static struct device_run launch;
static uint32_t *words; /* of the kernel's output */

enum { WORDS = 4096 };

/* Runs `body` as a kernel over the grid, with a register %out; `shared`: declarations of its
 * variables. */
static enum exec_end run(const char *body, const uint32_t grid[3], const uint32_t cluster[3],
                         uint32_t threads)
{
    static char text[8192];
    void *contents;
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".visible .entry k(.param .u64 p) {\n"
             ".reg .pred %%p<8>;\n.reg .b32 %%r<40>;\n.reg .b64 %%d<16>;\n.reg .b64 %%out;\n"
             ".shared .align 16 .b8 s[256];\n.shared .align 8 .b8 o[8];\n"
             "ld.param.u64 %%out, [p];\n"
             "mov.u32 %%r0, %%ctaid.x;\nmov.u32 %%r1, %%nctaid.x;\nmov.u32 %%r2, %%ctaid.y;\n"
             "mov.u32 %%r3, %%nctaid.y;\nmov.u32 %%r4, %%ctaid.z;\n"
             "mad.lo.u32 %%r2, %%r3, %%r4, %%r2;\nmad.lo.u32 %%r0, %%r1, %%r2, %%r0;\n"
             "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%cluster_ctarank;\n%s\nret;\n}\n",
             body);
    struct exec_program *program = device_program(text);
    launch = (struct device_run){.program = program, .name = "k", .threads = threads};
    memcpy(launch.grid, grid, sizeof launch.grid);
    memcpy(launch.cluster, cluster, sizeof launch.cluster);
    const uint64_t out = device_buffer(WORDS * sizeof *words, &contents);
    launch.parameters = &out;
    words = contents;
    memset(words, 0, WORDS * sizeof *words);
    return device_launch(&launch);
}

static void end(void)
{
    exec_program_destroy((struct exec_program *)(uintptr_t)launch.program);
    device_reset();
}

static const uint32_t two[3] = {2, 1, 1}, row[3] = {4, 1, 1};

/* ---- registers ------------------------------------------------------------------------------- */

static const uint32_t shapes[][3] = {{1, 1, 1}, {4, 1, 1}, {2, 2, 2}, {1, 4, 2}, {2, 1, 4}};

START_TEST(each_block_reads_where_it_is)
{
    static const char *const registers[] = {
        "%clusterid.x",     "%clusterid.y",      "%clusterid.z",      "%nclusterid.x",
        "%nclusterid.y",    "%nclusterid.z",     "%cluster_ctaid.x",  "%cluster_ctaid.y",
        "%cluster_ctaid.z", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
        "%cluster_ctarank", "%cluster_nctarank"};
    enum { COUNT = sizeof registers / sizeof *registers };
    static const uint32_t grid[3] = {4, 4, 8};
    const uint32_t *size = shapes[_i];
    char body[4096] = "mul.wide.u32 %d1, %r0, 64;\nadd.u64 %d1, %d1, %out;\n";
    for (size_t k = 0; k < COUNT; k++)
        sprintf(body + strlen(body), "mov.u32 %%r9, %s;\nst.global.u32 [%%d1+%zu], %%r9;\n",
                registers[k], 4 * k);
    strcat(body, "mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r9, 1, 0, %p1;\n"
                 "st.global.u32 [%d1+56], %r9;\n");
    ck_assert_int_eq(run(body, grid, size, 1), EXEC_DONE);
    for (uint32_t block = 0; block < 128; block++) {
        const uint32_t at[3] = {block % 4, block / 4 % 4, block / 16};
        const uint32_t *seen = words + 16 * block;
        for (int i = 0; i < 3; i++) {
            ck_assert_uint_eq(seen[i], at[i] / size[i]);
            ck_assert_uint_eq(seen[3 + i], grid[i] / size[i]);
            ck_assert_uint_eq(seen[6 + i], at[i] % size[i]);
            ck_assert_uint_eq(seen[9 + i], size[i]);
        }
        ck_assert_uint_eq(seen[12], seen[6] + size[0] * (seen[7] + size[1] * seen[8]));
        ck_assert_uint_eq(seen[13], size[0] * size[1] * size[2]);
        ck_assert_uint_eq(seen[14], 1);
    }
    end();
}
END_TEST

START_TEST(without_clusters_a_block_is_one)
{
    static const uint32_t none[3] = {0, 0, 0};
    ck_assert_int_eq(run("mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r9, 1, 5, %p1;\n"
                         "mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d1, %out;\n"
                         "mov.u32 %r8, %cluster_nctarank;\nmad.lo.u32 %r9, %r8, 10, %r9;\n"
                         "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                         "mapa.shared::cluster.u32 %r8, s, 0;\nst.shared::cluster.u32 [%r8], %r9;\n"
                         "ld.shared.u32 %r9, [s];\nst.global.u32 [%d1], %r9;\n",
                         row, none, 1),
                     EXEC_DONE);
    for (int k = 0; k < 4; k++) ck_assert_uint_eq(words[k], 15);
    end();
}
END_TEST

/* ---- each other's shared memory -------------------------------------------------------------- */

/* %d1: the thread's place in the output; %r10: the other block; %r11: s there, 32 bits. */
#define PLACES                                                                                     \
    "mad.lo.u32 %r9, %r0, 32, %r1;\nmul.wide.u32 %d1, %r9, 4;\nadd.u64 %d1, %d1, %out;\n"          \
    "xor.b32 %r10, %r2, 1;\nmapa.shared::cluster.u32 %r11, s, %r10;\n"                             \
    "shl.b32 %r12, %r1, 2;\nmov.u32 %r13, s;\nadd.u32 %r13, %r13, %r12;\n"                         \
    "add.u32 %r14, %r11, %r12;\nmad.lo.u32 %r15, %r0, 100, %r1;\n"
#define SYNC "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"

static const struct {
    const char *body;
    uint32_t offset, factor; /* each thread finds offset + factor * the other block's value */
} exchanges[] = {
    {"st.shared.u32 [%r13], %r15;\n" SYNC "ld.shared::cluster.u32 %r9, [%r14];\n" SYNC, 0, 1},
    {"st.shared::cluster.u32 [%r14], %r15;\n" SYNC "ld.shared.u32 %r9, [%r13];\n", 0, 1},
    {"st.shared.u32 [%r13], 7;\n" SYNC "atom.add.shared::cluster.u32 %r9, [%r14], %r15;\n" SYNC
     "ld.shared.u32 %r9, [%r13];\n",
     7, 1},
    {"st.shared.u32 [%r13], 7;\n" SYNC "red.add.shared::cluster.u32 [%r14], %r15;\n" SYNC
     "ld.shared.u32 %r9, [%r13];\n",
     7, 1},
    /* Generic addresses. */
    {"cvt.u64.u32 %d2, %r13;\ncvta.shared.u64 %d2, %d2;\nst.u32 [%d2], %r15;\n" SYNC
     "mapa.u64 %d3, %d2, %r10;\nld.u32 %r9, [%d3];\n" SYNC,
     0, 1},
    /* Ranks and spaces of an address. */
    {"cvt.u64.u32 %d2, %r13;\ncvta.shared.u64 %d2, %d2;\nst.u32 [%d2], %r15;\n" SYNC
     "mapa.u64 %d3, %d2, %r10;\ngetctarank.u64 %r20, %d3;\nsub.u32 %r20, %r20, %r10;\n"
     "getctarank.shared::cluster.u32 %r21, %r13;\nsub.u32 %r21, %r21, %r2;\n"
     "isspacep.shared::cta %p1, %d3;\nselp.u32 %r22, 1, 0, %p1;\n"
     "isspacep.shared::cluster %p1, %d3;\nselp.u32 %r23, 2, 0, %p1;\n"
     "isspacep.shared::cta %p1, %d2;\nselp.u32 %r24, 4, 0, %p1;\n"
     "isspacep.global %p1, %d3;\nselp.u32 %r25, 8, 0, %p1;\n"
     "add.u32 %r20, %r20, %r21;\nadd.u32 %r20, %r20, %r22;\nadd.u32 %r20, %r20, %r23;\n"
     "add.u32 %r20, %r20, %r24;\nadd.u32 %r20, %r20, %r25;\n"
     "ld.u32 %r9, [%d3];\nadd.u32 %r9, %r9, %r20;\n" SYNC,
     6, 1},
    /* Vectors. */
    {"and.b32 %r16, %r1, 7;\nshl.b32 %r16, %r16, 4;\nadd.u32 %r17, %r11, %r16;\n"
     "@%p0 bra L;\nL:\nst.shared::cluster.v4.u32 [%r17], {%r16, %r16, %r16, %r16};\n" SYNC
     "st.shared.u32 [%r13], %r15;\n" SYNC "ld.shared::cluster.u32 %r9, [%r14];\n" SYNC,
     0, 1},
    /* Asynchronous stores, and reductions, whose bytes are awaited. */
    {"setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [o], 1;\n"
     "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [o], 128;\n" SYNC
     "mapa.shared::cluster.u32 %r18, o, %r10;\n"
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r14], %r15, [%r18];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p2, [o], 0;\n@!%p2 bra W;\n"
     "ld.shared.u32 %r9, [%r13];\n" SYNC,
     0, 1},
    {"setp.eq.u32 %p1, %r1, 0;\nst.shared.u32 [%r13], 3;\n"
     "@%p1 mbarrier.init.shared.b64 [o], 1;\n"
     "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [o], 128;\n" SYNC
     "mapa.shared::cluster.u32 %r18, o, %r10;\n"
     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r14], "
     "%r15, [%r18];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p2, [o], 0;\n@!%p2 bra W;\n"
     "ld.shared.u32 %r9, [%r13];\n" SYNC,
     3, 1},
    /* A bulk copy to both blocks, by the first. */
    {"setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p3, %r15, 0;\n"
     "@%p1 mbarrier.init.shared.b64 [o], 1;\n"
     "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [o], 128;\nst.global.u32 [%d1], %r15;\n" SYNC
     "and.b32 %r19, %r0, 1;\nor.b32 %r19, %r19, %r1;\nsetp.eq.u32 %p3, %r19, 0;\n"
     "mov.u32 %r20, s;\nmov.u32 %r21, o;\n.reg .b16 %h;\nmov.u16 %h, 3;\n"
     "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
     "[%r20], [%d1], 128, [%r21], %h;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p2, [o], 0;\n@!%p2 bra W;\n"
     "ld.shared.u32 %r9, [%r13];\n" SYNC,
     0, 0},
};

START_TEST(blocks_find_each_others_values)
{
    char body[4096];
    snprintf(body, sizeof body, "%s%sst.global.u32 [%%d1], %%r9;\n", PLACES, exchanges[_i].body);
    ck_assert_msg(run(body, row, two, 32) == EXEC_DONE, "%s", device_sentence(&launch));
    for (uint32_t block = 0; block < 4; block++)
        for (uint32_t t = 0; t < 32; t++) {
            const uint32_t from = exchanges[_i].factor ? block ^ 1 : block & ~1u;
            ck_assert_uint_eq(words[32 * block + t], exchanges[_i].offset + 100 * from + t);
        }
    end();
}
END_TEST

/* ---- the barrier ----------------------------------------------------------------------------- */

/* No thread of either block continues before all were counted; some have exited. */
START_TEST(the_barrier_waits_for_all)
{
    static const uint32_t one[3] = {8, 1, 1}, eight[3] = {8, 1, 1};
    ck_assert_int_eq(run("setp.gt.u32 %p1, %r1, 70;\n@%p1 bra Z;\n"
                         "atom.global.add.u32 %r9, [%out], 1;\n"
                         "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"
                         "ld.global.u32 %r9, [%out];\nmul.wide.u32 %d1, %r0, 128;\n"
                         "mad.wide.u32 %d1, %r1, 0, %d1;\nadd.u64 %d1, %d1, %out;\n"
                         "st.global.u32 [%d1+128], %r9;\nZ:\n",
                         one, eight, 96),
                     EXEC_DONE);
    for (int block = 0; block < 8; block++) ck_assert_uint_eq(words[32 * (block + 1)], 8 * 71);
    end();
}
END_TEST

/* Several phases, with work between the arrival and the wait. */
START_TEST(phases_follow_each_other)
{
    ck_assert_int_eq(run("mov.u32 %r9, 0;\nmov.u32 %r20, 0;\nL:\n"
                         "setp.eq.u32 %p1, %r1, 0;\n@%p1 atom.global.add.u32 %r21, [%out], 1;\n"
                         "barrier.cluster.arrive;\nadd.u32 %r9, %r9, 1;\nbarrier.cluster.wait;\n"
                         "ld.volatile.global.u32 %r22, [%out];\nadd.u32 %r20, %r20, %r22;\n"
                         "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                         "setp.lt.u32 %p2, %r9, 5;\n@%p2 bra L;\n"
                         "mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d1, %out;\n"
                         "@%p1 st.global.u32 [%d1+64], %r20;\n",
                         two, two, 64),
                     EXEC_DONE);
    for (int block = 0; block < 2; block++) ck_assert_uint_eq(words[16 + block], 30);
    end();
}
END_TEST

static const struct {
    const char *body;
    enum exec_end end;
    const char *says;
} mistakes[] = {
    {"barrier.cluster.arrive;\nbarrier.cluster.arrive;\n", EXEC_TRAP, "has arrived before"},
    {"barrier.cluster.wait;\n", EXEC_TRAP, "has not arrived there"},
    {"setp.eq.u32 %p1, %r0, 1;\n@!%p1 bra A;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra B;\n"
     "A: barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\nB: bar.sync 0;\n",
     EXEC_BARRIER,
     "block (1, 0, 0): 1 of 32 threads wait at the barrier on line 28, 31 at the cluster barrier"},
    {"mapa.shared::cluster.u32 %r9, s, 2;\nld.shared::cluster.u32 %r9, [%r9];\n", EXEC_WRONG_SPACE,
     "block 2 of the cluster, which has 2"},
    {"mapa.shared::cluster.u32 %r9, s, 77;\nld.shared::cluster.u32 %r9, [%r9];\n", EXEC_WRONG_SPACE,
     "of the cluster, which has 2"},
    {"mapa.shared::cluster.u32 %r9, s, 1;\nst.shared::cluster.u32 [%r9+264], %r9;\n",
     EXEC_WRONG_SPACE, "a store of 4 bytes at byte 264 of shared memory"},
    {"mapa.shared::cluster.u32 %r9, s, 1;\nst.shared::cluster.u32 [%r9+2], %r9;\n", EXEC_MISALIGNED,
     "multiple"},
    {"mapa.shared::cluster.u32 %r9, s, 1;\nld.shared.u32 %r9, [%r9];\n", EXEC_WRONG_SPACE,
     "shared memory"},
    {"setp.eq.u32 %p1, %r2, 0;\n@%p1 bra Z;\nmov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1;\n"
     "setp.lt.u32 %p2, %r9, 1000;\n@%p2 bra L;\nmapa.shared::cluster.u32 %r9, s, 0;\n"
     "red.shared::cluster.add.u32 [%r9+4], 1;\nZ:\n",
     EXEC_WRONG_SPACE,
     "an atomic operation (atomicAdd) of 4 bytes at byte 4 of the shared memory of block 0 of the "
     "cluster, which has ended"},
};

START_TEST(misuse_is_named)
{
    const enum exec_end how = run(mistakes[_i].body, row, two, 32);
    ck_assert_msg(how == mistakes[_i].end, "%d: %s", (int)how, device_sentence(&launch));
    ck_assert_msg(strstr(device_sentence(&launch), mistakes[_i].says) != NULL, "%s",
                  device_sentence(&launch));
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_cluster");
    TCase *tcase = tcase_create("cluster");
    tcase_add_loop_test(tcase, each_block_reads_where_it_is, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(tcase, without_clusters_a_block_is_one);
    tcase_add_loop_test(tcase, blocks_find_each_others_values, 0,
                        sizeof exchanges / sizeof *exchanges);
    tcase_add_test(tcase, the_barrier_waits_for_all);
    tcase_add_test(tcase, phases_follow_each_other);
    tcase_add_loop_test(tcase, misuse_is_named, 0, sizeof mistakes / sizeof *mistakes);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
