import * as vscode from "vscode";
import type { Client } from "./client";
import type { Example } from "./example";
import { pickRed, showMenu } from "./menu";
import type { OwnServer } from "./ownServer";
import { applyFix, type Preview } from "./preview";
import type { Argument, Red } from "./protocol";
import type { Reports } from "./report";
import type { Runs } from "./runs";
import type { Secrets } from "./secrets";

export interface Parts {
  readonly client: Client;
  readonly runs: Runs;
  readonly preview: Preview;
  readonly reports: Reports;
  readonly secrets: Secrets;
  readonly example: Example;
  readonly own: OwnServer;
}

/** What each command of the palette does, by its id without `regreen.`. */
function table(parts: Parts): Record<string, (argument?: Argument) => unknown> {
  const { client, runs, preview, reports } = parts;
  return {
    runTests: () => runs.runTests(activeFolder()),
    runFileTests: () => runs.runTests(activeFile()),
    findFixes: () => runs.heal(activeFolder()),
    stop: () => runs.stop(),
    toggleAutoHeal: () => toggleAutoHeal(client),
    previewFix: async (argument) => {
      const fix = argument?.fix ?? (await fixHere(client));
      await (fix === undefined ? undefined : preview.show(fix));
    },
    applyFix: async () => {
      const fix = await fixHere(client);
      await (fix === undefined ? undefined : applyFix(client, fix));
    },
    applyPreviewed: () => preview.apply(),
    nextPreviewed: () => preview.next(),
    discardPreviewed: () => preview.discard(),
    showReport: async (argument) => {
      const nodeid = argument?.nodeid ?? (await pickRed(client, "The report of which red test?"))?.nodeid;
      await (nodeid === undefined ? undefined : reports.show(nodeid));
    },
    resume: async () => {
      const red = await pickRed(client, "Go on with which red test?");
      const hint = red && (await vscode.window.showInputBox({ title: red.name, prompt: "What should the model know?" }));
      await (red === undefined || hint === undefined ? undefined : runs.resume({ nodeid: red.nodeid, root: pathOf(red.root), hint }));
    },
    setApiKey: async () => ((await parts.secrets.ask()) ? client.restart() : undefined),
    installModels: async () => ((await parts.own.installModels()) ? client.restart() : undefined),
    fetchServer: async () => {
      const { origin, command } = await parts.own.locate(true);
      if (origin === "private") {
        await client.restart();
      } else {
        void vscode.window.showInformationMessage(`Regreen: nothing was fetched, for ${command} is in use.`);
      }
    },
    tryExample: () => parts.example.open(),
    menu: () => showMenu(client),
    showLog: () => {
      client.log.show();
    },
    restart: () => client.restart(),
  };
}

/** Register every command; what goes wrong in one is told, as the answer to it. */
export function register(parts: Parts): vscode.Disposable[] {
  return Object.entries(table(parts)).map(([name, work]) =>
    vscode.commands.registerCommand(`regreen.${name}`, async (argument?: Argument) => {
      try {
        await work(argument);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        parts.client.log.error(`${name}: ${message}`);
        void vscode.window.showErrorMessage(`Regreen: ${message}`);
      }
    }),
  );
}

/** What commands of the server's mean here, when a lens or a lightbulb calls them; false leaves them to the server. */
export async function intercept(parts: Parts, name: string, argument: Argument): Promise<boolean> {
  const { runs, preview, reports, client } = parts;
  switch (name) {
    case "heal":
      void runs.heal(argument);
      return true;
    case "showDiff":
      await preview.show(argument.fix ?? "");
      return true;
    case "explain":
      await reports.show(argument.nodeid ?? "");
      return true;
    case "apply":
      await applyFix(client, argument.fix ?? "");
      return true;
    default:
      return false;
  }
}

async function toggleAutoHeal(client: Client): Promise<void> {
  const { autoHeal } = await client.command<{ autoHeal: boolean }>("toggleAutoHeal", activeFolder());
  const words = autoHeal ? "on: small verified fixes are applied after a save by hand" : "off";
  vscode.window.setStatusBarMessage(`Regreen: auto-heal on save is ${words}`, 5000);
}

/** The best fix at the cursor; else one of a red test that the user picks. */
async function fixHere(client: Client): Promise<string | undefined> {
  const { reds } = await client.command<{ reds: readonly Red[] }>("reds");
  const editor = vscode.window.activeTextEditor;
  const here = editor === undefined ? [] : reds.filter((red) => isAt(red, editor.document.uri.toString(), editor.selection.active.line));
  const fixable = (here.length > 0 ? here : reds).filter((red) => red.fixes.length > 0);
  if (fixable.length === 0) {
    void vscode.window.showInformationMessage("Regreen: no verified fix is ready. `Regreen: Find Fixes` looks for some.");
    return undefined;
  }
  const items = fixable.map((red) => ({ label: red.name, description: red.fixes[0]?.short ?? "", red }));
  const picked = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: "The fix of which red test?" });
  return picked?.red.fixes[0]?.fix;
}

function isAt(red: Red, uri: string, line: number): boolean {
  return (red.uri === uri && red.line === line) || (red.at.uri === uri && red.at.line === line);
}

/** The workspace folder of the active editor, the only one, or all of them. */
function activeFolder(): Argument {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const folder = uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(uri);
  return folder === undefined ? {} : { root: folder.uri.fsPath };
}

function activeFile(): Argument {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri?.scheme !== "file") {
    throw new Error("Open the file whose tests are meant.");
  }
  return { uri: uri.toString() };
}

function pathOf(uri: string): string {
  return vscode.Uri.parse(uri).fsPath;
}
