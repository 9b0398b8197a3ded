#!/usr/bin/env python3
"""torch.distributed (gloo) and collsim's host backend on the same data, tensor by tensor.

  python3 tools/torch_check.py --collsim build/release/tools/collsim

Needs PyTorch with gloo (Debian: python3-torch); exits with 4 where it is missing. Four ranks, the textbook's data: first
that all_reduce gives the same as reduce_scatter and all_gather one after the other; then each of the eight collectives, by
torch and by every algorithm of collsim that has it. What gloo lacks is composed of what it has, and said.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

SYSTEM_PYTHON = "/usr/bin/python3"
RANKS = 4
ROOT = 0
ROW = [0, 1, 2, 3]
ROWS = [[rank + i for i in range(RANKS)] for rank in range(RANKS)]
BLOCKS = [[RANKS * rank + i for i in range(RANKS)] for rank in range(RANKS)]
ONES = [[rank] for rank in range(RANKS)]

# Collective, reduction or None, inputs by rank.
CASES = [
    ("broadcast", None, [ROW, [], [], []]),
    ("scatter", None, [ROW, [], [], []]),
    ("gather", None, ONES),
    ("reduce", "sum", ONES),
    ("reduce", "max", ONES),
    ("reduce", "min", ONES),
    ("all_gather", None, ONES),
    ("reduce_scatter", "sum", ROWS),
    ("all_reduce", "sum", ROWS),
    ("all_reduce", "prod", ROWS),
    ("all_to_all", None, BLOCKS),
]


def numbers(tensors):
    return [number for tensor in tensors for number in tensor.tolist()]


def reduce_scatter(dist, own, operation):
    """gloo before PyTorch 2.x has none: a reduction to each rank in turn."""
    result = None
    for target, block in enumerate(own.chunk(RANKS)):
        block = block.clone()
        dist.reduce(block, target, op=operation)
        if target == dist.get_rank():
            result = block
    return result


def all_to_all(torch, dist, own):
    """The same: a scatter from each rank in turn."""
    parts = []
    for source in range(RANKS):
        part = torch.empty(len(own) // RANKS, dtype=own.dtype)
        dist.scatter(part, [block.clone() for block in own.chunk(RANKS)] if source == dist.get_rank() else None, source)
        parts.append(part)
    return torch.cat(parts)


def run_case(torch, dist, collective, operation, inputs):
    """What this rank has in the end, as a list."""
    rank = dist.get_rank()
    own = torch.tensor(inputs[rank], dtype=torch.int64)
    operations = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN,
                  "prod": dist.ReduceOp.PRODUCT}
    if collective == "broadcast":
        tensor = own if rank == ROOT else torch.empty(len(inputs[ROOT]), dtype=torch.int64)
        dist.broadcast(tensor, ROOT)
        return tensor.tolist()
    if collective == "scatter":
        tensor = torch.empty(len(inputs[ROOT]) // RANKS, dtype=torch.int64)
        dist.scatter(tensor, list(own.chunk(RANKS)) if rank == ROOT else None, ROOT)
        return tensor.tolist()
    if collective in ("gather", "all_gather"):
        parts = [torch.empty_like(own) for _ in range(RANKS)]
        if collective == "all_gather":
            dist.all_gather(parts, own)
            return numbers(parts)
        dist.gather(own, parts if rank == ROOT else None, ROOT)
        return numbers(parts) if rank == ROOT else []
    if collective == "reduce":
        dist.reduce(own, ROOT, op=operations[operation])
        return own.tolist() if rank == ROOT else []
    if collective == "all_reduce":
        dist.all_reduce(own, op=operations[operation])
        return own.tolist()
    if collective == "reduce_scatter":
        return reduce_scatter(dist, own, operations[operation]).tolist()
    return all_to_all(torch, dist, own).tolist()


def textbook_program(torch, dist):
    """Whether all_reduce gives what reduce_scatter and then all_gather give."""
    whole = torch.tensor(ROWS[dist.get_rank()], dtype=torch.int64)
    part = reduce_scatter(dist, whole.clone(), dist.ReduceOp.SUM)
    parts = [torch.empty_like(part) for _ in range(RANKS)]
    dist.all_gather(parts, part)
    dist.all_reduce(whole)
    return whole.tolist(), numbers(parts)


def be_rank(rank, port, results):
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=RANKS)
    outcome = [textbook_program(torch, dist)]
    outcome += [run_case(torch, dist, *case) for case in CASES]
    dist.barrier()
    dist.destroy_process_group()
    results.put((rank, outcome))


def by_torch():
    """[(all_reduce, composed), outputs of each case …] by rank."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    processes = [context.Process(target=be_rank, args=(rank, port, results), daemon=True) for rank in range(RANKS)]
    for process in processes:
        process.start()
    outcome = dict(results.get(timeout=300) for _ in processes)
    for process in processes:
        process.join()
    return [outcome[rank] for rank in range(RANKS)]


def by_collsim(collsim, collective, operation, inputs, algorithm):
    """Outputs by rank; None where the algorithm lacks the collective."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "inputs.json"
        file.write_text(json.dumps({"inputs": inputs}), encoding="utf-8")
        done = subprocess.run([collsim, "measure", collective, "--inputs", str(file), "-d", "int64", "-o",
                               operation or "sum", "--algorithm", algorithm], capture_output=True, encoding="utf-8",
                              check=False)
    if done.returncode == 2 and "--algorithm" in done.stderr:
        return None
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["outputs"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collsim", required=True)
    options = parser.parse_args()
    try:
        import torch
        import torch.distributed as dist
    except ImportError:
        # Debian's PyTorch is there for Debian's Python, which need not be the first one on the path.
        if os.path.exists(SYSTEM_PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
        print("skipped: torch: no PyTorch here (Debian: apt-get install python3-torch)")
        return 4
    if not dist.is_available():
        print("skipped: torch: this PyTorch has no torch.distributed")
        return 4
    print(f"PyTorch {torch.__version__}, gloo, {RANKS} ranks; reduce_scatter and all_to_all, which gloo lacks, are composed of "
          "reduce and of scatter")
    listed = json.loads(subprocess.run([options.collsim, "list", "algorithms", "--format", "json"], capture_output=True,
                                       check=True).stdout)
    names = [algorithm["name"] for algorithm in listed["entries"]]
    outcome = by_torch()
    bad = 0
    for rank in range(RANKS):
        whole, composed = outcome[rank][0]
        bad += whole != composed
        print(f"rank {rank}: all_reduce {whole}, reduce_scatter + all_gather {composed}: "
              f"{'equal' if whole == composed else 'DIFFERENT'}")
    for number, (collective, operation, inputs) in enumerate(CASES, 1):
        expected = [outcome[rank][number] for rank in range(RANKS)]
        equal = []
        for name in names:
            found = by_collsim(options.collsim, collective, operation, inputs, name)
            if found is None:
                continue
            if found == expected:
                equal.append(name)
            else:
                bad += 1
                print(f"{collective} {operation or ''}: {name} gives {found}, torch {expected}")
        bad += not equal
        print(f"{collective}{' ' + operation if operation else ''}: {expected}: equal by {', '.join(equal)}")
    print("FAILED" if bad else "all equal")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
