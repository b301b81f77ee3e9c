/** Which Regreen does the extension run? That of the setting, else the one on PATH, else one of its own. */

import { existsSync } from "node:fs";
import * as path from "node:path";

import { ensure, type EnsureOptions, existing, MODULE, type Places, type Report } from "./privateEnvironment";
import { findPython, type Python } from "./python";
import { failure, type Machine, onPath } from "./run";

export interface Search extends EnsureOptions {
  readonly machine: Machine;
  /** The value of `regreen.path`. */
  readonly setting: string;
  readonly places: Places;
  /** Interpreters to ask first, should an environment have to be made. */
  readonly pythons: readonly string[];
  readonly report: Report;
}

/** How to start the server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly origin: "setting" | "path" | "private";
  /** A line for the log about each place that was looked at. */
  readonly explanation: readonly string[];
}

/** There is no server; the message is for the user and says what to do next. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";

  constructor(
    /** "no-wheel": `online` may help. "old-python" and "no-python": a newer Python would. */
    readonly kind: "bad-setting" | "no-python" | "old-python" | "no-wheel" | "failed",
    message: string,
    /** A line for the log about each place that was looked at, with what failed programs wrote last. */
    readonly explanation: readonly string[],
  ) {
    super(message);
  }
}

/**
 * Find the server, and make an environment for it if there is none.
 *
 * @throws {ServerProblem}
 */
export async function locate(request: Search): Promise<ServerCommand> {
  const explanation: string[] = [];
  const found = request.setting.trim() === "" ? await search(request, explanation) : await ofSetting(request, explanation);
  if ("kind" in found) {
    throw new ServerProblem(found.kind, found.message, explanation);
  }
  return { ...found, explanation };
}

type Result = Omit<ServerCommand, "explanation"> | Pick<ServerProblem, "kind" | "message">;

async function ofSetting({ machine, setting }: Search, explanation: string[]): Promise<Result> {
  const command = setting.trim().replace(/^~(?=$|[\\/])/, machine.home);
  const answer = !path.isAbsolute(command)
    ? { problem: "is no absolute path" }
    : !existsSync(command)
      ? { problem: "does not exist" }
      : await version(machine, command);
  if ("problem" in answer) {
    explanation.push(`regreen.path: ${command} ${answer.problem}`);
    const message = `The setting regreen.path names ${command}, which ${answer.problem}. Correct it, or empty it to let Regreen be found.`;
    return { kind: "bad-setting", message };
  }
  explanation.push(`regreen.path: ${command} taken, ${answer.version}`);
  return { command, args: ["--stdio"], origin: "setting" };
}

async function search(request: Search, explanation: string[]): Promise<Result> {
  const { machine, places } = request;
  explanation.push("regreen.path: empty");
  const commands = await onPath("regreen", machine);
  for (const command of commands) {
    const answer = await version(machine, command);
    if ("version" in answer) {
      explanation.push(`PATH: ${command} taken, ${answer.version}`);
      return { command, args: ["--stdio"], origin: "path" };
    }
    explanation.push(`PATH: ${command} ${answer.problem}`);
  }
  if (commands.length === 0) {
    explanation.push("PATH: no regreen");
  }

  const there = await existing(machine, places);
  if (there !== undefined) {
    explanation.push(`own environment: ${there.folder} taken`);
    return ofEnvironment(there.python);
  }
  const python = await findPython(machine, request.pythons);
  explanation.push("own environment: not made yet, or its Python is gone", ...python.tried.map((line) => `Python: ${line}`));
  switch (python.kind) {
    case "found":
      return prepare(request, python, explanation);
    case "too-old": {
      const seen = python.seen.map((each) => `${each.version} (${each.path})`).join(", ");
      return { kind: "old-python", message: `${NEEDED} Found: ${seen}.` };
    }
    case "none":
      explanation.push("Python: none");
      return { kind: "no-python", message: NEEDED };
  }
}

const NEEDED =
  "Regreen itself needs Python 3.10 or newer, which need not be your project's. Install one, or name a regreen in the setting regreen.path.";

async function prepare(request: Search, python: Python, explanation: string[]): Promise<Result> {
  const { machine, places, report, online = false } = request;
  const made = await ensure(machine, places, python, report, { online });
  if (made.kind === "made") {
    explanation.push(`own environment: ${made.folder} made with ${python.path}`);
    return ofEnvironment(made.python);
  }
  explanation.push(`own environment: ${made.message}`, ...made.output.split("\n"));
  return made;
}

function ofEnvironment(python: string): Result {
  return { command: python, args: [...MODULE, "--stdio"], origin: "private" };
}

/** What a regreen says of itself, for example "regreen 0.1.0", or what is wrong with it. */
async function version({ run, env }: Machine, command: string): Promise<{ version: string } | { problem: string }> {
  const ended = await run(command, ["--version"], { timeout: 10_000, env });
  const problem = failure(ended);
  return problem === "" ? { version: ended.stdout.trim() } : { problem: `does not work: ${problem}` };
}
