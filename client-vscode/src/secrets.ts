import * as vscode from "vscode";

/** The variable that holds each provider's key, as litellm names it. */
const VARIABLES: Readonly<Record<string, string>> = {
  Anthropic: "ANTHROPIC_API_KEY",
  "DashScope (Qwen)": "DASHSCOPE_API_KEY",
  Gemini: "GEMINI_API_KEY",
  "Hugging Face": "HUGGINGFACE_API_KEY",
  OpenAI: "OPENAI_API_KEY",
  OpenRouter: "OPENROUTER_API_KEY",
};
const NAMES = "keyVariables";

/** API keys of language models, in the editor's secret store alone; the server gets them when it starts. */
export class Secrets {
  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly memory: vscode.Memento,
  ) {}

  /** Every key by the name of its variable. */
  async keys(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of this.names()) {
      const key = await this.secrets.get(name);
      if (key !== undefined) {
        found[name] = key;
      }
    }
    return found;
  }

  /** Ask for a provider's key and keep it; an empty one is removed. True when something changed. */
  async ask(): Promise<boolean> {
    const name = await this.askName();
    if (name === undefined) {
      return false;
    }
    const key = await vscode.window.showInputBox({
      title: `The key for ${name}`,
      prompt: "It goes into VS Code's secret store and nowhere else. Leave it empty to remove the key.",
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined) {
      return false;
    }
    const others = this.names().filter((other) => other !== name);
    if (key === "") {
      await this.secrets.delete(name);
      await this.memory.update(NAMES, others);
    } else {
      await this.secrets.store(name, key);
      await this.memory.update(NAMES, [...others, name]);
    }
    return true;
  }

  private names(): readonly string[] {
    return this.memory.get<string[]>(NAMES, []);
  }

  private async askName(): Promise<string | undefined> {
    const kept = new Set(this.names());
    const items = Object.entries(VARIABLES).map(([label, description]) => ({
      label,
      description,
      detail: kept.has(description) ? "a key is kept" : "",
    }));
    const other = { label: "Another variable…", description: "", detail: "as regreen.llm.keyVariable names it" };
    const picked = await vscode.window.showQuickPick([...items, other], { title: "Whose API key?" });
    if (picked !== other) {
      return picked?.description;
    }
    return vscode.window.showInputBox({
      title: "The name of the environment variable",
      placeHolder: "MY_MODELS_KEY",
      validateInput: (text) => (/^[A-Za-z_]\w*$/.test(text) ? "" : "Letters, digits and underscores; no digit first."),
    });
  }
}
