"""Where in a text stand secrets?

Formats of keys that providers give out are found by the patterns of detect-secrets; what only its surroundings give
away (a private key, a password in an address, a value given to `api_key`, a random-looking literal) by rules of ours.
Rules look at text, not at a tree: tracebacks, values of variables and half a file are searched, too.
"""

from __future__ import annotations

import importlib
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

DETECTORS = {
    "artifactory.ArtifactoryDetector": "Artifactory key",
    "aws.AWSKeyDetector": "AWS key",
    "azure_storage_key.AzureStorageKeyDetector": "Azure key",
    "cloudant.CloudantDetector": "Cloudant key",
    "discord.DiscordBotTokenDetector": "Discord token",
    "github_token.GitHubTokenDetector": "GitHub token",
    "gitlab_token.GitLabTokenDetector": "GitLab token",
    "ibm_cloud_iam.IbmCloudIamDetector": "IBM key",
    "ibm_cos_hmac.IbmCosHmacDetector": "IBM key",
    "mailchimp.MailchimpDetector": "Mailchimp key",
    "npm.NpmDetector": "npm token",
    "openai.OpenAIDetector": "OpenAI key",
    "pypi_token.PypiTokenDetector": "PyPI token",
    "sendgrid.SendGridDetector": "SendGrid key",
    "slack.SlackDetector": "Slack token",
    "softlayer.SoftlayerDetector": "SoftLayer key",
    "square_oauth.SquareOAuthDetector": "Square key",
    "stripe.StripeDetector": "Stripe key",
    "telegram_token.TelegramBotTokenDetector": "Telegram token",
    "twilio.TwilioKeyDetector": "Twilio key",
}
"""The patterns of detect-secrets that are used, and what their finds are called. Left out are those that ours replace
(JSON web tokens, whose signature it leaves, private keys, of which it finds the first line, addresses, keywords, random
strings) and public IP addresses, which are no secret."""

ENVIRONMENT = "environment variable"
KINDS = frozenset(DETECTORS.values()) | {
    *("private key", "JSON web token", "API key", "password", "authorization", "token", "secret"),
    *("random string", ENVIRONMENT),
}
"""Every sort of secret there is."""


# a break between the lines of a private key: also in a literal of several lines, and after the numbers of lines
_BREAK = r"[\s\\nrbfu\"'+(),|\d]{0,40}"
_PEM = re.compile(
    rf"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:"
    rf"(?=[^-]{{0,400}}?[A-Za-z0-9+/]{{16}})(?:(?!-----BEGIN).){{0,20000}}?-----END [A-Z0-9 ]*-----"
    rf"|(?:{_BREAK}(?:[A-Za-z0-9+/=]{{16,}}|[A-Z][A-Za-z-]+: [^\n\\]{{0,100}}))+(?:{_BREAK}[A-Za-z0-9+/]*={{1,2}})?)",
    re.DOTALL,
)
_URL = re.compile(r"://[^\s/:@'\"<>{}]{0,200}:([^\s'\"/{}]{1,500})@")
_HEADER = re.compile(
    r"authorization\\?[\"']?[\])]?\s{0,5}[:=,]\s{0,5}[bBrR]?\\?[\"']?(?:(?:bearer|basic|token|digest|apikey|negotiate)\s+)?"
    r"([A-Za-z0-9._~+/=-]{8,})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(?:Bearer|Basic)\s+([A-Za-z0-9._~+/=-]{16,})")
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{13,}(?:\.[A-Za-z0-9_-]*){0,4}")
_ISSUED = re.compile(
    r"\b(?:sk-(?:[a-z]+\d*-)*[A-Za-z0-9_-]{20,}|github_pat_\w{20,}|hf_[A-Za-z0-9]{20,}|AIza[\w-]{35}|ya29\.[\w-]{20,}"
    r"|npm_[A-Za-z0-9]{36}|xapp-[\w-]{20,}|AGE-SECRET-KEY-[A-Z0-9]{20,}|dop_v1_[0-9a-f]{32,}|(?:rk|sk|pk)_(?:live|test)_\w{16,})"
)
_KEYWORD = (
    r"(?:tokens?|secrets?|passwords?|passwd|passphrase|pwd|credentials?"
    r"|(?:api|access|private|auth|secret|encryption|signing|master|account|client)[_-]?keys?)"
)
_SUFFIX = r"[\w-]{0,30}"
_QUOTED = re.compile(
    rf"(?P<keyword>{_KEYWORD})(?P<suffix>{_SUFFIX})(?:\\?[\"'])?\]?\s{{0,5}}"
    r"(?::\s{0,5}[\w\[\], .|]{1,60}=|[:!=]=|=>|[:=,])\s{0,5}[(\[]?[bBfFrRuU]{0,2}"
    r"(?P<quote>\\?(?:\"\"\"|'''|[\"']))(?P<value>(?:(?!(?P=quote))(?:\\.|[^\\\r\n])){4,500})(?P=quote)",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"(?P<keyword>{_KEYWORD})(?P<suffix>{_SUFFIX})(?P<sign>=|:\s{{0,3}}|\s=\s)(?P<value>[^\s\"'`,;(){{}}\[\]<>&|\\]{{6,500}})(?![(\[.])",
    re.IGNORECASE,
)
_OPTION = re.compile(
    rf"--(?:[\w-]{{0,30}}-)?(?P<keyword>{_KEYWORD})(?P<suffix>)[= ](?P<value>[^\s\"'`,;(){{}}\[\]<>|]{{6,500}})",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"(?<=[\"'=:\s/])[A-Za-z0-9+/_=-]{20,2000}(?=[\"'&\s\\]|$)")

_HARMLESS_SUFFIX = re.compile(
    r"[_-]?(?:i[sz]e\w*|i[sz]ation|count|types?|names?|fields?|ur[li]|path|file|id|limit|len|length|size|max|min|re|regex|pattern"
    r"|env|var|variable|header|index|kind|class|prefix|suffix|format|label|help|text|message|error|prompt|title|mode|model|usage"
    r"|required|reset|view|form|input|policy|rules?|scheme|style|endpoint|expired|invalid|in|for|to|of)(?:[_-]\w*)?",
    re.IGNORECASE,
)
_STAND_IN = re.compile(
    r"<.*>|\$\{\w+\}|\$[A-Z_]+|%s|%\(\w+\)s|.*\{[^{}]*\}.*|(.)\1*|\.+"
    r"|(?:your|my|the|some|an?|test|fake|dummy|example|placeholder)[_-][A-Za-z_ .-]*\d{0,4}"
    r"|change[_-]?me|none|null|true|false|str|bytes|string|required|optional|incorrect|redacted|masked|hidden|unknown|invalid",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Za-z]+(?:[_.:/ -][A-Za-z]+)*[_-]?\d{0,2}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")


@dataclass(frozen=True, slots=True)
class Find:
    """A secret: where it begins and ends in the text, in code points, and of which sort it is."""

    start: int
    end: int
    kind: str


def passwords_in_addresses(text: str) -> Iterator[Find]:
    """Yield what stands between a user's name and the `@` of an address."""
    for found in _URL.finditer(text):
        if not _STAND_IN.fullmatch(found[1]):
            yield Find(*found.span(1), "password")


def finds(text: str) -> Iterator[Find]:
    """Yield what looks like a secret; finds may overlap, surer ones come first."""
    for found in _PEM.finditer(text):
        yield Find(*found.span(), "private key")
    yield from issued(text)
    yield from passwords_in_addresses(text)
    for pattern in (_HEADER, _BEARER):
        for found in pattern.finditer(text):
            if not _WORDS.fullmatch(found[1]):
                yield Find(*found.span(1), "authorization")
    for pattern in (_QUOTED, _OPTION, _BARE):
        for found in pattern.finditer(text):
            if _is_given(found, quoted=pattern is not _BARE):
                yield Find(*found.span("value"), _kind(found["keyword"]))
    for found in _LITERAL.finditer(text):
        if random_looking(found.group()):
            yield Find(*found.span(), "random string")


def issued(text: str) -> Iterator[Find]:
    """Yield the keys that can be told by their own format, whatever stands around them."""
    for kind, patterns in _detectors():
        for pattern in patterns:
            for found in pattern.finditer(text):
                group = _longest_group(found)
                value = found[group]
                start = found.start(group) + len(value) - len(value.lstrip(" \t\r\n\"'=:"))
                value = value.strip(" \t\r\n\"'=:")
                yield Find(start, start + len(value), kind)
    for pattern, kind in ((_JWT, "JSON web token"), (_ISSUED, "API key")):
        for found in pattern.finditer(text):
            yield Find(*found.span(), kind)


def random_looking(word: str) -> bool:
    """Whether a word of letters, digits and `+/_=-` looks drawn by lot rather than written.

    Hexadecimal ones need 32 digits; others 20 characters with capitals, small letters and digits that change often,
    and (by Shannon, in bits for each character) an entropy of 3.6. UUIDs name things and are none.
    """
    if _UUID.fullmatch(word):
        return False
    if _HEX.fullmatch(word):
        return len(word) >= 32 and entropy(word) >= 3.0 and any(c.isdigit() for c in word)
    sorts = [0 if c.islower() else 1 if c.isupper() else 2 if c.isdigit() else 3 for c in word]
    if len(word) < 20 or not {0, 1, 2} <= set(sorts):
        return False
    changes = sum(one != other for one, other in pairwise(sorts))
    return changes >= 0.35 * len(word) and entropy(word) >= 3.6


def entropy(word: str) -> float:
    """Measure a word's entropy by Shannon, in bits for each character."""
    length = len(word)
    return -sum(count / length * math.log2(count / length) for count in Counter(word).values())


def _longest_group(found: re.Match[str]) -> int:
    """Which group of a pattern is the secret: one of some length; shorter ones are parts of it."""
    long = [at for at in range(1, found.re.groups + 1) if len(found[at] or "") >= 16]
    return max(long, key=lambda at: len(found[at]), default=0)


@cache
def _detectors() -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    found = []
    for name, kind in DETECTORS.items():
        module, _, detector = name.partition(".")
        plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), detector)
        found.append((kind, tuple(plugin.denylist)))
    return tuple(found)


def _kind(keyword: str) -> str:
    word = keyword.lower()
    if "key" in word:
        return "API key"
    if "token" in word:
        return "token"
    return "password" if "pass" in word or "pwd" in word else "secret"


def _is_given(found: re.Match[str], *, quoted: bool) -> bool:
    """Whether the value that a name is given is likely a secret, and no word, field name or stand-in."""
    value, kind = found["value"], _kind(found["keyword"])
    if (
        _HARMLESS_SUFFIX.fullmatch(found["suffix"])
        or _STAND_IN.fullmatch(value)
        or (value[:1] + value[-1:]) == "__"
    ):
        return False
    if kind != "password" and any(c.isspace() for c in value):
        return False
    has_digit = any(c.isdigit() for c in value)
    has_letter = any(c.isalpha() for c in value)
    if not quoted:
        env = found.group().split("=")[0].isupper()
        sure = not value.isidentifier() or random_looking(value) or (env and len(value) >= 8)
        return has_digit and has_letter and sure and not _WORDS.fullmatch(value)
    if kind == "password":
        if has_digit and not any(c.isspace() for c in value):
            return True
        special = any(not c.isalnum() and c not in " _-.:/," for c in value)
        return (special and not any(c.isspace() for c in value)) or (value.isalpha() and len(value) >= 8)
    if _WORDS.fullmatch(value):
        return False
    return (has_digit and has_letter and len(value) >= 8) or (len(value) >= 20 and not value.isidentifier())
