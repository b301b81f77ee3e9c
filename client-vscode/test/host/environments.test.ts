/** The interpreters that were chosen in the Python Environments extension, for each project of a folder. */

import assert from "node:assert/strict";
import { test, until } from "./running";
import { choose, nameOf } from "./which";

export { run } from "./running";

test("each project of a folder has the interpreter that was chosen for it, whatever the Python extension says", async () => {
  assert.equal(await nameOf("one/test_one.py"), "first");
  assert.equal(await nameOf("two/test_two.py"), "second");
});

test("where it fails to tell, the Python extension is asked", async () => {
  assert.equal(await nameOf("three/test_three.py"), "third");
});

test("another one that is chosen for a project runs its tests from then on, and only its", async () => {
  await choose("ms-python.vscode-python-envs", "two", "third");
  await until("the third runs them", async () => (await nameOf("two/test_two.py")) === "third", 20);
  assert.equal(await nameOf("one/test_one.py"), "first");
});
