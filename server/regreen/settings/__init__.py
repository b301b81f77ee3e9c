"""Which settings are there, what do they mean, and what is in force for one folder?

`schema` and `models`: the settings. `setting`: what is said of each. `services` and `roles`: what those of that name may
hold. `merging`: what of them is in force. `generated`: the same for package.json, the documentation and the editors.
"""

from regreen.settings.merging import from_pyproject, merge, without_defaults
from regreen.settings.schema import SCHEMA, Settings
from regreen.settings.setting import Setting

__all__ = ["SCHEMA", "Setting", "Settings", "from_pyproject", "merge", "without_defaults"]
