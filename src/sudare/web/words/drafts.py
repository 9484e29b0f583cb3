"""Texts of the page on which a file becomes a plan."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["DRAFTS"]

DRAFTS: Mapping[str, Words] = {
    "draft.title": Words("What is in the file?", "ファイルの内容を確認してください"),
    "draft.lead": Words(
        "Columns were recognized by their names and the sort of their values. Correct what is wrong. Lists of values, ranges "
        "and areas come from you or from public lists, never from the people in the file.",
        "列は名前と値の種類から判別しました。違うものは直してください。値の一覧・範囲・地域は、入力するか公開の一覧から選びます"
        "（ファイル内の人のデータからは作りません）。",
    ),
    "draft.file": Words("File", "ファイル"),
    "draft.format": Words("Format", "形式"),
    "draft.columns": Words("Columns", "列"),
    "draft.column": Words("Column", "列"),
    "draft.sort": Words("Values look like", "値の種類"),
    "draft.role": Words("Use it as", "使い方"),
    "draft.details": Words("Details", "詳細"),
    "draft.about": Words("About the release", "公表について"),
    "draft.name": Words("Title", "題名"),
    "draft.publisher": Words("Publisher", "公表者"),
    "draft.budget": Words("Budget", "予算"),
    "draft.ledger": Words("Charge it to", "課金先"),
    "draft.new_ledger": Words("a new ledger for these people", "この人たちのための新しい台帳"),
    "draft.total": Words("Total epsilon of the new ledger", "新しい台帳の総予算 ε"),
    "draft.total_help": Words(
        "All releases about these people together may never spend more. It cannot be raised later.",
        "この人たちについての全ての公表を合わせて、これを超えて使うことはできません。後から増やすこともできません。",
    ),
    "draft.rows_per_person": Words("Rows of one person at most", "1人の最大行数"),
    "draft.rows_help": Words(
        "If one person may have several rows: rows beyond this number are not counted.",
        "1人が複数行を持つ場合、これを超える行は数えません。",
    ),
    "draft.people": Words("About how many people (if that is public)", "およその人数（公開されている場合）"),
    "draft.make": Words("Make the plan", "計画を作る"),
    "draft.fixed_columns": Words(
        "Files of this format always have the same columns; the mesh level is all there is to say.",
        "この形式の列は決まっています。メッシュの階層だけ確認してください。",
    ),
    "shape.empty": Words("empty", "空"),
    "shape.mesh": Words("mesh codes", "メッシュコード"),
    "shape.whole": Words("whole numbers", "整数"),
    "shape.decimal": Words("numbers", "数値"),
    "shape.day": Words("days", "日付"),
    "shape.moment": Words("times", "日時"),
    "shape.yes-no": Words("yes or no", "真偽"),
    "shape.text": Words("text", "文字"),
    "role.person": Words("tells people apart", "人を区別する番号"),
    "role.count": Words("how many people", "人数"),
    "role.mesh": Words("mesh", "メッシュ"),
    "role.latitude": Words("latitude", "緯度"),
    "role.longitude": Words("longitude", "経度"),
    "role.category": Words("category", "区分"),
    "role.number": Words("number in groups", "階級に分ける数値"),
    "role.time": Words("time", "時刻"),
    "role.left out": Words("leave out", "使わない"),
    "draft.level": Words("Mesh", "メッシュ"),
    "draft.area": Words("Area", "範囲"),
    "draft.area_japan": Words("all Japan", "全国"),
    "draft.area_corners": Words("between two meshes", "2つのメッシュの間"),
    "draft.area_list": Words("prefectures or municipalities by name", "都道府県・市区町村名で指定"),
    "draft.prefectures": Words("Prefectures, parted by commas", "都道府県（読点区切り）"),
    "draft.prefectures_example": Words("such as Tokyo, Chiba", "例: 東京都、千葉県"),
    "draft.municipalities": Words("Municipalities; empty for all", "市区町村（空欄なら全て）"),
    "draft.municipalities_example": Words("such as 13101", "例: 千代田区、13101"),
    "draft.meshes": Words("Public list of meshes", "公開のメッシュ一覧"),
    "draft.no_mesh_list": Words("no other file in this folder", "フォルダに他のファイルがありません"),
    "draft.public": Words("This list is public", "この一覧は公開情報です"),
    "draft.not_public": Words(
        "Confirm that the list of meshes is public: it becomes part of what is published.",
        "メッシュ一覧が公開情報であることを確認してください（一覧は公表物の一部になります）。",
    ),
    "draft.rows": Words("Rows of the file", "ファイルの中身"),
    "draft.rows_hidden": Words(
        "Values of persons are not shown unless you ask for them.", "個人の値は、求めない限り表示しません。"
    ),
    "draft.show_rows": Words("Show the first five rows", "最初の5行を表示"),
    "draft.hide_rows": Words("Hide them", "隠す"),
    "draft.rows_mark": Words(
        "CONFIDENTIAL: values of persons, for whoever holds the data alone. Nothing of it enters the plan.",
        "秘: 個人の値です（データの保有者のみ）。計画には一切入りません。",
    ),
    "draft.encoding": Words("Encoding of text", "文字コード"),
    "draft.encoding_auto": Words("recognize it", "自動判別"),
    "draft.corners": Words("South-west and north-east mesh", "南西と北東のメッシュコード"),
    "draft.list": Words("Public list", "公開の一覧"),
    "draft.own_list": Words("my own list", "自分で書く"),
    "draft.labels": Words("Values, one a line", "値（1行に1つ）"),
    "draft.edges": Words("Edges of the groups", "階級の境界"),
    "draft.edges_help": Words("such as 0, 15, 65, 120", "例: 0, 15, 65, 120"),
    "draft.by": Words("By", "単位"),
    "draft.from": Words("First day", "最初の日"),
    "draft.to": Words("Last day", "最後の日"),
    "draft.zone": Words("Time zone", "タイムゾーン"),
    "draft.no_attribute": Words("Choose at least one column to count by.", "集計に使う列を1つ以上選んでください。"),
    "draft.bad_number": Words(
        "'{value}' under “{field}” is no number.", "「{field}」の「{value}」は数ではありません。"
    ),
    "draft.bad_day": Words("'{value}' under “{field}” is no day.", "「{field}」の「{value}」は日付ではありません。"),
    "draft.half_point": Words("A point needs both a latitude and a longitude.", "緯度と経度は両方指定してください。"),
}
