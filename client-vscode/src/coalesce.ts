/**
 * Runs one piece of work at a time. However often it is asked for meanwhile, it runs once more afterwards, and
 * everybody who asked waits for a run that began after they did.
 */
export class Coalesced {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  run(): Promise<void> {
    if (this.running === undefined) {
      return this.begin();
    }
    this.next ??= this.running
      .catch(() => undefined) // whoever asked for that run hears of it
      .then(() => {
        this.next = undefined;
        return this.begin();
      });
    return this.next;
  }

  private begin(): Promise<void> {
    const run = this.work().finally(() => {
      if (this.running === run) {
        this.running = undefined;
      }
    });
    this.running = run;
    return run;
  }
}
