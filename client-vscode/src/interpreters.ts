import * as vscode from "vscode";

/** Where the user chooses the Python of a folder or project; both extensions are optional. */
interface Chooser {
  /** The path of the interpreter chosen for a place; undefined when none is. */
  chosen(scope: vscode.Uri): Promise<string | undefined>;
}

/** How long another extension may take to start before it is done without, in milliseconds. */
const PATIENCE_MS = 20_000;

/** What is used of the Python Environments extension. */
interface EnvironmentsApi {
  getEnvironment(scope: vscode.Uri): Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
  onDidChangeEnvironment: vscode.Event<unknown>;
}

/** What is used of the Python extension. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(scope: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable?: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/**
 * The interpreter that the user chose for a place: in the Python Environments extension, else in the Python extension.
 * Where neither knows one the answer is undefined, and the server looks for a `.venv` and the like itself.
 */
export class Interpreters implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly extensionsChanged: vscode.Disposable;
  private readonly choosers = new Map<string, Promise<Chooser | undefined>>();

  /** Somewhere another interpreter was chosen. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly log: vscode.LogOutputChannel) {
    this.extensionsChanged = vscode.extensions.onDidChange(() => {
      this.choosers.clear();
      this.unsubscribe();
      this.changed.fire();
    });
  }

  async chosen(scope: vscode.Uri): Promise<string | undefined> {
    for (const [id, adopt] of [
      ["ms-python.vscode-python-envs", this.environments],
      ["ms-python.python", this.python],
    ] as const) {
      const chooser = this.choosers.get(id) ?? this.adopt(id, adopt);
      this.choosers.set(id, chooser);
      try {
        const path = await (await chooser)?.chosen(scope);
        if (path !== undefined) {
          return path;
        }
      } catch (error) {
        this.log.warn(`${id} does not tell which Python is chosen for ${scope.fsPath}: ${String(error)}`);
      }
    }
    return undefined;
  }

  private async adopt(id: string, make: (api: unknown) => Chooser | undefined): Promise<Chooser | undefined> {
    const extension = vscode.extensions.getExtension<unknown>(id);
    if (extension === undefined) {
      return undefined;
    }
    try {
      return make(await inTime(extension.activate()));
    } catch (error) {
      this.log.warn(`${id} does not tell which Python is chosen: ${String(error)}`);
      return undefined;
    }
  }

  /** Its exports are undefined while the user keeps it switched off. */
  private readonly environments = (exports: unknown): Chooser | undefined => {
    const api = exports as EnvironmentsApi | undefined;
    if (api === undefined) {
      return undefined;
    }
    this.subscriptions.push(api.onDidChangeEnvironment(this.tell));
    return { chosen: async (scope) => (await api.getEnvironment(scope))?.execInfo?.run?.executable };
  };

  private readonly python = (exports: unknown): Chooser => {
    const { environments } = exports as PythonApi;
    this.subscriptions.push(environments.onDidChangeActiveEnvironmentPath(this.tell));
    return {
      chosen: async (scope) => {
        const active = environments.getActiveEnvironmentPath(scope);
        return (await environments.resolveEnvironment(active))?.executable?.uri?.fsPath;
      },
    };
  };

  private readonly tell = (): void => {
    this.changed.fire();
  };

  private unsubscribe(): void {
    for (const subscription of this.subscriptions.splice(0)) {
      subscription.dispose();
    }
  }

  dispose(): void {
    this.unsubscribe();
    this.extensionsChanged.dispose();
    this.changed.dispose();
  }
}

/** What is promised; rejects when it takes so long that our server would seem not to start. */
async function inTime<T>(promised: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`it was not ready after ${PATIENCE_MS / 1000} s`));
    }, PATIENCE_MS);
  });
  try {
    return await Promise.race([promised, late]);
  } finally {
    clearTimeout(timer);
  }
}
