/** What the server sends and takes; the other side is `server/regreen/lsp`. Lines are 0-based, money is US dollars. */

/** One project's state: the notification `regreen/status`, and what the command `status` lists. */
export interface ProjectStatus {
  readonly root: string;
  readonly state: "idle" | "running" | "healing" | "untrusted" | "disabled" | "problem";
  readonly message: string;
  readonly red: number;
  readonly fixes: number;
  readonly autoHeal: boolean;
  /** What confined the last run: "full", "partial", "none", or "" before the first. */
  readonly isolation: string;
  /** The model that may be asked; "" for none. */
  readonly model: string;
  readonly usdToday: number;
}

export interface Fix {
  readonly fix: string;
  readonly title: string;
  readonly short: string;
}

export interface Place {
  readonly uri: string;
  readonly line: number;
}

/** A red test with the fixes that fit the text as it is now, best first. */
export interface Red extends Place {
  readonly nodeid: string;
  readonly name: string;
  readonly root: string;
  readonly at: Place;
  readonly message: string;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly searching: boolean;
  readonly note: string;
  readonly fixes: readonly Fix[];
}

/** A fix as text; `afterUri` names a document of the server's with the text after. */
export interface FixFiles {
  readonly title: string;
  readonly fix: string;
  readonly files: readonly { readonly uri: string; readonly afterUri: string }[];
}

/** The scheme of the server's own documents. */
export const SCHEME = "regreen";

/** The fix that a document of the server's is about; undefined for any other document. */
export function fixOf(scheme: string, path: string): string | undefined {
  const [, kind, fix] = path.split("/");
  return scheme === SCHEME && kind === "after" ? fix : undefined;
}

/** An argument of a server command, as lenses and actions carry it. */
export interface Argument {
  readonly nodeid?: string;
  readonly root?: string;
  readonly uri?: string;
  readonly fix?: string;
  readonly hint?: string;
  readonly show?: boolean;
}

/** Whether a project is at work. */
export function isBusy(status: ProjectStatus): boolean {
  return status.state === "running" || status.state === "healing";
}
