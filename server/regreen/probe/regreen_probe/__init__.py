"""What runs the tests of a project inside the user's own interpreter?

An island: the standard library and the user's pytest only, Python 3.9 to 3.14. It talks with the server as
docs/internals/wire.md says and shares no code with it.
"""
