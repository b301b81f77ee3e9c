import assert from "node:assert/strict";
import * as os from "node:os";
import { test } from "node:test";

import { ServerProcess } from "../../src/serverProcess";

function started(script: string): { process: ServerProcess; said: () => string } {
  const texts: string[] = [];
  const process_ = new ServerProcess({ command: process.execPath, args: ["-e", script] }, (text) => texts.push(text));
  return { process: process_, said: () => texts.join("") };
}

const FOR_EVER = "setInterval(() => undefined, 1000);";

void test("how a server ended is told in one line, by what it wrote last", async () => {
  const { process: server, said } = started("console.error('first'); console.error('out of order'); process.exitCode = 3");
  assert.equal(await server.ended, "exit code 3: out of order");
  assert.equal(said(), "first\nout of order\n");
});

void test("a server that ended as it should has no reason", async () => {
  assert.equal(await started("").process.ended, "");
});

void test("a program that cannot be started ends with the reason", async () => {
  const server = new ServerProcess({ command: "/nowhere/regreen", args: [] }, () => undefined);
  assert.match(await server.ended, /ENOENT/);
  await server.end();
});

void test("a server is ended by the end of its input, which it may obey in peace", async () => {
  const { process: server, said } = started("process.stdin.resume().on('end', () => console.error('in peace'))");
  await server.end();
  assert.equal(await server.ended, "");
  assert.equal(said(), "in peace\n");
});

void test("a server that does not hear is ended by force", { skip: process.platform === "win32" && "there are no signals" }, async () => {
  const { process: server, said } = started(`process.on('SIGTERM', () => undefined); console.error('deaf'); ${FOR_EVER}`);
  while (said() === "") {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await server.end();
  assert.match(await server.ended, /^ended by SIGKILL/);
});

void test("its end is known although a child of its own holds its pipes", { skip: process.platform === "win32" && "there is no sleep" }, async () => {
  const { process: server } = started("require('node:child_process').spawn('sleep', ['3'], {stdio: 'inherit'}); process.exit(1)");
  assert.deepEqual(await server.endedWithin(2500), { why: "exit code 1" });
});

void test("it runs in the user's home, where no project's files are found", async () => {
  const { process: server, said } = started("console.error(process.cwd())");
  await server.ended;
  assert.equal(said().trim(), os.homedir());
});
