"""What is measured, in words for people: the titles of columns and axes."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = ["AXES", "MEASURE_TITLES", "SHORT_TITLES", "TABLE_COLUMNS"]

MEASURE_TITLES: dict[str, Words] = {
    "misplaced_one": Words("misplaced, tables of one column", "誤配置（1列の表）"),
    "misplaced_two": Words("misplaced, two columns", "誤配置（2列の表）"),
    "misplaced_three": Words("misplaced, three columns", "誤配置（3列の表）"),
    "misplaced_all": Words("misplaced, finest cells", "誤配置（最も細かいセル）"),
    "absolute_one": Words("mean error in people, one column", "平均絶対誤差・人（1列の表）"),
    "absolute_two": Words("mean error in people, two columns", "平均絶対誤差・人（2列の表）"),
    "absolute_three": Words("mean error in people, three columns", "平均絶対誤差・人（3列の表）"),
    "absolute_all": Words("mean error in people, finest cells", "平均絶対誤差・人（最も細かいセル）"),
    "unanswered": Words("people in cells not shown", "単独では示されないセルの人"),
    "area": Words("rare people told apart", "珍しい人の見分け"),
    "found": Words("rare people found", "珍しい人の発見"),
    "area_everybody": Words("everybody told apart", "全員の見分け"),
    "found_everybody": Words("everybody found", "全員の発見"),
    "guess_right": Words("sensitive value guessed", "機微な値の的中"),
    "guess_gain": Words("gain over people outside", "データ外の人との差"),
    "certain": Words("certain and right", "断定して的中"),
    "certain_gain": Words("certain: gain over outside", "断定: データ外との差"),
    "alone_found": Words("only ones pointed out", "唯一の人の指摘"),
    "alone_right": Words("of these, right", "指摘の正しさ"),
}

SHORT_TITLES: dict[str, Words] = {
    "misplaced_one": Words("1 column", "1 列"),
    "misplaced_two": Words("2 columns", "2 列"),
    "misplaced_three": Words("3 columns", "3 列"),
    "misplaced_all": Words("finest cells", "最細セル"),
    "unanswered": Words("not shown", "非表示"),
    "area": Words("told apart", "見分け"),
    "found": Words("found", "発見"),
    "guess_gain": Words("guessed", "的中"),
    "certain_gain": Words("certain", "断定"),
    "alone_found": Words("pointed out", "指摘"),
    "alone_right": Words("right", "正しさ"),
}
"""Below the titles of groups of columns."""

TABLE_COLUMNS = (
    ("lost", ("misplaced_one", "misplaced_two", "misplaced_three", "misplaced_all")),
    ("shown", ("unanswered",)),
    ("presence", ("area", "found")),
    ("value", ("guess_gain", "certain_gain")),
    ("alone", ("alone_found", "alone_right")),
)
"""Groups of columns of the page's table."""

AXES: dict[str, Words] = {
    "misplaced_two": Words(
        "people counted in the wrong place, in tables of two columns", "誤った場所に数えられた人の割合（2列の表）"
    ),
    "misplaced_all": Words(
        "people counted in the wrong place, in the finest cells", "誤った場所に数えられた人の割合（最も細かいセル）"
    ),
    "area": Words("rare people told apart (50% = guessing)", "珍しい人の見分け（50% = 当て推量）"),
    "alone_found": Words("only ones of their kind pointed out", "唯一の人が言い当てられる割合"),
}
