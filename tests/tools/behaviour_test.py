"""What is neither a result nor a mistake: help, files, pipes, terminals, Ctrl-C."""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import time

import program
from program import STAR

# Hours of work.
ENDLESS = ["run", "all_reduce", *STAR, "--algorithm", "ring", "--bytes", "1G", "--chunks", "1048576",
           "--max-transfers", "1000000000000"]


class Help(program.Case):
    COMMANDS = [[], ["run"], ["compare"], ["perf"], ["topology"], ["topology", "show"], ["tuning"],
                ["list"]]

    def test_every_command_has_help_with_examples_that_run(self):
        # The log that an example reads.
        self.file("nccl.log", "host:1:2 [0] NCCL INFO NCCL version 2.28.9+cuda12.8\n")
        for words in self.COMMANDS:
            with self.subTest(words):
                text = self.output(*words, "--help")
                self.assertEqual(text, self.output(*words, "-h"))
                self.assertTrue(text.startswith(" ".join(["collsim", *words]) + ": "))
                for line in text.splitlines():
                    self.assertLessEqual(len(line), 100)
                examples = re.findall(r"^  collsim (.*)$", text.split("\nExample")[1], re.MULTILINE)
                self.assertTrue(examples)
                for example in examples:
                    self.output(*example.split())

    def test_defaults_and_required_options_are_shown(self):
        text = self.output("run", "--help")
        self.assertIn("\nUsage: collsim run COLLECTIVE --bytes SIZE --cluster C [options]\n", text)
        self.assertRegex(text, r"\n  --network-model MODEL .*\n +\(default: flow\)\n")
        self.assertRegex(text, r"\n  --cluster C .*\n? +.*\(required\)\n")

    def test_version(self):
        self.assertRegex(self.output("--version"), r"^collsim \d+\.\d+\.\d+\n$")


class Files(program.Case):
    RESULT = ["run", "all_reduce", *STAR, "--bytes", "1M", "--algorithm", "ring"]

    def test_output(self):
        for form in ("table", "json", "csv"):
            self.assertEqual(self.output(*self.RESULT, "--format", form, "--output", "result"), "")
            self.assertEqual((self.folder / "result").read_text(encoding="utf-8"),
                             self.output(*self.RESULT, "--format", form))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["result"])

    def test_a_dash_is_stdout(self):
        self.assertEqual(self.output(*self.RESULT, "--output", "-"), self.output(*self.RESULT))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_output_of_every_command(self):
        for words in (["list", "algorithms"], ["topology", "show", *STAR], ["perf", "all_reduce", *STAR],
                      ["compare", "all_reduce", *STAR, "--bytes", "1M"]):
            self.assertEqual(self.output(*words, "--output", "result"), "")
            self.assertEqual((self.folder / "result").read_text(encoding="utf-8"), self.output(*words))

    def test_a_file_that_is_there_stays_if_the_command_fails(self):
        self.file("result", "before")
        self.assertEqual(self.run_program(*self.RESULT, "--ranks", "99", "--output", "result").returncode, 2)
        self.assertEqual((self.folder / "result").read_text(encoding="utf-8"), "before")

    def test_a_link_stays_one(self):
        self.file("target", "old")
        (self.folder / "link").symlink_to("target")
        self.output("list", "collectives", "--output", "link")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertIn("all_reduce", (self.folder / "target").read_text(encoding="utf-8"))

    def test_a_link_to_nothing_creates_its_target(self):
        (self.folder / "link").symlink_to("later")
        (self.folder / "first").symlink_to("link")
        self.output("list", "collectives", "--output", "first")
        for name in ("first", "link"):
            self.assertTrue((self.folder / name).is_symlink())
        self.assertIn("all_reduce", (self.folder / "later").read_text(encoding="utf-8"))

    def test_links_in_a_circle(self):
        (self.folder / "a").symlink_to("b")
        (self.folder / "b").symlink_to("a")
        self.refused([*self.RESULT, "--output", "a"],
                     'error: --output: cannot write "a": Too many levels of symbolic links')
        self.assertTrue((self.folder / "a").is_symlink())

    def test_a_link_to_a_closed_stdout_stays(self):
        # As /dev/stdout is one.
        (self.folder / "link").symlink_to("/proc/self/fd/1")
        done = subprocess.run(["sh", "-c", '"$0" "$@" >&-', program.collsim, "list", "collectives", "--output", "link"],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                              env=self.environment(), check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (2, 'error: --output: cannot write "link": No such file or directory\n'))
        self.assertTrue((self.folder / "link").is_symlink())

    def test_stdout_by_name_keeps_what_is_there(self):
        self.file("log", "before\n")
        (self.folder / "link").symlink_to("/proc/self/fd/1")
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            subprocess.run([program.collsim, "list", "collectives", "--output", "link"], stdout=log, cwd=self.folder,
                           env=self.environment(), check=True)
        self.assertEqual((self.folder / "log").read_text(encoding="utf-8"),
                         "before\n" + self.output("list", "collectives"))

    def test_a_file_keeps_its_mode(self):
        for mode in (0o640, 0o600, 0o755):
            self.file("result", "before").chmod(mode)
            self.output("list", "collectives", "--output", "result")
            self.assertEqual((self.folder / "result").stat().st_mode & 0o7777, mode)

    def test_a_name_as_long_as_names_may_be(self):
        # No room for a name beside it.
        name = "n" * 255
        self.output("list", "collectives", "--output", name)
        self.assertIn("all_reduce", (self.folder / name).read_text(encoding="utf-8"))

    def test_a_limit_on_the_size_of_files(self):
        self.file("result", "before")
        done = self.run_program(*self.RESULT, "--output", "result",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assertEqual((done.returncode, done.stderr),
                         (2, 'error: --output: cannot write "result": File too large\n'))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["result"])
        self.assertEqual((self.folder / "result").read_text(encoding="utf-8"), "before")

    def test_file_names_may_hold_any_bytes(self):
        name = b"\xff.yaml"
        with open(os.fsencode(self.folder) + b"/" + name, "w", encoding="utf-8") as file:
            file.write("name: pair\nnode: { gpus: 2, links: [{ from: gpu, to: gpu, connect: mesh, bandwidth: 1 GB/s, latency: 0 ns }] }\n")
        done = self.run_program("topology", "show", "--cluster", b"./" + name, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["nodes"], 1)

    def test_devices(self):
        self.assertEqual(self.output(*self.RESULT, "--output", "/dev/null"), "")
        self.refused([*self.RESULT, "--output", "/dev/full"],
                     'error: --output: cannot write "/dev/full": No space left on device')
        for words in (self.RESULT, ["--help"], ["--version"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([program.collsim, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                      cwd=self.folder, env=self.environment(), check=False)
            self.assertEqual((done.returncode, done.stderr),
                             (2, "error: cannot write to stdout: No space left on device\n"))

    def test_a_reader_that_has_seen_enough(self):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            done = subprocess.run([program.collsim, "list", "clusters"], stdout=pipe, stderr=subprocess.PIPE, text=True,
                                  cwd=self.folder, env=self.environment(), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Terminal(program.Case):
    COMPARE = ["compare", "all_reduce", *STAR, "--bytes", "1M"]

    def on_terminal(self, *words, stream, **environment):
        """What the program writes to the stream when that is a terminal."""
        master, slave = pty.openpty()
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: slave}
        with subprocess.Popen([program.collsim, *words], stdin=subprocess.DEVNULL, cwd=self.folder,
                              env=self.environment() | environment, **streams) as process:
            os.close(slave)
            text = b""
            while True:
                try:
                    piece = os.read(master, 4096)
                except OSError:  # how Linux reports that the other side is closed
                    piece = b""
                if not piece:
                    break
                text += piece
            process.communicate()
        os.close(master)
        self.assertEqual(process.returncode, 0)
        return text.decode("utf-8")

    def test_progress_only_on_a_terminal(self):
        text = self.on_terminal(*self.COMPARE, stream="stderr")
        self.assertIn("ring (2 of 9)", text)
        # It erases itself.
        self.assertTrue(text.endswith("\r\x1b[K"), text)
        self.assertEqual(self.on_terminal(*self.COMPARE, "--quiet", stream="stderr"), "")
        self.assertEqual(self.run_program(*self.COMPARE).stderr, "")

    def test_result_is_the_same_on_a_terminal(self):
        for environment in ({}, {"NO_COLOR": "1"}):
            text = self.on_terminal(*self.COMPARE, stream="stdout", **environment)
            self.assertEqual(text.replace("\r\n", "\n"), self.output(*self.COMPARE))


class Interrupt(program.Case):
    def interrupt(self, sent, *words):
        with subprocess.Popen([program.collsim, *ENDLESS, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment(),
                              preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)) as process:
            self.wait_until_caught(sent, process.pid)
            process.send_signal(sent)
            out, err = process.communicate()
        self.assertEqual((process.returncode, out, err), (130, "", "interrupted\n"))
        self.assertEqual(list(self.folder.iterdir()), [])

    def wait_until_caught(self, sent, process):
        caught = 0
        while not caught >> (sent - 1) & 1:
            with open(f"/proc/{process}/status", encoding="utf-8") as status:
                caught = int(re.search(r"^SigCgt:\s*([0-9a-f]+)$", status.read(), re.MULTILINE).group(1), 16)
            time.sleep(0.001)

    def test_while_simulating(self):
        self.interrupt(signal.SIGINT, "--output", "result", "--trace", "trace")
        self.interrupt(signal.SIGTERM)
        self.interrupt(signal.SIGHUP)

    def test_while_checking_the_data(self):
        self.interrupt(signal.SIGINT, "--verify", "--output", "result")


program.main()
