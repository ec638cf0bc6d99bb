// Writes, to stdout and gzipped, pairs of texts and what the npm package diff
// makes of them: a JSON object a line,
//
//   {"class", "before", "after", "context", "hunks": [[oldStart, oldLines, newStart, newLines, signs]]}
//
// signs has the first character of each line of the hunk: " ", "-", "+", or
// "\\" for the mark of a missing line end. With the numbers and the two texts
// it says all. The generator has a fixed seed: a second run gives the same
// bytes.
import { gzipSync } from "node:zlib";
import { structuredPatch } from "diff";

let state = 0x9e3779b9;
function random() { // mulberry32
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return (t ^ (t >>> 14)) >>> 0;
}
const below = (n) => random() % n;
const pick = (list) => list[below(list.length)];
const times = (n, f) => Array.from({ length: n }, (_, i) => f(i));

const out = [];
function put(kind, before, after, context = 3) {
  const patch = structuredPatch("a", "b", before, after, "", "", { context });
  const hunks = patch.hunks.map((h) => [h.oldStart, h.oldLines, h.newStart, h.newLines,
    h.lines.map((line) => line[0]).join("")]);
  out.push(JSON.stringify({ class: kind, before, after, context, hunks }));
}

const text = (lines, eol = "\n", final = true) => lines.join(eol) + (final && lines.length ? eol : "");
const numbered = (n) => times(n, (i) => `l${i + 1}`);

// Two changes with a gap, at each place and at each context.
for (let gap = 0; gap <= 9; gap++) {
  for (const at of [0, 2, 3, 7]) {
    for (const context of [0, 1, 3, 4]) {
      const before = numbered(24);
      const after = before.slice();
      after[at] = "X";
      after[at + gap + 1] = "Y";
      put("gap", text(before), text(after), context);
    }
    const inserted = numbered(24);
    inserted.splice(at + gap + 1, 0, "Y");
    inserted.splice(at, 0, "X");
    put("gap", text(numbered(24)), text(inserted));
    put("gap", text(inserted), text(numbered(24)));
  }
}

// Every pair of the smallest texts.
const small = ["", "\n", "\n\n", "a", "a\n", "a\nb", "a\nb\n", "b\n", "b", "a\n\n", "\na\n", "a\n\nb", "\n\na", "a\na\n", "a\nb\na\n", "b\na\nb"];
for (const before of small) for (const after of small) put("small", before, after);

// Line ends.
for (let i = 0; i < 120; i++) {
  const lines = times(2 + below(14), () => pick(["a", "b", "c", "", "x\ry", "\r"]));
  const other = lines.map((l) => (below(4) ? l : pick(["a", "z", "", "x\rz"])));
  put("crlf", text(lines, "\r\n", below(2) === 0), text(other, "\r\n", below(2) === 0));
  const mix = (list) => list.map((l) => l + pick(["\n", "\r\n"])).join("");
  put("mixed", mix(lines), mix(other));
  put("no final", text(lines, "\n", below(2) === 0), text(other, "\n", below(2) === 0));
}

// Dense changes over few different lines: here alignments tie.
for (let i = 0; i < 600; i++) {
  const letters = ["a", "b", "c", "d", "e"].slice(0, 1 + below(5));
  const some = () => text(times(below(14), () => pick(letters)), "\n", below(4) !== 0);
  put("random", some(), some(), pick([3, 3, 3, 0, 1]));
}

// Text like source code, of which blank lines and braces repeat.
function source(n) {
  const lines = [];
  while (lines.length < n) {
    const name = pick(["read", "write", "open", "close", "seek"]) + below(9);
    lines.push(`func ${name}(x int) error {`);
    for (let k = below(4); k >= 0; k--) {
      lines.push(...pick([
        ["\tif err != nil {", "\t\treturn err", "\t}"],
        [`\tx += ${below(5)}`],
        ["\tfor range x {", `\t\tcall(${below(4)})`, "\t}"],
        [""],
      ]));
    }
    lines.push("\treturn nil", "}", "");
  }
  return lines;
}
const change = {
  edit(l) { const at = below(l.length); l.splice(at, below(4), ...times(below(4), () => `\tnew${below(50)}()`)); },
  all(l) { const w = pick(["err", "x", "return", "call"]); l.forEach((s, i) => { l[i] = s.replaceAll(w, w + "2"); }); },
  move(l) { const part = l.splice(below(l.length), 1 + below(9)); l.splice(below(l.length + 1), 0, ...part); },
  duplicate(l) { const at = below(l.length); l.splice(at, 0, ...l.slice(at, at + 1 + below(9))); },
  remove(l) { l.splice(below(l.length), 1 + below(9)); },
  blank(l) { for (let k = 1 + below(4); k > 0; k--) l.splice(below(l.length + 1), 0, ""); },
  brace(l) { for (let k = 1 + below(3); k > 0; k--) l.splice(below(l.length + 1), 0, pick(["}", "\t}", "{"])); },
  rewrite(l) { const at = below(l.length); l.splice(at, 12, ...source(10).slice(0, 12)); },
  unrelated(l) { l.splice(0, l.length, ...source(12)); },
  scattered(l) { for (let k = 2 + below(6); k > 0; k--) l[below(l.length)] = `\tchanged${below(9)}()`; },
};
for (const [kind, f] of Object.entries(change)) {
  for (let i = 0; i < 90; i++) {
    const before = source(10 + below(50));
    const after = before.slice();
    f(after);
    if (!below(4)) pick(Object.values(change))(after);
    put(kind, text(before, "\n", below(6) !== 0), text(after, "\n", below(6) !== 0));
  }
}

// A few that are larger.
for (let i = 0; i < 8; i++) {
  const before = source(600);
  const after = before.slice();
  for (let k = 0; k < 40; k++) pick([change.edit, change.move, change.blank, change.duplicate])(after);
  put("large", text(before), text(after));
}

// Characters beyond ASCII, and lines that look like a patch.
for (let i = 0; i < 60; i++) {
  const lines = times(12, () => pick(["é", "日本", "🙂", "-a", "+a", " a", "@@ -1,2 +1,2 @@", "\\ No newline at end of file", "--- a", "+++ b"]));
  const other = lines.map((l) => (below(4) ? l : pick(["ü", "- a", "\\ No newline at end of file"])));
  put("odd", text(lines, "\n", below(2) === 0), text(other, "\n", below(2) === 0));
}

process.stderr.write(`${out.length} pairs\n`);
process.stdout.write(gzipSync(out.join("\n") + "\n", { level: 9 }));
