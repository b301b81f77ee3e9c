import assert from "node:assert/strict";
import { test } from "node:test";
import { Coalesced } from "../../src/coalesce";

/** Work that ends when it is told to. */
class Work {
  readonly began: { end(): void; fail(error: Error): void }[] = [];
  readonly coalesced = new Coalesced(
    () =>
      new Promise<void>((resolve, reject) => {
        this.began.push({ end: resolve, fail: reject });
      }),
  );

  get count(): number {
    return this.began.length;
  }

  end(at: number): void {
    this.began[at]?.end();
  }
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test("many requests while it runs are one more run, which everybody waits for", async () => {
  const work = new Work();
  const first = work.coalesced.run();
  const later = [work.coalesced.run(), work.coalesced.run(), work.coalesced.run()];
  await settled();
  assert.equal(work.count, 1, "one at a time");
  work.end(0);
  await first;
  await settled();
  assert.equal(work.count, 2);
  work.end(1);
  await Promise.all(later);
  assert.equal(work.count, 2);
});

test("a run that failed is heard of by who asked for it, and keeps nobody from the next", async () => {
  const work = new Work();
  const first = work.coalesced.run();
  const second = work.coalesced.run();
  work.began[0]?.fail(new Error("no server"));
  await assert.rejects(first, /no server/);
  await settled();
  work.end(1);
  await second;
});

test("requests one after the other each have a run", async () => {
  const work = new Work();
  for (const at of [0, 1, 2]) {
    const run = work.coalesced.run();
    work.end(at);
    await run;
  }
  assert.equal(work.count, 3);
});

test("who asks during the second run gets a third", async () => {
  const work = new Work();
  const first = work.coalesced.run();
  const second = work.coalesced.run();
  work.end(0);
  await first;
  await settled();
  const third = work.coalesced.run();
  work.end(1);
  await second;
  await settled();
  assert.equal(work.count, 3);
  work.end(2);
  await third;
});
