import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";

import { ensure, existing, installExtra, type Made, MODULE, type Places } from "../../src/privateEnvironment";
import { findPython, type Python } from "../../src/python";
import { type Machine, run, thisMachine } from "../../src/run";

// The wheels of the package: `make wheels` collects them.
const wheels = process.env["REGREEN_WHEELS"] ?? "";
const needsWheels = { skip: existsSync(path.join(wheels, "made.json")) ? false : "no wheels: make wheels" };

let folder: string;
let python: Python;
let machine: Machine;
const silent = (): void => undefined;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "regreen-environment-"));
  const found = await findPython(thisMachine(), []);
  assert.equal(found.kind, "found");
  python = found;
  // What a user's configuration must not change: the one index that there is does not exist.
  const env = { ...process.env, PIP_INDEX_URL: "http://127.0.0.1:9/", PIP_REQUIRE_VIRTUALENV: "1", PYTHONPATH: folder };
  machine = { ...thisMachine(), env };
});
after(() => rm(folder, { recursive: true, force: true }));

function places(name: string): Places {
  return { storage: path.join(folder, name), wheels };
}

function ok(made: Made): Extract<Made, { kind: "made" }> {
  assert.equal(made.kind, "made", JSON.stringify(made, undefined, 1));
  return made;
}

test("made without a network, it runs Regreen; the second time it is there at once", needsWheels, async (t) => {
  const reports: string[] = [];
  const began = Date.now();
  const made = ok(await ensure(offline(machine), places("first"), python, (message) => reports.push(message)));
  t.diagnostic(`made in ${Date.now() - began} ms`);
  assert.match(reports.join("\n"), /^Preparing Regreen's own environment with Python 3/);

  const version = await run(made.python, [...MODULE, "--version"], { timeout: 20_000 });
  assert.match(version.stdout, /^regreen \d/);

  const again = Date.now();
  assert.deepEqual(ok(await ensure(machine, places("first"), python, silent)), made);
  t.diagnostic(`found again in ${Date.now() - again} ms`);
  assert.ok(Date.now() - again < 1000);
  assert.deepEqual(await readdir(places("first").storage), [path.basename(made.folder)], "no lock is left");
});

test("made with the oldest Python, too", needsWheels, async (t) => {
  const oldest = await run("python3.10", ["-c", "import sys; print(sys.executable)"], { timeout: 5000 });
  const pyenv = path.join(machine.home, ".pyenv", "versions", "3.10.13", "bin", "python");
  const command = oldest.code === 0 ? oldest.stdout.trim() : pyenv;
  if (!existsSync(command)) {
    t.skip("no Python 3.10 here");
    return;
  }
  const made = ok(await ensure(machine, places("oldest"), { path: command, version: "3.10" }, silent));
  assert.equal((await run(made.python, [...MODULE, "--version"], { timeout: 20_000 })).code, 0);
});

test("two windows at once make one", needsWheels, async () => {
  const reports: string[] = [];
  const start = (): Promise<Made> => ensure(machine, places("both"), python, (message) => reports.push(message));
  const [one, other] = await Promise.all([start(), start()]);
  assert.deepEqual(ok(one), ok(other));
  assert.equal(reports.filter((message) => message.startsWith("Preparing")).length, 1);
  assert.equal(reports.filter((message) => message.startsWith("Waiting")).length, 1);
});

test("a half-made one is made anew, and the lock of a window that is gone does not matter", needsWheels, async () => {
  const made = ok(await ensure(machine, places("half"), python, silent));
  await rm(path.join(made.folder, "complete"));
  await rm(path.join(made.folder, "pyvenv.cfg"));
  const gone = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => gone.on("exit", resolve));
  await writeFile(`${made.folder}.lock`, String(gone.pid));
  assert.equal(await existing(machine, places("half")), undefined);
  ok(await ensure(machine, places("half"), python, silent));
  assert.deepEqual(await existing(machine, places("half")), { folder: made.folder, python: made.python });
});

test("one whose Python was removed is made anew", needsWheels, async () => {
  const made = ok(await ensure(machine, places("half"), python, silent));
  await writeFile(path.join(made.folder, "pyvenv.cfg"), `home = ${path.join(folder, "removed")}\n`);
  assert.equal(await existing(machine, places("half")), undefined);
});

test("what no window used for a week is removed, the rest stays", needsWheels, async () => {
  const { storage } = places("first");
  const made = ok(await ensure(machine, places("first"), python, silent));
  const past = new Date(Date.now() - 8 * 24 * 3600 * 1000);
  for (const name of ["server-old", "server-recent", "other"]) {
    await mkdir(path.join(storage, name));
    await writeFile(path.join(storage, name, "complete"), "");
  }
  await utimes(path.join(storage, "server-old", "complete"), past, past);
  await utimes(path.join(storage, "other", "complete"), past, past);
  await rm(path.join(made.folder, "complete"));
  ok(await ensure(machine, places("first"), python, silent));
  assert.deepEqual((await readdir(storage)).sort(), ["other", path.basename(made.folder), "server-recent"].sort());
});

test("without a wheel for this system the failure says so, and that the network may help", needsWheels, async () => {
  const few = path.join(folder, "few wheels");
  await mkdir(few);
  for (const name of await readdir(wheels)) {
    if (name.endsWith("none-any.whl")) {
      await copyFile(path.join(wheels, name), path.join(few, name));
    }
  }
  const made = await ensure(machine, { storage: path.join(folder, "few"), wheels: few }, python, silent);
  assert.equal(made.kind, "no-wheel");
  assert.match(made.message, /fetched from the network/);
  assert.match(made.output, /tree-sitter|watchdog/);
  const unconnected = { ...machine, env: { ...machine.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: "" } };
  const online = await ensure(unconnected, { storage: path.join(folder, "few"), wheels: few }, python, silent, {
    online: true,
  });
  assert.equal(online.kind, "failed");
  assert.match(online.message, /Check the network/);
});

test("a Python that cannot make environments is named, with its last words", needsWheels, async () => {
  const broken = { path: process.execPath, version: "3.12.0" };
  const made = await ensure(machine, places("broken"), broken, silent);
  assert.equal(made.kind, "failed");
  assert.ok(made.message.includes(process.execPath));
  assert.match(made.output, /bad option/);
});

test("an extra that cannot be fetched is a failure; the environment goes on working", needsWheels, async () => {
  const made = ok(await ensure(machine, places("first"), python, silent));
  const unconnected = { ...machine, env: { ...machine.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: "" } };
  const extra = await installExtra(unconnected, places("first"), made, "llm", silent);
  assert.equal(extra.kind, "failed");
  assert.match(extra.message, /regreen\[llm\] could not be installed/);
  assert.equal((await run(made.python, [...MODULE, "--version"], { timeout: 20_000 })).code, 0);
});

/** Runs everything in a network of its own, which has no connection, where the system lets us. */
function offline(plain: Machine): Machine {
  if (process.platform !== "linux") {
    return plain;
  }
  return {
    ...plain,
    run: async (command, args, options) => {
      const apart = await run("unshare", ["--user", "--net", "true"], { timeout: 5000 });
      return apart.code === 0
        ? run("unshare", ["--user", "--map-root-user", "--net", command, ...args], options)
        : run(command, args, options);
    },
  };
}
