"""Templates are found by name, beside the package or inside the wheel."""

from __future__ import annotations

import pytest

from harness.assets import UnknownAsset, asset_path, template


def test_a_template_is_text_with_plain_line_ends() -> None:
    text = template("agents/claude.yaml")
    assert "command:\n" in text
    assert "\r" not in text


def test_a_path_is_a_file_that_exists() -> None:
    assert asset_path("agents/claude.yaml").read_text(encoding="utf-8") == template("agents/claude.yaml")


def test_an_unknown_name_lists_what_exists() -> None:
    with pytest.raises(UnknownAsset) as caught:
        template("agents/cloude.yaml")
    assert caught.value.value == "agents/cloude.yaml"
    assert "agents/claude.yaml" in caught.value.hint


@pytest.mark.parametrize("name", ["", ".", "..", "../pyproject.toml", "/etc/hostname", "a//b", "..\\x", "C:/x"])
def test_a_name_never_leads_out_of_the_templates(name: str) -> None:
    with pytest.raises(UnknownAsset):
        asset_path(name)
