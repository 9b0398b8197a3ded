"""tools/testbed.sh: a network of namespaces, where this machine may make one; else skipped (exit code 4)."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import program

TESTBED = ["bash", str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "testbed.sh")]


def obstacle():
    """Why there can be no testbed; empty: there can."""
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which("ip") or not shutil.which("tc"):
        return "ip or tc is missing"
    name = f"collsimprobe{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode != 0:
        return "no network namespaces"
    try:
        shaped = subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate",
                                 "1mbit", "burst", "32kb", "limit", "1mb"], capture_output=True, check=False)
        bridged = subprocess.run(["ip", "netns", "exec", name, "ip", "link", "add", "name", "probe", "type", "bridge"],
                                 capture_output=True, check=False)
        return "" if shaped.returncode == bridged.returncode == 0 else "no tbf or no bridges"
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=False)


class Testbed(program.Case):
    def call(self, *words, **variables):
        return subprocess.run([*TESTBED, *words], cwd=self.folder, capture_output=True, encoding="utf-8", check=False,
                              env=self.environment() | {"COLLSIM": program.collsim} | variables)

    @staticmethod
    def namespaces():
        names = subprocess.run(["ip", "netns", "list"], capture_output=True, encoding="utf-8", check=True).stdout.split()
        return [name for name in names if name.startswith("collsim-")]

    def setUp(self):
        super().setUp()
        if self.namespaces():
            self.skipTest("somebody's testbed is up")
        self.addCleanup(self.call, "down")

    def test_programs_run_across_shaped_links(self):
        for shape in ([], ["--leaf-spine", "2:1"]):
            with self.subTest(shape=shape):
                done = self.call("up", "--hosts", "4", "--rate", "200mbit", *shape)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(len(self.namespaces()), 5)
                done = self.call("run", "all_reduce", "--algorithm", "ring", "-b", "64K", "-e", "64K", "-n", "2")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("# Out of bounds values : 0 OK\n", done.stdout)
                self.assertEqual(self.call("down").returncode, 0)
                self.assertEqual(self.namespaces(), [])

    def test_nothing_is_left_when_the_command_fails(self):
        done = self.call("with", "--hosts", "2", "--rate", "1gbit", "--", "false")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.namespaces(), [])

    def test_nothing_is_left_when_the_network_cannot_be_made(self):
        # The third cable is one too many.
        tc = self.file("bin/tc", "#!/bin/sh\necho once >>\"$0.calls\"\n[ $(wc -l <\"$0.calls\") -le 4 ]\n")
        tc.chmod(0o755)
        done = self.call("up", "--hosts", "4", "--rate", "1gbit", PATH=f"{tc.parent}:{os.environ['PATH']}")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len((self.folder / "bin/tc.calls").read_text(encoding="utf-8").split()), 5)
        self.assertEqual(self.namespaces(), [])

    def test_mistakes_are_told(self):
        for words, message in [
            ([], 'expected up, run, down or with; found ""'),
            (["up", "--hosts", "1", "--rate", "1mbit"], '--hosts: expected 2 to 200, found "1"'),
            (["up", "--hosts", "2", "--rate", "fast"], '--rate: expected a rate such as 400mbit, found "fast"'),
            (["up", "--hosts", "2", "--rate", "1mbit", "--leaf-spine", "2"],
             '--leaf-spine: expected a ratio such as 2:1, found "2"'),
            (["run", "all_reduce"], "no testbed is up: bash tools/testbed.sh up --hosts 8 --rate 100mbit"),
        ]:
            with self.subTest(words=words):
                done = self.call(*words)
                self.assertEqual((done.returncode, done.stderr), (2, f"testbed: {message}\n"))


reason = obstacle()
if reason:
    print(f"skipped: testbed: {reason}")
    sys.exit(4)
program.main()
