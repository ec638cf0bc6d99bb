// Drives a dsh-acp binary with acpx, a headless client, the way a script would:
// new session, a prompt with an edit that it consents to, one that it denies,
// the list, a cancel, and a session that another process takes up again.
// acpx checks what it reads with its own copy of the protocol's SDK.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const binary = process.argv[2];
const acpx = join(dirname(fileURLToPath(import.meta.url)), "node_modules", "acpx", "dist", "cli.js");
const home = mkdtempSync(join(tmpdir(), "dsh-interop-acpx-home-"));
const work = realpathSync(mkdtempSync(join(tmpdir(), "dsh-interop-acpx-work-")));
const poem = join(work, "poem.txt");
const script = join(home, "script.json");
writeFileSync(poem, "one\ntwo\nthree\n");

const env = {
  PATH: process.env.PATH, HOME: home, DSH_PROVIDER: "scripted", DSH_SCRIPT_FILE: script, DSH_KEYRING: "never",
};
const longest = 60_000; // milliseconds that one command may take

// run starts an acpx command and gives what it and the agent said, once it has ended.
function run(consent, ...words) {
  const args = [acpx, "--agent", binary, "--cwd", work, consent, "--format", "json", "--ttl", "1", ...words];
  let child;
  const ended = new Promise((resolve, reject) => {
    child = execFile(process.execPath, args, { env, timeout: longest }, (err, stdout, stderr) => {
      if (err?.killed) return reject(new Error(`acpx ${words.join(" ")}: did not end\n${stdout}${stderr}`));
      const messages = stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
      resolve({ code: err ? err.code : 0, messages, stderr });
    });
  });
  return { child, ended };
}
const acted = async (consent, ...words) => {
  const { code, messages, stderr } = await run(consent, ...words).ended;
  assert.equal(code, 0, `acpx ${words.join(" ")}: ${stderr}`);
  return messages;
};
const play = (...turns) => writeFileSync(script, JSON.stringify(turns));
const say = (text) => [{ type: "text", text }];
const edit = (id, from, to) => [
  { type: "tool_use", id, name: "Edit", input: { file_path: poem, old_string: from, new_string: to } },
];
const updates = (messages, id) =>
  messages.filter((m) => m.method === "session/update").map((m) => m.params.update).filter((u) => u.toolCallId === id);
const stop = (messages) => messages.findLast((m) => m.result?.stopReason)?.result.stopReason;

// parted waits until the process that holds the session for acpx has gone, so
// that the next prompt starts an agent of its own.
async function parted() {
  for (;;) {
    const [status] = await acted("--approve-all", "status");
    if (!["alive", "running"].includes(status.status)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const steps = [];
const step = (name) => steps.push(name);

play(edit("call_1", "three", "THREE"), say("Done."));
const [made] = await acted("--approve-all", "sessions", "new");
assert.equal(made.created, true);
const id = made.acpxSessionId;
step("sessions new");

let got = await acted("--approve-all", "prompt", "Make the third line loud");
assert.equal(stop(got), "end_turn");
assert.equal(readFileSync(poem, "utf8"), "one\ntwo\nTHREE\n");
assert.ok(got.some((m) => m.method === "session/request_permission"), "the edit was asked about");
assert.equal(updates(got, "call_1").at(-1).status, "completed");
assert.ok(updates(got, "call_1").some((u) => u.content?.[0]?.newText === "one\ntwo\nTHREE"), "the hunk as applied");
step("prompt with an edit and its permission question");

await parted();
play(edit("call_2", "two", "TWO"), say("Then not."));
got = (await run("--deny-all", "prompt", "And the second").ended).messages;
assert.equal(readFileSync(poem, "utf8"), "one\ntwo\nTHREE\n");
assert.equal(updates(got, "call_2").at(-1).status, "failed");
assert.ok(got.some((m) => ["session/load", "session/resume"].includes(m.method) && m.params.sessionId === id));
step("the session in another process, and an edit that is denied");

const [list] = await acted("--approve-all", "sessions", "list");
assert.deepEqual(list.sessions.map((s) => [s.sessionId, s.cwd]), [[id, work]]);
step("sessions list");

await parted();
play([...say("This goes on and on"), { type: "_hang" }]);
const hanging = run("--approve-all", "prompt", "Tell me more");
await new Promise((resolve) => {
  let seen = "";
  hanging.child.stdout.on("data", (chunk) => (seen += chunk).includes("on and on") && resolve());
  hanging.child.once("exit", resolve);
});
const [cancelled] = await acted("--approve-all", "cancel");
assert.equal(cancelled.cancelled, true);
assert.equal(stop((await hanging.ended).messages), "cancelled");
step("cancel");

await acted("--approve-all", "sessions", "close");
step("sessions close");

rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
rmSync(work, { recursive: true });
for (const name of steps) console.log(`ok  acpx: ${name}`);
console.log(`${steps.length} passed, 0 failed`);
