"""Small extensions that stand in for those of others, made by the tests that need them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMATTER = """
const vscode = require("vscode");

// Two blank lines before each function, and no blanks at the ends of lines.
function formatted(text) {
  return text.replace(/[ \\t]+$/gm, "").replace(/\\n+(?=def )/g, "\\n\\n\\n");
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.languages.registerDocumentFormattingEditProvider("python", {
      provideDocumentFormattingEdits: (document) => {
        const text = document.getText();
        const all = new vscode.Range(document.positionAt(0), document.positionAt(text.length));
        return [vscode.TextEdit.replace(all, formatted(text))];
      },
    }),
  );
};
"""

LINTER = """
const vscode = require("vscode");

// Finds fault with every line that says `-=`, and offers another word for it.
exports.activate = (context) => {
  const found = vscode.languages.createDiagnosticCollection("linter");
  const look = (document) => {
    if (document.languageId !== "python") return;
    const faults = [];
    for (let line = 0; line < document.lineCount; line++) {
      const at = document.lineAt(line).text.indexOf("-=");
      if (at >= 0) {
        const fault = new vscode.Diagnostic(new vscode.Range(line, at, line, at + 2), "Is this meant?", vscode.DiagnosticSeverity.Warning);
        fault.source = "linter";
        faults.push(fault);
      }
    }
    found.set(document.uri, faults);
  };
  const provideCodeActions = (document, range, { diagnostics }) =>
    diagnostics.filter(({ source }) => source === "linter").map((fault) => {
      const action = new vscode.CodeAction("Linter: say it in words", vscode.CodeActionKind.QuickFix);
      action.edit = new vscode.WorkspaceEdit();
      action.edit.insert(document.uri, document.lineAt(fault.range.start.line).range.end, "  # yes");
      action.diagnostics = [fault];
      action.isPreferred = true;
      return action;
    });
  vscode.workspace.textDocuments.forEach(look);
  context.subscriptions.push(
    found,
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument(({ document }) => look(document)),
    vscode.languages.registerCodeActionsProvider("python", { provideCodeActions }),
  );
};
"""

PYTHON = """
const vscode = require("vscode");

// One interpreter for everything, as the user chose it last.
exports.activate = () => {
  const changed = new vscode.EventEmitter();
  let chosen = INTERPRETERS[CHOSEN[""]];
  return {
    choose: (_, name) => {
      chosen = INTERPRETERS[name];
      changed.fire({ path: chosen, resource: undefined });
    },
    environments: {
      getActiveEnvironmentPath: () => ({ id: chosen, path: chosen }),
      resolveEnvironment: async ({ path }) => ({ id: path, path, executable: { uri: vscode.Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
"""

ENVIRONMENTS = """
const vscode = require("vscode");

// An interpreter for each project, found by the beginning of a path.
exports.activate = () => {
  const changed = new vscode.EventEmitter();
  const chosen = { ...CHOSEN };
  return {
    choose: (place, name) => {
      chosen[place] = name;
      changed.fire({});
    },
    getEnvironment: async (scope) => {
      const place = Object.keys(chosen).find((each) => scope.fsPath.endsWith("/" + each));
      if (place === undefined) throw new Error("no environment here");
      return { execInfo: { run: { executable: INTERPRETERS[chosen[place]] } } };
    },
    onDidChangeEnvironment: changed.event,
  };
};
"""

SWITCHED_OFF = "exports.activate = () => undefined;"


def add(extensions: Path, name: str, code: str, **manifest: Any) -> Path:
    """Add an extension to a folder of extensions that nothing was started in yet.

    Args:
        extensions: the folder.
        name: `publisher.name`.
        code: what its `main` is; it runs beside Python files.
        manifest: what its `package.json` says besides.

    Returns:
        The extension's folder.
    """
    publisher, _, short = name.partition(".")
    folder = extensions / f"{name}-1.0.0"
    about = {
        "name": short,
        "publisher": publisher,
        "version": "1.0.0",
        "engines": {"vscode": "^1.91.0"},
        "activationEvents": ["onLanguage:python"],
        "main": "./extension.js",
        **manifest,
    }
    write(folder, {"package.json": json.dumps(about), "extension.js": code})
    listed = extensions / "extensions.json"
    entries = json.loads(listed.read_text("utf-8"))
    location = {"$mid": 1, "path": str(folder), "scheme": "file"}
    entry = {
        "identifier": {"id": name},
        "version": "1.0.0",
        "location": location,
        "relativeLocation": folder.name,
    }
    listed.write_text(json.dumps([*entries, entry]), "utf-8")
    return folder


def chosen(code: str, places: Mapping[str, str], interpreters: Mapping[str, Path]) -> str:
    """The code of a stand-in that knows interpreters by names, and which one is chosen at a place."""
    paths = {name: str(path) for name, path in interpreters.items()}
    return f"const CHOSEN = {json.dumps(places)};\nconst INTERPRETERS = {json.dumps(paths)};\n{code}"


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write text files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
