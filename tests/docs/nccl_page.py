#!/usr/bin/env python3
"""Holds the tables of docs/nccl.md against the program: the variables of NCCL that it takes, and the versions that it knows; and the
keys of docs/yaml_reference.md against a file of constants that has them all.

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


def keys_of(constants):
    """The keys of the first two levels as the reference writes them: "nvls.max_heads"."""
    keys, section = [], None
    for line in constants.splitlines():
        found = re.match(r"( {0,2})(\w+):(.*)", line)
        if found and not found.group(1):
            section = found.group(2)
            if re.sub(r"\s+#.*", "", found.group(3)).strip():
                keys.append(section)
        elif line.startswith("  - ") and section not in keys:
            keys.append(section)
        elif found and len(found.group(1)) == 2:
            keys.append(f"{section}.{found.group(2)}")
    return keys


def keys_named(reference):
    """The keys in the first column of the section on constants, ".b" behind "a.c" being "a.b"."""
    section = reference[reference.index("## NCCL's constants"):]
    keys, before = [], ""
    for line in section[:section.index("\n## ", 1)].splitlines():
        for name in re.findall(r"`([^`]+)`", line.split("|")[1]) if line.startswith("|") else []:
            before = name.split(".")[0] if not name.startswith(".") else before
            keys.append(name if not name.startswith(".") else before + name)
    return keys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collsim", required=True, help="the executable under test")
    parser.add_argument("--reference", required=True, type=pathlib.Path, help="docs/yaml_reference.md")
    parser.add_argument("--constants", required=True, type=pathlib.Path, help="a file of constants without a base")
    parser.add_argument("page", type=pathlib.Path)
    options = parser.parse_args()
    text = options.page.read_text(encoding="utf-8")
    found = differences("variable", first_column(text, "variables"), variables_of(options.collsim))
    found += differences("version", first_column(text, "versions"), versions_of(options.collsim))
    found = [f"{options.page}: {line}" for line in found]
    named, keys = keys_named(options.reference.read_text(encoding="utf-8")), keys_of(options.constants.read_text(encoding="utf-8"))
    # "base" and "versions" in braces are told apart by their names.
    keys = [key for key in keys if key != "versions"] + ["base", "versions.first", "versions.last"]
    found += [f"{options.reference}: {line}" for line in differences("key", named, keys)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
