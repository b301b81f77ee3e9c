// Bundles each file of test/host into the folder of the first argument; run them inside of an extension host.

import { build } from "esbuild";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const tests = fileURLToPath(new URL("../test/host", import.meta.url));

await build({
  entryPoints: readdirSync(tests)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(tests, name)),
  outdir: resolve(process.argv[2] ?? "out"),
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  sourcemap: "inline",
  logLevel: "warning",
});
