"""Texts of every kind for which the estimate claims to be an upper bound: made here, or files of this repository."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUSSIAN = "абвгдежзийклмнопрстуфхцчшщъыьэюя"

CHINESE = """
我们昨天下午讨论了新的仓库计划。公司去年的收入增长了百分之十八，但是利润没有明显变化，因为运输费用和工资都上升了。
经理认为，今年应该先把北方的三个城市做好，再考虑向南方扩大。有人问：如果竞争对手降低价格，我们怎么办？他回答说，
价格不是唯一的问题，顾客更关心送货的时间和商品的质量。根据二〇二四年的报告，平均送货时间是十五分钟，比前一年快了四分钟。
这个国家位于亚洲中部，面积大约二十万平方公里，人口六百多万，首都在北部的山谷里。夏天炎热干燥，冬天很冷，高山上终年积雪。
农业仍然是主要的经济部门，农民种植小麦、棉花和土豆，也养羊和牛。近年来，许多年轻人到外国工作，他们寄回家的钱占国内生产总值的四分之一。
政府希望通过修建铁路和水电站来改变这种情况，可是资金不足，工程进展缓慢。专家提醒，冰川正在融化，未来的水资源可能减少。
软件安装完成以后，请重新启动计算机，然后打开设置页面，选择需要的语言。如果出现错误，可以查看日志文件，或者把问题发送给管理员。
"""

PROSE_RU = """
Вчера на совещании обсуждали, почему выручка в третьем квартале выросла, а прибыль осталась прежней.
Оказалось, что доставка подорожала на пятую часть, да и склады за городом обходятся дороже, чем предполагали
весной. Руководитель отдела возразил, что сравнивать нужно не с прошлым годом, когда открылись сразу сорок
точек, а с позапрошлым. Спорили долго и ни к чему не пришли; решили дождаться отчёта за декабрь и тогда уже
подсчитать всё заново, отдельно по каждому городу.
"""


def _rows(random_: random.Random, between: str, cell: str) -> str:
    """Rows of 12 numbers; `cell`: how one is written."""
    return "\n".join(
        between.join(cell.format(random_.random() * 10 ** random_.randint(0, 6)) for _ in range(12)) for _ in range(500)
    )


def _made() -> dict[str, str]:
    one = random.Random(20261130)

    def pick(letters: str, number: int) -> str:
        return "".join(one.choices(letters, k=number))

    records = [{"id": one.randint(0, 10**6), "name": "Samokat", "value": one.random(), "ok": True} for _ in range(400)]
    return {
        "Chinese prose": CHINESE,
        "Russian prose": PROSE_RU,
        "Russian in capitals": PROSE_RU.upper(),
        "CSV of digits": "\n".join(",".join(pick("0123456789", 20)) for _ in range(500)),
        "CSV with semicolons": _rows(one, ";", "{:.2f}"),
        "whole numbers": _rows(one, ",", "{:.0f}"),
        "numbers and spaces": _rows(one, " ", "{:.0f}"),
        "numbers in columns": _rows(one, "", "{:>12.1f}"),
        "Markdown table": _rows(one, " | ", "{:.0f}"),
        "aligned table": _rows(one, "", "| {:<10.1f} "),
        "words in columns": "\n".join(
            "".join(f"{word:<8}" for word in one.choices(["is", "a", "to", "one", "set"], k=9)) for _ in range(500)
        ),
        "dates": "\n".join(
            f"20{one.randint(10, 26)}-{one.randint(1, 12):02}-{one.randint(1, 28):02}T09:{one.randint(0, 59):02}Z"
            for _ in range(1_000)
        ),
        "JSON": json.dumps(records),
        "indented JSON": json.dumps(records, indent=1),
        "base64": base64.b64encode(one.randbytes(30_000)).decode(),
        "base64 lines": base64.encodebytes(one.randbytes(30_000)).decode(),
        "hexadecimal": one.randbytes(20_000).hex(),
        "small letters": pick(string.ascii_lowercase, 40_000),
        "letters": pick(string.ascii_letters, 40_000),
        "capitals": pick(string.ascii_uppercase, 40_000),
        "Cyrillic letters": pick(RUSSIAN, 40_000),
        "random words": " ".join(pick(string.ascii_lowercase, one.randint(1, 9)) for _ in range(5_000)),
        "printable": pick(string.printable, 40_000),
        "emoji": pick("😀🚀🧠👍🏽é", 5_000),
    }


RUNS = {repr(char): char * 20_000 for char in (*string.printable, *"аеёя", "的", "\N{NO-BREAK SPACE}")}
FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("docs", "harness", "templates", "tests")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".md", ".py", ".txt", ".csv", ".json", ".yaml", ".html") and path.stat().st_size > 2_000
}
MADE = _made()
TEXTS: Mapping[str, str] = {**MADE, **RUNS, **FILES}
