"""What does the command line print, read and write?

`console` where it goes · `progress` the live reporter · `plain` and `ndjson` the others · `blocks` one red test ·
`diffs`, `evidence`, `tables` its parts · `targets`, `junit`, `lastfailed` what to heal ·
`patches` and `writing` what becomes of fixes.
"""
