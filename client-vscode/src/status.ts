import * as vscode from "vscode";
import type { Client } from "./client";
import { describe, type Shown } from "./words";

/** One entry in the status bar and one in the language status of Python files; a click opens the menu. */
export class Status implements vscode.Disposable {
  private readonly bar = vscode.window.createStatusBarItem("regreen", vscode.StatusBarAlignment.Left, 10);
  private readonly language = vscode.languages.createLanguageStatusItem("regreen", { language: "python", scheme: "file" });

  constructor() {
    this.bar.name = "Regreen";
    this.bar.command = "regreen.menu";
    this.language.name = "Regreen";
    this.language.command = { command: "regreen.menu", title: "Menu" };
    this.bar.show();
  }

  /** Show how the server and its projects are. */
  update(client: Client, progress: string): void {
    const shown = describe(client.life, client.statuses, progress);
    this.showInBar(shown);
    this.language.text = shown.text;
    this.language.detail = "Regreen";
    this.language.busy = shown.busy;
    this.language.severity = SEVERITIES[shown.severity];
    this.language.accessibilityInformation = { label: shown.label };
    const fixes = client.statuses.some((status) => status.fixes > 0);
    void vscode.commands.executeCommand("setContext", "regreen.hasFixes", fixes);
  }

  private showInBar(shown: Shown): void {
    this.bar.text = shown.text;
    this.bar.tooltip = new vscode.MarkdownString(shown.tooltip);
    this.bar.accessibilityInformation = { label: shown.label };
    this.bar.backgroundColor =
      shown.severity === "information" ? undefined : new vscode.ThemeColor(`statusBarItem.${shown.severity}Background`);
  }

  dispose(): void {
    this.bar.dispose();
    this.language.dispose();
  }
}

const SEVERITIES = {
  information: vscode.LanguageStatusSeverity.Information,
  warning: vscode.LanguageStatusSeverity.Warning,
  error: vscode.LanguageStatusSeverity.Error,
};
