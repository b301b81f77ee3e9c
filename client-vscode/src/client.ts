import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { Coalesced } from "./coalesce";
import type { Connection } from "./serverConnection";
import type { Argument, ProjectStatus } from "./protocol";
import { ServerProblem, type ServerCommand } from "./server";
import { ServerProcess } from "./serverProcess";
import type { Life } from "./words";

export interface ClientParts {
  /** Finds (or makes) what starts the server; rejects with `ServerProblem`. */
  readonly locate: () => Promise<ServerCommand>;
  readonly keys: () => Promise<Record<string, string>>;
  readonly middleware: Middleware;
  /** The URI of the documentation's folder, relative to a report's. */
  readonly docs: string;
}

const END_MS = 1000;

/** The language server of this window: started, stopped, restarted when asked, and never restarted by itself. */
export class Client implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly statusByRoot = new Map<string, ProjectStatus>();
  private readonly restarts = new Coalesced(() => this.startAnew());
  private server: ServerProcess | undefined;
  private connection: Connection | undefined;
  private stopping = false;
  private over = false;

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
    if (this.connection?.isRunning() !== true) {
      throw new Error("Regreen's server is not running. `Regreen: Restart Server` starts it.");
    }
    return this.connection.sendRequest<T>("workspace/executeCommand", {
      command: `regreen.server.${name}`,
      arguments: [argument],
    });
  }

  /** Let the server ask for its settings again. */
  async settingsChanged(): Promise<void> {
    if (this.connection?.isRunning() === true) {
      await this.connection.sendNotification("workspace/didChangeConfiguration", { settings: null });
    }
  }

  /** Learn how all projects are: of those whose folder was closed nothing is told any more. */
  async askStatuses(): Promise<void> {
    if (this.connection?.isRunning() !== true) {
      return;
    }
    const { projects } = await this.command<{ projects: readonly ProjectStatus[] }>("status");
    this.statusByRoot.clear();
    projects.forEach((status) => this.statusByRoot.set(status.root, status));
    this.changed.fire();
  }

  /** End the server, for good. */
  async end(): Promise<void> {
    this.over = true;
    await this.stop();
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async startAnew(): Promise<void> {
    await this.stop();
    this.statusByRoot.clear();
    this.live("starting");
    try {
      const found = await this.parts.locate();
      if (!this.over) {
        await this.serve(found);
      }
    } catch (error) {
      await this.stop();
      if (!this.over) {
        this.live("stopped");
        void this.tellWhyNot(error);
      }
    }
  }

  private async serve({ explanation, ...command }: ServerCommand): Promise<void> {
    explanation.forEach((line) => {
      this.log.info(line);
    });
    const server = new ServerProcess(command, (text) => {
      if (!this.over) {
        this.log.append(text);
      }
    });
    this.server = server;
    const [{ Connection }, keys] = await Promise.all([import("./serverConnection"), this.parts.keys()]);
    const { middleware, docs } = this.parts;
    const closed = (): void => {
      this.closed();
    };
    const connection = new Connection(server, { log: this.log, keys, middleware, docs, closed });
    this.connection = connection;
    connection.onNotification("regreen/status", (status: ProjectStatus) => {
      this.statusByRoot.set(status.root, status);
      this.changed.fire();
    });
    await connection.start().catch((error: unknown) => neverServed(server, error));
    this.live("serving");
  }

  private async stop(): Promise<void> {
    const { server, connection } = this;
    this.server = this.connection = undefined;
    this.stopping = true;
    try {
      await connection?.dispose();
    } catch (error) {
      this.log.warn(`The server did not stop as it should: ${String(error)}`);
    } finally {
      await server?.end();
      this.stopping = false;
    }
  }

  private closed(): void {
    if (!this.stopping && this.life === "serving") {
      this.live("stopped");
      void this.tellOfCrash();
    }
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

/** A server that ends at once is known by how it ended; what the connection says of that depends on the moment. */
async function neverServed(server: ServerProcess, error: unknown): Promise<never> {
  const end = await server.endedWithin(END_MS);
  if (end !== undefined) {
    throw new Error(`its server ended before it served (${end.why || "exit code 0"}). The log has all that it said.`);
  }
  throw new Error(`its server did not serve (${error instanceof Error ? error.message : String(error)}). The log has all that it said.`);
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
