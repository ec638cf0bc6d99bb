// Drives a dsh-acp binary with the official TypeScript client through what an
// editor does: start, new session, a prompt with an edit and its permission
// question, a cancel, a second process that loads the session, list and close.
// The SDK checks every message that the agent sends; what it refuses fails here.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const binary = process.argv[2];
const home = mkdtempSync(join(tmpdir(), "dsh-interop-home-"));
const work = mkdtempSync(join(tmpdir(), "dsh-interop-work-"));
const poem = join(work, "poem.txt");
writeFileSync(poem, "one\ntwo\nthree\nfour\nfive\n");

// What the agent writes, line by line as it came, to be sure that the SDK saw all of it.
const lines = [];
// What the SDK complains of while it reads the agent's messages.
const complaints = [];
console.error = (...words) => complaints.push(words.map(String).join(" "));

function start(script) {
  const file = join(home, "script.json");
  writeFileSync(file, JSON.stringify(script));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    DSH_PROVIDER: "scripted",
    DSH_SCRIPT_FILE: file,
    DSH_KEYRING: "never",
  };
  const child = spawn(binary, [], { env, stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  let rest = "";
  child.stdout.on("data", (chunk) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    lines.push(...parts);
  });
  return { child, exited };
}

// session runs one agent process; body gets the client's context and what was seen.
async function session(script, answer, body) {
  const { child, exited } = start(script);
  const seen = { updates: [], questions: [] };
  let wake = () => {};
  const app = acp
    .client({ name: "interop" })
    .onRequest(acp.methods.client.session.requestPermission, async ({ params }) => {
      seen.questions.push(params);
      return answer(params);
    })
    .onNotification(acp.methods.client.session.update, async ({ params }) => {
      seen.updates.push(params.update);
      wake();
    });
  seen.until = async (found) => {
    while (!seen.updates.some(found)) await new Promise((resolve) => (wake = resolve));
  };
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  await app.connectWith(stream, async (agent) => {
    const init = await agent.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } },
      clientInfo: { name: "interop", version: "1.0.0" },
    });
    assert.equal(init.protocolVersion, 1);
    assert.equal(init.agentInfo.name, "dsh-acp");
    await body(agent, seen, init);
  });
  child.stdin.end();
  const end = await exited;
  assert.deepEqual(end, { code: 0, signal: null }, "the agent ends by itself when its input ends");
  return seen;
}

const allow = ({ options }) => ({
  outcome: { outcome: "selected", optionId: options.find((o) => o.kind === "allow_once").optionId },
});
const edit = (id, from, to) => ({
  type: "tool_use", id, name: "Edit", input: { file_path: poem, old_string: from, new_string: to },
});
const diffs = (updates, id) =>
  updates.filter((u) => u.toolCallId === id).flatMap((u) => u.content ?? []).filter((c) => c.type === "diff");

let sessionId;
const steps = [];
const step = (name) => steps.push(name);

// First process: new, prompt with an edit, cancel.
await session(
  [
    [{ type: "text", text: "I change a line." }, edit("call_1", "three", "THREE")],
    [{ type: "text", text: "Done." }],
    [{ type: "text", text: "This goes on and on" }, { type: "_hang" }],
  ],
  allow,
  async (agent, seen, init) => {
    assert.equal(init.agentCapabilities.loadSession, true);
    const made = await agent.request(acp.methods.agent.session.new, { cwd: work, mcpServers: [] });
    sessionId = made.sessionId;
    assert.ok(made.configOptions.some((o) => o.category === "mode"));
    step("session/new");

    const reply = await agent.request(acp.methods.agent.session.prompt, {
      sessionId, prompt: [{ type: "text", text: "Make the third line loud" }],
    });
    assert.equal(reply.stopReason, "end_turn");
    assert.equal(readFileSync(poem, "utf8"), "one\ntwo\nTHREE\nfour\nfive\n");
    assert.equal(seen.questions.length, 1);
    assert.equal(seen.questions[0].toolCall.content[0].newText, "one\ntwo\nTHREE\nfour\nfive", "the hunk that would be made");
    assert.deepEqual(diffs(seen.updates, "call_1").map((d) => d.newText), ["THREE", "one\ntwo\nTHREE\nfour\nfive"]);
    step("session/prompt with an edit and its permission question");

    const hanging = agent.request(acp.methods.agent.session.prompt, {
      sessionId, prompt: [{ type: "text", text: "And now tell me more" }],
    });
    await seen.until((u) => u.sessionUpdate === "agent_message_chunk" && u.content.text.includes("on and on"));
    await agent.notify(acp.methods.agent.session.cancel, { sessionId });
    assert.equal((await hanging).stopReason, "cancelled");
    step("session/cancel");
  },
);

// Second process: list, load with the same hunks, another turn, close.
await session(
  [[edit("call_2", "five", "FIVE")], [{ type: "text", text: "Done again." }]],
  allow,
  async (agent, seen) => {
    const { sessions } = await agent.request(acp.methods.agent.session.list, { cwd: work });
    assert.deepEqual(sessions.map((s) => s.sessionId), [sessionId]);
    step("session/list");

    await agent.request(acp.methods.agent.session.load, { sessionId, cwd: work, mcpServers: [] });
    const kinds = seen.updates.map((u) => u.sessionUpdate);
    assert.ok(kinds.includes("user_message_chunk") && kinds.includes("tool_call"), kinds.join(" "));
    assert.equal(diffs(seen.updates, "call_1").at(-1).newText, "one\ntwo\nTHREE\nfour\nfive");
    step("session/load with the hunks of then");

    const reply = await agent.request(acp.methods.agent.session.prompt, {
      sessionId, prompt: [{ type: "text", text: "Now the fifth" }],
    });
    assert.equal(reply.stopReason, "end_turn");
    assert.equal(readFileSync(poem, "utf8"), "one\ntwo\nTHREE\nfour\nFIVE\n");
    step("session/prompt after the load");

    await agent.request(acp.methods.agent.session.close, { sessionId });
    step("session/close");
  },
);

for (const line of lines) assert.equal(JSON.parse(line).jsonrpc, "2.0", `not a message: ${line}`);
assert.deepEqual(complaints, [], "the SDK refused a message");
rmSync(home, { recursive: true });
rmSync(work, { recursive: true });
for (const name of steps) console.log(`ok  ${name}`);
console.log(`${steps.length} passed, 0 failed`);
