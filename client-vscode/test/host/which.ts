/** Which interpreter runs the tests of a project: its test fails with the interpreter's name. */

import assert from "node:assert/strict";
import * as vscode from "vscode";
import { file, marks, serving, show, until } from "./running";

/** Run the tests of a file; the name of the interpreter that ran them. */
export async function nameOf(name: string): Promise<string> {
  await show(name);
  await until("it serves", serving);
  await vscode.commands.executeCommand("regreen.server.runTests", { uri: file(name).toString() });
  await vscode.commands.executeCommand("regreen.server.settled", {});
  const [red] = await until("the test is red", () => (marks(name, "test-failed").length > 0 ? marks(name, "test-failed") : undefined));
  const found = /got '(\w+)'/.exec(red?.message ?? "");
  assert.ok(found?.[1] !== undefined, red?.message);
  return found[1];
}

/** Choose another interpreter in a stand-in for another extension. */
export async function choose(extension: string, place: string, interpreter: string): Promise<void> {
  const standIn = vscode.extensions.getExtension<{ choose(place: string, interpreter: string): void }>(extension);
  assert.ok(standIn !== undefined);
  (await standIn.activate()).choose(place, interpreter);
}
