/**
 * How does Regreen get an environment of its own, apart from every project's?
 *
 * It is made of the wheels that come with the extension, without the network, once for each release. A file in it that
 * is written last tells that it is complete, and when it was used last.
 */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";

import { locked } from "./lock";
import type { Python } from "./python";
import { type Ended, failure, lastLines, type Machine } from "./run";

export interface Places {
  /** A folder of the extension's own, which may not exist yet. */
  readonly storage: string;
  /** The folder of the wheels that came with it. */
  readonly wheels: string;
}

/** An environment that is ready to run the server. */
export interface Environment {
  readonly folder: string;
  /** Its interpreter. */
  readonly python: string;
}

/** Why there is no environment, or no extra in it: `message` says what failed and what to do next. */
export interface Failure {
  /** "no-wheel": no wheel fits this system and Python; with the network there may be one. */
  readonly kind: "no-wheel" | "failed";
  readonly message: string;
  /** The last lines of the program that failed. */
  readonly output: string;
}

export type Made = ({ readonly kind: "made" } & Environment) | Failure;

/** Takes a sentence for the user about what goes on. */
export type Report = (message: string) => void;

export interface EnsureOptions {
  /** Fetch what the wheels lack from the package index that the user's pip is configured for. */
  readonly online?: boolean;
}

const COMPLETE = "complete";
const PREFIX = "server-";
const MINUTE = 60_000;
/** How long another release's environment is kept after it was last started: a window may still run it. */
const KEPT = 7 * 24 * 60 * MINUTE;

/** The environment of these wheels, if it is there and its Python still is; undefined otherwise. */
export async function existing(machine: Machine, places: Places): Promise<Environment | undefined> {
  const environment = await locate(machine, places);
  const complete = path.join(environment.folder, COMPLETE);
  // The interpreter is a link or a launcher: what it stands for can go away with an upgrade.
  if (!existsSync(complete) || !existsSync(environment.python) || !existsSync(await home(environment))) {
    return undefined;
  }
  const now = new Date();
  await utimes(complete, now, now);
  return environment;
}

/**
 * Make the environment of these wheels, unless it is there; several windows may do so at once.
 *
 * @param python which one to make it with
 */
export async function ensure(
  machine: Machine,
  places: Places,
  python: Python,
  report: Report,
  { online = false }: EnsureOptions = {},
): Promise<Made> {
  await mkdir(places.storage, { recursive: true });
  const { folder } = await locate(machine, places);
  return locked(`${folder}.lock`, report, async () => {
    const there = await existing(machine, places);
    if (there !== undefined) {
      return { kind: "made", ...there };
    }
    report(`Preparing Regreen's own environment with Python ${python.version}…`);
    const made = await make(machine, places, python, online);
    if (made.kind === "made") {
      await removeUnused(places, folder, report);
    }
    return made;
  });
}

/** Install one of Regreen's extras, for example "llm", into its environment; this takes the network. */
export async function installExtra(
  machine: Machine,
  places: Places,
  environment: Environment,
  extra: string,
  report: Report,
): Promise<Made> {
  report(`Installing what regreen[${extra}] takes…`);
  return locked(`${environment.folder}.lock`, report, async () => {
    const pip = pipOf(machine, places, environment, true);
    const what = await ownVersion(places);
    const steps = [
      ["install", "--find-links", places.wheels, "--prefer-binary", `regreen[${extra}]==${what}`],
      ["check"], // tells what is missing or does not fit
    ];
    for (const step of steps) {
      const ended = await pip(step);
      if (ended.code !== 0) {
        return failed(`regreen[${extra}] could not be installed`, ended, "Check the network, and pip's configuration.");
      }
    }
    return { kind: "made", ...environment };
  });
}

async function make(machine: Machine, places: Places, python: Python, online: boolean): Promise<Made> {
  const environment = await locate(machine, places);
  await rm(environment.folder, { recursive: true, force: true, maxRetries: 3 });

  // Without pip: some systems package what that takes separately.
  const venv = await machine.run(python.path, ["-I", "-m", "venv", "--without-pip", environment.folder], {
    timeout: MINUTE,
    env: machine.env,
  });
  if (venv.code !== 0) {
    return failed(`${python.path} could not make an environment`, venv, "Select another Python.");
  }

  const source = online ? ["--prefer-binary"] : ["--no-index"];
  const wanted = `regreen==${await ownVersion(places)}`;
  const install = await pipOf(machine, places, environment, online)([
    ...["install", ...source, "--find-links", places.wheels, wanted],
  ]);
  if (install.code !== 0) {
    const system = `${os.type()} on ${os.arch()} with Python ${python.version}`;
    return !online && /No matching distribution found|Could not find a version/.test(install.stderr)
      ? { ...failed(`No package fits ${system}`, install, "One may be fetched from the network."), kind: "no-wheel" }
      : failed("Regreen could not be installed", install, online ? "Check the network." : "Select another Python.");
  }

  const works = await machine.run(environment.python, [...MODULE, "--version"], { timeout: MINUTE, env: machine.env });
  if (works.code !== 0) {
    return failed("Regreen was installed but does not start", works, "Select another Python.");
  }
  await writeFile(path.join(environment.folder, COMPLETE), `${works.stdout.trim()}, Python ${python.version}\n`);
  return { kind: "made", ...environment };
}

/** How an environment's interpreter starts Regreen, whatever PYTHONPATH and the folder that it is started in hold. */
export const MODULE: readonly string[] = ["-I", "-m", "regreen"];

/** Runs the pip that came with the wheels; without the network no configuration of the user's counts. */
function pipOf(machine: Machine, { wheels }: Places, { python }: Environment, online: boolean) {
  return async (args: readonly string[]): Promise<Ended> => {
    const pip = path.join(wheels, await wheelOf(wheels, "pip"), "pip");
    const apart = online ? [] : ["--isolated"];
    return machine.run(python, ["-I", pip, "--disable-pip-version-check", "--no-input", ...apart, ...args], {
      timeout: (online ? 15 : 5) * MINUTE,
      env: online ? machine.env : { ...machine.env, PIP_CONFIG_FILE: os.devNull },
    });
  };
}

function failed(what: string, ended: Ended, next: string): Failure {
  return { kind: "failed", message: `${what} (${failure(ended)}). ${next}`, output: lastLines(ended, 12) };
}

// ------------------------------------------------------------------ where things are

async function locate({ platform }: Machine, { storage, wheels }: Places): Promise<Environment> {
  const digest = createHash("sha256");
  for (const name of await wheelNames(wheels)) {
    digest.update(`${name} ${(await stat(path.join(wheels, name))).size}\n`);
  }
  const folder = path.join(storage, PREFIX + digest.digest("hex").slice(0, 16));
  const inside = platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];
  return { folder, python: path.join(folder, ...inside) };
}

/** The folder of the Python that an environment was made with. */
async function home({ folder }: Environment): Promise<string> {
  const text = await readFile(path.join(folder, "pyvenv.cfg"), "utf8");
  return /^home\s*=\s*(.*?)\s*$/m.exec(text)?.[1] ?? "";
}

async function wheelNames(wheels: string): Promise<string[]> {
  const names = existsSync(wheels) ? await readdir(wheels) : [];
  return names.filter((name) => name.endsWith(".whl")).sort();
}

async function wheelOf(wheels: string, name: string): Promise<string> {
  const found = (await wheelNames(wheels)).find((each) => each.startsWith(`${name}-`));
  if (found === undefined) {
    throw new Error(`There is no wheel of ${name} in ${wheels}: reinstall the extension.`);
  }
  return found;
}

async function ownVersion({ wheels }: Places): Promise<string> {
  return (await wheelOf(wheels, "regreen")).split("-")[1] ?? "";
}

/** Remove what no window started for long: environments of other releases, and half-made ones. */
async function removeUnused({ storage }: Places, current: string, report: Report): Promise<void> {
  for (const name of await readdir(storage)) {
    const folder = path.join(storage, name);
    if (!name.startsWith(PREFIX) || folder === current || name.endsWith(".lock")) {
      continue;
    }
    const complete = path.join(folder, COMPLETE);
    const used = (await stat(existsSync(complete) ? complete : folder)).mtimeMs;
    if (Date.now() - used > KEPT) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => {
        report(`${folder} is no longer needed but could not be removed: ${String(error)}`);
      });
    }
  }
}
