// Bundles the extension into one file. With --development it is readable and has a source map.

import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const development = process.argv.includes("--development");

await build({
  entryPoints: [here("../src/extension.ts")],
  outfile: here("../dist/extension.js"),
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  minify: !development,
  sourcemap: development,
  legalComments: "none",
  logLevel: "warning",
});
