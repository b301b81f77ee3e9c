/** How does one window keep the others from doing the same thing at the same time? With a lock file. */

import { open, readFile, rm, stat, utimes } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/** How often a window that holds a lock touches it, in milliseconds. */
const HEARTBEAT = 5_000;

/**
 * Do something while no other window does something with the same lock.
 *
 * @param lock the path of the lock file; its folder exists
 * @param report takes a sentence for the user about what goes on
 */
export async function locked<T>(lock: string, report: (message: string) => void, act: () => Promise<T>): Promise<T> {
  for (let waited = false; !(await take(lock)); waited = true) {
    if (!waited) {
      report("Waiting for another window that prepares Regreen's environment…");
    }
    await pause(200);
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch((error: unknown) => {
      report(`${lock} was removed: ${String(error)}`);
    });
  }, HEARTBEAT);
  try {
    return await act();
  } finally {
    clearInterval(heartbeat);
    await rm(lock, { force: true });
  }
}

/** Make the lock file; false where somebody else has it. One whose window is gone is taken away. */
async function take(lock: string): Promise<boolean> {
  try {
    const file = await open(lock, "wx");
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw error;
    }
  }
  if (await abandoned(lock)) {
    await rm(lock, { force: true });
  }
  return false;
}

async function abandoned(lock: string): Promise<boolean> {
  try {
    const age = Date.now() - (await stat(lock)).mtimeMs;
    const pid = Number(await readFile(lock, "utf8"));
    return age > 6 * HEARTBEAT || (pid > 0 && !alive(pid));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return false; // released meanwhile
    }
    throw error;
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it is another user's
  }
}
