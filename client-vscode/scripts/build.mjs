// Bundles the extension into two files: what is loaded at once, and what is loaded while the server starts. With
// --development they are readable and have source maps.

import { build } from "esbuild";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const development = process.argv.includes("--development");

rmSync(here("../dist"), { recursive: true, force: true });
await build({
  entryPoints: [here("../src/extension.ts"), here("../src/serverConnection.ts")],
  outdir: here("../dist"),
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode", "./serverConnection"],
  supported: { "dynamic-import": false }, // of another bundle: `require` finds it without its suffix
  minify: !development,
  sourcemap: development,
  legalComments: "none",
  logLevel: "warning",
});
