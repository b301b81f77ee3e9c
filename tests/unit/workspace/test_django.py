"""Databases of this machine are found in Django's settings without running them."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.workspace.django import databases

MANAGE = 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "manage.py").write_text(MANAGE)
    (tmp_path / "shop").mkdir()
    return tmp_path


def _settings(project: Path, options: str) -> None:
    text = f'raise SystemExit("never run")\nDATABASES = {{"default": {{{options}}}}}\n'
    (project / "shop/settings.py").write_text(text)


@pytest.mark.parametrize(
    ("options", "address"),
    [
        ('"ENGINE": "django.db.backends.postgresql"', "localhost:5432"),
        ('"ENGINE": "django.db.backends.postgresql", "HOST": "", "PORT": ""', "localhost:5432"),
        ('"ENGINE": "django.contrib.gis.db.backends.postgis", "HOST": "127.0.0.1"', "127.0.0.1:5432"),
        ("'ENGINE': 'django.db.backends.mysql', 'HOST': '::1', 'PORT': 3307", "[::1]:3307"),
        (
            '"ENGINE": "django.db.backends.postgresql", "HOST": os.environ.get("HOST", "localhost"), "PORT": 5433',
            "localhost:5433",
        ),
        ('"ENGINE": "django.db.backends.postgresql", "PORT": env("PORT", default="5434")', "localhost:5434"),
        (
            '"ENGINE": "django.db.backends.postgresql", "HOST": "/var/run/postgresql"',
            "/var/run/postgresql/.s.PGSQL.5432",
        ),
    ],
)
def test_a_database_of_this_machine_has_an_address(project: Path, options: str, address: str) -> None:
    _settings(project, options)
    assert databases(project) == {"default": address}


@pytest.mark.parametrize(
    "options",
    [
        '"ENGINE": "django.db.backends.sqlite3", "NAME": BASE / "db.sqlite3"',
        '"ENGINE": "django.db.backends.postgresql", "HOST": "db.example.org"',
        '"ENGINE": "django.db.backends.postgresql", "PORT": "many"',
        '"ENGINE": engine()',
        "**defaults",
    ],
)
def test_what_is_a_file_elsewhere_or_computed_is_no_database_of_this_machine(
    project: Path, options: str
) -> None:
    _settings(project, options)
    assert databases(project) == {}


def test_settings_that_build_on_others_have_their_databases(project: Path) -> None:
    (project / "manage.py").unlink()
    (project / "pytest.ini").write_text("[pytest]\nDJANGO_SETTINGS_MODULE = shop.settings.test\n")
    folder = project / "shop/settings"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "test.py").write_text("from .base import *\nDEBUG = False\n")
    (folder / "base.py").write_text(
        'from .test import *\nDATABASES = {"main": {"ENGINE": "django.db.backends.postgresql"}}\nDEBUG = = 1\n'
    )
    assert databases(project) == {"main": "localhost:5432"}


def test_a_project_without_django_has_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'shop'\n")
    assert databases(tmp_path) == {}
