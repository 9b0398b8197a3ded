#!/usr/bin/env python3
"""The GPU check where there is no GPU: it says so and ends with 2. (Where there is one, it takes minutes, and is no test.)"""

import argparse
import pathlib
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", required=True)
    parser.add_argument("--driver", required=True)
    options = parser.parse_args()

    for words, message in [(["--ranks", "none"], 'error: --ranks: expected a number of 1 or more, got "none"\n'),
                           (["--rank", "1"], "error: --rank: no such option\n"),
                           (["--only"], "error: --only: needs a value\n"),
                           (["--only", "all"],
                            'error: --only: expected check, smallest, processes, times, nccl or figures, got "all"\n')]:
        done = run(options.driver, *words)
        assert (done.returncode, done.stderr) == (2, message), done

    with tempfile.TemporaryDirectory() as folder:
        done = run(options.driver, "--only", "smallest", "--output-dir", folder)
        if done.returncode != 2:
            print("skipped: there is a GPU: bash tools/gpu_check.sh")
            return 4
        assert done.stderr.startswith("error: --backend: no GPU: "), done
        done = run("bash", options.script, "--driver", options.driver, "--output-dir", folder)
        assert done.returncode == 2, done
        assert "gpu_check.sh: the check ended with 2" in done.stdout, done
        log = (pathlib.Path(folder) / "gpu_check.log").read_text(encoding="utf-8")
        assert "no GPU: " in log, log
    return 0


if __name__ == "__main__":
    sys.exit(main())
