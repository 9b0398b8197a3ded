"""Runs the program under test. Each test file ends with `program.main()` and gets --collsim FILE, and --sanitized where the
program was built with sanitizers."""

import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

collsim = None
# Under sanitizers the program is ten times slower, and what they look for is in the code that a call runs, not in its figures.
sanitized = "--sanitized" in sys.argv

# The star: every GPU on one switch, 50 GB/s and 500 ns a link. A byte takes 20 ps, a message 1 us more.
STAR = ["--cluster", "textbook-star"]
MESH = ["--cluster", "textbook-mesh"]
TWO_NODES = ["--cluster", "textbook-2x4"]
PS_PER_BYTE = 20
LATENCY_PS = 1_000_000


def sample(cases, stride):
    """All cases; under sanitizers, each stride-th."""
    return list(cases)[::stride if sanitized else 1]


class Case(unittest.TestCase):
    """Every test runs in an empty folder of its own."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment(self):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("COLLSIM_")}
        return kept | {"LC_ALL": "C.UTF-8"}

    def run_program(self, *words, **options):
        """Returns the finished process, its output as text."""
        options = {"env": self.environment(), "cwd": self.folder} | options
        return subprocess.run([collsim, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", check=False, **options)

    def output(self, *words):
        """Standard output of a run that must succeed."""
        done = self.run_program(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def json(self, *words):
        return json.loads(self.output(*words, "--format", "json"))

    def rows(self, *words):
        return self.json(*words)["rows"]

    def row(self, *words):
        rows = self.rows(*words)
        self.assertEqual(len(rows), 1)
        return rows[0]

    def csv(self, *words):
        return list(csv.DictReader(io.StringIO(self.output(*words, "--format", "csv"), newline="")))

    def refused(self, words, expected):
        """The whole of stderr, nothing on stdout, exit code 2."""
        done = self.run_program(*words)
        self.assertEqual((done.stderr, done.stdout, done.returncode), (expected + "\n", "", 2))

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def main():
    global collsim
    at = sys.argv.index("--collsim")
    collsim = str(pathlib.Path(sys.argv[at + 1]).resolve())
    del sys.argv[at:at + 2]
    if sanitized:
        sys.argv.remove("--sanitized")
    unittest.main(verbosity=2)
