"""No secret leaves, whatever it stands in; code stays readable."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.llm.masking import Masker, mask
from regreen.llm.placeholders import PLACEHOLDER

SERVER = Path(__file__).parents[3] / "server" / "regreen"
LETTERS = string.ascii_letters + string.digits


def word(letters: str, length: int) -> st.SearchStrategy[str]:
    # Not the same letter all along: that is how people write an example.
    return st.text(st.sampled_from(letters), min_size=length, max_size=length).filter(
        lambda t: len(set(t)) > length // 4
    )


KEYS = {
    "AWS": word(string.ascii_uppercase + string.digits, 16).map("AKIA{}".format),
    "GitHub": word(LETTERS, 36).map("ghp_{}".format),
    "OpenAI": word(LETTERS, 20).flatmap(lambda a: word(LETTERS, 20).map(lambda b: f"sk-{a}T3BlbkFJ{b}")),
    "Slack": word(string.digits, 12).flatmap(lambda a: word(LETTERS, 24).map(lambda b: f"xoxb-{a}-{b}")),
    "Stripe": word(LETTERS, 24).map("sk_live_{}".format),
    "PyPI": word(LETTERS, 80).map("pypi-AgEIcHlwaS5vcmc{}".format),
    "JWT": word(LETTERS, 20).flatmap(lambda a: word(LETTERS, 24).map(lambda b: f"eyJ{a}.eyJ{b}.{b}{a}")),
}
PLACES = (
    "TOKEN = '{}'\n",
    'client = Client("{}", timeout=3)\n',
    "E   ValueError: cannot log in with {}\n",
    "    key: str = '{}'\n",
    '{{"headers": {{"Authorization": "Bearer {}"}}}}',
    "curl -H 'X-Key: {}' https://example.org\n",
    "# the old one was {} until May\n",
)


@pytest.mark.parametrize("kind", KEYS)
@given(st.data(), st.sampled_from(PLACES))
def test_a_key_of_a_provider_never_survives_whatever_it_stands_in(
    kind: str, data: st.DataObject, place: str
) -> None:
    secret = data.draw(KEYS[kind])
    masked = mask(place.format(secret), {})
    assert secret not in masked.text
    assert sum(masked.kinds.values()) >= 1
    assert PLACEHOLDER.search(masked.text)


PASSWORDS = word(LETTERS + "!$%&*+-=?", 14).filter(
    lambda text: (
        len(set(text)) > 9 and any(one.isdigit() for one in text) and any(one.isalpha() for one in text)
    )
)


@given(PASSWORDS)
def test_what_a_name_gives_away_is_masked(secret: str) -> None:
    for text in (
        f'password = "{secret}"\n',
        f"DB_PASSWORD='{secret}'\n",
        f'connect(host="h", api_key="{secret}")\n',
        f'{{"client_secret": "{secret}"}}',
        f"    auth_token: str = '{secret}'",
        f"postgresql://app:{secret.replace('%', 'x').replace('?', 'y')}@db.example.org/shop",
    ):
        masked = mask(text, {})
        assert secret not in masked.text, text


def test_a_private_key_is_masked_whole() -> None:
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7" + "x" * 10 for _ in range(6))
    text = f'KEY = """-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"""\nx = 1\n'
    masked = mask(text, {}).text
    assert "MIIEvQ" not in masked
    assert masked.endswith("x = 1\n")


@given(
    word(LETTERS, 20), st.sampled_from(["API_TOKEN", "AWS_SECRET_ACCESS_KEY", "SHOP_PASSWORD", "GH_TOKEN"])
)
def test_values_of_the_environment_s_keys_are_masked_wherever_they_stand(value: str, name: str) -> None:
    masked = mask(f"the server said {value}, and {json.dumps(value)}", {name: value, "HOME": "/home/me"})
    assert value not in masked.text


@given(KEYS["GitHub"], KEYS["GitHub"])
def test_the_same_secret_has_one_name_and_two_have_two(one: str, other: str) -> None:
    masker = Masker({})
    first = masker.mask(f"a = '{one}'").text
    assert masker.mask(f"a = '{one}'").text == first
    if one != other:
        assert masker.mask(f"a = '{other}'").text != first


@given(KEYS["AWS"])
def test_masking_is_the_same_every_time(secret: str) -> None:
    text = f"a = '{secret}'\nb = '{secret}'\n"
    assert mask(text, {}) == mask(text, {})
    (name,) = set(PLACEHOLDER.findall(mask(text, {}).text))
    assert mask(text, {}).text.count(str(name if isinstance(name, str) else name[0])) >= 2


@given(KEYS["Stripe"])
def test_what_was_a_secret_once_is_one_everywhere(secret: str) -> None:
    masker = Masker({})
    masker.mask(f"TOKEN = '{secret}'")
    assert secret not in masker.mask(f"and then {secret[:]} came").text


@given(st.text(max_size=200))
def test_any_text_is_masked_without_trouble_and_twice_is_as_once(text: str) -> None:
    once = mask(text, {})
    assert mask(once.text, {}).text == once.text


def test_ordinary_code_is_hardly_ever_masked() -> None:
    """Of all the lines of this program, of which none holds a secret, but a few that speak of them."""
    lines = masked = 0
    for path in sorted(SERVER.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        after = mask(text, {}).text
        lines += text.count("\n")
        masked += sum(a != b for a, b in zip(text.splitlines(), after.splitlines(), strict=False))
    assert masked <= lines / 10_000, (masked, lines)
