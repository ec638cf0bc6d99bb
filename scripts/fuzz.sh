#!/usr/bin/env bash
# Runs every fuzz target of the module for the given time each.
#   scripts/fuzz.sh [TIME [REGEXP]]     default: 5s, all
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-5s}
only=${2:-.}

count=0
while IFS=: read -r file line; do
  name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]+).*/\1/' <<<"$line")
  grep -qE "$only" <<<"$file $name" || continue
  echo "fuzz ./$(dirname "$file") $name for $time"
  if ! out=$(go test "./$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -parallel 2 2>&1); then
    echo "$out"
    exit 1
  fi
  tail -n 2 <<<"$out" | head -n 1
  count=$((count + 1))
done < <(git grep -E '^func Fuzz[A-Za-z0-9_]+\(' -- '*_test.go')

[ "$count" -gt 0 ] || { echo "no fuzz target matches '$only'" >&2; exit 1; }
echo "$count fuzz targets ran"
