import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Client } from "./client";
import { applyFix, type Preview } from "./preview";
import type { Red } from "./protocol";
import type { Runs } from "./runs";

const OPENED = "exampleFolder";

/** A small project with a red test, in a folder of its own that may be thrown away, and the way to its first fix. */
export class Example {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly client: Client,
    private readonly runs: Runs,
    private readonly preview: Preview,
  ) {}

  /** Copy the example and open it; the window that opens goes on with `guide`. */
  async open(): Promise<void> {
    const folder = join(await mkdtemp(join(tmpdir(), "regreen-example-")), "shop");
    await cp(join(this.context.extensionPath, "client-vscode", "media", "example"), folder, { recursive: true });
    await this.context.globalState.update(OPENED, folder);
    const occupied = vscode.workspace.workspaceFolders !== undefined;
    await vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(folder), { forceNewWindow: occupied });
  }

  /** In the window of the example: from the red test to the first fix. Does nothing in any other window. */
  async guide(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (folder === undefined || this.context.globalState.get<string>(OPENED) !== folder.fsPath) {
      return;
    }
    await this.context.globalState.update(OPENED, undefined);
    const test = vscode.Uri.joinPath(folder, "test_shop.py");
    await vscode.window.showTextDocument(test, { preview: false });
    if (!(await goOn("This is a small shop. Three of its tests are red, because `shop.py` has a bug.", "Find the Fix"))) {
      return;
    }
    if (!(await this.runs.find({ root: folder.fsPath }))) {
      return;
    }
    const { reds } = await this.client.command<{ reds: readonly Red[] }>("reds");
    const fix = reds.flatMap((red) => red.fixes)[0];
    if (fix === undefined) {
      await vscode.window.showErrorMessage("Regreen found no fix for its own example. The log may tell why.", "Show Log");
      this.client.log.show();
      return;
    }
    if (!(await goOn(`Found, and verified in a private copy: ${fix.title}. No file has changed.`, "Preview It"))) {
      return;
    }
    await this.preview.show(fix.fix);
    const next = await vscode.window.showInformationMessage(
      "Left is the code as it is, right with the fix. In your own projects the same is behind the lightbulb.",
      "Apply",
    );
    if (next === undefined) {
      return;
    }
    await this.preview.discard();
    const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder, "shop.py"));
    await vscode.window.showTextDocument(document, { preview: false });
    if (!(await applyFix(this.client, fix.fix))) {
      return;
    }
    await document.save();
    await this.client.command("settled", { root: folder.fsPath });
    const left = (await this.client.command<{ reds: readonly Red[] }>("reds")).reds.length;
    await vscode.window.showInformationMessage(
      left === 0
        ? "Green. In a project of your own: save a file, and Regreen runs what it affects."
        : `Applied; ${left} more to go. The lightbulb at each red test has what was found for it.`,
    );
  }
}

async function goOn(message: string, action: string): Promise<boolean> {
  return (await vscode.window.showInformationMessage(message, action)) === action;
}
