// Bundles test/unit and runs it with Node's own test runner. Arguments are passed on: --test-name-pattern=REGEX.

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const tests = here("../test/unit");
const out = here("../out");

rmSync(out, { recursive: true, force: true });
await build({
  entryPoints: readdirSync(tests)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(tests, name)),
  outdir: out,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  sourcemap: "inline",
  logLevel: "warning",
});
const bundles = readdirSync(out).map((name) => join(out, name));
const done = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...process.argv.slice(2), ...bundles], {
  stdio: "inherit",
  env: { ...process.env, REGREEN_WHEELS: here("../wheels") },
});
process.exit(done.status ?? 1);
