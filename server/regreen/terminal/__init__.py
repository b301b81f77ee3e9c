"""What does the command line read, print and write?

`heal`, `doctor` and `housekeeping` are commands; `runs`, `costs`, `egress`, `stats`, `lessons` and `consents` show what
happened and what was agreed to (`archive` is what they share, `history_arguments` their part of the command line). All
print by `blocks`, `diffs`, `evidence`, `tables`, `run_text` and `ndjson` on a `console`; `progress` says what is going on
meanwhile. `arguments`, `configured` and `narrowing` read what was asked for; `together`, `patches`, `writing` and
`delivery` are what becomes of verified fixes.
"""
