import * as vscode from "vscode";
import type { Client } from "./client";
import type { Red } from "./protocol";
import { isBusy } from "./protocol";
import { facts } from "./words";

interface Entry extends vscode.QuickPickItem {
  readonly command?: string;
  readonly argument?: unknown;
}

/** All that can be done now, as a list; also how things are. */
export async function showMenu(client: Client): Promise<void> {
  const entries = client.life === "serving" ? await serving(client) : [];
  const always = [
    heading("Regreen"),
    entry("$(gear) Settings", "workbench.action.openSettings", "regreen."),
    entry("$(output) Show Log", "regreen.showLog"),
    entry("$(debug-restart) Restart Server", "regreen.restart"),
  ];
  const placeHolder = facts(client.statuses).join(" · ");
  const picked = await vscode.window.showQuickPick<Entry>([...entries, ...always], { title: "Regreen", placeHolder });
  if (picked?.command !== undefined) {
    await vscode.commands.executeCommand(picked.command, picked.argument);
  }
}

async function serving(client: Client): Promise<Entry[]> {
  const { reds } = await client.command<{ reds: readonly Red[] }>("reds");
  const heals = client.statuses.some((status) => status.autoHeal);
  return [
    ...(client.statuses.some(isBusy) ? [entry("$(debug-stop) Stop What Is Running", "regreen.stop")] : []),
    entry("$(run-all) Run Tests", "regreen.runTests"),
    ...(reds.length > 0 ? [entry("$(lightbulb) Find Fixes for the Red Tests", "regreen.findFixes")] : []),
    entry(`$(zap) Turn Auto-heal on Save ${heals ? "Off" : "On"}`, "regreen.toggleAutoHeal"),
    ...(reds.length > 0 ? [heading("Red tests"), ...reds.map(redEntry)] : []),
  ];
}

function redEntry(red: Red): Entry {
  const [fix] = red.fixes;
  const more = red.fixes.length > 1 ? `, and ${red.fixes.length - 1} more` : "";
  const detail = fix === undefined ? "" : `Fix ready: ${fix.short}${more}`;
  const label = `$(${fix === undefined ? "error" : "lightbulb"}) ${red.name}`;
  const [description = ""] = red.message.split("\n");
  const common = { label, description, detail };
  return fix === undefined
    ? { ...common, command: "regreen.showReport", argument: { nodeid: red.nodeid } }
    : { ...common, command: "regreen.previewFix", argument: { fix: fix.fix } };
}

/** Let the user pick one of the red tests; the only one is taken at once. */
export async function pickRed(client: Client, title: string): Promise<Red | undefined> {
  const { reds } = await client.command<{ reds: readonly Red[] }>("reds");
  if (reds.length === 0) {
    void vscode.window.showInformationMessage("Regreen: no test is red, as far as is known.");
  }
  if (reds.length <= 1) {
    return reds[0];
  }
  const items = reds.map((red) => ({ label: red.name, description: red.message.split("\n")[0] ?? "", red }));
  return (await vscode.window.showQuickPick(items, { title }))?.red;
}

function entry(label: string, command: string, argument?: unknown): Entry {
  return { label, command, argument };
}

function heading(label: string): Entry {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
