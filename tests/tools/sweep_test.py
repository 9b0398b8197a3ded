"""`collsim sweep`: the grid, what is on disk at any moment, what is the same for any number of workers."""

import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import time
import xml.etree.ElementTree

import program

GRID = """name: grid
base: { cluster: textbook-star, collective: all_reduce }
axes:
  algorithm: [ring, naive]
  bytes: [8KiB, 64KiB, 1MiB]
  ranks: [2, 4, 8]
constraints:
  - ranks * bytes <= 4MiB
cost:
  price: { gpu: 100, switch: 1000 }
derived:
  worth: busbw_GBps / price
metrics: [time_us, busbw_GBps, efficiency, price, worth]
plot: { kind: lines, x: bytes, y: time_us, x_scale: log, y_scale: log, series: [algorithm], panels: ranks }
"""
# 2 algorithms; 8 and 64 KiB with 3 counts of ranks, 1 MiB with 2 and 4 of them.
GRID_POINTS = 2 * (3 + 3 + 2)

# So many that a sweep is seen at work.
LONG_POINTS = 200 if program.sanitized else 1500
LONG = f"""name: long
base: {{ cluster: textbook-star, collective: all_reduce, algorithm: naive }}
axes:
  bytes: {{ from: 4KiB, to: {4 * LONG_POINTS}KiB, step: 4KiB }}
metrics: [time_us]
"""

PATIENCE_S = 120


def sealed(point, header):
    """A line with the seal that a sweep puts on it: FNV-1a with 128 bits over the experiment's digest and the line, each
    followed by the byte FF."""
    text = json.dumps({key: value for key, value in point.items() if key != "seal"}, separators=(",", ":"))
    state = 0x6c62272e07bb014262b821756295c58d
    for byte in json.loads(header)["digest"].encode() + b"\xff" + text.encode() + b"\xff":
        state = (state ^ byte) * 0x1000000000000000000013B % (1 << 128)
    return f'{text[:-1]},"seal":"{state:032x}"}}'


def wait_for(state):
    """Polls until the state holds."""
    until = time.monotonic() + PATIENCE_S
    while not state():
        if time.monotonic() > until:
            raise AssertionError("waited in vain")
        time.sleep(0.005)


class Sweep(program.Case):
    def setUp(self):
        super().setUp()
        self.file("grid.yaml", GRID)
        self.file("long.yaml", LONG)

    def lines(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def points(self, name):
        """The points of a file, in its order, and whether each failed."""
        return [(line["point"], "failure" in line) for line in map(json.loads, self.lines(name)[1:])]

    def start(self, *words):
        return subprocess.Popen([program.collsim, "sweep", *words], cwd=self.folder, env=self.environment(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def interrupted(self, how):
        """What a long sweep leaves that was ended when some points were finished: its process."""
        sweep = self.start("long.yaml", "--jobs", "2")
        wait_for(lambda: len(self.lines("long.points.jsonl")) > 5 or sweep.poll() is not None)
        sweep.send_signal(how)
        sweep.communicate()
        return sweep

    def completed(self):
        """Checks that --resume does what is left of the long sweep, and nothing twice."""
        before = [point for point, _ in self.points("long.points.jsonl")] if self.whole() else None
        done = self.run_program("sweep", "long.yaml", "--resume", "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = [point for point, _ in self.points("long.points.jsonl")]
        self.assertEqual(sorted(after), list(range(LONG_POINTS)))
        if before is not None:
            self.assertEqual(after[:len(before)], before)
        self.assertEqual(done.stdout, self.output("sweep", "long.yaml", "--points", "other.jsonl", "--format", "csv"))

    def whole(self):
        return (self.folder / "long.points.jsonl").read_text(encoding="utf-8").endswith("\n")


class Grid(Sweep):
    def test_a_row_is_that_of_run(self):
        rows = self.rows("sweep", "grid.yaml")
        self.assertEqual(len(rows), GRID_POINTS)
        for row in (rows[0], rows[7], rows[-1]):
            axes = row["axes"]
            alone = self.row("run", "all_reduce", *program.STAR, "--algorithm", axes["algorithm"],
                             "--bytes", axes["bytes"], "--ranks", axes["ranks"])
            self.assertEqual({key: row[key] for key in alone}, alone)
            self.assertEqual(set(row) - set(alone), {"point", "axes", "metrics"})

    def test_metrics_are_those_that_are_asked_for(self):
        document = self.json("sweep", "grid.yaml")
        self.assertEqual(document["schema"], "collsim/results/1")
        self.assertEqual(document["experiment"]["points"], GRID_POINTS)
        self.assertEqual(document["experiment"]["failed"], 0)
        self.assertNotIn("failed", document)
        for row in document["rows"]:
            metrics = row["metrics"]
            self.assertEqual(list(metrics), ["time_us", "busbw_GBps", "efficiency", "price", "worth"])
            self.assertEqual((metrics["time_us"], metrics["busbw_GBps"]), (row["time_us"], row["busbw_GBps"]))
            # The star has 8 GPUs and a switch, whatever part of them the job uses.
            self.assertEqual(metrics["price"], 8 * 100 + 1000)
            self.assertEqual(metrics["worth"], row["busbw_GBps"] / 1800)

    def test_the_result_is_the_same_for_any_number_of_workers(self):
        outcomes = set()
        for jobs in ("1", "2", "7"):
            name = f"jobs{jobs}"
            texts = [self.output("sweep", "grid.yaml", "--points", f"{name}.jsonl", "--jobs", jobs, "--plot", f"{name}.svg")]
            for form in ("json", "csv"):
                texts.append(self.output("sweep", "grid.yaml", "--points", f"{name}.jsonl", "--resume", "--format", form,
                                         "--quiet"))
            texts.append((self.folder / f"{name}.svg").read_text(encoding="utf-8"))
            outcomes.add(tuple(texts))
            self.assertEqual(len(self.points(f"{name}.jsonl")), GRID_POINTS)
        self.assertEqual(len(outcomes), 1)

    def test_csv_has_a_line_a_point(self):
        rows = self.csv("sweep", "grid.yaml")
        self.assertEqual(len(rows), GRID_POINTS)
        self.assertEqual(list(rows[0]), ["algorithm", "bytes", "ranks", "time_us", "busbw_GBps", "efficiency", "price",
                                         "worth", "failure"])
        # A ring of 2 ranks sends a half of 8 KiB twice: 4096 bytes at 20 ps and 1 us of latency each time.
        self.assertEqual((rows[0]["algorithm"], rows[0]["bytes"], rows[0]["ranks"]), ("ring", "8KiB", "2"))
        self.assertEqual(float(rows[0]["time_us"]), 2 * (4096 * program.PS_PER_BYTE + program.LATENCY_PS) / 1e6)

    def test_keys_are_options_of_run(self):
        self.file("keys.yaml", """name: keys
base:
  cluster: textbook-star
  collective: all_gather
  bytes: 1MiB
  out_of_place: yes
  network_model: ideal
  datatype: half
  set: { nodes: 2 }
axes:
  gpus_per_node: [1, 2]
  bandwidth: { vary: set.fabric.link.bandwidth, values: [25 GB/s] }
  algorithm: [direct]
""")
        cluster = self.file("own.yaml", """name: own
gpus: 2
node:
  devices: [ { name: nic, kind: nic, count: 2 } ]
  links: [ { from: gpu, to: nic, connect: one-to-one, bandwidth: 60 GB/s, latency: 1 us } ]
fabric: { kind: single-switch, switch: { latency: 1 us }, link: { kind: ethernet, bandwidth: 50 GB/s, latency: 1 us } }
""")
        text = (self.folder / "keys.yaml").read_text(encoding="utf-8").replace("textbook-star", cluster.name)
        self.file("keys.yaml", text)
        rows = self.rows("sweep", "keys.yaml")
        self.assertEqual([row["ranks"] for row in rows], [2, 4])
        self.assertEqual({(row["network_model"], row["datatype"], row["in_place"]) for row in rows},
                         {("ideal", "half", False)})
        alone = self.row("run", "all_gather", "--cluster", cluster.name, "--bytes", "1MiB", "--out-of-place",
                         "--network-model", "ideal", "--datatype", "half", "--set", "nodes=2", "--gpus-per-node", "2",
                         "--set", "fabric.link.bandwidth=25 GB/s", "--algorithm", "direct")
        self.assertEqual(rows[1]["result_digest"], alone["result_digest"])


class Failures(Sweep):
    BAD = """name: bad
base: { cluster: textbook-star, collective: all_reduce, bytes: 8KiB, algorithm: ring }
axes:
  ranks: [2, 9, 4]
metrics: [time_us]
"""

    def test_one_bad_point_does_not_stop_the_rest(self):
        self.file("bad.yaml", self.BAD)
        alone = self.run_program("run", "all_reduce", *program.STAR, "--bytes", "8KiB", "--algorithm", "ring", "--ranks", "9")
        done = self.run_program("sweep", "bad.yaml")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("bad: 3 points, 1 failed\n", done.stdout)
        self.assertIn("failed: ranks=9\n" + "".join(f"  {line}\n" for line in alone.stderr.splitlines()), done.stdout)
        document = json.loads(self.run_program("sweep", "bad.yaml", "--resume", "--format", "json").stdout)
        self.assertEqual([row["axes"]["ranks"] for row in document["rows"]], ["2", "4"])
        self.assertEqual(document["failed"], [{"point": 1, "axes": {"ranks": "9"}, "message": alone.stderr.rstrip("\n"),
                                               "exit_code": 2}])

    def test_a_message_is_shown_once(self):
        self.file("bad.yaml", """name: bad
base: { cluster: textbook-star, bytes: 8KiB }
axes:
  collective: [broadcast, all_gather]
  algorithm: [naive, double-tree]
  chunks: { from: 1, to: 22, step: 1 }
""")
        done = self.run_program("sweep", "bad.yaml")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad: 88 points, 22 failed\n", done.stdout)
        self.assertIn("".join(f"failed: collective=all_gather, algorithm=double-tree, chunks={chunks}\n" for chunks in range(1, 6)) +
                      "failed: 17 more\n  error: --algorithm: double-tree does not implement all_gather; ", done.stdout)
        self.assertEqual(done.stdout.count("does not implement"), 1)

    def test_what_is_wrong_with_all_points_is_said_once_at_its_place(self):
        text = self.BAD.replace("[2, 9, 4]", "[2, 3, 4]").replace("textbook-star", "dgx-h100-x4")
        base = "base: { cluster: dgx-h100-x4, collective: all_reduce, bytes: 8KiB, algorithm: ring }"
        for key, wrong, value, said, hint in (
                ("cluster: dgx-h100-x4", "cluster: textbook-satr", "textbook-satr",
                 'cluster: unknown cluster "textbook-satr", did you mean "textbook-star"?', None),
                ("algorithm: ring", "parameters: none, root: 2", "2 }", "root: all_reduce has no root",
                 "leave the option out; it is for broadcast, scatter, gather or reduce"),
                ("algorithm: ring", "algorithm: nccl, env: { NCCL_ALGO: Rng }", "Rng",
                 'env.NCCL_ALGO: unknown word "Rng", did you mean "Ring"?',
                 "accepted: Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree or PAT"),
                ("algorithm: ring", "set: { nodes: many }", "many",
                 'set.nodes: expected a whole number from 1 to 1048576, got "many"', None),
                ("algorithm: ring", "set: { fabric.leaf.ports: 4 }", "4 }",
                 'set.fabric.leaf.ports: fabric.leaf: does not apply to a fabric of kind "single-switch"', None),
                ("algorithm: ring", "placement: blok", "blok",
                 'placement: "blok" is neither block, cyclic nor random, nor a file that can be read',
                 'did you mean "block"?')):
            with self.subTest(wrong):
                self.file("bad.yaml", text.replace(key, wrong))
                done = self.run_program("sweep", "bad.yaml")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                lines = done.stderr.splitlines()
                line = base.replace(key, wrong)
                self.assertEqual(lines[:2], [f"bad.yaml:2:{line.index(value) + 1}: error: base.{said}", "  " + line])
                if hint is not None:
                    self.assertEqual(lines[3:], ["hint: " + hint])
                self.assertEqual(self.lines("bad.points.jsonl"), [])
        # Two nodes are too many for one value of the axis, and right for the other.
        self.file("bad.yaml", """name: bad
base: { cluster: textbook-2x4, collective: all_reduce, bytes: 8KiB, algorithm: ring, nodes: 2 }
axes:
  size: { vary: set.nodes, values: [1, 2] }
""")
        done = self.run_program("sweep", "bad.yaml")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad: 2 points, 1 failed\n", done.stdout)

    def test_what_failed_is_tried_again(self):
        text = self.BAD.replace("textbook-star", "own.yaml")
        self.file("bad.yaml", text)
        own = """name: own
gpus: GPUS
node:
  devices: [ { name: switch, kind: switch } ]
  links: [ { from: gpu, to: switch, bandwidth: 50 GB/s, latency: 1 us } ]
"""
        self.file("own.yaml", own.replace("GPUS", "8"))
        self.assertEqual(self.run_program("sweep", "bad.yaml").returncode, 1)
        self.assertEqual(sorted(self.points("bad.points.jsonl")), [(0, False), (1, True), (2, False)])
        self.file("own.yaml", own.replace("GPUS", "9"))
        done = self.run_program("sweep", "bad.yaml", "--resume")
        self.assertEqual((done.returncode, done.stderr), (0, "2 points of 3 were there already\n"))
        self.assertEqual(self.points("bad.points.jsonl")[3:], [(1, False)])

    def test_wrong_files_are_refused_before_anything_runs(self):
        self.file("wrong.yaml", GRID.replace("ranks * bytes", "rank * bytes"))
        self.refused(["sweep", "wrong.yaml"],
                     'wrong.yaml:8:5: error: constraints[0]: unknown name "rank", did you mean "ranks"?\n'
                     "    - ranks * bytes <= 4MiB\n".replace("ranks * b", "rank * b") +
                     "      ^\n"
                     "hint: known: algorithm, bytes, cluster, collective or ranks")
        self.assertEqual(self.lines("wrong.points.jsonl"), [])

    def test_a_plot_must_be_described(self):
        self.refused(["sweep", "long.yaml", "--plot", "x.svg"],
                     'error: --plot: the experiment "long" says no plot\nhint: plot: { kind: lines, x: …, y: … }')

    def test_contradictions(self):
        for option in ("--plot", "--output"):
            self.refused(["sweep", "grid.yaml", option, "./grid.points.jsonl"],
                         f"error: {option}: is the file of --points: the one would overwrite the other")
        for option in ("--points", "--plot", "--output"):
            # However it is spelled, and whether or not it may be overwritten.
            for words in ([], ["--resume"], ["--overwrite"]):
                self.refused(["sweep", "grid.yaml", option, str(self.folder / "grid.yaml"), *words],
                             f"error: {option}: is the file of EXPERIMENT: the one would overwrite the other")
        self.assertEqual((self.folder / "grid.yaml").read_text(encoding="utf-8"), GRID)
        self.refused(["sweep", "long.yaml", "--resume", "--overwrite"],
                     "error: --overwrite: contradicts --resume\nhint: give one of them")

    def test_a_result_without_a_place_is_refused_before_anything_runs(self):
        (self.folder / "folder").mkdir()
        for option in ("--plot", "--output"):
            for path, why in (("folder", "Is a directory"), ("none/x", "No such file or directory"),
                              ("long.yaml/x", "Not a directory")):
                self.refused(["sweep", "grid.yaml", option, path], f'error: {option}: cannot write "{path}": {why}')
        self.assertFalse((self.folder / "grid.points.jsonl").exists())
        for path in ("folder/x", "folder/x", "/dev/null"):  # new, there already, a device
            self.output("sweep", "grid.yaml", "--overwrite", "--plot", path, "--output", "y")

    def test_no_thread_for_any_job(self):
        # Stacks are as large as the limit says: this one is more than a process can address.
        stack = 1 << 60
        if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
            self.skipTest("the size of stacks is limited")
        done = self.run_program("sweep", "grid.yaml", "--jobs", "900",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (stack, stack)))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^error: --jobs: no thread can be started: [^\n]+\n"
                         r"hint: the limits of processes and of memory \(ulimit -a\) must leave room for one\n$")


class Resume(Sweep):
    def test_after_a_kill(self):
        self.interrupted(signal.SIGKILL)
        self.completed()

    def test_after_an_interrupt(self):
        sweep = self.interrupted(signal.SIGINT)
        self.assertIn(sweep.returncode, (0, 130))  # 0: it was done before
        self.completed()

    def test_after_a_file_that_may_not_grow(self):
        # As a full disk: a part of a line is written, then nothing.
        most = 30_000
        done = self.run_program("sweep", "long.yaml", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", 'error: --points: cannot write "long.points.jsonl": File too large\n'))
        self.assertEqual((self.folder / "long.points.jsonl").stat().st_size, most)
        self.completed()

    def test_a_file_without_points_has_nothing_to_lose(self):
        self.output("sweep", "grid.yaml")
        path = self.folder / "grid.points.jsonl"
        path.write_text(self.lines("grid.points.jsonl")[0] + "\n", encoding="utf-8")
        self.output("sweep", "grid.yaml")
        self.assertEqual(len(self.points("grid.points.jsonl")), GRID_POINTS)

    def test_a_torn_line_is_done_again(self):
        self.output("sweep", "long.yaml")
        path = self.folder / "long.points.jsonl"
        whole = path.read_bytes()
        ends = [match.end() for match in re.finditer(b"\n", whole)]
        # In the middle of a point; behind its last brace; in the middle of the header; nothing at all.
        for size in (ends[LONG_POINTS // 2] + 40, ends[LONG_POINTS // 2] - 1, 10, 0):
            with self.subTest(size):
                path.write_bytes(whole[:size])
                self.completed()
                (self.folder / "other.jsonl").unlink()

    def test_another_experiment_is_refused(self):
        self.output("sweep", "grid.yaml")
        self.file("grid.yaml", GRID.replace("ranks: [2, 4, 8]", "ranks: [2, 4, 6]"))
        self.refused(["sweep", "grid.yaml", "--resume"],
                     "grid.points.jsonl:1:1: error: --points: has points of another experiment, or of this one before it was "
                     "changed\nhint: --overwrite begins anew")

    def test_what_is_shown_may_change(self):
        self.output("sweep", "grid.yaml")
        self.file("grid.yaml", GRID.replace("metrics: [time_us,", "metrics: [wire_share, time_us,"))
        before = self.lines("grid.points.jsonl")
        self.assertIn("wire_share", self.csv("sweep", "grid.yaml", "--resume")[0])
        self.assertEqual(self.lines("grid.points.jsonl"), before)

    def test_points_are_not_overwritten_unasked(self):
        first = self.output("sweep", "grid.yaml")
        self.refused(["sweep", "grid.yaml"],
                     'error: --points: "grid.points.jsonl" has points of a sweep already\n'
                     "hint: --resume goes on with it, --overwrite begins anew")
        self.assertEqual(self.output("sweep", "grid.yaml", "--overwrite"), first)
        self.assertEqual(len(self.points("grid.points.jsonl")), GRID_POINTS)

    def test_other_files_are_refused(self):
        path = self.folder / "grid.points.jsonl"
        # Lines, no whole line, JSON of something else, the beginning of another program's, many bytes.
        for text in ("something\n", "something", '{"schema":"collsim/results/1"}\n',
                     '{"schema":"collsim/sweep-points/1","points":"all', "\0" * 200000):
            path.write_text(text, encoding="utf-8")
            for words in ([], ["--resume"], ["--overwrite"]):
                self.refused(["sweep", "grid.yaml", *words],
                             'error: --points: "grid.points.jsonl" is not a points file\nhint: name another file')
            self.assertEqual(path.read_text(encoding="utf-8"), text)
        path.unlink()

    def test_what_is_no_regular_file_is_not_read(self):
        os.mkfifo(self.folder / "fifo")
        for path in ("fifo", "/dev/zero", "/dev/null"):
            for words in ([], ["--resume"], ["--overwrite"]):
                self.refused(["sweep", "grid.yaml", "--points", path, *words],
                             f'error: --points: "{path}" is not a regular file\nhint: name another file')

    def test_points_of_another_experiment_are_overwritten_if_asked(self):
        self.output("sweep", "long.yaml")
        self.output("sweep", "grid.yaml", "--points", "long.points.jsonl", "--overwrite")
        self.assertEqual(len(self.points("long.points.jsonl")), GRID_POINTS)

    def test_lines_of_something_else_are_refused(self):
        self.output("sweep", "grid.yaml")
        path = self.folder / "grid.points.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines()
        self.file("small.yaml", GRID.replace("[2, 4, 8]", "[2, 4]"))
        self.output("sweep", "small.yaml")
        point = json.loads(lines[2])
        changed = dict(point, row=dict(point["row"], time_ps=1))
        unsealed = {key: value for key, value in point.items() if key != "seal"}
        # No JSON, no point of this grid, a figure that was changed, a point that never had a seal, a point of another experiment.
        for wrong in ("{", sealed({"point": 99, "failure": {}}, lines[0]), json.dumps(changed, separators=(",", ":")),
                      json.dumps(unsealed, separators=(",", ":")), self.lines("small.points.jsonl")[2]):
            what = "is no point of this sweep" if wrong.startswith('{"point":99,') else "is not what a sweep of this experiment wrote"
            path.write_text("\n".join(lines[:2] + [wrong] + lines[3:]) + "\n", encoding="utf-8")
            self.refused(["sweep", "grid.yaml", "--resume"],
                         f"grid.points.jsonl:3:1: error: --points: {what}\n"
                         "hint: the file was changed by something else: take the line out and resume, or --overwrite, which "
                         "begins anew")
        # As the hint says.
        path.write_text("\n".join(lines[:2] + lines[3:]) + "\n", encoding="utf-8")
        done = self.run_program("sweep", "grid.yaml", "--resume")
        self.assertEqual((done.returncode, done.stderr),
                         (0, f"{GRID_POINTS - 1} points of {GRID_POINTS} were there already\n"))

    def test_two_sweeps_do_not_share_a_file(self):
        first = self.start("long.yaml", "--jobs", "1")
        wait_for(lambda: len(self.lines("long.points.jsonl")) > 1 or first.poll() is not None)
        first.send_signal(signal.SIGSTOP)
        if first.poll() is None:
            self.refused(["sweep", "long.yaml", "--resume"],
                         'error: --points: "long.points.jsonl" is being written by another sweep\n'
                         "hint: wait for it, or name another file")
        first.send_signal(signal.SIGCONT)
        first.kill()
        first.communicate()


class Warnings(Sweep):
    def test_less_time_for_more_bytes(self):
        self.output("sweep", "grid.yaml")
        path = self.folder / "grid.points.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines()
        # Ring, 64 KiB, 4 ranks: as if it took 1 ps.
        at = [json.loads(line).get("point") for line in lines].index(4)
        point = json.loads(lines[at])
        point["row"]["time_ps"] = 1
        lines[at] = sealed(point, lines[0])
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        warning = "algorithm=ring, bytes=64KiB, ranks=4: takes less time than fewer bytes with the same algorithm and protocol"
        self.assertTrue(self.output("sweep", "grid.yaml", "--resume").endswith(f"\nwarning: {warning}\n"))
        self.assertEqual(self.json("sweep", "grid.yaml", "--resume")["warnings"], [warning])


class Screen(Sweep):
    def test_nothing_but_the_result_where_there_is_no_terminal(self):
        done = self.run_program("sweep", "grid.yaml")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def on_terminal(self, *words):
        """What a terminal gets of stderr."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([program.collsim, "sweep", *words], cwd=self.folder, env=self.environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        shown = b""
        while select.select([leader], [], [], PATIENCE_S)[0]:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        return shown.decode()

    def test_progress_on_a_terminal(self):
        shown = self.on_terminal("grid.yaml")
        self.assertIn(f"0 of {GRID_POINTS} points", shown)
        self.assertRegex(shown, rf"█{{20}} {GRID_POINTS} of {GRID_POINTS} points, 0:00 left")
        self.assertTrue(shown.endswith("\r\033[K"))
        self.assertEqual(self.on_terminal("grid.yaml", "--overwrite", "--quiet"), "")


class Plots(Sweep):
    def draw(self, plot):
        text = re.sub(r"plot: .*", "plot: " + plot, GRID)
        self.file("drawn.yaml", text)
        self.output("sweep", "drawn.yaml", "--points", "grid.points.jsonl", "--resume", "--plot", "x.svg")
        root = xml.etree.ElementTree.parse(self.folder / "x.svg").getroot()
        return root, [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]

    def marks(self, root):
        """Titles of what has one."""
        return [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]

    def test_lines(self):
        root, texts = self.draw("{ kind: lines, title: Times, x: bytes, y: time_us, series: [algorithm], panels: ranks }")
        for text in ("Times", "ring", "naive", "ranks 2", "ranks 8", "8KiB", "1MiB", "time us", "bytes"):
            self.assertIn(text, texts)
        marks = [text for text in self.marks(root) if text.startswith("algorithm=")]
        self.assertEqual(len(marks), GRID_POINTS)

    def test_heat_map(self):
        _, texts = self.draw("{ kind: heat-map, x: bytes, y: ranks, value: busbw_GBps, panels: algorithm }")
        rows = self.csv("sweep", "grid.yaml", "--resume", "--quiet")
        for text in ("ring", "naive", "busbw GB/s, all_reduce on textbook-star"):
            self.assertIn(text, texts)
        numbers = [text for text in texts if re.fullmatch(r"[0-9.]+", text)]
        # A number a cell, and the labels of ranks in each panel.
        self.assertEqual(len(numbers), len(rows) + 2 * 3)

    def test_pareto(self):
        root, texts = self.draw("{ kind: pareto, x: time_us, y: busbw_GBps, series: [algorithm] }")
        self.assertIn("front", self.marks(root))
        rows = [(float(row["time_us"]), float(row["busbw_GBps"]), f"bytes {row['bytes']}, ranks {row['ranks']}")
                for row in self.csv("sweep", "grid.yaml", "--resume", "--quiet")]
        front = {label for time_us, busbw, label in rows
                 if not any(x <= time_us and y >= busbw and (x, y) != (time_us, busbw) for x, y, _ in rows)}
        named = {text for text in texts if text.startswith("bytes ")}
        self.assertTrue(named)
        self.assertLessEqual(named, front)

    def test_a_logarithmic_scale_has_no_place_for_nothing(self):
        # A tree of 2 ranks shares no link, one of 8 does.
        text = GRID.replace("[ring, naive]", "[naive]").replace("metrics: [", "metrics: [sharing_share, ")
        self.file("drawn.yaml", re.sub(r"plot: .*", "plot: { kind: lines, x: bytes, y: sharing_share, y_scale: log, panels: ranks, "
                                       "series: [] }", text))
        nothing = [float(row["sharing_share"]) for row in self.csv("sweep", "drawn.yaml")].count(0)
        self.assertGreater(nothing, 0)
        done = self.run_program("sweep", "drawn.yaml", "--resume", "--plot", "x.svg")
        self.assertEqual((done.returncode, done.stderr),
                         (0, f"8 points of 8 were there already\n{nothing} points left out of the plot: a logarithmic scale has none "
                             "for sharing_share of 0 or less\n"))
        marks = xml.etree.ElementTree.parse(self.folder / "x.svg").getroot().iter("{http://www.w3.org/2000/svg}title")
        self.assertEqual(len([mark for mark in marks if (mark.text or "").startswith("algorithm=")]), 8 - nothing)
        self.file("drawn.yaml", (self.folder / "drawn.yaml").read_text(encoding="utf-8").replace("[2, 4, 8]", "[2]"))
        self.refused(["sweep", "drawn.yaml", "--overwrite", "--plot", "x.svg", "--quiet"],
                     "error: --plot: no point has a place: a logarithmic scale has none for sharing_share of 0 or less\n"
                     "hint: x_scale and y_scale: linear")

    def test_too_many_series(self):
        self.file("many.yaml", re.sub(r"plot: .*", "plot: { kind: lines, x: bytes, y: time_us }",
                                      GRID.replace("[2, 4, 8]", "[2, 3, 4, 5]")))
        done = self.run_program("sweep", "many.yaml", "--plot", "x.svg")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "error: --plot: a plot tells 6 series apart, and there are 8\n"
                                      "hint: panels for an axis, constraints, or fewer values\n")


class Shipped(Sweep):
    def test_every_experiment_can_be_read(self):
        entries = self.json("list", "experiments")["entries"]
        self.assertGreaterEqual(len(entries), 7)
        for entry in entries:
            self.assertFalse(entry["description"].startswith("unreadable"), entry)

    def test_a_name_that_is_not_known(self):
        done = self.run_program("sweep", "placemnet")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith('error: unknown experiment "placemnet", did you mean "placement"?\n'), done.stderr)


if __name__ == "__main__":
    program.main()
