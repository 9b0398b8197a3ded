"""`collsim measure --backend tcp`: one process a rank, started by us or by somebody else."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import time
import unittest

import program

SMALL = ["-b", "4K", "-e", "4K", "-n", "2"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children_of(pid):
    """Process ids, from /proc."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as stat:
                if name.isdigit() and int(stat.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(name))
        except (OSError, ValueError):
            continue
    return found


class Tcp(program.Case):
    def start(self, *words, **variables):
        process = subprocess.Popen([program.collsim, "measure", *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                   env=self.environment() | variables)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def ending(self, process):
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def test_ranks_that_are_spawned_run_and_one_speaks(self):
        for collective in ("all_reduce", "all_to_all", "scatter"):
            with self.subTest(collective=collective):
                text = self.output("measure", collective, "--backend", "tcp", "--spawn", "3", *SMALL, "--output", "m.json")
                self.assertEqual(text.count("# nccl-tests version"), 1)
                self.assertIn("# backend tcp, algorithm ", text)
                ids = re.findall(r"^#  Rank +\d+ Group +0 Pid +(\d+) on .* \(process\)$", text, re.M)
                self.assertEqual(len(set(ids)), 3)
                self.assertIn("# Out of bounds values : 0 OK\n", text)
                software = json.loads((self.folder / "m.json").read_text(encoding="utf-8"))["runs"][0]["software"]
                self.assertEqual((software["backend"], software["launch"]), ("tcp", "process per rank"))

    def test_ranks_meet_whoever_starts_them(self):
        (self.folder / "secret").write_text("open sesame\n", encoding="utf-8")
        for name in ("options", "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE", "PMI_RANK PMI_SIZE",
                     "SLURM_PROCID SLURM_STEP_NUM_TASKS"):
            with self.subTest(launcher=name):
                master = f"127.0.0.1:{free_port()}"
                processes = []
                for rank in ("1", "0"):  # rank 1 is there first, and waits
                    words = ["all_reduce", "--backend", "tcp", "--master", master, *SMALL]
                    variables = {"COLLSIM_SECRET": "open sesame"}
                    if name == "options":
                        words += ["--rank", rank, "--world-size", "2", "--secret-file", "secret"]
                    else:
                        variables |= dict(zip(name.split(), (rank, "2")))
                    processes.append(self.start(*words, **variables))
                (code, out, err), (code0, out0, err0) = [self.ending(process) for process in processes]
                self.assertEqual((code, out, err), (0, "", ""))
                self.assertEqual((code0, err0), (0, ""))
                self.assertIn("# Out of bounds values : 0 OK\n", out0)

    def test_a_wrong_secret_is_refused(self):
        master = f"127.0.0.1:{free_port()}"
        words = ["all_reduce", "--backend", "tcp", "--master", master, "--world-size", "2", *SMALL]
        stranger = self.start(*words, "--rank", "1", "--timeout", "60", COLLSIM_SECRET="guess")
        owner = self.start(*words, "--rank", "0", "--timeout", "4", COLLSIM_SECRET="right")
        self.assertEqual(self.ending(stranger), (1, "", "error: rank 0 refused rank 1: wrong secret\n"))
        code, _, err = self.ending(owner)
        self.assertEqual(code, 1)
        self.assertRegex(err, r"^error: rank 0 waited 4000 ms in vain for rank 1; refused 127\.0\.0\.1:\d+: wrong secret\n$")

    def test_what_a_stranger_answers_does_not_steer_the_terminal(self):
        with socket.create_server(("127.0.0.1", 0)) as stranger:
            stranger.settimeout(60)
            rank = self.start("all_reduce", "--backend", "tcp", "--world-size", "2", "--rank", "1", "--master",
                              f"127.0.0.1:{stranger.getsockname()[1]}", *SMALL, COLLSIM_SECRET="x")
            connection, _ = stranger.accept()
            with connection:
                connection.recv(4096)
                # The magic, and a text of 128 bytes.
                connection.sendall(b"COLLSIM1" + b"\x1b[2Jgone\nerror: no\x07".ljust(128, b"\0"))
                self.assertEqual(self.ending(rank),
                                 (1, "", "error: rank 0 refused rank 1: ?[2Jgone?error: no?\n"))

    def test_other_calls_are_refused(self):
        master = f"127.0.0.1:{free_port()}"
        words = ["all_reduce", "--backend", "tcp", "--master", master, "--world-size", "2"]
        other = self.start(*words, "--rank", "1", "-b", "8K", "-e", "8K", COLLSIM_SECRET="x")
        first = self.start(*words, "--rank", "0", "--timeout", "4", "-b", "4K", "-e", "4K", COLLSIM_SECRET="x")
        self.assertEqual(self.ending(other),
                         (1, "", "error: rank 0 refused rank 1: rank 1 was told to run something else than rank 0\n"))
        self.assertEqual(self.ending(first)[0], 1)

    def ranks_of(self, parent, count):
        """Process ids of those that it has started, once all are there."""
        limit = time.monotonic() + 60
        ranks = []
        while len(ranks) < count and time.monotonic() < limit:
            ranks = children_of(parent.pid)
            time.sleep(0.01)
        self.assertEqual(len(ranks), count)
        return ranks

    def gone(self, ranks):
        limit = time.monotonic() + 60
        while any(map(self.runs, ranks)) and time.monotonic() < limit:
            time.sleep(0.01)
        return not any(map(self.runs, ranks))

    def test_a_rank_that_dies_ends_all_and_leaves_no_process(self):
        # Runs for hours unless something ends it.
        parent = self.start("all_reduce", "--backend", "tcp", "--spawn", "3", "-b", "64", "-e", "64", "-n", "1000000",
                            "-w", "0")
        ranks = self.ranks_of(parent, 3)
        os.kill(ranks[2], signal.SIGKILL)
        code, out, err = self.ending(parent)
        self.assertEqual((code, out), (1, ""))
        # Its peers have lost it, which is no news.
        self.assertRegex(err, r"\Aerror: rank [012] was killed by signal 9\n\Z")
        for rank in ranks:
            self.assertFalse(os.path.exists(f"/proc/{rank}"))

    def test_ranks_do_not_outlive_who_started_them(self):
        parent = self.start("all_reduce", "--backend", "tcp", "--spawn", "2", "-b", "64", "-e", "64", "-n", "1000000",
                            "-w", "0")
        ranks = self.ranks_of(parent, 2)
        parent.kill()
        self.assertTrue(self.gone(ranks))

    def test_ctrl_c_ends_all_and_is_told_once(self):
        parent = self.start("all_reduce", "--backend", "tcp", "--spawn", "3", "-b", "64", "-e", "64", "-n", "1000000",
                            "-w", "0")
        ranks = self.ranks_of(parent, 3)
        for rank in ranks:  # as a terminal does, to all of them
            os.kill(rank, signal.SIGINT)
        parent.send_signal(signal.SIGINT)
        self.assertEqual(self.ending(parent), (130, "", "interrupted\n"))
        self.assertTrue(self.gone(ranks))

    def test_a_rank_that_stands_still_is_told_once(self):
        parent = self.start("all_reduce", "--backend", "tcp", "--spawn", "3", "-b", "64", "-e", "64", "-n", "1000000",
                            "-w", "0", "--timeout", "1", "--algorithm", "ring")
        ranks = self.ranks_of(parent, 3)
        time.sleep(0.5)  # until they have met, most likely: else they say that they wait for a rank in vain
        os.kill(ranks[1], signal.SIGSTOP)
        code, out, err = self.ending(parent)
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, r"\Aerror: rank \d[^\n]*\n\Z")
        self.assertTrue(self.gone(ranks))

    @staticmethod
    def runs(pid):
        """Whether it does, and is no zombie that nobody has waited for."""
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    def test_mistakes_are_told(self):
        tcp = ["all_reduce", "--backend", "tcp"]
        self.file("large", "x" * (64 * 1024 + 1))
        hint = "hint: --rank and --world-size, mpirun or srun, or --spawn N for all ranks on this machine\n"
        secret = {"COLLSIM_SECRET": "x"}
        for words, variables, message in [
            (tcp, {}, "error: --world-size: how many ranks there are is not known\n" + hint),
            ([*tcp, "--world-size", "2"], {}, "error: --rank: which rank this process is, is not known\n" + hint),
            ([*tcp, "--world-size", "2", "--rank", "2"], {}, "error: --rank: rank 2 is none of 0 to 1\n"),
            ([*tcp, "--world-size", "2", "--rank", "0", "--master", "here"], secret,
             'error: --master: expected HOST:PORT, where rank 0 listens; found "here"\n'),
            ([*tcp, "--world-size", "2", "--rank", "0", "--master", "127.0.0.1:1"], {},
             "error: --secret-file: ranks need a secret that all of them know and nobody else\n"
             "hint: a file with one line, or the variable COLLSIM_SECRET\n"),
            ([*tcp, "--world-size", "2", "--rank", "0", "--master", "127.0.0.1:1", "--secret-file", "/dev/zero"], {},
             'error: --secret-file: cannot read "/dev/zero": it is not a regular file\n'),
            ([*tcp, "--world-size", "2", "--rank", "0", "--master", "127.0.0.1:1", "--secret-file", "large"], {},
             'error: --secret-file: "large" is larger than 64 KiB\n'),
            ([*tcp, "--world-size", "2", "--rank", "0", "--master", "10.0.0.1:7000"], secret,
             "error: --bind: other machines cannot reach 127.0.0.1\n"
             "hint: --bind ADDRESS, the address of this machine on the network of --master\n"),
            # Slurm says so in every shell that it gives; only srun begins ranks.
            (tcp, {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"},
             "error: --world-size: how many ranks there are is not known\n" + hint),
            ([*tcp, "--world-size", "2", "--rank", "1", "--master", "no.such.host.invalid:7000", "--bind", "0.0.0.0"],
             secret, re.compile(r'error: --master: there is no host "no\.such\.host\.invalid" \(.*\)\n')),
            ([*tcp, "--world-size", "2", "--rank", "0", "--master", "203.0.113.1:7000", "--bind", "0.0.0.0"],
             secret, re.compile(r"error: --master: cannot listen on 203\.0\.113\.1: Cannot assign requested address\n"
                                r"hint: rank 0 listens there; this machine has [\d., ]*127\.0\.0\.1[\d., ]*\n")),
            *(([*tcp, "--world-size", "2", "--rank", "1", "--master", "127.0.0.1:1", "--bind", address], secret,
               re.compile(f"error: --bind: {why}\n" r"hint: this machine has [\d., ]*127\.0\.0\.1[\d., ]*; "
                          r"0\.0\.0\.0 stands for all of them\n"))
              for address, why in [
                  ("203.0.113.1", r"cannot listen on 203\.0\.113\.1: Cannot assign requested address"),
                  ("127.1", r'there is no host "127\.1" \(an IPv4 address has four numbers\)'),
                  ("300.0.0.1", r'there is no host "300\.0\.0\.1" \(an IPv4 address has four numbers\)'),
                  ("::1", r'there is no host "::1" \(.*\)'),
                  ("here:80", r'there is no host "here:80" \(.*\)')]),
            ([*tcp, "--world-size", "65536", "--rank", "1", "--master", "127.0.0.1:1"], secret,
             re.compile(r"error: --world-size: each of 65,536 ranks needs 65,664 open files, and 1,000 are allowed\n"
                        r"hint: fewer ranks, or a higher limit \(ulimit -n\)\n")),
            ([*tcp, "--spawn", "900"], {},
             "error: --spawn: each of 900 ranks needs 1,028 open files, and 1,000 are allowed\n"
             "hint: fewer ranks, or a higher limit (ulimit -n)\n"),
            ([*tcp, "--spawn", "2", "--rank", "0"], {},
             "error: --rank: has no effect with --spawn, which starts all ranks itself\n"),
            (["all_reduce", "--spawn", "2"], {},
             "error: --spawn: has no effect on the backend host\nhint: --backend tcp\n"),
            ([*tcp, "--spawn", "2", "--ranks", "3"], {},
             "error: --ranks: differs from the number of processes, 2\nhint: leave the option out\n"),
        ]:
            with self.subTest(words=words):
                limit = (1000, 1000)  # of open files
                done = self.run_program("measure", *words, *SMALL, env=self.environment() | variables,
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                if isinstance(message, str):
                    self.assertEqual(done.stderr, message)
                else:
                    self.assertRegex(done.stderr, re.compile(r"\A" + message.pattern + r"\Z"))

    def test_a_rank_that_does_not_fit_into_memory_is_told(self):
        # Output, and what the ring has in flight, besides 40 MiB of input.
        done = self.run_program("measure", "all_reduce", "--backend", "tcp", "--world-size", "2", "--rank", "1", "--master",
                                "127.0.0.1:1", "-b", "40M", "-e", "40M", "--max-memory", "60M",
                                env=self.environment() | {"COLLSIM_SECRET": "x"})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Aerror: --max-memory: buffers and connections of 1 rank take [\d.]+ MiB, more than "
                                      r"60 MiB\nhint: a smaller -e, fewer --ranks, or a higher limit\n\Z")

    def test_a_port_in_use_is_told(self):
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            port = holder.getsockname()[1]
            done = self.run_program("measure", "all_reduce", "--backend", "tcp", "--world-size", "2", "--rank", "0",
                                    "--master", f"127.0.0.1:{port}", *SMALL,
                                    env=self.environment() | {"COLLSIM_SECRET": "x"})
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"error: cannot listen on 127.0.0.1:{port}: Address already in use\n"))


program.main()
