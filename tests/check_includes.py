#!/usr/bin/env python3
"""Checks that includes follow the arrow: a folder includes itself and what stands to its left, nothing else."""

import pathlib
import re
import sys

LEFT_OF = {
    "topology": (),
    "algorithms": ("topology",),
    "algorithms/nccl": ("topology", "algorithms"),
    "sim": ("topology", "algorithms"),
    "kernels": ("topology", "algorithms"),
    "validate": ("topology", "algorithms", "algorithms/nccl", "sim", "kernels"),
    "study": ("topology", "algorithms", "algorithms/nccl", "sim", "kernels", "validate"),
}
EVERYTHING = ("tools", "tests")  # may include any folder
STANDARD_ONLY = ("topology", "algorithms", "algorithms/nccl", "sim", "study")
# Too slow to compile, or not to be had where the core is embedded.
NOT_IN_CORE = ("iostream", "coroutine", "format", "thread")
PARSERS = re.compile(r"(yaml-cpp|nlohmann|pugixml)\b")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^">]+)[">]')


def folder_of(path):
    """The folder in the table above that holds a path relative to the root, or None."""
    if path.startswith("algorithms/nccl/"):
        return "algorithms/nccl"
    return path.split("/")[0] if "/" in path else None


def objection(path, quote, included):
    """Why the file must not include this, or None."""
    folder, is_io = folder_of(path), "/io/" in path
    if folder in EVERYTHING:
        return None
    if PARSERS.match(included):
        return None if is_io and path.endswith(".cpp") else "parsers belong in io/*.cpp"
    if quote == "<":
        if folder in STANDARD_ONLY and not is_io:
            if "/" in included or "." in included:
                return "the core uses the standard library only"
            if included in NOT_IN_CORE:
                return "not a header for the core"
        return None
    other = folder_of(included)
    if other is None:
        return "include paths start at the repository's root"
    if other != folder and other not in LEFT_OF[folder]:
        return f"{folder} must not know {other}"
    if "/io/" in included and not is_io:
        return "what is outside io/ must not know files and formats"
    return None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    count = bad = 0
    for top in sorted({f.split("/")[0] for f in LEFT_OF} | set(EVERYTHING)):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".hpp", ".cpp", ".cu", ".cuh"):
                continue
            count += 1
            path = file.relative_to(root).as_posix()
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                include = INCLUDE.match(line)
                why = include and objection(path, *include.groups())
                if why:
                    bad += 1
                    print(f"{path}:{number}: error: {include.group(2)}: {why}")
    print(f"{count} files, {bad} includes against the arrow")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
