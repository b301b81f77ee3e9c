import * as vscode from "vscode";
import type { Interpreters } from "./interpreters";
import { existing, installExtra, type Places } from "./privateEnvironment";
import { thisMachine } from "./run";
import { locate, type ServerCommand } from "./server";

/** Where the server comes from, with the setting, the places and the progress of this window. */
export class OwnServer {
  private readonly places: Places;
  private inUse: ServerCommand["origin"] | undefined;

  constructor(
    context: vscode.ExtensionContext,
    private readonly interpreters: Interpreters,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const wheels = vscode.Uri.joinPath(context.extensionUri, "client-vscode", "wheels");
    this.places = { storage: context.globalStorageUri.fsPath, wheels: wheels.fsPath };
  }

  /** How to start the server; makes an environment for it when there is none. `online`: from the package index. */
  async locate(online = false): Promise<ServerCommand> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const chosen = folder === undefined ? undefined : await this.interpreters.chosen(folder);
    const machine = thisMachine();
    const setting = vscode.workspace.getConfiguration("regreen").get<string>("path", "");
    const pythons = chosen === undefined ? [] : [chosen];
    const found = await locate({ machine, setting, places: this.places, pythons, report: this.report, online });
    this.inUse = found.origin;
    return found;
  }

  /** Install what language models take into the server's own environment; true when it is there. */
  async installModels(): Promise<boolean> {
    const machine = thisMachine();
    const environment = this.inUse === "private" ? await existing(machine, this.places) : undefined;
    if (environment === undefined) {
      throw new Error(
        "Regreen's own environment is not in use here. Install the extra beside the regreen that is: pip install 'regreen[llm]'.",
      );
    }
    const options = { location: vscode.ProgressLocation.Notification, title: "Regreen: installing language model support" };
    const made = await vscode.window.withProgress(options, () => installExtra(machine, this.places, environment, "llm", this.report));
    if (made.kind !== "made") {
      this.log.error(made.output);
      throw new Error(made.message);
    }
    return true;
  }

  private readonly report = (sentence: string): void => {
    this.log.info(sentence);
    vscode.window.setStatusBarMessage(`$(sync~spin) ${sentence}`, 10_000);
  };
}
