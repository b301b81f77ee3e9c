/** The interpreter that was chosen in the Python extension. */

import assert from "node:assert/strict";
import { test, until } from "./running";
import { choose, nameOf } from "./which";

export { run } from "./running";

test("the interpreter chosen in the Python extension runs the tests", async () => {
  assert.equal(await nameOf("test_which.py"), "first");
});

test("another one that is chosen runs them from then on", async () => {
  await choose("ms-python.python", "", "second");
  await until("the second runs them", async () => (await nameOf("test_which.py")) === "second", 20);
});
