import * as vscode from "vscode";
import type { Client } from "./client";
import { fixOf, type Fix, type FixFiles, type Red } from "./protocol";

const PREVIEWING = "regreen.previewing";

/** Shows a fix side by side with the text as it is, and takes the user's answer: apply, next, discard. */
export class Preview implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private several: FixFiles | undefined;

  constructor(private readonly client: Client) {
    const followTabs = (): void => {
      void vscode.commands.executeCommand("setContext", PREVIEWING, this.shown() !== undefined);
    };
    this.disposables.push(vscode.window.tabGroups.onDidChangeTabs(followTabs));
  }

  /** Show what a fix would change. */
  async show(fix: string): Promise<void> {
    const files = await this.client.command<FixFiles | null>("diff", { fix });
    if (files === null) {
      void vscode.window.showInformationMessage("Regreen: this fix is no longer on offer.");
      return;
    }
    const [first, ...others] = files.files.map((file) => ({
      before: vscode.Uri.parse(file.uri),
      after: vscode.Uri.parse(file.afterUri),
    }));
    if (first === undefined) {
      return;
    }
    if (others.length === 0) {
      this.several = undefined;
      await vscode.commands.executeCommand("vscode.diff", first.before, first.after, files.title, { preview: true });
    } else {
      this.several = files;
      const changes = [first, ...others].map(({ before, after }) => [before, before, after]);
      await vscode.commands.executeCommand("vscode.changes", files.title, changes);
    }
  }

  /** Apply the fix that is shown; its files are left for the user to save. */
  async apply(): Promise<void> {
    const fix = this.shown();
    if (fix !== undefined && (await applyFix(this.client, fix))) {
      await this.discard();
    }
  }

  /** Show the next fix of the same red test. */
  async next(): Promise<void> {
    const fixes = await this.fixesOfTheTest();
    const at = fixes.findIndex((one) => one.fix === this.shown());
    const next = fixes[(at + 1) % fixes.length];
    if (next === undefined || fixes.length === 1) {
      void vscode.window.showInformationMessage("Regreen: there is no other fix for this test.");
      return;
    }
    await this.discard();
    await this.show(next.fix);
  }

  /** Close the preview; nothing changes. */
  async discard(): Promise<void> {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    if (tab !== undefined && this.shown() !== undefined) {
      this.several = undefined;
      await vscode.window.tabGroups.close(tab);
    }
  }

  /** The fix that the active tab shows. */
  private shown(): string | undefined {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    if (tab?.input instanceof vscode.TabInputTextDiff) {
      const { scheme, path } = tab.input.modified;
      return fixOf(scheme, path);
    }
    // What a tab of several files shows is told by its label alone, to which VS Code adds how many there are.
    return this.several !== undefined && tab?.label.startsWith(this.several.title) ? this.several.fix : undefined;
  }

  private async fixesOfTheTest(): Promise<readonly Fix[]> {
    const { reds } = await this.client.command<{ reds: readonly Red[] }>("reds");
    const shown = this.shown();
    return reds.find((red) => red.fixes.some((fix) => fix.fix === shown))?.fixes ?? [];
  }

  dispose(): void {
    for (const disposable of this.disposables.splice(0)) {
      disposable.dispose();
    }
  }
}

/** Have the server apply a fix as one edit, after it looked whether it still fits; it says so when it does not. */
export async function applyFix(client: Client, fix: string): Promise<boolean> {
  const files = await client.command<FixFiles | null>("diff", { fix });
  const hidden = hiddenOf((files?.files ?? []).map((file) => vscode.Uri.parse(file.uri)));
  const { applied } = await client.command<{ applied: boolean }>("apply", { fix });
  if (applied) {
    void tellOfHidden(hidden);
  }
  return applied;
}

/** Those of some files that no tab shows: an edit changes them unseen, and unsaved. */
export function hiddenOf(files: readonly vscode.Uri[]): readonly vscode.Uri[] {
  const shown = new Set(
    vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .map((tab) => (tab.input instanceof vscode.TabInputText ? tab.input.uri.toString() : "")),
  );
  return files.filter((file) => !shown.has(file.toString()));
}

/** Name the files that a fix changed unseen; they are changed but not saved yet. */
export async function tellOfHidden(files: readonly vscode.Uri[]): Promise<void> {
  if (files.length === 0) {
    return;
  }
  const names = files.map((file) => vscode.workspace.asRelativePath(file)).join(", ");
  const picked = await vscode.window.showInformationMessage(`Regreen: the fix changed ${names}; not saved yet.`, "Save", "Show");
  for (const file of picked === undefined ? [] : files) {
    const document = await vscode.workspace.openTextDocument(file);
    await (picked === "Save" ? document.save() : vscode.window.showTextDocument(document, { preview: false }));
  }
}
