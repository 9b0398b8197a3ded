#!/usr/bin/env bash
# Runs the experiments that ship and writes their tables and plots into docs/experiments.md: bash tools/experiments.sh
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh build
cmake --preset release -DCOLLSIM_TESTS=AUTO >/dev/null
cmake --build --preset release --target collsim
python3 tools/experiments.py --collsim build/release/tools/collsim
