"""torch.distributed by NCCL: a process for each of two devices, and the collectives that training and
sharding are made of. What each rank has is compared with what the CPU computes."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

RANKS = 2


def value(rank, size=1000):
    return torch.arange(size, dtype=torch.float32) % 13 + rank


def same(got, wanted):
    assert torch.equal(got.cpu(), wanted), (got, wanted)


def collectives(rank):
    total = value(0) + value(1)
    mine = value(rank).cuda()
    dist.all_reduce(mine)
    same(mine, total)

    most = value(rank).cuda()
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    same(most, value(1))

    parts = [torch.empty(1000, device="cuda") for _ in range(RANKS)]
    dist.all_gather(parts, value(rank).cuda())
    for k, part in enumerate(parts):
        same(part, value(k))

    one = torch.empty(500, device="cuda")
    dist.reduce_scatter_tensor(one, value(rank).cuda())
    same(one, total[rank * 500 : (rank + 1) * 500])

    crossed = torch.empty(1000, device="cuda")
    dist.all_to_all_single(crossed, value(rank).cuda())
    same(crossed, torch.cat([value(k)[rank * 500 : (rank + 1) * 500] for k in range(RANKS)]))

    root = value(rank).cuda()
    dist.broadcast(root, 1)
    same(root, value(1))


def messages(rank):
    got = torch.empty(300000, device="cuda")
    if rank == 0:
        dist.send(value(5, 300000).cuda(), 1)
    else:
        dist.recv(got, 0)
        same(got, value(5, 300000))
    both = [dist.P2POp(dist.isend, value(rank, 70000).cuda(), 1 - rank),
            dist.P2POp(dist.irecv, got[:70000], 1 - rank)]
    for work in dist.batch_isend_irecv(both):
        work.wait()
    same(got[:70000], value(1 - rank, 70000))


def run(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["PORT"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=RANKS)
    collectives(rank)
    messages(rank)
    pairs = dist.new_group([0, 1])
    work = dist.all_reduce(torch.ones(3).cuda(), group=pairs, async_op=True)
    work.wait()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["PORT"] = str(20000 + os.getpid() % 20000)
    mp.spawn(run, nprocs=RANKS)
    print("PASSED")
