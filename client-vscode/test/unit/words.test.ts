import assert from "node:assert/strict";
import { test } from "node:test";
import { fixOf, type ProjectStatus } from "../../src/protocol";
import { describe, facts } from "../../src/words";

const GREEN: ProjectStatus = {
  root: "file:///home/me/my%20shop",
  state: "idle",
  message: "all green",
  red: 0,
  fixes: 0,
  autoHeal: false,
  isolation: "full",
  model: "",
  usdToday: 0,
};

const TABLE: readonly [name: string, statuses: readonly Partial<ProjectStatus>[], text: string, label: string][] = [
  ["nothing is known yet", [{ message: "", isolation: "" }], "$(beaker) Regreen", "Regreen: ready"],
  ["all green", [{}], "$(pass) All green", "Regreen: All green"],
  ["green is said of those that ran", [{}, { message: "" }], "$(pass) 1 of 2 projects green", "Regreen: 1 of 2 projects green"],
  ["red", [{ red: 2, message: "2 red" }], "$(error) 2 red", "Regreen: 2 red"],
  ["a fix is ready", [{ red: 2, fixes: 1 }], "$(lightbulb) 2 red, 1 fixable", "Regreen: 2 red, 1 fixable"],
  ["reds of two projects add up", [{ red: 2, fixes: 2 }, { red: 1 }], "$(lightbulb) 3 red, 2 fixable", "Regreen: 3 red, 2 fixable"],
  ["running", [{ state: "running" }], "$(sync~spin) Running tests", "Regreen: Running tests"],
  ["healing outranks running", [{ state: "running" }, { state: "healing", red: 1 }], "$(sync~spin) 1 red, looking for fixes", "Regreen: 1 red, looking for fixes"],
  ["auto-heal shows", [{ autoHeal: true }], "$(pass) All green $(zap)", "Regreen: All green, auto-heal on save is on"],
  ["a problem", [{ state: "problem", message: "no pytest" }], "$(warning) Regreen", "Regreen: ready"],
];

for (const [name, statuses, text, label] of TABLE) {
  test(`the status bar: ${name}`, () => {
    const shown = describe("serving", statuses.map((status) => ({ ...GREEN, ...status })), "");
    assert.deepEqual([shown.text, shown.label], [text, label]);
  });
}

test("a server that is gone is an error whatever was known", () => {
  const shown = describe("stopped", [], "");
  assert.equal(shown.severity, "error");
  assert.equal(shown.text, "$(error) Regreen stopped");
});

test("the tooltip names each project, what goes on, isolation, model with its cost, and auto-heal", () => {
  const status = { ...GREEN, state: "healing" as const, message: "1 red", model: "anthropic/claude", usdToday: 0.123, autoHeal: true };
  assert.deepEqual(describe("serving", [status], "Trying patches").tooltip.split("\n\n"), [
    "**my shop**: 1 red",
    "Trying patches",
    "Isolation of test runs: full",
    "Language model: anthropic/claude, about $0.12 today",
    "Auto-heal on save: on",
  ]);
});

test("what a day cost is told once, though every project tells it", () => {
  const spent = { ...GREEN, model: "openai/x", usdToday: 0.5 };
  assert.equal(facts([spent, spent])[1], "Language model: openai/x, about $0.50 today");
});

test("only the server's documents after a fix are previews", () => {
  assert.equal(fixOf("regreen", "/after/abc-1/0/cart.py"), "abc-1");
  assert.equal(fixOf("regreen", "/diff/abc-1/fix.diff"), undefined);
  assert.equal(fixOf("file", "/after/abc-1/0/cart.py"), undefined);
});
