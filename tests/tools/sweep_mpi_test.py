"""`mpirun -n 3 collsim sweep`: points spread over processes, one of them killed, the rest resumed."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import program

LONG_POINTS = 200 if program.sanitized else 1000
LONG = f"""name: long
base: {{ cluster: textbook-star, collective: all_reduce, algorithm: naive }}
axes:
  bytes: {{ from: 4KiB, to: {4 * LONG_POINTS}KiB, step: 4KiB }}
metrics: [time_us]
"""
PATIENCE_S = 120
SKIPPED = 77


def children(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def rank_of(pid):
    """Of a process of MPI; None: it is none."""
    try:
        variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    values = [value for value in variables if value.startswith(b"OMPI_COMM_WORLD_RANK=")]
    return int(values[0].split(b"=")[1]) if values else None


class Mpi(program.Case):
    def setUp(self):
        super().setUp()
        self.file("long.yaml", LONG)

    def environment(self):
        # Containers run as root and have few cores; that is no reason not to test. What MPI itself leaks is not ours.
        return super().environment() | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                        "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "TMPDIR": "/tmp",
                                        "ASAN_OPTIONS": "detect_leaks=0"}

    def start(self, *words):
        return subprocess.Popen(["mpirun", "--oversubscribe", "-n", "3", program.collsim, "sweep", "long.yaml", *words],
                                cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def points(self, name="long.points.jsonl"):
        path = self.folder / name
        if not path.exists():
            return []
        text = path.read_text(encoding="utf-8")
        return [json.loads(line)["point"] for line in text[:text.rfind("\n") + 1].splitlines()[1:]]

    def test_the_result_is_that_of_one_process(self):
        sweep = self.start("--format", "json")
        out, err = sweep.communicate(timeout=PATIENCE_S)
        self.assertEqual(sweep.returncode, 0, err)
        self.assertEqual(sorted(self.points()), list(range(LONG_POINTS)))
        self.assertEqual(out, self.output("sweep", "long.yaml", "--points", "alone.jsonl", "--format", "json"))

    def test_a_killed_process_loses_nothing_that_was_finished(self):
        for rank in (0, 2):  # the one that writes, one that computes
            with self.subTest(rank):
                self.kill_and_resume(rank)
                (self.folder / "long.points.jsonl").unlink()

    def kill_and_resume(self, rank):
        sweep = self.start("--format", "csv")
        until = time.monotonic() + PATIENCE_S
        while len(self.points()) < 5 and sweep.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        found = [pid for pid in (children(sweep.pid) if sweep.poll() is None else []) if rank_of(pid) == rank]
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        sweep.communicate(timeout=PATIENCE_S)
        before = self.points()
        self.assertGreaterEqual(len(before), 5)
        self.assertEqual(len(set(before)), len(before))
        if found:
            self.assertNotEqual(sweep.returncode, 0)
        out, err = self.start("--resume", "--format", "csv").communicate(timeout=PATIENCE_S)
        after = self.points()
        self.assertEqual(after[:len(before)], before, err)
        self.assertEqual(sorted(after), list(range(LONG_POINTS)))
        self.assertEqual(out, self.output("sweep", "long.yaml", "--points", "alone.jsonl", "--overwrite", "--format", "csv"))

    def test_what_is_wrong_is_said_once(self):
        self.file("long.yaml", LONG.replace("all_reduce", "all_redcue"))
        sweep = self.start()
        _, err = sweep.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(sweep.returncode, 0)
        self.assertEqual(err.count("unknown collective"), 1)


if __name__ == "__main__":
    at = sys.argv.index("--mpi")
    built_with_mpi = sys.argv[at + 1] == "1"
    del sys.argv[at:at + 2]
    if not built_with_mpi:
        print("skipped: built without MPI (COLLSIM_MPI)")
        sys.exit(SKIPPED)
    if shutil.which("mpirun") is None:
        print("skipped: there is no mpirun")
        sys.exit(SKIPPED)
    program.main()
