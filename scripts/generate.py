"""Write what is generated from the settings' schema into package.json and docs/settings.md."""  # noqa: INP001 — a script

from __future__ import annotations

import json
from pathlib import Path

from regreen.settings import generated

ROOT = Path(__file__).parents[1]

PAGE = """# Settings

This page is generated from the schema in `server/regreen/settings` by `scripts/generate.py`.

Later sources win: defaults, `[tool.regreen]` in pyproject.toml, the editor's `initializationOptions`, the
editor's configuration, the command line. What a repository contains may only restrict Regreen: the last column
says what `[tool.regreen]` may do with a setting. A value that cannot be used is named once in the editor's log.

{table}
## Neovim

```lua
{neovim}```

## Helix

```toml
{helix}```

## VS Code

Search for `regreen` on the settings page. `source.fixAll.regreen` in `editor.codeActionsOnSave` applies fixes that
are already verified when you save.
"""


def main() -> None:
    """Rewrite both files; everything but the generated parts of package.json stays as it is."""
    path = ROOT / "package.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["contributes"]["configuration"] = generated.vscode_configuration()
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", "utf-8")
    page = PAGE.format(
        table=generated.markdown_table(), neovim=generated.neovim_snippet(), helix=generated.helix_snippet()
    )
    (ROOT / "docs" / "settings.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main()
