"""What ``sudare reproduce`` says in English and Japanese, besides its help's first words, which `sudare` itself has."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["MESSAGES"]

MESSAGES: Mapping[str, Words] = {
    "reproduce.name": Words(
        "zcdp (NN-Wavelet under concentrated privacy), power (of tests on released tables), pruning (how "
        "much time pruning saves), neg-l2 (recovery of sparse tables), pk (Pk-anonymity and "
        "reconstruction), survey (checked examples), or all.",
        "zcdp（集中差分プライバシーによる NN-Wavelet）、power（公表した表での検出力）、pruning（枝刈りに"
        "よる時間短縮）、neg-l2（疎な表の復元）、pk（Pk-匿名性と再構築）、survey（サーベイ論文の例の確認"
        "）、または all（すべて）。",
    ),
    "reproduce.repeats": Words(
        "How often noise is drawn, or times are taken. By default 100; 4 with --quick.",
        "ノイズの付加や時間計測の反復回数。既定は 100、--quick では 4。",
    ),
    "reproduce.quick": Words(
        "Smaller tables and fewer settings: to see within two minutes that everything works.",
        "表と設定を小さくし、2分以内にひと通り確かめます。",
    ),
    "reproduce.data": Words(
        "The folder with the data sets (japan_mesh500m_2020 in it). By default SUDARE_DATA, then ../shared/data.",
        "データセット（japan_mesh500m_2020 など）のあるフォルダ。既定は SUDARE_DATA、次に ../shared/data。",
    ),
    "reproduce.out": Words(
        "Where to write; pages go to reproduction/NAME in it, and REPRODUCTION.md for all.",
        "書き出すフォルダ。ページはその中の reproduction/NAME に、all では REPRODUCTION.md も書き出します。",
    ),
    "reproduce.data_used": Words(
        "Data: {data}",
        "データ: {data}",
    ),
    "reproduce.stopped": Words(
        "Stopped. What was found is kept: the same command goes on from here.",
        "中断しました。結果は保存されています。同じコマンドで続きから再開します。",
    ),
    "reproduce.quick_run": Words(
        "This was a quick run: with few repeats and small tables, findings may fail by chance. Run it "
        "without --quick before you trust one.",
        "簡易実行です。反復が少なく表が小さいため、所見が偶然成立しないことがあります。判断する前に --qui"
        "ck なしで実行してください。",
    ),
    "reproduce.held": Words(
        "{held} of {claims} findings hold.",
        "所見 {claims} 件中 {held} 件が成立しました。",
    ),
    "reproduce.failed": Words(
        "does not hold: {sentence} ({evidence})",
        "不成立: {sentence} ({evidence})",
    ),
}
