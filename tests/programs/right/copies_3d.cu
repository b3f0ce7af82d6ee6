// Right: 3D and 2D copies of every kind: pitched memory with offsets, arrays, array to array, peer
// forms on one device.
#include "tests/programs/program.cuh"

#include <vector>
int main()
{
    const int W = 40, H = 12, D = 6;
    std::vector<short> h(W * H * D), out(W * H * D, -1);
    for (size_t i = 0; i < h.size(); i++) h[i] = (short)(i * 7);
    cudaExtent full = make_cudaExtent(W * 2, H, D);
    cudaPitchedPtr p;
    CHECK(cudaMalloc3D(&p, full));
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(h.data(), W * 2, W, H);
    c.dstPtr = p;
    c.extent = full;
    c.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&c));
    cudaChannelFormatDesc f = cudaCreateChannelDesc<short>();
    cudaArray_t a, b;
    CHECK(cudaMalloc3DArray(&a, &f, make_cudaExtent(W, H, D)));
    CHECK(cudaMalloc3DArray(&b, &f, make_cudaExtent(W, H, D)));
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    c = {};
    c.srcPtr = p;
    c.dstArray = a;
    c.extent = make_cudaExtent(W, H, D);
    c.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3DAsync(&c, s));
    c = {};
    c.srcArray = a;
    c.dstArray = b;
    c.srcPos = make_cudaPos(8, 2, 1);
    c.dstPos = make_cudaPos(0, 0, 0);
    c.extent = make_cudaExtent(16, 8, 4);
    c.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3DAsync(&c, s));
    c = {};
    c.srcArray = b;
    c.dstPtr = make_cudaPitchedPtr(out.data(), W * 2, W, H);
    c.dstPos = make_cudaPos(4, 1, 2); // the array's elements, though the documentation says bytes
    c.extent = make_cudaExtent(16, 8, 4);
    c.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&c, s));
    CHECK(cudaStreamSynchronize(s));
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                bool in = x >= 4 && x < 20 && y >= 1 && y < 9 && z >= 2;
                short want = in ? h[((z - 2 + 1) * H + y - 1 + 2) * W + x - 4 + 8] : -1;
                EXPECT(out[(z * H + y) * W + x] == want);
            }
    cudaArray_t t2;
    CHECK(cudaMallocArray(&t2, &f, W, H));
    CHECK(cudaMemcpy2DToArray(t2, 0, 0, h.data(), W * 2, W * 2, H, cudaMemcpyHostToDevice));
    cudaArray_t u2;
    CHECK(cudaMallocArray(&u2, &f, W, H));
    CHECK(cudaMemcpy2DToArrayAsync(u2, 0, 0, h.data() + W * H, W * 2, W * 2, H,
                                   cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy2DArrayToArray(u2, 4 * 2, 3, t2, 0, 0, 10 * 2, 5, cudaMemcpyDeviceToDevice));
    std::vector<short> o2(W * H);
    CHECK(cudaMemcpy2DFromArray(o2.data(), W * 2, u2, 0, 0, W * 2, H, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            bool in = x >= 4 && x < 14 && y >= 3 && y < 8;
            EXPECT(o2[y * W + x] == (in ? h[(y - 3) * W + x - 4] : h[W * H + y * W + x]));
        }
    cudaMemcpy3DPeerParms pp = {};
    pp.srcDevice = pp.dstDevice = 0;
    pp.srcArray = t2;
    pp.dstArray = u2;
    pp.extent = make_cudaExtent(W, H, 1);
    CHECK(cudaMemcpy3DPeerAsync(&pp, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy2DFromArray(o2.data(), W * 2, u2, 0, 0, W * 2, H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++) EXPECT(o2[i] == h[i]);
    cudaExtent ge;
    cudaChannelFormatDesc gf;
    unsigned fl;
    CHECK(cudaArrayGetInfo(&gf, &ge, &fl, a));
    EXPECT(ge.width == W && ge.depth == D && gf.x == 16);
    CHECK(cudaMemset3D(p, 0, full));
    CHECK(cudaMemset3DAsync(p, 5, make_cudaExtent(10, 2, 2), s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaFree(p.ptr));
    CHECK(cudaFreeArray(a));
    CHECK(cudaFreeArray(b));
    CHECK(cudaFreeArray(t2));
    CHECK(cudaFreeArray(u2));
    CHECK(cudaStreamDestroy(s));
    puts("PASS");
    return 0;
}
