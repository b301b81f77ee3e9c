/** The interpreter that is found where none was chosen. */

import assert from "node:assert/strict";
import { test } from "./running";
import { nameOf } from "./which";

export { run } from "./running";

test("the project's own environment runs the tests", async () => {
  assert.equal(await nameOf("test_which.py"), "own");
});
