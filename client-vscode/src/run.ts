/** How do we run a program to its end, and what do we need to know of the machine it runs on? */

import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";

/** What became of a program. */
export interface Ended {
  /** Its exit code; null if it did not start or was stopped: `problem` says why then. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Empty if it ended by itself. */
  readonly problem: string;
}

export interface RunOptions {
  /** After how many milliseconds it is killed. */
  readonly timeout: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program in the user's home, where no project can change how it behaves; never rejects. */
export type Run = (command: string, args: readonly string[], options: RunOptions) => Promise<Ended>;

/** What the search for programs depends on. */
export interface Machine {
  readonly run: Run;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

/** The machine that we run on. */
export function thisMachine(): Machine {
  return { run, env: process.env, platform: process.platform, home: os.homedir() };
}

export const run: Run = (command, args, { timeout, env = process.env }) =>
  new Promise((resolve) => {
    const options = {
      cwd: os.homedir(),
      encoding: "utf8",
      env,
      killSignal: "SIGKILL",
      maxBuffer: 16_000_000,
      timeout,
      windowsHide: true,
    } as const;
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null || typeof error.code === "number") {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr, problem: "" });
      } else {
        const problem = error.killed ? `did not end within ${timeout / 1000} s` : error.message;
        resolve({ code: null, stdout, stderr, problem });
      }
    });
  });

/** Why a program failed, in one line; empty if it did not. */
export function failure(ended: Ended): string {
  if (ended.code === 0) {
    return "";
  }
  const last = lastLines(ended, 1);
  const how = ended.problem || `exit code ${String(ended.code)}`;
  return last && !how.includes(last) ? `${how}: ${last}` : how;
}

/** The last lines that a program wrote, on stdout and then on stderr. */
export function lastLines(ended: Ended, count: number): string {
  const lines = `${ended.stdout}\n${ended.stderr}`.split(/\r?\n/).filter((line) => line.trim() !== "");
  return lines.slice(-count).join("\n");
}

/** Every file of that name on PATH that may be run, in PATH's order; `name` is without ".exe". */
export async function onPath(name: string, { env, platform }: Machine): Promise<string[]> {
  const windows = platform === "win32";
  // Windows spells it "Path", and only process.env itself does not care.
  const key = windows ? Object.keys(env).find((each) => each.toUpperCase() === "PATH") : "PATH";
  const folders = (key === undefined ? undefined : env[key])?.split(path.delimiter) ?? [];
  const files = folders
    .filter((folder) => path.isAbsolute(folder)) // a relative one would be the project's
    .map((folder) => path.join(folder, windows ? `${name}.exe` : name));
  const usable = await Promise.all(files.map(isExecutable));
  return [...new Set(files.filter((_, at) => usable[at]))];
}

export async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
