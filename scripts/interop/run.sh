#!/usr/bin/env bash
# Drives the given dsh-acp binary with the official TypeScript clients of the
# Agent Client Protocol and the Model Context Protocol, and with acpx.
#   scripts/interop/run.sh BINARY
set -euo pipefail
binary=$1
cd "$(dirname "$0")"

node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' 2>/dev/null ||
  { echo "interop: Node 20 or later is needed; found: $(node --version 2>/dev/null || echo none)" >&2; exit 1; }
# npm writes its own copy of the lock when it has installed all of it. Not
# `npm ci`: a dependency has optional packages for other systems which not every
# registry has, and it takes a lock without them for a stale one.
[ node_modules/.package-lock.json -nt package-lock.json ] ||
  npm install --no-save --loglevel=error --no-audit --no-fund
node client.mjs "$binary"
node mcp.mjs "$binary"

# acpx wants a newer Node than most machines have; npm brings one.
newer=node
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 13) ? 0 : 1)' || {
  newer=node_modules/node/bin/node
  [ -x "$newer" ] || npm rebuild --silent node
}
"$newer" acpx.mjs "$binary"
