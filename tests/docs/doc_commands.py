#!/usr/bin/env python3
"""Runs every command that the documentation shows, and compares what it prints with what is shown.

In a Markdown file:
  ```console          each line that starts with "$ " is a command; the lines up to the next one are its
                      output, compared exactly. "…" alone on a line stands for any lines.
  ```bash             each line that starts with "collsim " must succeed; its output is not compared.
  <!-- file: NAME --> before a fenced block: the block is written to NAME first.
  <!-- not run: WHY --> before a fenced block: skipped.

All commands of one file run in order, in one empty folder. "collsim" is the executable given by --collsim.
Lines of other programs (bash tools/…, cmake, git) are left to the scripts' own tests; a command that is
neither collsim's nor on that list is an error, so nothing goes untested by accident.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

OTHERS = ("bash tools/", "bash .ci/", "cmake ", "ctest ", "git ", "cd ", "mkdir ", "cp ", "sudo ", "cat ", "python3 tests/")
ELLIPSIS = "…"


class Block(typing.NamedTuple):
    """A fenced block: its language, the number of its first line (from 0), its lines, the comment before it."""

    language: str
    first: int
    lines: list
    marker: tuple


def blocks_of(lines):
    blocks, index, marker = [], 0, None
    while index < len(lines):
        comment = re.fullmatch(r"\s*<!--\s*(file|not run):\s*(.*?)\s*-->\s*", lines[index])
        fence = re.match(r"^(\s*)```(\w*)", lines[index])
        if comment:
            marker = (comment.group(1), comment.group(2))
        elif fence:
            first = index + 1
            index = first
            while index < len(lines) and lines[index].strip() != "```":
                index += 1
            blocks.append(Block(fence.group(2), first, lines[first:index], marker))
            marker = None
        elif lines[index].strip():
            marker = None
        index += 1
    return blocks


def run(command, collsim, folder):
    environment = dict(os.environ, NO_COLOR="1", COLUMNS="120")
    environment["PATH"] = str(pathlib.Path(collsim).parent) + os.pathsep + environment["PATH"]
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def matches(shown, printed):
    """Whether the printed lines are the shown ones, "…" standing for any lines."""
    if not shown:
        return not printed
    if shown[0].strip() == ELLIPSIS:
        return any(matches(shown[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0].rstrip() and matches(shown[1:], printed[1:])


def is_ours(command):
    return command.split(" ")[0] in ("collsim", "!")


class Checker:
    def __init__(self, collsim, update):
        self.collsim, self.update, self.failures, self.commands = collsim, update, 0, 0

    def fail(self, path, line, text):
        self.failures += 1
        print(f"{path}:{line + 1}: {text}")

    def check_console(self, path, block, folder):
        """Returns the block's lines as they should be."""
        result, index = [], 0
        while index < len(block.lines):
            line = block.lines[index]
            if not line.startswith("$ "):
                self.fail(path, block.first + index, "a console block must start with a command")
                return block.lines
            start, shown = index, []
            index += 1
            while index < len(block.lines) and not block.lines[index].startswith("$ "):
                shown.append(block.lines[index])
                index += 1
            self.commands += 1
            _, output = run(line[2:], self.collsim, folder)
            printed = output.splitlines()
            result.append(line)
            if matches(shown, printed):
                result.extend(shown)
                continue
            result.extend(text.rstrip() for text in printed)
            if not self.update:
                self.fail(path, block.first + start, f"prints something else: {line[2:]}")
                sys.stdout.writelines(f"  {d}\n" for d in difflib.unified_diff(shown, printed, "shown", "printed", lineterm=""))
        return result

    def check_bash(self, path, block, folder):
        text = "\n".join(block.lines).replace("\\\n", " ")
        for command in text.split("\n"):
            command = re.sub(r"\s+#.*$", "", command).strip()
            if not command or command.startswith("#") or command.startswith(OTHERS):
                continue
            command = command.replace("build/release/tools/collsim", "collsim")
            if not is_ours(command):
                self.fail(path, block.first, f"not a command this test knows: {command}")
                continue
            self.commands += 1
            code, output = run(command, self.collsim, folder)
            if code != 0:
                self.fail(path, block.first, f"exit code {code}: {command}\n{output}")

    def check_file(self, path):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        replacements = []
        with tempfile.TemporaryDirectory() as folder:
            for block in blocks_of(lines):
                kind, value = block.marker or (None, None)
                if kind == "not run":
                    continue
                if kind == "file":
                    pathlib.Path(folder, value).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
                elif block.language == "console":
                    replacements.append((block, self.check_console(path, block, folder)))
                elif block.language == "bash":
                    self.check_bash(path, block, folder)
        if not self.update:
            return
        for block, new in reversed(replacements):
            lines[block.first:block.first + len(block.lines)] = new
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", required=True, help="the executable under test")
    parser.add_argument("--update", action="store_true", help="put what is printed into the files")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    checker = Checker(str(pathlib.Path(options.collsim).resolve()), options.update)
    for path in options.files:
        checker.check_file(path)
    print(f"{checker.commands} commands run, {checker.failures} failed")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
