// Makes regreen-<version>.vsix, one for all systems, in the folder of the first argument or dist/: the manifest, the bundle,
// the wheels of the server's own environment.
// REGREEN_REPOSITORY, the https address of the repository, is where links and pictures of the README then lead.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const repository = process.env.REGREEN_REPOSITORY?.replace(/\/+$/, "");

await import("./build.mjs");
const python = execFileSync("sh", [join(root, "scripts", "find-python")], { encoding: "utf8" }).trim();
execFileSync(python, [join(root, "scripts", "wheels.py")], { stdio: "inherit" });

const dist = resolve(process.argv[2] ?? join(root, "dist"));
mkdirSync(dist, { recursive: true });
readdirSync(dist)
  .filter((file) => file.endsWith(".vsix"))
  .forEach((file) => {
    rmSync(join(dist, file));
  });
const links = repository
  ? ["--baseContentUrl", `${repository}/blob/HEAD`, "--baseImagesUrl", `${repository}/raw/HEAD`]
  : ["--no-rewrite-relative-links"];
const vsce = spawnSync(
  process.execPath,
  [
    join(root, "node_modules", "@vscode", "vsce", "vsce"),
    "package",
    "--no-dependencies",
    "--allow-missing-repository",
    "--allow-unused-files-pattern", // the pictures are taken of the packaged extension
    ...["--readme-path", "client-vscode/README.md"],
    ...["--changelog-path", "CHANGELOG.md"],
    ...links,
    ...["--out", join(dist, `${name}-${version}.vsix`)],
  ],
  { cwd: root, encoding: "utf8" },
);
process.stdout.write(vsce.stdout);
process.stderr.write(vsce.stderr);
if (vsce.status !== 0 || /warning/i.test(vsce.stdout + vsce.stderr)) {
  console.error("vsce failed, or warned, which counts as much");
  process.exit(1);
}
