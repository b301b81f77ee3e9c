import * as vscode from "vscode";
import type { Client } from "./client";
import { shortName } from "./runs";

const SCHEME = "regreen-report";

/** The folder of the documentation. Its pages are documents beside the reports: a preview follows no link to a file elsewhere. */
export const DOCS = "docs";
const PAGE = new RegExp(`^/${DOCS}/[\\w-]+\\.md$`);

/** The report of a red test as a Markdown page: cause, what was tried and its cost, fixes with their evidence. */
export class Reports implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  private readonly pages = new Map<string, { nodeid: string; text: string }>();

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly client: Client,
    private readonly extension: vscode.Uri,
  ) {}

  async show(nodeid: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${shortName(nodeid)}.md`, query: nodeid });
    const text = await this.text(nodeid);
    if (text === "") {
      void vscode.window.showInformationMessage(`Regreen: nothing is known of ${shortName(nodeid)} any more.`);
      return;
    }
    this.pages.set(uri.toString(), { nodeid, text });
    this.changed.fire(uri);
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (PAGE.test(uri.path)) {
      return new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.extension, uri.path)));
    }
    return this.pages.get(uri.toString())?.text ?? "This report is gone: `Regreen: Show Report` makes a new one.\n";
  }

  private async text(nodeid: string): Promise<string> {
    const { markdown } = await this.client.command<{ markdown: string }>("explain", { nodeid, show: false });
    return markdown;
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
