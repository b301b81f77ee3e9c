import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { findPython } from "../../src/python";
import { type Machine, run, thisMachine } from "../../src/run";
import { locate, type Search, type ServerCommand, ServerProblem } from "../../src/server";

const wheels = process.env["REGREEN_WHEELS"] ?? "";
const posix = { skip: process.platform === "win32" ? "the stand-ins are shell scripts" : false };

let folder: string;
let machine: Machine;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "regreen-server-"));
  machine = { run, env: { PATH: path.join(folder, "bin") }, platform: "linux", home: folder };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function find(given: Partial<Search> = {}): Promise<ServerCommand> {
  const places = { storage: path.join(folder, "storage"), wheels };
  return locate({ machine, setting: "", places, pythons: [], report: () => undefined, ...given });
}

async function problem(given: Partial<Search> = {}): Promise<ServerProblem> {
  try {
    await find(given);
  } catch (error) {
    assert.ok(error instanceof ServerProblem, String(error));
    return error;
  }
  assert.fail("a server was found");
}

async function program(place: string, script: string): Promise<string> {
  const file = path.join(folder, place);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

test("the setting wins over PATH, and ~ is the home", posix, async () => {
  const mine = await program("mine/regreen", "echo regreen 9.1");
  await program("bin/regreen", "echo regreen 9.2");
  const { explanation, ...server } = await find({ setting: "~/mine/regreen" });
  assert.deepEqual(server, { command: mine, args: ["--stdio"], origin: "setting" });
  assert.deepEqual(explanation, [`regreen.path: ${mine} taken, regreen 9.1`]);
});

for (const [setting, reason] of [
  ["~/nowhere/regreen", "does not exist"],
  ["tools/regreen", "is no absolute path"],
  ["~/broken", "does not work: exit code 3: no module named regreen"],
] as const) {
  test(`the setting is to blame: ${setting} ${reason}`, posix, async () => {
    await program("broken", "echo no module named regreen >&2; exit 3");
    await program("bin/regreen", "echo regreen 9.2"); // not taken in its place
    const { kind, message } = await problem({ setting });
    assert.equal(kind, "bad-setting");
    assert.match(message, /regreen\.path/);
    assert.ok(message.includes(reason), message);
  });
}

test("a broken regreen on PATH is told and skipped", posix, async () => {
  const broken = await program("bin/regreen", "exit 1");
  const good = await program("more/regreen", "echo regreen 9.3");
  const env = { PATH: [".", path.join(folder, "bin"), path.join(folder, "more")].join(path.delimiter) };
  const { explanation, ...server } = await find({ machine: { ...machine, env } });
  assert.deepEqual(server, { command: good, args: ["--stdio"], origin: "path" });
  assert.deepEqual(explanation, [
    "regreen.path: empty",
    `PATH: ${broken} does not work: exit code 1`,
    `PATH: ${good} taken, regreen 9.3`,
  ]);
});

test("on Windows it is called regreen.exe", posix, async () => {
  const exe = await program("bin/regreen.exe", "echo regreen 9.4");
  await program("bin/regreen", "echo regreen 9.5");
  const env = { Path: path.join(folder, "bin") };
  assert.equal((await find({ machine: { ...machine, env, platform: "win32" } })).command, exe);
});

test("with old Pythons only, they are named", posix, async () => {
  const old = await program("bin/python3", `echo '["cpython", "3.8.18", true, "/old/python3.8"]'`);
  const { kind, message, explanation } = await problem();
  assert.equal(kind, "old-python");
  assert.match(message, /3\.10 or newer.*3\.8\.18 \(\/old\/python3\.8\)/);
  assert.ok(explanation.includes(`Python: ${old}: Python 3.8.18, older than 3.10`));
});

test("with no Python at all, the way out is named", async () => {
  const { kind, message } = await problem();
  assert.equal(kind, "no-python");
  assert.match(message, /Install one, or name a regreen in the setting regreen\.path/);
});

test(
  "else it is an environment of our own, which serves; the next time no Python is looked for",
  { skip: existsSync(path.join(wheels, "made.json")) ? false : "no wheels: make wheels" },
  async () => {
    const python = await findPython(thisMachine(), []);
    assert.equal(python.kind, "found");
    const ours = { ...machine, platform: process.platform };
    const first = await find({ machine: ours, pythons: [python.path] });
    assert.equal(first.origin, "private");
    assert.match(first.explanation.join("\n"), /PATH: no regreen\n[^]*own environment: .* made with/);
    await initialize(first);

    const second = await find({ machine: ours });
    assert.deepEqual({ ...second, explanation: [] }, { ...first, explanation: [] });
    assert.match(second.explanation.at(-1) ?? "", /^own environment: .* taken$/);
  },
);

/** Start the server as the editor does and wait for its answer to the first request. */
async function initialize({ command, args }: ServerCommand): Promise<void> {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const params = { processId: process.pid, rootUri: null, capabilities: {} };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const [answer] = (await once(server.stdout, "data")) as [Buffer];
    assert.match(answer.toString(), /^Content-Length/);
  } finally {
    server.kill();
    await once(server, "exit");
  }
}
