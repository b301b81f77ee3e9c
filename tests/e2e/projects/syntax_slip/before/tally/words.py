from collections import Counter


def words(text):
    return text.lower().split()


def most_common(text, count=3):
    if not text
        return []
    return [word for word, _ in Counter(words(text)).most_common(count)]
