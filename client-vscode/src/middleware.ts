import * as vscode from "vscode";
import type { ConfigurationParams, Middleware, ResponseError } from "vscode-languageclient/node";
import type { Argument } from "./protocol";

/** Who hears of what passes between VS Code and the server. */
export interface Listeners {
  /** The interpreter chosen for a place, if any. */
  chosen(scope: vscode.Uri): Promise<string | undefined>;
  /** Does what a command of the server's means in VS Code; false leaves it to the server. */
  command(name: string, argument: Argument): Promise<boolean>;
  /** A run said how far it is; "" when it ended. */
  progress(text: string): void;
  /** The server knows which folders are open now. */
  foldersChanged(): void;
  /** A fix is about to be applied. */
  applying(edit: vscode.WorkspaceEdit): void;
}

/** Settings that are this extension's alone. */
const OWN_SETTINGS = new Set(["path", "testExplorer"]);
const SERVER = "regreen.server.";

export function middleware(to: Listeners): Middleware {
  return {
    workspace: {
      // The server asks for each folder's settings: what would be sent along is the window's alone.
      didChangeConfiguration: (_sections, next) => next(undefined),
      didChangeWorkspaceFolders: async (event, next) => {
        await next(event);
        to.foldersChanged();
      },
      configuration: async (params, token, next) => {
        const answers = await next(params, token);
        return Array.isArray(answers) ? Promise.all(answers.map((answer, at) => settings(params, at, answer, to))) : answers;
      },
    },
    executeCommand: async (name, args, next): Promise<unknown> => {
      const argument = (args[0] ?? {}) as Argument;
      const done = name.startsWith(SERVER) && (await to.command(name.slice(SERVER.length), argument));
      return done ? undefined : next(name, args);
    },
    handleWorkDoneProgress: (_token, value) => {
      const title = "title" in value ? value.title.replace(/^Regreen: /, "") : ""; // whoever shows it says whose it is
      to.progress(value.kind === "end" ? "" : (value.message ?? title));
    },
    resolveCodeAction: async (item, token, next) => {
      try {
        const action = await next(item, token);
        if (action?.edit !== undefined) {
          to.applying(action.edit);
        }
        return action;
      } catch (error) {
        if (!token.isCancellationRequested && isStale(error)) {
          void vscode.window.showInformationMessage(
            "Regreen: this fix was not applied, because the text changed since it was verified. Save the file, and it is looked at anew.",
          );
        }
        throw error;
      }
    },
  };
}

/** The client library turns the protocol's ContentModified into a cancellation. */
function isStale(error: unknown): boolean {
  return error instanceof vscode.CancellationError || (error as ResponseError | undefined)?.code === -32801;
}

/** A folder's settings with the interpreter filled in, without those that the server does not know. */
async function settings(params: ConfigurationParams, at: number, answer: unknown, to: Listeners): Promise<unknown> {
  const item = params.items[at];
  if (item?.section !== "regreen" || typeof answer !== "object" || answer === null) {
    return answer;
  }
  const known = Object.fromEntries(Object.entries(answer).filter(([name]) => !OWN_SETTINGS.has(name)));
  if (item.scopeUri === undefined || (known["interpreter"] ?? "") !== "") {
    return known;
  }
  const interpreter = await to.chosen(vscode.Uri.parse(item.scopeUri));
  return interpreter === undefined ? known : { ...known, interpreter };
}
