/** What speaks with the server. It has the client library, which is loaded while the server's process already starts. */

import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  type LanguageClientOptions,
  type Middleware,
} from "vscode-languageclient/node";

import type { ServerProcess } from "./serverProcess";

export interface ConnectionParts {
  readonly log: vscode.LogOutputChannel;
  /** API keys by the name of their environment variable; never logged. */
  readonly keys: Record<string, string>;
  readonly middleware: Middleware;
  /** The URI of the documentation's folder, relative to a report's. */
  readonly docs: string;
  /** The server is gone. */
  readonly closed: () => void;
}

/** What goes wrong between VS Code and the server is logged: `Client` tells the user, once and in its words. */
export class Connection extends LanguageClient {
  constructor(server: ServerProcess, parts: ConnectionParts) {
    super("regreen", "Regreen", () => Promise.resolve(server.streams), options(parts));
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function options({ log, keys, middleware, docs, closed }: ConnectionParts): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: "file", language: "python" }],
    outputChannel: log,
    traceOutputChannel: withoutKeys(log, keys),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    middleware,
    initializationOptions: {
      trusted: vscode.workspace.isTrusted,
      client: { name: "vscode", status: true, docs },
      keys,
    },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue }),
      closed: () => {
        closed();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
}

/** The log for what passes between VS Code and the server: the keys are in the first message, and are left out. */
function withoutKeys(log: vscode.LogOutputChannel, keys: Record<string, string>): vscode.LogOutputChannel {
  const written = Object.values(keys).map((key) => JSON.stringify(key).slice(1, -1));
  const trace = (message: string): void => {
    log.trace(written.reduce((text, key) => text.replaceAll(key, "…"), message));
  };
  return Object.create(log, { trace: { value: trace } }) as vscode.LogOutputChannel;
}
