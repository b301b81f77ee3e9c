import { isBusy, type ProjectStatus } from "./protocol";

/** How the server is: not there yet, serving, or gone. */
export type Life = "starting" | "serving" | "stopped";

export interface Shown {
  /** For the status bar, with icons. */
  readonly text: string;
  /** The same for screen readers. */
  readonly label: string;
  /** Markdown. */
  readonly tooltip: string;
  readonly busy: boolean;
  readonly severity: "information" | "warning" | "error";
}

/** What the status bar says of all projects together. `progress` is the last word about what is going on. */
export function describe(life: Life, statuses: readonly ProjectStatus[], progress: string): Shown {
  const [icon, words] = headline(life, statuses);
  const heals = statuses.some((status) => status.autoHeal);
  const text = `$(${icon}) ${words}${heals ? " $(zap)" : ""}`;
  const label = `Regreen: ${words === "Regreen" ? "ready" : words}${heals ? ", auto-heal on save is on" : ""}`;
  const severity = life === "stopped" ? "error" : statuses.some((s) => s.state === "problem") ? "warning" : "information";
  const busy = life === "starting" || statuses.some(isBusy);
  return { text, label, tooltip: tooltip(life, statuses, progress), busy, severity };
}

function headline(life: Life, statuses: readonly ProjectStatus[]): [icon: string, words: string] {
  if (life === "starting") {
    return ["sync~spin", "Regreen starts"];
  }
  if (life === "stopped") {
    return ["error", "Regreen stopped"];
  }
  const red = sum(statuses, (status) => status.red);
  const fixes = sum(statuses, (status) => status.fixes);
  if (statuses.some((status) => status.state === "healing")) {
    return ["sync~spin", `${red} red, looking for fixes`];
  }
  if (statuses.some((status) => status.state === "running")) {
    return ["sync~spin", "Running tests"];
  }
  if (fixes > 0) {
    return ["lightbulb", `${red} red, ${fixes} fixable`];
  }
  if (red > 0) {
    return ["error", `${red} red`];
  }
  if (statuses.some((status) => status.state === "problem")) {
    return ["warning", "Regreen"];
  }
  const green = statuses.filter((status) => status.message === "all green").length;
  if (green === 0) {
    return ["beaker", "Regreen"];
  }
  return ["pass", green === statuses.length ? "All green" : `${green} of ${statuses.length} projects green`];
}

function tooltip(life: Life, statuses: readonly ProjectStatus[], progress: string): string {
  if (life === "stopped") {
    return "Regreen's server is not running. Click for what can be done.";
  }
  const lines = statuses.map((status) => {
    const name = decodeURIComponent(status.root.split("/").pop() ?? status.root);
    return `**${name}**: ${status.message === "" ? status.state : status.message}`;
  });
  if (progress !== "" && statuses.some(isBusy)) {
    lines.push(progress);
  }
  return [...lines, ...facts(statuses)].join("\n\n");
}

/** Isolation, model, cost and auto-heal, for people: one line each. */
export function facts(statuses: readonly ProjectStatus[]): string[] {
  const isolations = [...new Set(statuses.map((status) => status.isolation).filter((level) => level !== ""))];
  const models = [...new Set(statuses.map((status) => status.model).filter((model) => model !== ""))];
  const usd = Math.max(0, ...statuses.map((status) => status.usdToday)); // of all projects, as each status tells it
  return [
    `Isolation of test runs: ${isolations.length > 0 ? isolations.join(", ") : "known after the first run"}`,
    `Language model: ${models.length > 0 ? `${models.join(", ")}, about $${usd.toFixed(2)} today` : "off"}`,
    `Auto-heal on save: ${statuses.some((status) => status.autoHeal) ? "on" : "off"}`,
  ];
}

function sum(statuses: readonly ProjectStatus[], of: (status: ProjectStatus) => number): number {
  return statuses.reduce((total, status) => total + of(status), 0);
}
