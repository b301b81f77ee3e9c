import * as vscode from "vscode";
import type { Client } from "./client";
import type { Red } from "./protocol";
import type { Runs } from "./runs";

const SETTING = "regreen.testExplorer";

/** Red tests with their fixes in the Test Explorer, beside those of other extensions; only where the setting asks for it. */
export class TestExplorer implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private controller: vscode.TestController | undefined;
  private shown = "";

  constructor(
    private readonly client: Client,
    private readonly runs: Runs,
  ) {
    this.disposables.push(
      client.onDidChange(() => void this.refresh()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(SETTING)) {
          void this.refresh();
        }
      }),
    );
  }

  private async refresh(): Promise<void> {
    if (!vscode.workspace.getConfiguration().get<boolean>(SETTING, false)) {
      this.controller?.dispose();
      this.controller = undefined;
      this.shown = "";
      return;
    }
    const controller = (this.controller ??= this.create());
    const reds = this.client.life === "serving" ? (await this.client.command<{ reds: readonly Red[] }>("reds")).reds : [];
    const now = JSON.stringify(reds);
    if (now === this.shown) {
      return;
    }
    this.shown = now;
    controller.items.replace(reds.map((red) => item(controller, red)));
    const run = controller.createTestRun(new vscode.TestRunRequest(), "Regreen", false);
    for (const red of reds) {
      const test = controller.items.get(red.nodeid);
      if (test !== undefined) {
        run.failed(test, message(red));
      }
    }
    run.end();
  }

  private create(): vscode.TestController {
    const controller = vscode.tests.createTestController("regreen", "Regreen: red tests");
    controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, async (request) => {
      for (const test of request.include ?? []) {
        await this.runs.runTests({ nodeid: test.id });
      }
      if (request.include === undefined) {
        await this.runs.runTests({});
      }
    });
    return controller;
  }

  dispose(): void {
    this.controller?.dispose();
    for (const disposable of this.disposables.splice(0)) {
      disposable.dispose();
    }
  }
}

function item(controller: vscode.TestController, red: Red): vscode.TestItem {
  const test = controller.createTestItem(red.nodeid, red.name, vscode.Uri.parse(red.uri));
  test.range = new vscode.Range(red.line, 0, red.line, 0);
  test.description = red.fixes[0]?.short ?? "";
  return test;
}

function message(red: Red): vscode.TestMessage {
  const { expected, actual } = red;
  const told = expected === null || actual === null ? new vscode.TestMessage(red.message) : vscode.TestMessage.diff(red.message, expected, actual);
  told.location = new vscode.Location(vscode.Uri.parse(red.at.uri), new vscode.Position(red.at.line, 0));
  told.contextValue = red.fixes.length > 0 ? "regreen.fix" : "regreen.red";
  return told;
}
