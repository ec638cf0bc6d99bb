// Makes internal/acpschema/schema.json from the official v1 schema: the type
// definitions alone, without prose. Run with the path of the package's
// schema/v1/schema.json:
//
//   npm pack @agentclientprotocol/sdk@2.4.0 && tar xzf agentclientprotocol-sdk-2.4.0.tgz
//   node scripts/acpschema/strip.mjs package/schema/v1/schema.json > internal/acpschema/schema.json
import { readFileSync } from "node:fs";

const dropped = new Set(["description", "title", "discriminator", "default"]);

// A schema's keywords are filtered; the keys of "properties" and "$defs" are
// names, which stay whatever they are.
function schema(node) {
  if (Array.isArray(node)) return node.map(schema);
  if (node === null || typeof node !== "object") return node;
  const out = {};
  for (const [key, value] of Object.entries(node)) {
    if (dropped.has(key) || key.startsWith("x-deserialize-") || key === "x-docs-ignore") continue;
    if (key === "properties" || key === "$defs") out[key] = names(value);
    else if (key === "const" || key === "enum" || key === "required") out[key] = value;
    else out[key] = schema(value);
  }
  return out;
}

function names(map) {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, schema(value)]));
}

if (process.argv.length !== 3) {
  console.error("usage: node strip.mjs SCHEMA.JSON");
  process.exit(2);
}
const source = JSON.parse(readFileSync(process.argv[2], "utf8"));
// The root is left out: its alternatives accept any message.
const out = { $schema: source.$schema, $defs: names(source.$defs) };
process.stdout.write(JSON.stringify(out, null, 1) + "\n");
