/** From a fresh folder to a red test with a fix, as VS Code's API tells it to other extensions. */

import assert from "node:assert/strict";
import * as vscode from "vscode";
import { actions, file, marks, ours, serving, show, test, until } from "./running";

export { run } from "./running";

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

test("the extension sleeps until a Python file is opened", async () => {
  assert.equal(ours().isActive, false);
  await show("cart.py");
  await until("it is active", () => ours().isActive);
  await until("it serves", serving);
});

test("every command of the manifest is registered", async () => {
  const registered = new Set(await vscode.commands.getCommands(true));
  const { contributes } = ours().packageJSON as Manifest;
  assert.ok(contributes.commands.length > 10);
  assert.deepEqual(contributes.commands.map(({ command }) => command).filter((command) => !registered.has(command)), []);
});

test("a saved bug is an error where a test failed, and its fix is an information where it belongs", async () => {
  await vscode.commands.executeCommand("regreen.runTests");
  assert.deepEqual(marks("test_cart.py", "test-failed"), []);
  const document = await show("cart.py");
  const at = document.positionAt(document.getText().indexOf("+="));
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(at, at.translate(0, 1)), "-");
  assert.ok(await vscode.workspace.applyEdit(edit));
  assert.ok(await document.save());
  const reds = await until("both tests are red", () => (marks("test_cart.py", "test-failed").length === 2 ? marks("test_cart.py", "test-failed") : undefined));
  assert.deepEqual(new Set(reds.map((red) => red.severity)), new Set([vscode.DiagnosticSeverity.Error]));
  assert.deepEqual(reds.map((red) => red.range.start.line).sort(), [5, 9]);
  assert.match(reds.map((red) => red.message).join("\n"), /Expected -7, got 7/);
  const [fix] = await until("the fix has a mark", () => (marks("cart.py", "verified-fix").length > 0 ? marks("cart.py", "verified-fix") : undefined));
  assert.deepEqual([fix?.severity, fix?.range.start.line], [vscode.DiagnosticSeverity.Information, 3]);
});

test("a verified fix without a doubt is a preferred quick fix, and nothing else of ours is preferred", async () => {
  const offered = await until("a fix is offered", async () => {
    const found = await actions("test_cart.py", 5);
    return found.some((action) => action.title.startsWith("Fix test_total")) ? found : undefined;
  });
  const preferred = offered.filter((action) => action.isPreferred === true);
  assert.deepEqual(preferred.map((action) => action.title.split(" (")[0]), ["Fix test_total: `-=` → `+=` in cart.py:4"]);
  assert.ok(offered.some((action) => action.title === "Explain test_total"));
});

test("a red test has lenses that lead to its fix", async () => {
  const lenses = await until("lenses", async () => {
    const found = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", file("test_cart.py"), 20);
    return found.some((lens) => lens.command?.title === "Preview") ? found : undefined;
  });
  const titles = lenses.filter((lens) => lens.range.start.line === 3).map((lens) => lens.command?.title);
  assert.deepEqual(titles, ["Expected -7, got 7 · Fix ready: `-=` → `+=` (thin)", "Preview", "Apply"]);
});

test("the report is a page of Markdown with all that is known, and a link to what its verdict means", async () => {
  await vscode.commands.executeCommand("regreen.showReport", { nodeid: "test_cart.py::test_total" });
  await until("a page is shown", () => vscode.window.tabGroups.activeTabGroup.activeTab?.input instanceof vscode.TabInputWebview);
  const uri = vscode.Uri.from({ scheme: "regreen-report", path: "/test_total.md", query: "test_cart.py::test_total" });
  const text = (await vscode.workspace.openTextDocument(uri)).getText();
  for (const part of ["**VERIFIED**", "## Cause", "## What was tried", "no language model was asked", "```diff", "+        result += price", "Run it yourself", "-m pytest"]) {
    assert.ok(text.includes(part), `${part} is missing in\n${text}`);
  }
  const link = /\[What VERIFIED means\]\((.+)#(.+)\)/.exec(text);
  assert.ok(link?.[1] !== undefined && link[2] !== undefined, text);
  const page = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(uri, "..", link[1]));
  assert.match(page.getText(), new RegExp(`^#+ .*${link[2]}`, "im"));
});

test("where no fix is found, the lines that it may come from have hints, and no action of ours is preferred", async () => {
  await vscode.commands.executeCommand("regreen.server.heal", { nodeid: "test_odd.py::test_odd" });
  await vscode.commands.executeCommand("regreen.server.settled", {});
  const suspects = await until("suspects", () => (marks("odd.py", "suspect").length > 0 ? marks("odd.py", "suspect") : undefined));
  assert.deepEqual(new Set(suspects.map((suspect) => suspect.severity)), new Set([vscode.DiagnosticSeverity.Hint]));
  const offered = await actions("test_odd.py", 4);
  assert.ok(offered.length > 0);
  assert.deepEqual(offered.filter((action) => action.isPreferred === true), []);
});

test("a fix that is applied through its action is in the text, and the test is no longer red", async () => {
  const [fix] = await actions("test_cart.py", 5);
  assert.ok(fix !== undefined);
  const resolved = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    "vscode.executeCodeActionProvider",
    file("test_cart.py"),
    new vscode.Range(5, 4, 5, 4),
    "quickfix.regreen",
    10,
  );
  const edit = resolved.find((action) => action.title === fix.title)?.edit;
  assert.ok(edit !== undefined, "the action has an edit once it is resolved");
  assert.ok(await vscode.workspace.applyEdit(edit));
  const document = await vscode.workspace.openTextDocument(file("cart.py"));
  assert.ok(document.getText().includes("result += price"));
  await until("nothing is red", () => marks("test_cart.py", "test-failed").length === 0);
});
