import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import * as os from "node:os";

import { failure } from "./run";
import type { ServerCommand } from "./server";

const REMEMBERED = 4000;
const GRACE_MS = 2000;
const DRAIN_MS = 200;

/** A server, started in the user's home, where no project can change how it begins. */
export class ServerProcess {
  /** Why it ended, in one line; empty for exit code 0. Never rejects. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcessWithoutNullStreams;
  private last = "";

  /** @param said gets what it writes on its standard error. */
  constructor({ command, args }: Pick<ServerCommand, "command" | "args">, said: (text: string) => void) {
    this.child = spawn(command, args, { cwd: os.homedir(), windowsHide: true });
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.last = (this.last + text).slice(-REMEMBERED);
      said(text);
    });
    this.child.stdin.on("error", () => undefined); // it has ended, which is told by `ended`
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, problem: string): void => {
        resolve(failure({ code, stdout: "", stderr: this.last, problem }));
      };
      this.child.on("error", (error) => {
        end(null, error.message);
      });
      const ended = (code: number | null, signal: string | null): void => {
        end(code, signal === null ? "" : `ended by ${signal}`);
      };
      this.child.on("close", ended);
      this.child.on("exit", (...how) => setTimeout(ended, DRAIN_MS, ...how)); // a child of its own may hold its pipes
    });
  }

  get streams(): { reader: NodeJS.ReadableStream; writer: NodeJS.WritableStream } {
    return { reader: this.child.stdout, writer: this.child.stdin };
  }

  /** End it: by the end of its input, which it obeys, else by force. */
  async end(): Promise<void> {
    this.child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.endedWithin(GRACE_MS)) {
        return;
      }
      this.child.kill(signal);
    }
    await this.endedWithin(GRACE_MS);
  }

  /** Why it ended, if it does so within some milliseconds. */
  async endedWithin(milliseconds: number): Promise<{ why: string } | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, milliseconds, undefined);
    });
    try {
      return await Promise.race([this.ended.then((why) => ({ why })), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
