"""How does a language model heal what the templates could not?

diagnose → (ask the user) → rounds of patches, each judged as a template's are → criticise → prove → remember.
`story` tells it; it is imported when a model is asked, as what it stands on need not be installed.
"""
