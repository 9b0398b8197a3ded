#!/usr/bin/env python3
"""Holds the tables of docs/nccl.md against the program: the variables of NCCL that it takes, and the versions that it knows.

A table belongs to the comment before it: <!-- variables … --> or <!-- versions … -->. The names are those in `…` in its first column.
The program names its variables in the hint to an unknown one, and its versions in `list parameters`.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys


def first_column(text, comment):
    """The names in the first column of the table behind a comment."""
    start = text.index(f"<!-- {comment}:")
    names = []
    for line in text[start:].splitlines()[1:]:
        if line.startswith("|"):
            names += re.findall(r"`([^`]+)`", line.split("|")[1])
        elif names:
            break
    return names


def variables_of(collsim):
    done = subprocess.run([collsim, "tuning", "--cluster", "dgx-h100", "--env", "NCCL_NO_SUCH_VARIABLE=1"],
                          capture_output=True, text=True)
    hint = next(line for line in done.stderr.splitlines() if line.startswith("hint: modelled: "))
    return re.findall(r"NCCL_\w+", hint)


def versions_of(collsim):
    done = subprocess.run([collsim, "list", "parameters", "--format", "json"], check=True, capture_output=True, text=True)
    return [entry["name"] for entry in json.loads(done.stdout)["entries"] if entry["name"].startswith("nccl-tuning-")]


def differences(what, page, program):
    found = [f"{what} {name} is on the page, but the program does not take it" for name in page if name not in program]
    found += [f"{what} {name} is not on the page" for name in program if name not in page]
    found += [f"{what} {name} is on the page twice" for name in set(page) if page.count(name) > 1]
    return found if program else [f"the program names no {what}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", required=True, help="the executable under test")
    parser.add_argument("page", type=pathlib.Path)
    options = parser.parse_args()
    text = options.page.read_text(encoding="utf-8")
    found = differences("variable", first_column(text, "variables"), variables_of(options.collsim))
    found += differences("version", first_column(text, "versions"), versions_of(options.collsim))
    for line in found:
        print(f"{options.page}: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
