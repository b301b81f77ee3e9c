import * as vscode from "vscode";
import { Client } from "./client";
import { intercept, register, type Parts } from "./commands";
import { Example } from "./example";
import { Interpreters } from "./interpreters";
import { middleware } from "./middleware";
import { OwnServer } from "./ownServer";
import { hiddenOf, Preview, tellOfHidden } from "./preview";
import { DOCS, Reports } from "./report";
import { Runs } from "./runs";
import { Secrets } from "./secrets";
import { Status } from "./status";
import { TestExplorer } from "./testExplorer";

let running: Client | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Regreen", { log: true });
  const interpreters = new Interpreters(log);
  const own = new OwnServer(context, interpreters, log);
  const secrets = new Secrets(context.secrets, context.globalState);
  const status = new Status();
  const listeners = {
    chosen: (scope: vscode.Uri) => interpreters.chosen(scope),
    command: (name: string, argument: object) => intercept(parts, name, argument),
    progress: (text: string) => {
      runs.tell(text);
      status.update(client, runs.progress);
    },
    foldersChanged: () => void client.askStatuses(),
    applying: (edit: vscode.WorkspaceEdit) => void tellOfHidden(hiddenOf(edit.entries().map(([file]) => file))),
  };
  const client = new Client(log, { locate: () => own.locate(), keys: () => secrets.keys(), middleware: middleware(listeners), docs: DOCS });
  const preview = new Preview(client);
  const reports = new Reports(client, context.extensionUri);
  const runs = new Runs(client, preview, (nodeid) => reports.show(nodeid));
  const example = new Example(context, client, runs, preview);
  const parts: Parts = { client, runs, preview, reports, secrets, example, own };
  context.subscriptions.push(
    ...[log, interpreters, status, client, preview, reports, runs, new TestExplorer(client, runs)],
    ...register(parts),
    client.onDidChange(() => {
      status.update(client, runs.progress);
    }),
    interpreters.onDidChange(() => void client.settingsChanged()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("regreen.path")) {
        void client.restart();
      }
    }),
  );
  running = client;
  void client.restart().then(() => example.guide());
}

export async function deactivate(): Promise<void> {
  await running?.end();
}
