#!/usr/bin/env bash
# Writes docs/accuracy.md and its plots from the measured tables that ship: bash tools/accuracy.sh
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh build
cmake --preset release -DCOLLSIM_TESTS=AUTO >/dev/null
cmake --build --preset release --target collsim
python3 tools/accuracy.py --collsim build/release/tools/collsim
