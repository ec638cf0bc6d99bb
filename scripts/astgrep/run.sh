#!/usr/bin/env bash
# Compares package astedit with ast-grep on real source. ast-grep and the npm
# packages are put in a cache folder, and nothing of them in the repository.
#   run.sh          the differential test
#   run.sh bench    the figures, side by side
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export DSH_ASTGREP=${DSH_ASTGREP:-${XDG_CACHE_HOME:-$HOME/.cache}/dsh-acp/astgrep}
mkdir -p "$DSH_ASTGREP"
if ! cmp -s "$here/package.json" "$DSH_ASTGREP/package.json" || [ ! -d "$DSH_ASTGREP/node_modules" ]; then
  rm -rf "$DSH_ASTGREP/node_modules" "$DSH_ASTGREP/package.json"
  cp "$here/package.json" "$DSH_ASTGREP/new.json"
  # The versions are exact, and no script of a package is run.
  (cd "$DSH_ASTGREP" && mv new.json package.json && npm install --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error) ||
    { rm -f "$DSH_ASTGREP/package.json"; exit 1; }
fi
cd "$here/../.."
case ${1:-test} in
test) go test -tags astgrep -count=1 -timeout 30m -run '^TestDifferential$' ./internal/astedit ;;
bench) go test -tags astgrep -count=1 -timeout 30m -run '^TestFigures$' -v ./internal/astedit ;;
*) echo "usage: run.sh [test|bench]" >&2; exit 2 ;;
esac
