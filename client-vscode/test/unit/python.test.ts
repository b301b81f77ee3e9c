import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { findPython } from "../../src/python";
import { type Machine, run, thisMachine } from "../../src/run";

let folder: string;
let machine: Machine;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "regreen-python-"));
  machine = { run, env: { PATH: path.join(folder, "bin") }, platform: "linux", home: folder };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(place: string, answer: string): Promise<string> {
  const file = path.join(folder, place);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${answer}\n`);
  await chmod(file, 0o755);
  return file;
}

/** An interpreter that says what it is told to say. */
function python(place: string, version: string, { name = "cpython", venv = true } = {}): Promise<string> {
  return program(place, `echo '["${name}", "${version}", ${String(venv)}, "${path.join(folder, place)}"]'`);
}

const posix = { skip: process.platform === "win32" ? "the stand-ins are shell scripts" : false };

test("a Python of this machine is found, and the path is that of the interpreter", async () => {
  const found = await findPython(thisMachine(), []);
  assert.equal(found.kind, "found");
  assert.match(found.version, /^3\.\d+\.\d+$/);
  const itself = await run(found.path, ["-c", "import sys; print(sys.executable)"], { timeout: 5000 });
  assert.equal(itself.stdout.trim(), found.path);
});

test("what the caller prefers is asked first, then the newest on PATH", posix, async () => {
  const preferred = await python("chosen/python", "3.10.2");
  const newest = await python("bin/python3.13", "3.13.5");
  await python("bin/python3", "3.11.4");
  assert.equal((await find([preferred])).path, preferred);
  assert.equal((await find([])).path, newest);

  async function find(given: string[]): Promise<{ path: string }> {
    const found = await findPython(machine, given);
    assert.equal(found.kind, "found");
    return found;
  }
});

test("Pythons that are too old are listed, even Python 2", posix, async () => {
  await python("bin/python3", "3.9.18");
  await python("bin/python", "2.7.18");
  const found = await findPython(machine, []);
  assert.equal(found.kind, "too-old");
  assert.deepEqual(
    found.seen.map((each) => each.version),
    ["3.9.18", "2.7.18"],
  );
});

test("real old Pythons say their version", async (t) => {
  const { env } = thisMachine();
  const versions = path.join(env["PYENV_ROOT"] ?? path.join(thisMachine().home, ".pyenv"), "versions");
  for (const version of ["2.7.18", "3.8.18"]) {
    const old = path.join(versions, version, "bin", "python");
    if ((await run(old, ["--version"], { timeout: 5000 })).code !== 0) {
      t.diagnostic(`no ${old} here`);
      continue;
    }
    const found = await findPython(machine, [old]);
    assert.equal(found.kind, "too-old");
    assert.deepEqual(found.seen.map((each) => each.version), [version]);
  }
});

test("what is broken, another implementation, lacks venv or is no Python is passed by, with the reason", posix, async () => {
  await program("bin/python3.14", "echo 'not found' >&2; exit 127");
  await python("bin/python3.13", "3.13.1", { name: "pypy" });
  await python("bin/python3.12", "3.12.1", { venv: false });
  await program("bin/python3.11", "echo hello");
  const good = await python("bin/python3.10", "3.10.0");
  const found = await findPython(machine, []);
  assert.equal(found.kind, "found");
  assert.equal(found.path, good);
  const reasons = found.tried.join("\n");
  for (const expected of ["exit code 127: not found", "pypy, not CPython", "without the module venv", "is no Python"]) {
    assert.ok(reasons.includes(expected), `${expected} is not in:\n${reasons}`);
  }
});

test("one that does not answer is given up", posix, async () => {
  const stuck = await program("stuck", "/bin/sleep 30");
  const impatient: Machine = { ...machine, run: (command, args, options) => run(command, args, { ...options, timeout: 100 }) };
  const found = await findPython(impatient, [stuck]);
  assert.equal(found.kind, "none");
  assert.match(found.tried.join("\n"), /did not end within 0.1 s/);
});

test("pyenv's versions come last, newest first", posix, async () => {
  await python(".pyenv/versions/3.9.1/bin/python", "3.9.1");
  await python(".pyenv/versions/3.12.9/bin/python", "3.12.9");
  const newest = await python(".pyenv/versions/3.12.10/bin/python", "3.12.10");
  const found = await findPython(machine, []);
  assert.equal(found.kind, "found");
  assert.equal(found.path, newest);
});

test("on Windows the launcher is asked, too", async () => {
  await mkdir(path.join(folder, "bin"));
  await writeFile(path.join(folder, "bin", "py.exe"), "");
  await chmod(path.join(folder, "bin", "py.exe"), 0o755);
  const calls: string[] = [];
  const windows: Machine = {
    ...machine,
    env: { Path: path.join(folder, "bin") },
    platform: "win32",
    run: (command, args) => {
      calls.push([path.basename(command), args[0]].join(" "));
      const stdout = '["cpython", "3.13.0", true, "C:\\\\Python313\\\\python.exe"]\r\n';
      return Promise.resolve({ code: 0, stdout, stderr: "", problem: "" });
    },
  };
  const found = await findPython(windows, []);
  assert.deepEqual(calls, ["py.exe -3"]);
  assert.equal(found.kind, "found");
  assert.equal(found.path, "C:\\Python313\\python.exe");
});

test("with no Python at all there is none", async () => {
  assert.deepEqual(await findPython(machine, []), { kind: "none", tried: [] });
});
