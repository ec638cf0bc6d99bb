#!/usr/bin/env bash
# Measures a built program against the figures that it promises.
#   scripts/bench.sh PROGRAM [-only REGEXP]
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: scripts/bench.sh PROGRAM [-only REGEXP]" >&2; exit 2; }
program=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
# Not `go run`, which knows only one exit code for what failed.
go build -o bin/bench ./internal/bench
exec bin/bench "$@" "$program"
