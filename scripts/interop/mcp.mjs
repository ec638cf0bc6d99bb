// Drives `dsh-acp mcp` with the official TypeScript client of the Model
// Context Protocol: list, read, edit, a refused edit, apply_patch, another
// folder, and the end. The SDK checks every message that the server sends.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const binary = process.argv[2];
const folder = (name) => realpathSync(mkdtempSync(join(tmpdir(), `dsh-interop-mcp-${name}-`)));
const home = folder("home");
const work = folder("work");
const other = folder("other");
const poem = join(work, "poem.txt");
writeFileSync(poem, "one\ntwo\nthree\n");
writeFileSync(join(other, "poem.txt"), "elsewhere\n");

const steps = [];
const step = (name) => steps.push(name);

// connect starts a server; without roots the client does not offer to tell any.
async function connect(roots, ...args) {
  const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities: roots ? { roots: { listChanged: true } } : {} });
  if (roots) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots.map((dir) => ({ uri: pathToFileURL(dir).href })) }));
  }
  client.onerror = (err) => assert.fail(`the SDK refused a message: ${err}`);
  const transport = new StdioClientTransport({
    command: binary, args: ["mcp", ...args], env: { PATH: process.env.PATH, HOME: home }, stderr: "inherit",
  });
  await client.connect(transport);
  const call = async (name, args) => {
    const res = await client.callTool({ name, arguments: args });
    return { text: res.content.map((c) => c.text).join(""), bad: res.isError === true, code: res._meta?.dsh?.code };
  };
  return { client, call };
}

// The folders of the client, and a change of them.
{
  const roots = [work];
  const { client, call } = await connect(roots, "--tools", "claude,apply_patch");
  assert.equal(client.getServerVersion().name, "dsh-acp");

  const { tools } = await client.listTools();
  const named = Object.fromEntries(tools.map((t) => [t.name, t]));
  for (const name of ["Read", "Write", "Edit", "Glob", "Grep", "apply_patch"]) {
    assert.equal(named[name].inputSchema.type, "object", name);
    assert.equal(named[name].annotations.readOnlyHint, ["Read", "Glob", "Grep"].includes(name), name);
  }
  assert.equal(named.Bash, undefined, "commands are only run if asked for");
  step("tools/list");

  let r = await call("Read", { file_path: "poem.txt" });
  assert.ok(!r.bad && r.text.includes("3\tthree"), r.text);
  step("read");

  r = await call("Edit", { file_path: "poem.txt", old_string: "three", new_string: "THREE" });
  assert.ok(!r.bad, r.text);
  assert.equal(readFileSync(poem, "utf8"), "one\ntwo\nTHREE\n");
  step("edit");

  r = await call("Edit", { file_path: "poem.txt", old_string: "four", new_string: "FOUR" });
  assert.ok(r.bad && r.code && r.text.includes("poem.txt"), r.text);
  assert.equal(readFileSync(poem, "utf8"), "one\ntwo\nTHREE\n");
  step("refused edit");

  r = await call("apply_patch", { operations: [
    { op: "replace_text", path: "poem.txt", search: "one", replace: "ONE" },
    { op: "replace_text", path: "poem.txt", search: "nowhere", replace: "x" },
  ] });
  assert.ok(r.bad, r.text);
  assert.equal(readFileSync(poem, "utf8"), "one\ntwo\nTHREE\n", "all or nothing");
  r = await call("apply_patch", { operations: [
    { op: "replace_text", path: "poem.txt", search: "one", replace: "ONE" },
    { op: "create_file", path: "new.txt", text: "new\n" },
  ] });
  assert.ok(!r.bad, r.text);
  assert.equal(readFileSync(poem, "utf8"), "ONE\ntwo\nTHREE\n");
  assert.equal(readFileSync(join(work, "new.txt"), "utf8"), "new\n");
  step("apply_patch, refused and applied");

  roots[0] = other;
  await client.sendRootsListChanged();
  r = await call("Read", { file_path: "poem.txt" });
  assert.ok(r.text.includes("elsewhere"), r.text);
  r = await call("Read", { file_path: poem });
  assert.ok(r.bad, "the folder that was left is closed");
  step("roots/list, and its change");
  await client.close();
}

// The default tools: lines under a tag, and the way back.
{
  const { client, call } = await connect([other]);
  let r = await call("fs_read", { path: "poem.txt" });
  const tag = /poem\.txt#([0-9A-Fa-f]{4})/.exec(r.text)?.[1];
  assert.ok(tag, r.text);
  r = await call("fs_write", { path: "poem.txt", content: "changed\n", file_hash: tag });
  assert.ok(!r.bad, r.text);
  r = await call("fs_rollback", { path: "poem.txt", hash: tag });
  assert.ok(!r.bad, r.text);
  assert.equal(readFileSync(join(other, "poem.txt"), "utf8"), "elsewhere\n");
  await client.close();
  step("fs_read, fs_write and fs_rollback");
}

// A folder by --root, with blocked paths; and no folder at all.
{
  const { client, call } = await connect(undefined, "--root", work, "--tools", "claude", "--guard-block", poem);
  const r = await call("Edit", { file_path: "poem.txt", old_string: "two", new_string: "2" });
  assert.ok(r.bad && r.text.includes("permission denied"), r.text);
  await client.close();
  step("--root with a blocked path");
}
{
  const { client, call } = await connect(undefined, "--tools", "claude");
  const r = await call("Read", { file_path: "poem.txt" });
  assert.ok(r.bad && r.text.includes("--root") && r.text.includes("roots/list"), r.text);
  await client.close();
  step("no folder is an error that says how to give one");
}

for (const dir of [home, work, other]) rmSync(dir, { recursive: true });
for (const name of steps) console.log(`ok  mcp: ${name}`);
console.log(`${steps.length} passed, 0 failed`);
