"""Templates are found by name, beside the package or inside the wheel."""

from __future__ import annotations

import pytest

from harness.assets import UnknownAsset, asset_path, template


def test_a_template_is_text_with_plain_line_ends() -> None:
    text = template("agents.yaml")
    assert "agents:\n" in text
    assert "\r" not in text


def test_a_path_is_a_file_that_exists() -> None:
    assert asset_path("agents.yaml").read_text(encoding="utf-8") == template("agents.yaml")


def test_an_unknown_name_lists_what_exists() -> None:
    with pytest.raises(UnknownAsset) as caught:
        template("agent.yaml")
    assert caught.value.value == "agent.yaml"
    assert "agents.yaml" in caught.value.hint


@pytest.mark.parametrize("name", ["", ".", "..", "../pyproject.toml", "/etc/hostname", "a//b", "..\\x", "C:/x"])
def test_a_name_never_leads_out_of_the_templates(name: str) -> None:
    with pytest.raises(UnknownAsset):
        asset_path(name)
