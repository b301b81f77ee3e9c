/** Runs the tests of one file inside of an extension host, and what they all ask of VS Code. */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import * as vscode from "vscode";

const tests: [name: string, work: () => Promise<void>][] = [];

/** Add a test; they run in the order in which they are added, each in what the ones before it left. */
export function test(name: string, work: () => Promise<void>): void {
  tests.push([name, work]);
}

/** Run them all up to the first that fails. */
export async function run(): Promise<void> {
  for (const [name, work] of tests) {
    try {
      await work();
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, { cause: error });
    }
    console.log(`passed: ${name}`);
  }
}

/** Wait until a question has an answer other than undefined and false, and give it. */
export async function until<T>(what: string, ask: () => T | Promise<T>, seconds = 60): Promise<Exclude<T, undefined | false>> {
  const deadline = Date.now() + seconds * 1000;
  let asked = 0;
  for (; Date.now() < deadline; asked += 1) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) {
      return answer as Exclude<T, undefined | false>;
    }
    await pause(50);
  }
  throw new assert.AssertionError({ message: `${what}: not within ${seconds} s, asked ${asked} times` });
}

/** A file of the only open folder. */
export function file(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  assert.ok(folder !== undefined, "no folder is open");
  return vscode.Uri.joinPath(folder, name);
}

/** Our extension. */
export function ours(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension("regreen.regreen");
  assert.ok(found !== undefined, "the extension is not installed");
  return found;
}

/** Open a file in an editor. */
export async function show(name: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(file(name));
  await vscode.window.showTextDocument(document, { preview: false });
  return document;
}

/** Our diagnostics of a file with this code. */
export function marks(name: string, code: string): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(file(name)).filter((mark) => mark.source === "regreen" && mark.code === code);
}

/** Our code actions at a 0-based line of a file. */
export async function actions(name: string, line: number): Promise<vscode.CodeAction[]> {
  await vscode.workspace.openTextDocument(file(name));
  const range = new vscode.Range(line, 4, line, 4);
  const found = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", file(name), range);
  return found.filter((action) => action.kind?.value === "quickfix.regreen");
}

/** Whether the server serves: it lists what is red then. */
export async function serving(): Promise<boolean> {
  try {
    await vscode.commands.executeCommand("regreen.server.status", {});
    return true;
  } catch {
    return false;
  }
}
