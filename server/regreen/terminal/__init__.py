"""What does the command line read, print and write?

`heal`, `doctor` and `housekeeping` are the commands. They print by `blocks`, `diffs`, `evidence`, `tables` and
`ndjson` on a `console`; `progress` says what is going on meanwhile. `configured` and `narrowing` read what was
asked for; `together`, `patches`, `writing` and `delivery` are what becomes of verified fixes.
"""
