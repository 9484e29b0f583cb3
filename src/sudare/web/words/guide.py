"""Texts of the guided first release."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["GUIDE"]

GUIDE: Mapping[str, Words] = {
    "guide.title": Words("Your first release, in five steps", "はじめての公表（5つの手順）"),
    "guide.lead": Words(
        "On the population of an invented country: nobody real is in it, so nothing can go wrong. It takes about two minutes.",
        "架空の国の人口を使います。実在の人は含まれないので、失敗しても問題ありません。2分ほどで終わります。",
    ),
    "guide.start": Words("Begin", "始める"),
    "guide.end": Words("End the guide", "案内を終える"),
    "guide.step": Words("Step {number} of 5", "手順 {number} / 5"),
    "guide.name.1": Words("Choose data", "データを選ぶ"),
    "guide.name.2": Words("Say what the columns are", "列の意味を確かめる"),
    "guide.name.3": Words("Choose epsilon", "ε を決める"),
    "guide.name.4": Words("Confirm the charge", "予算の使用を確認する"),
    "guide.name.5": Words("Look, check, hand on", "見る・検査する・渡す"),
    "guide.text.1": Words(
        "Files of the folder are on the left. For the guide an invented country is waiting: press “Begin”. With data of your own "
        "this is where you drop the file.",
        "フォルダのファイルは左の一覧にあります。案内では架空の国を使うので「始める」を押してください。"
        "自分のデータを使う場合は、ここにファイルをドロップします。",
    ),
    "guide.text.2": Words(
        "One column was recognized as mesh codes, the other as numbers of people. The country lies between the two meshes that "
        "are filled in; everything in a plan is public, so it comes from you and not from the people in the file. “Total "
        "epsilon” is all that may ever be spent on them. Press “Make the plan”.",
        "一方の列はメッシュコード、もう一方は人数と判別されました。国の範囲は、入力済みの2つのメッシュの間です。"
        "計画に書くことはすべて公開されるため、"
        "ファイルの中の人からではなく、あなたが決めます。「総予算 ε」は、この人たちについて今後使える上限です。"
        "「計画を作る」を押してください。",
    ),
    "guide.text.3": Words(
        "Move the slider. To the left people are protected better, to the right counts are more accurate; below you see the "
        "error to expect for each size of area. Nothing is spent, and no row is read. When both fit, press “Release …”.",
        "スライダーを動かしてください。左ほど保護が強く、右ほど度数が正確です。下に区域の大きさごとの誤差の見通しが出ます。"
        "まだ予算は使わず、データも読みません。両方に納得できたら「公表する…」を押してください。",
    ),
    "guide.text.4": Words(
        "This is the only step that cannot be taken back: the charge is written into the ledger, then noise is drawn.",
        "取り消せないのはこの手順だけです。台帳に使用を記録してから、ノイズを生成します。",
    ),
    "guide.text.5": Words(
        "This is what everybody may see. Compare it with the expected error, choose an area for its sum and interval, let it be "
        "checked and attacked with one button, and hand on the files. What was spent stands under “Budgets”.",
        "誰に見せてもよい結果です。「予想される誤差」と比較し、範囲を選んで合計と区間を確かめ、ボタン1つで検査と攻撃を行い、ファイルを渡せます。"
        "使った予算は「予算」にあります。",
    ),
}
