import * as vscode from "vscode";
import type { Client } from "./client";
import type { Argument, Red } from "./protocol";
import type { Preview } from "./preview";
import { applyFix } from "./preview";

/** Runs that the user asked for: each shows its progress with a cancel button, and its end. Others are in the status alone. */
export class Runs implements vscode.Disposable {
  private readonly moved = new vscode.EventEmitter<string>();
  private stops = 0;

  /** What the run that goes on said last; "" when none does. */
  progress = "";

  constructor(
    private readonly client: Client,
    private readonly preview: Preview,
    private readonly report: (nodeid: string) => Promise<void>,
  ) {}

  /** The server told how far a run is. */
  tell(text: string): void {
    this.progress = text;
    this.moved.fire(text);
  }

  /** End all that runs; nothing more is told of it. */
  async stop(): Promise<void> {
    this.stops += 1;
    await this.client.command("cancel");
  }

  /** Run tests: of a node id, of a file, or all. */
  async runTests(argument: Argument): Promise<void> {
    await this.ask("runTests", "Running tests", argument); // how it ended is in the status bar
  }

  /** Look for fixes of one red test, of a file's, or of all, and tell what was found. */
  async heal(argument: Argument): Promise<void> {
    if (await this.find(argument)) {
      await this.tellOfFixes(argument);
    }
  }

  /** The same without a word at its end; false when it did not begin or was cancelled. */
  find(argument: Argument): Promise<boolean> {
    const title = argument.nodeid === undefined ? "Looking for fixes" : `Looking for a fix of ${shortName(argument.nodeid)}`;
    return this.ask("heal", title, argument);
  }

  /** Take up a model's heal of a red test where it was left. */
  async resume(argument: Argument): Promise<void> {
    if (await this.ask("resume", "Going on", argument)) {
      await this.tellOfFixes(argument);
    }
  }

  /** Start work and wait until it is over; false when it did not begin or was cancelled. */
  private async ask(command: string, title: string, argument: Argument): Promise<boolean> {
    const { message } = await this.client.command<{ message: string }>(command, argument);
    if (message !== "started") {
      void vscode.window.showInformationMessage(`Regreen: ${message}`);
      return false;
    }
    const options = { location: vscode.ProgressLocation.Notification, title: `Regreen: ${title}`, cancellable: true };
    const stops = this.stops;
    return vscode.window.withProgress(options, async (progress, token) => {
      const moved = this.moved.event((text) => {
        progress.report({ message: text });
      });
      const cancelled = token.onCancellationRequested(() => this.stop());
      try {
        await this.client.command("settled", argument);
      } finally {
        moved.dispose();
        cancelled.dispose();
      }
      return this.stops === stops;
    });
  }

  private async tellOfFixes(argument: Argument): Promise<void> {
    const { reds } = await this.client.command<{ reds: readonly Red[] }>("reds");
    const meant = reds.filter((red) => matches(red, argument));
    const found = meant.find((red) => red.fixes.length > 0);
    const [fix] = found?.fixes ?? [];
    if (found !== undefined && fix !== undefined) {
      const others = meant.filter((red) => red.fixes.length > 0).length - 1;
      const more = others > 0 ? ` So are ${others} more for other tests.` : "";
      const picked = await vscode.window.showInformationMessage(`Regreen: ${fix.title} is ready.${more}`, "Preview", "Apply");
      await (picked === "Preview" ? this.preview.show(fix.fix) : picked === "Apply" ? applyFix(this.client, fix.fix) : undefined);
      return;
    }
    const [first] = meant;
    if (first === undefined) {
      void vscode.window.showInformationMessage("Regreen: nothing is red here.");
      return;
    }
    const why = first.note === "" ? "no fix was found" : first.note;
    const picked = await vscode.window.showInformationMessage(`Regreen: ${first.name}: ${why}`, "Show Report");
    if (picked !== undefined) {
      await this.report(first.nodeid);
    }
  }

  dispose(): void {
    this.moved.dispose();
  }
}

function matches(red: Red, argument: Argument): boolean {
  if (argument.nodeid !== undefined) {
    return red.nodeid === argument.nodeid;
  }
  return argument.uri === undefined || red.uri === argument.uri || red.at.uri === argument.uri;
}

/** The last part of a node id. */
export function shortName(nodeid: string): string {
  return nodeid.split("::").pop() ?? nodeid;
}
