/** Which Python can the server run with? Any CPython that is new enough: it need not be the project's. */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import * as path from "node:path";

import { failure, isExecutable, type Machine, onPath } from "./run";

export interface Python {
  /** Of the interpreter itself, where it was found by the path of a version manager's shim. */
  readonly path: string;
  /** As in "3.12.1". */
  readonly version: string;
}

/** What the search found; `tried` has a line for each Python that was asked and says why it was not taken. */
export type PythonSearch = { readonly tried: readonly string[] } & (
  | ({ readonly kind: "found" } & Python)
  | { readonly kind: "too-old"; readonly seen: readonly Python[] }
  | { readonly kind: "none" }
);

/** How to call a Python: a program and the arguments before its own. */
interface Candidate {
  readonly command: string;
  readonly args: readonly string[];
}

const OLDEST = [3, 10] as const;
const NAMES = ["python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python3", "python"];

// Python 2 must understand it, to be told apart from what is no Python at all; -E and -s keep the user's variables and
// packages out, and the removed entry is the folder that we are in.
const QUESTION = `
import sys
sys.path.pop(0)
import json
try:
    import venv
except ImportError:
    venv = None
name = getattr(getattr(sys, "implementation", None), "name", "cpython")
print(json.dumps([name, "%d.%d.%d" % sys.version_info[:3], venv is not None, sys.executable]))
`;

/**
 * Find the first CPython >= 3.10 that can make environments.
 *
 * @param preferred paths to ask before those of the machine, for example of the interpreter that the user selected
 */
export async function findPython(machine: Machine, preferred: readonly string[]): Promise<PythonSearch> {
  const tried: string[] = [];
  const old: Python[] = [];
  const asked = new Set<string>();
  for await (const candidate of candidates(machine, preferred)) {
    const called = [candidate.command, ...candidate.args].join(" ");
    if (asked.has(called)) {
      continue;
    }
    asked.add(called);
    const answer = await ask(machine, candidate);
    if (typeof answer === "string") {
      tried.push(`${called}: ${answer}`);
    } else if (answer.refused === "") {
      tried.push(`${called}: taken, Python ${answer.version}`);
      return { kind: "found", path: answer.path, version: answer.version, tried };
    } else {
      tried.push(`${called}: Python ${answer.version}, ${answer.refused}`);
      if (isOld(answer.version) && !old.some((each) => each.path === answer.path)) {
        old.push({ path: answer.path, version: answer.version });
      }
    }
  }
  return old.length > 0 ? { kind: "too-old", seen: old, tried } : { kind: "none", tried };
}

async function* candidates(machine: Machine, preferred: readonly string[]): AsyncGenerator<Candidate> {
  for (const command of preferred) {
    yield { command, args: [] };
  }
  for (const name of NAMES) {
    for (const command of await onPath(name, machine)) {
      yield { command, args: [] };
    }
  }
  if (machine.platform === "win32") {
    for (const command of await onPath("py", machine)) {
      yield { command, args: ["-3"] };
    }
  }
  for (const command of await pyenvs(machine)) {
    yield { command, args: [] };
  }
}

/** The interpreters that pyenv installed, newest first. */
async function pyenvs({ env, home, platform }: Machine): Promise<string[]> {
  const versions = path.join(env["PYENV_ROOT"] ?? path.join(home, ".pyenv"), "versions");
  const names = existsSync(versions) ? await readdir(versions) : [];
  const newestFirst = names
    .filter((name) => /^\d/.test(name))
    .sort((one, other) => other.localeCompare(one, "en", { numeric: true }));
  const inside = platform === "win32" ? "python.exe" : path.join("bin", "python");
  const files = newestFirst.map((name) => path.join(versions, name, inside));
  const usable = await Promise.all(files.map(isExecutable));
  return files.filter((_, at) => usable[at]);
}

/** What a Python says of itself and why it is refused, or why it said nothing. */
async function ask(machine: Machine, { command, args }: Candidate): Promise<(Python & { refused: string }) | string> {
  const ended = await machine.run(command, [...args, "-E", "-s", "-c", QUESTION], { timeout: 5000, env: machine.env });
  if (ended.code !== 0) {
    return failure(ended);
  }
  const answer = parse(ended.stdout);
  if (answer === undefined) {
    return `is no Python: it answered ${JSON.stringify(ended.stdout.slice(0, 80))}`;
  }
  const [name, version, venv, executable] = answer;
  const refused = isOld(version)
    ? `older than ${OLDEST.join(".")}`
    : name !== "cpython"
      ? `but ${name}, not CPython`
      : venv
        ? ""
        : "without the module venv";
  return { path: executable || command, version, refused };
}

function parse(text: string): [string, string, boolean, string] | undefined {
  const found = /^\["(\w+)", "(\d+\.\d+\.\d+)", (true|false), ("(?:[^"\\]|\\.)*")\]\s*$/m.exec(text);
  return found === null
    ? undefined
    : [found[1] ?? "", found[2] ?? "", found[3] === "true", JSON.parse(found[4] ?? '""') as string];
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
