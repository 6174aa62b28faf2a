"""Asks a question about a file of any length: fold_with_openai.py FILE QUESTION [--model NAME] [--window TOKENS].

The key is read from OPENAI_API_KEY; for a server of your own set OPENAI_BASE_URL (http://localhost:11434/v1 …).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from openai import OpenAI

from harness import snowball


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("question")
    parser.add_argument("--model", default="gpt-5-mini")
    parser.add_argument("--window", type=int, default=131_072)
    given = parser.parse_args()

    fold = snowball.wrap(
        OpenAI(),
        model=given.model,
        window=given.window,
        on_progress=lambda step: print(f"{step.stage} {step.done}/{step.total}", file=sys.stderr),
    )
    reply = fold(
        [
            {"role": "system", "content": "Answer in one sentence."},
            {"role": "user", "content": given.file.read_text(encoding="utf-8")},
            {"role": "user", "content": given.question},
        ]
    )
    print(reply.choices[0].message.content)


if __name__ == "__main__":
    main()
