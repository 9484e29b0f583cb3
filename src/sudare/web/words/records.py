"""Texts of the pages about records."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["RECORDS"]

RECORDS: Mapping[str, Words] = {
    "records.new_title": Words("What is each column?", "各列の役割を選んでください"),
    "records.new_lead": Words(
        "What others may know of somebody (quasi-identifiers) is made coarser until nobody stands out. Whatever names a person "
        "is left out. Values of persons are not shown here.",
        "他人が知り得る列（準識別子）は、誰も目立たなくなるまで値を粗くします。個人を名指しする列は除きます。"
        "ここでは個人の値は表示しません。",
    ),
    "records.lead": Words(
        "See how easily somebody is found before and after, and choose among the best ways to make values coarser.",
        "処理前後の再識別リスクを確かめ、値を粗くする方法を上位の候補から選べます。",
    ),
    "records.role": Words("Role", "役割"),
    "records.role.identifier": Words("identifier (left out)", "識別子（除く）"),
    "records.role.quasi-identifier": Words("quasi-identifier", "準識別子"),
    "records.role.sensitive": Words("sensitive", "機微な情報"),
    "records.role.other": Words("other (as it is)", "その他（そのまま）"),
    "records.rule": Words("Coarser values", "値の粗くし方"),
    "records.rule.none": Words("none", "なし"),
    "records.rule.keep": Words("as the plan says", "計画のとおり"),
    "records.rule.intervals": Words("intervals of widths", "区間（幅）"),
    "records.rule.dates": Words("month, quarter, year", "月・四半期・年"),
    "records.rule.mesh": Words("coarser meshes (level)", "粗いメッシュ（階層）"),
    "records.rule.mask": Words("masked letters", "末尾から伏せる"),
    "records.rule.groups": Words("groups, one a line", "グループ（1行に1つ）"),
    "records.rule.flat": Words("the value or nothing", "値または伏せる"),
    "records.detail": Words("Details", "詳細"),
    "records.model": Words("Model (sensitive columns)", "モデル（機微な列）"),
    "records.no_model": Words("none", "なし"),
    "records.number": Words("Number of the model", "モデルの値"),
    "records.no_number": Words("{model} needs a number.", "{model} には数が必要です。"),
    "records.models": Words("Models of privacy", "プライバシーモデル"),
    "records.k": Words("k: records that look alike, at least", "k: 同じに見えるレコード数の下限"),
    "records.suppression": Words("Share of records that may be left out (0 to 1)", "除いてよいレコードの割合（0〜1）"),
    "records.make": Words("Make the plan", "計画を作る"),
    "records.columns": Words("Columns", "列"),
    "records.look": Words("Search for levels and measure the risk", "段階を探索してリスクを測る"),
    "records.look_note": Words(
        "This reads the records. The figures are for their holder alone.",
        "レコードを読み込みます。数値はデータ保有者だけのものです。",
    ),
    "records.not_searched": Words(
        "This plan does something else than to search for levels in memory. Carry it out to see the result.",
        "この計画は段階の探索（メモリ内）以外の処理を行います。実行すると結果が表示されます。",
    ),
    "records.risk": Words("Risk of re-identification", "再識別リスク"),
    "records.before": Words("before", "処理前"),
    "records.after": Words("after", "処理後"),
    "records.risk.records": Words("Records", "レコード数"),
    "records.risk.classes": Words("Equivalence classes", "等価クラス数"),
    "records.risk.k": Words("Smallest class (k)", "最小の等価クラス（k）"),
    "records.risk.unique": Words("Alone in their class", "単独のレコードの割合"),
    "records.risk.highest": Words("Highest risk", "最大リスク"),
    "records.risk.average": Words("Average risk", "平均リスク"),
    "records.left_out": Words("Left out", "除くレコード"),
    "records.lattice": Words("Choices of levels", "段階の候補"),
    "records.lattice_note": Words(
        "{looked:,} of {choices:,} choices were looked at. Level 0 keeps values as they are.",
        "{choices:,} 通りのうち {looked:,} 通りを調べました。段階 0 は元の値のままです。",
    ),
    "records.proved": Words(
        "The first one is proved to lose least.", "1番目の候補は損失が最小であることが証明されています。"
    ),
    "records.picture": Words(
        "Choices by how coarse they are: filled dots can be published, rings cannot, the square is the best",
        "粗さ別の候補: 塗りつぶしは公表できるもの、輪は公表できないもの、四角は最良のもの",
    ),
    "records.fine": Words("fine", "細かい"),
    "records.coarse": Words("coarse", "粗い"),
    "records.no_choice": Words(
        "No choice of levels can be published. Leave out more records, ask for less, or take coarser hierarchies.",
        "公表できる段階の候補がありません。除くレコードを増やすか、条件を緩めるか、より粗い階層にしてください。",
    ),
    "records.choice": Words("Choice", "候補"),
    "records.loss": Words("Loss", "損失"),
    "records.take": Words("Take these levels", "この段階にする"),
    "records.weights": Words("Column weights", "列の重み"),
    "records.weights_note": Words(
        "A column of more weight is kept finer. Weights change the order of the choices; the levels you take are written "
        "into the plan.",
        "重みの大きい列ほど細かく残します。重みは候補の順位だけを変え、選んだ段階が計画に書かれます。",
    ),
    "records.sort": Words("Search with these weights", "この重みで探索"),
    "records.preview": Words("Ten rows as they would be published", "公表される10行の見本"),
    "records.preview_do": Words("Show ten rows", "10行を表示する"),
    "records.preview_note": Words(
        "These are values of persons, made coarser. Look at them only where nobody else does.",
        "個人の値（粗くしたもの）です。他の人に見えない場所で確認してください。",
    ),
    "records.change": Words("Change columns and models", "列とモデルを変える"),
    "records.change_do": Words("Write another version", "別の版を書く"),
    "records.level": Words("level", "段階"),
    "stage.load": Words("reading the records", "レコードの読み込み"),
    "stage.save": Words("writing files", "ファイルの書き出し"),
    "stage.measure": Words("measuring risks", "リスクの測定"),
}
