"""The process that talks to language models: an island that imports litellm, and nothing else of ours.

Start it as `python -m regreen.model_worker`. It reads requests and writes replies, one JSON object a line; the lines are
described in `wire`, and kept as golden files in tests/golden/model.
"""
