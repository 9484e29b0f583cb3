"""Draw the chart of the page "Which method?" in both languages: ``python tools/draw_choice.py`` writes docs/assets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from sudare.bilingual import Words

__all__ = ["QUESTIONS", "draw_choice", "main"]

ASSETS = Path(__file__).resolve().parents[1] / "docs" / "assets"
WIDTH, LEFT, RIGHT = 760, 20, 330
QUESTION_WIDTH, ANSWER_WIDTH = 270, 410
ANSWER_STEP, GAP, TOP = 46, 26, 64
"""Points from one answer to the next, between two questions, and above the first."""

STYLE = """
svg { --ink: #1b2430; --quiet: #55606e; --paper: #ffffff; --box: #eef3fa; --edge: #2f6fc4; --answer: #f6f7f9; --rule: #c5ccd6; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6eaf0; --quiet: #a9b3c0; --paper: #171b21; --box: #24364f; --edge: #5b9be8;
  --answer: #20262e; --rule: #3d4653; } }
text { font-family: system-ui, -apple-system, "Segoe UI", "Hiragino Sans", "Yu Gothic", "Noto Sans CJK JP", sans-serif;
  font-size: 12.5px; fill: var(--ink); dominant-baseline: central; }
.title { font-size: 15px; font-weight: 600; } .quiet { fill: var(--quiet); font-size: 11.5px; }
.command { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12px; }
.paper { fill: var(--paper); } .question { fill: var(--box); stroke: var(--edge); stroke-width: 1.2; }
.answer { fill: var(--answer); stroke: var(--rule); } .way { fill: none; stroke: var(--edge); stroke-width: 1.4; }
""".strip()

TITLE = Words("Which method for which problem?", "どの課題にどの手法を使うか")


@dataclass(frozen=True)
class Answer:
    """One way to go: what holds, the command, and what it promises."""

    when: Words
    command: str
    promise: Words


@dataclass(frozen=True)
class Question:
    """A question with its answers; whoever finds none goes on to the next question."""

    lines: tuple[Words, ...]
    answers: tuple[Answer, ...]


QUESTIONS = (
    Question(
        (Words("Is the data still with the people", "データはまだ本人の手元に"), Words("themselves?", "ありますか")),
        (
            Answer(
                Words("one collector", "収集者は一者"),
                "sudare collect",
                Words("local differential privacy", "局所差分プライバシー"),
            ),
            Answer(
                Words("two who do not collude", "結託しない二者"),
                "sudare collect prio",
                Words("sums only; nobody sees a value", "合計のみ。個々の値は誰にも見えない"),
            ),
        ),
    ),
    Question(
        (
            Words("Do readers need records,", "利用者に必要なのは"),
            Words("one row for each person?", "一人一行のレコードですか"),
        ),
        (
            Answer(
                Words("with a guarantee", "保証が必要"),
                "sudare synthesize",
                Words("differential privacy; rows of nobody", "差分プライバシー。実在しない人の行"),
            ),
            Answer(
                Words("true values, coarser", "真の値を粗くして"),
                "sudare anonymize",
                Words("k-anonymity and its family; attacked first", "k-匿名性など。公表前に攻撃して確認"),
            ),
            Answer(
                Words("to be linked over time", "時点間で連結する"),
                "sudare pseudonymize",
                Words("only whoever has the key can link", "鍵をもつ者だけが対応づけられる"),
            ),
        ),
    ),
    Question(
        (Words("Do analysts ask questions", "分析者がデータベースに"), Words("of a database?", "問い合わせますか")),
        (
            Answer(
                Words("SQL", "SQL"),
                "sudare sql",
                Words("differential privacy for each answer", "回答ごとに差分プライバシー"),
            ),
        ),
    ),
    Question(
        (
            Words("A table is published.", "集計表を公表します。"),
            Words("May its numbers be noisy?", "ノイズを加えられますか"),
        ),
        (
            Answer(
                Words("yes: counts of people", "はい: 人数の表"),
                "sudare run",
                Words("differential privacy; error known before", "差分プライバシー。誤差を事前に提示"),
            ),
            Answer(
                Words("no: sums of firms, fixed totals", "いいえ: 企業の合計など"),
                "sudare protect",
                Words("primary and secondary suppression, rounding", "一次秘匿・二次秘匿、丸め"),
            ),
        ),
    ),
    Question(
        (
            Words("Always, before and after:", "公表の前後に必ず:"),
            Words("what can be found out?", "何が分かってしまうか"),
        ),
        (
            Answer(
                Words("of what is there", "公表物について"),
                "sudare attack",
                Words("reconstruction, linkage, membership ...", "再構築、照合、メンバーシップ推定など"),
            ),
            Answer(
                Words("of many methods", "複数の手法について"),
                "sudare compare",
                Words("use and risk on the same people", "同じ人々での有用性とリスク"),
            ),
        ),
    ),
)


def draw_choice(language: str, questions: Sequence[Question] = QUESTIONS) -> str:
    """The chart as SVG, in one language."""
    parts: list[str] = []
    y = float(TOP)
    for place, question in enumerate(questions):
        height = ANSWER_STEP * len(question.answers)
        middle = y + height / 2
        parts += _question(question, middle, language)
        for row, answer in enumerate(question.answers):
            parts += _answer(answer, y + ANSWER_STEP * (row + 0.5), middle, language)
        if place + 1 < len(questions):
            below = y + height + GAP + ANSWER_STEP * len(questions[place + 1].answers) / 2
            x = LEFT + QUESTION_WIDTH / 2
            parts.append(f'<path class="way" d="M{x:g} {middle + 24:g}V{below - 24:g}" marker-end="url(#tip)"/>')
        y += height + GAP
    title = escape(TITLE.explain(language))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:g}" role="img" aria-label="{title}" lang="{language}">'
        f"<style>{STYLE}</style>"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" style="fill: var(--edge)"/></marker></defs>'
        f'<rect class="paper" width="{WIDTH}" height="{y:g}" rx="8"/>'
        f'<text class="title" x="{LEFT}" y="30">{title}</text>{"".join(parts)}</svg>\n'
    )


def _question(question: Question, middle: float, language: str) -> list[str]:
    box = f'<rect class="question" x="{LEFT}" y="{middle - 24:g}" width="{QUESTION_WIDTH}" height="48" rx="7"/>'
    step = 17
    start = middle - step * (len(question.lines) - 1) / 2
    lines = [
        f'<text x="{LEFT + 14}" y="{start + step * row:g}">{escape(line.explain(language))}</text>'
        for row, line in enumerate(question.lines)
    ]
    return [box, *lines]


def _answer(answer: Answer, y: float, middle: float, language: str) -> list[str]:
    start, end = LEFT + QUESTION_WIDTH, RIGHT
    bend = (start + end) / 2
    way = f"M{start:g} {middle:g}C{bend:g} {middle:g} {bend:g} {y:g} {end - 1:g} {y:g}"
    return [
        f'<path class="way" d="{way}" marker-end="url(#tip)"/>',
        f'<rect class="answer" x="{end}" y="{y - 20:g}" width="{ANSWER_WIDTH}" height="40" rx="6"/>',
        f'<text class="quiet" x="{end + 12}" y="{y - 8:g}">{escape(answer.when.explain(language))}</text>',
        f'<text class="command" x="{end + ANSWER_WIDTH - 12}" y="{y - 8:g}" text-anchor="end">{escape(answer.command)}</text>',
        f'<text x="{end + 12}" y="{y + 9:g}">{escape(answer.promise.explain(language))}</text>',
    ]


def main() -> None:
    """Write both pictures."""
    for language in ("en", "ja"):
        (ASSETS / f"which-method-{language}.svg").write_text(draw_choice(language), encoding="utf-8")


if __name__ == "__main__":
    main()
