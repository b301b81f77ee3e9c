"""May a language model help, what is it told, and what is made of its answers?"""
