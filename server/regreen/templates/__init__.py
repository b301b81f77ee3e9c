"""Which patches might turn this red test green, in the order in which they are worth trying?

`candidates` is the entry. `catalogue` is the table of templates; each family's generators are in a file of
their own. A generator looks at one statement (a `Site`) and yields `Change`s; `search` decides where to
look, scores, orders and removes duplicates. Nothing here reads files, runs anything or knows the oracle.
"""

from regreen.templates.catalogue import CATALOGUE
from regreen.templates.model import Change, Site, Template, Trigger
from regreen.templates.search import candidates

__all__ = ["CATALOGUE", "Change", "Site", "Template", "Trigger", "candidates"]
