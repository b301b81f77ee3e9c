"""Which settings are there, what do they mean, and what is in force for one folder?

`schema`: the settings. `merging`: what of them is in force. `services`: what the one of that name may hold.
`generated`: the same for package.json, the documentation and the editors.
"""

from regreen.settings.merging import from_pyproject, merge, without_defaults
from regreen.settings.schema import SCHEMA, Setting, Settings

__all__ = ["SCHEMA", "Setting", "Settings", "from_pyproject", "merge", "without_defaults"]
