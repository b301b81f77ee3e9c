import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type LanguageClientOptions,
  type Middleware,
} from "vscode-languageclient/node";
import { Coalesced } from "./coalesce";
import type { Argument, ProjectStatus } from "./protocol";
import { ServerProblem, type ServerCommand } from "./server";
import type { Life } from "./words";

export interface ClientParts {
  /** Finds (or makes) what starts the server; rejects with `ServerProblem`. */
  readonly locate: () => Promise<ServerCommand>;
  readonly keys: () => Promise<Record<string, string>>;
  readonly middleware: Middleware;
  /** The URI of the documentation's folder, relative to a report's. */
  readonly docs: string;
}

/** The language server of this window: started, stopped, restarted when asked, and never restarted by itself. */
export class Client implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly statusByRoot = new Map<string, ProjectStatus>();
  private readonly restarts = new Coalesced(() => this.startAnew());
  private client: LanguageClient | undefined;
  private stopping = false;

  /** The life of the server or the state of a project changed. */
  readonly onDidChange = this.changed.event;
  life: Life = "starting";

  constructor(
    readonly log: vscode.LogOutputChannel,
    private readonly parts: ClientParts,
  ) {}

  get statuses(): readonly ProjectStatus[] {
    return [...this.statusByRoot.values()];
  }

  /** Start the server, or end it and start it anew; what goes wrong is told to the user. */
  restart(): Promise<void> {
    return this.restarts.run();
  }

  /**
   * Run a command of the server, `regreen.server.<name>`.
   *
   * @throws when there is no server, or it refuses.
   */
  async command<T>(name: string, argument: Argument = {}): Promise<T> {
    if (this.client?.state !== State.Running) {
      throw new Error("Regreen's server is not running. `Regreen: Restart Server` starts it.");
    }
    return this.client.sendRequest<T>("workspace/executeCommand", {
      command: `regreen.server.${name}`,
      arguments: [argument],
    });
  }

  /** Let the server ask for its settings again. */
  async settingsChanged(): Promise<void> {
    if (this.client?.state === State.Running) {
      await this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
    }
  }

  /** Learn how all projects are: of those whose folder was closed nothing is told any more. */
  async askStatuses(): Promise<void> {
    if (this.client?.state !== State.Running) {
      return;
    }
    const { projects } = await this.command<{ projects: readonly ProjectStatus[] }>("status");
    this.statusByRoot.clear();
    projects.forEach((status) => this.statusByRoot.set(status.root, status));
    this.changed.fire();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client !== undefined) {
      this.stopping = true;
      try {
        await client.dispose();
      } catch (error) {
        this.log.warn(`The server did not stop as it should: ${String(error)}`);
      } finally {
        this.stopping = false;
      }
    }
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async startAnew(): Promise<void> {
    await this.stop();
    this.statusByRoot.clear();
    this.live("starting");
    try {
      const { command, args, explanation } = await this.parts.locate();
      explanation.forEach((line) => {
        this.log.info(line);
      });
      const keys = await this.parts.keys();
      const client = new Connection("regreen", "Regreen", { command, args: [...args] }, this.options(keys));
      this.client = client;
      client.onNotification("regreen/status", (status: ProjectStatus) => {
        this.statusByRoot.set(status.root, status);
        this.changed.fire();
      });
      await client.start().catch(neverServed);
      this.live("serving");
    } catch (error) {
      this.live("stopped");
      void this.tellWhyNot(error);
    }
  }

  private options(keys: Record<string, string>): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: "file", language: "python" }],
      outputChannel: this.log,
      traceOutputChannel: withoutKeys(this.log, keys),
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: this.parts.middleware,
      initializationOptions: {
        trusted: vscode.workspace.isTrusted,
        client: { name: "vscode", status: true, docs: this.parts.docs },
        keys,
      },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => {
          if (!this.stopping && this.life === "serving") {
            this.live("stopped");
            void this.tellOfCrash();
          }
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  private live(life: Life): void {
    this.life = life;
    if (life === "stopped") {
      this.statusByRoot.clear();
    }
    this.changed.fire();
  }

  private async tellOfCrash(): Promise<void> {
    const message = "Regreen's server ended unexpectedly. Nothing of yours was changed.";
    this.log.error(message);
    await this.offer(message, { Restart: () => this.restart() });
  }

  private async tellWhyNot(error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    const tried = error instanceof ServerProblem ? error.explanation : [];
    [...tried, message].forEach((line) => {
      this.log.error(line);
    });
    await this.offer(`Regreen cannot start: ${message}`, {
      ...(error instanceof ServerProblem ? remedies(error) : {}),
      "Try Again": () => this.restart(),
    });
  }

  private async offer(message: string, actions: Record<string, () => unknown>): Promise<void> {
    const picked = await vscode.window.showErrorMessage(message, ...Object.keys(actions), "Show Log");
    if (picked === "Show Log") {
      this.log.show();
    } else if (picked !== undefined) {
      await actions[picked]?.();
    }
  }
}

/** What goes wrong between VS Code and the server is logged: `Client` tells the user, once and in its words. */
class Connection extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function neverServed(error: unknown): never {
  const what = error instanceof Error ? error.message : String(error);
  throw new Error(`its server ended, or failed, before it served (${what}). The log has what it said.`);
}

/** The log for what passes between VS Code and the server: the keys are in the first message, and are left out. */
function withoutKeys(log: vscode.LogOutputChannel, keys: Record<string, string>): vscode.LogOutputChannel {
  const written = Object.values(keys).map((key) => JSON.stringify(key).slice(1, -1));
  const trace = (message: string): void => {
    log.trace(written.reduce((text, key) => text.replaceAll(key, "…"), message));
  };
  return Object.create(log, { trace: { value: trace } }) as vscode.LogOutputChannel;
}

function remedies(problem: ServerProblem): Record<string, () => unknown> {
  switch (problem.kind) {
    case "bad-setting":
      return { "Open Setting": openPathSetting };
    case "old-python":
    case "no-python":
      return { "Get Python": () => vscode.env.openExternal(vscode.Uri.parse("https://www.python.org/downloads/")) };
    case "no-wheel":
      return { "Fetch from the Index": () => vscode.commands.executeCommand("regreen.fetchServer") };
    default:
      return {};
  }
}

/** Show `regreen.path` where it can be changed: it is the machine's, and so not among the user's settings of a remote window. */
function openPathSetting(): Thenable<unknown> {
  const where = vscode.env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
  return vscode.commands.executeCommand(`workbench.action.${where}`, { query: "regreen.path" });
}
