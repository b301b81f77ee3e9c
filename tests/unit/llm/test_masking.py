"""Does no secret leave in a text, and does the rest of the text stay readable?"""

from __future__ import annotations

import base64
import json
import string
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regreen
from regreen.llm.masking import Masker, mask, total
from regreen.llm.placeholders import PLACEHOLDER, placeholder
from regreen.llm.secret_rules import KINDS, random_looking

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
LETTERS = LOWER + UPPER + DIGITS
URLSAFE = LETTERS + "-_"
HEX = DIGITS + "abcdef"


def drawn(alphabet: str, length: int, more: int = 0) -> st.SearchStrategy[str]:
    """Words as they are drawn by lot: what ends or begins with a sign may be cut there by a format's own rule."""
    ends = alphabet.replace("-", "").replace("_", "")
    return st.builds(
        "{}{}{}".format,
        st.sampled_from(ends),
        st.text(alphabet, min_size=length - 2, max_size=length - 2 + more),
        st.sampled_from(ends),
    )


def key(
    head: str, alphabet: str, length: int, tail: str = "", more: int = 0
) -> st.SearchStrategy[tuple[str, str]]:
    """Keys and the part of each that is secret."""
    return drawn(alphabet, length, more).map(lambda word: (f"{head}{word}{tail}", word))


def token(payload: str, signature: str) -> tuple[str, str]:
    parts = [
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in ('{"alg":"HS256"}', payload)
    ]
    return ".".join([*parts, signature]), signature


FORMATS: dict[str, st.SearchStrategy[tuple[str, str]]] = {
    "AWS": key("AKIA", UPPER + DIGITS, 16),
    "GitHub": key("ghp_", LETTERS, 36),
    "GitHub, fine-grained": key("github_pat_", LETTERS + "_", 60),
    "GitLab": key("glpat-", LETTERS, 20),
    "Slack": key("xoxb-123456789012-", LETTERS, 24),
    "Stripe": key("sk_live_", LETTERS, 24),
    "SendGrid": st.tuples(drawn(LETTERS, 22), drawn(LETTERS, 43)).map(
        lambda two: (f"SG.{two[0]}.{two[1]}", two[1])
    ),
    "Twilio": key("SK", HEX, 32),
    "OpenAI": key("sk-proj-", LETTERS, 48, more=60),
    "Anthropic": key("sk-ant-api03-", URLSAFE, 60, more=40),
    "Google": key("AIza", URLSAFE, 35),
    "Hugging Face": key("hf_", LETTERS, 34),
    "npm": key("npm_", LETTERS, 36),
    "PyPI": key("pypi-AgEIcHlwaS5vcmc", URLSAFE, 90),
    "Mailchimp": key("", HEX, 32, "-us12"),
    "Square": key("sq0csp-", URLSAFE, 43),
    "Telegram": key("110201543:", URLSAFE, 35),
    "JSON web token": st.builds(token, st.text(LOWER, min_size=20, max_size=60), drawn(URLSAFE, 43)),
    "address": key("postgresql://app:", LETTERS + "-_!$", 12, "@db.example.org/shop"),
    "private key": drawn(LETTERS + "+/", 400, 400).map(
        lambda word: (
            "-----BEGIN PRIVATE KEY-----\n"
            + "\n".join(textwrap.wrap(word, 64))
            + "\n-----END PRIVATE KEY-----\n",
            word[:64],
        )
    ),
}
PLACES: dict[str, Callable[[str], str]] = {
    "code": lambda secret: f"    client = Client({secret!r}, retries=3)\n    return client\n",
    "comment": lambda secret: f"# was {secret} before\n" if "\n" not in secret else f'"""{secret}"""\n',
    "traceback": lambda secret: (
        f'  File "shop.py", line 3, in call\n    get({secret!r})\nE   ValueError: no such key: {secret}\n'
    ),
    "locals": lambda secret: repr({"number": 3, "given": secret, "many": [secret.encode(), (secret,)]}),
    "JSON": lambda secret: json.dumps({"data": {"given": secret}}),
    "JSON in JSON": lambda secret: json.dumps({"data": json.dumps({"given": secret, "n": 1})}),
    "YAML": lambda secret: f"given: {secret}\nother: 1\n",
    "diff": lambda secret: f"-given = {secret!r}\n+given = os.environ['GIVEN']\n",
}


def survives(secret: str, text: str) -> bool:
    """Whether twelve characters of it in a row are still there."""
    return any(secret[at : at + 12] in text for at in range(max(1, len(secret) - 11)))


@pytest.mark.parametrize("format_", FORMATS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_key_survives_wherever_it_stands(format_: str, data: st.DataObject) -> None:
    whole, secret = data.draw(FORMATS[format_])
    for where, place in PLACES.items():
        masked = mask(place(whole), {})
        assert not survives(secret, masked.text), (where, masked.text)
        assert set(masked.kinds) <= KINDS


@pytest.mark.parametrize("format_", sorted(set(FORMATS) - {"private key", "address", "Mailchimp"}))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_key_survives_that_is_broken_over_lines(format_: str, data: st.DataObject) -> None:
    whole, secret = data.draw(FORMATS[format_])
    at = data.draw(st.integers(1, len(whole) - 1))
    glue = data.draw(st.sampled_from(['"\n        "', "\" \\\n    '", '" + "', '"\n    + "', "\\\n"]))
    closing = "'" if glue.endswith("'") else '"'
    code = f'KEY = (\n    "{whole[:at]}{glue}{whole[at:]}{closing}\n)\n'
    first, rest = (
        mask(code, {}).text.partition(glue)[::2] if glue in mask(code, {}).text else (mask(code, {}).text, "")
    )
    assert not survives(secret, first + rest), (code, first, rest)


@settings(max_examples=50, deadline=None)
@given(
    secret=st.text(string.printable.strip(), min_size=8, max_size=40).filter(lambda s: s not in {"", "."}),
    name=st.sampled_from(["password", "db_password", "PASSWD", "user.password", "passphrase"]),
)
def test_no_password_survives_beside_its_name(secret: str, name: str) -> None:
    told = secret if any(c.isdigit() for c in secret) else f"{secret}7"
    if "{" in told or told.startswith("<") or len(set(told)) < 3 or told[:1] + told[-1:] == "__":
        return  # those look like what is filled in later
    for text in (f"{name} = {told!r}\n", repr({name: told}), json.dumps({name: told})):
        masked = mask(text, {}).text
        assert told not in masked, masked
        assert repr(told)[1:-1] not in masked, masked
        assert json.dumps(told)[1:-1] not in masked, masked


@pytest.mark.parametrize(
    "text",
    [
        'password = "my-S3cret!pass"',
        'password = """x9-unlikely"""',
        'password = "$ecret123"',
        'password = "p4{ss"',
        "password = 'it\\'s 4 me'".replace(" ", ""),
        'API_KEY=f00dfeedbeef1234"',
        'os.environ["API_KEY"] = "f00dfeed-beef-1234"',
        "curl -H 'Authorization: Bearer f00dfeedbeef1234'",
        "login --password hunter2hunter2",
        'api_key: str = "f00dfeed-beef-1234"',
        'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY"',
    ],
)
def test_a_secret_is_known_by_what_stands_beside_it(text: str) -> None:
    assert PLACEHOLDER.search(mask(text, {}).text), mask(text, {}).text


@pytest.mark.parametrize(
    "text",
    [
        'token = next(tokens)\nif token.kind == "identifier":\n    return token.text\n',
        'password = os.environ["DB_PASSWORD"]\n',
        "def login(user: str, password: str) -> Token: ...\n",
        'field = forms.CharField(label="Password", help_text="The password of the account")\n',
        'api_key = config.get("api_key", None)\nheaders = {"Authorization": f"Bearer {api_key}"}\n',
        "commit 5d3f2a1, uuid 123e4567-e89b-12d3-a456-426614174000, version 1.24.3\n",
        'password = "${DB_PASSWORD}"\ntoken = "<your token>"\nsecret = "your-secret-here"\n',
        "https://user@example.org:8080/path http://localhost:8000/@me\n",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert mask(text, {}).text == text


def test_ordinary_code_is_hardly_masked() -> None:
    """Measured: two places in the 49 000 lines of Regreen, a digest and the name of a header in this rule itself."""
    folder = Path(regreen.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    assert len(texts) > 300
    assert sum(total(mask(text, {}) for text in texts).values()) <= 4


KEYS = st.one_of(*(FORMATS[name] for name in ("AWS", "GitHub", "OpenAI", "Google"))).map(lambda two: two[0])


@settings(max_examples=50, deadline=None)
@given(secrets=st.lists(KEYS, min_size=2, max_size=5, unique=True))
def test_a_secret_has_one_name_and_two_secrets_have_two(secrets: list[str]) -> None:
    masker = Masker({})
    first = masker.mask("\n".join(f"a = {secret!r}" for secret in secrets)).text.splitlines()
    then = masker.mask("\n".join(f"b({secret!r})" for secret in reversed(secrets))).text.splitlines()
    names = [PLACEHOLDER.search(line) for line in first]
    assert all(names)
    assert len({name.group() for name in names if name}) == len(secrets)
    assert [line[4:] for line in first] == [line[2:-1] for line in reversed(then)]


@settings(max_examples=50, deadline=None)
@given(secrets=st.lists(KEYS, min_size=1, max_size=4), text=st.text(max_size=60))
def test_the_same_texts_are_masked_the_same_way_and_twice_is_once(secrets: list[str], text: str) -> None:
    whole = "\n".join([text, *(f"x = {secret!r}" for secret in secrets)])
    one, other = Masker({}), Masker({})
    masked = one.mask(whole)
    assert masked == other.mask(whole)
    assert one.mask(masked.text).text == masked.text
    assert one.mask(whole) == masked


def test_a_secret_that_was_found_once_is_one_everywhere_however_it_is_spelled() -> None:
    masker = Masker({})
    name = masker.mask('password = "kn0ck kn0ck&\'é"'.replace(" ", "")).text.removeprefix('password="')[:-1]
    assert PLACEHOLDER.fullmatch(name)
    for text in ("kn0ckkn0ck&'é", "kn0ckkn0ck%26%27%C3%A9", json.dumps("kn0ckkn0ck&'é"), "kn0ck\nkn0ck&'é"):
        masked = masker.mask(f"E   it was {text} here").text
        assert name in masked, masked
        assert "ck&" not in masked, masked


def test_keys_of_the_environment_are_secrets() -> None:
    environment = {
        "SHOP_API_KEY": "plain-words-only",
        "DB_PASSWORD": "correcthorsebattery",
        "AWS_SECRET_ACCESS_KEY": "/bPxRfiCYEXAMPLEKEY7wJalrXUtnFEMI9K4MDENG",
        "PIN_SECRET": "20395811",
        "QUOTED_TOKEN": 'a"b\\c&d e',
        "DATABASE_URL": "postgres://app:plainpass@db/shop",
    }
    masker = Masker(environment)
    secrets = [*list(environment.values())[:-1], "plainpass"]
    names = [masker.mask(f"E   got {secret}!").text for secret in secrets]
    assert len(set(names)) == len(names)
    assert all(PLACEHOLDER.search(name) for name in names), names
    assert masker.mask(repr('a"b\\c&d e')).text[1:-1] == masker.mask(json.dumps('a"b\\c&d e')).text[1:-1]


def test_words_paths_and_other_variables_of_the_environment_are_no_secrets() -> None:
    environment = {
        "AUTH": "required",
        "SSL_KEY": "/etc/ssl/private/server",
        "HOME": "/home/somebody",
        "PWD": "/home/somebody/shop-12345",
        "PGPASSWORD": "postgres",
        "MAX_TOKENS": "4096-and-more",
        "CACHE_KEY": "12345",
    }
    text = "\n".join(environment.values())
    assert Masker(environment).mask(text).text == text


def test_the_process_s_own_environment_is_taken_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "some-words-of-mine")
    assert "some-words-of-mine" not in mask("x = 'some-words-of-mine'").text


def test_what_only_looks_like_a_placeholder_hides_nothing() -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    assert secret not in mask(placeholder(secret, 1), {}).text


def test_a_placeholder_of_a_text_is_given_to_no_secret_of_it() -> None:
    text = f"{placeholder('GitHub token', 1)} and ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    assert mask(text, {}).text == f"{placeholder('GitHub token', 1)} and {placeholder('GitHub token', 2)}"


@settings(max_examples=100, deadline=None)
@given(
    word=st.from_regex(
        r"[a-z]{3,9}(_[a-z]{3,9}){2,5}|([A-Z][a-z]{3,9}){3,6}|[A-Z]{3,9}(_[A-Z0-9]{3,9}){2,4}", fullmatch=True
    )
)
def test_names_are_not_drawn_by_lot(word: str) -> None:
    assert not random_looking(word)
