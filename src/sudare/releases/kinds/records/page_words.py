"""The texts of the page on protected people, in English and Japanese."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = ["ROLES", "TEXTS"]

ROLES = {
    "identifier": Words("identifier: left out", "識別子（除外）"),
    "quasi-identifier": Words("quasi-identifier", "準識別子"),
    "sensitive": Words("sensitive", "機微"),
    "other": Words("other", "その他"),
}
TEXTS = {
    "report": Words("Report on protected records", "個票データ保護の報告書"),
    "for_holder": Words("For whoever holds the data", "データ保有者用"),
    "published_by": Words("Published by {name}", "公表者: {name}"),
    "created": Words("Created {date}", "作成日時: {date}"),
    "rows": Words("Records published", "公開したレコード"),
    "columns_published": Words("Columns published", "公開した列"),
    "smallest": Words("Smallest class", "最小の等価クラス"),
    "highest": Words("Highest risk", "最大のリスク"),
    "suppressed": Words("Records suppressed", "秘匿したレコード"),
    "budget": Words("Privacy budget", "プライバシー予算"),
    "method": Words("Method", "手法"),
    "group_size": Words("Smallest group k", "等価クラスの最小の大きさ k"),
    "done": Words("What was done, and what it protects", "行ったことと、守られること"),
    "protects": Words("What it protects, and what not", "守られることと、守られないこと"),
    "keeps": Words("What it keeps", "保たれるもの"),
    "settings": Words("Settings", "設定"),
    "touched": Words("Records that were drawn or chosen", "選ばれたレコード"),
    "changed": Words("Records that are now different", "値が変わったレコード"),
    "local_epsilon": Words("Local ε of one value", "一つの値の局所 ε"),
    "not_dp": Words(
        "This is not differential privacy. k-anonymity, sampling alone, swapping, PRAM, microaggregation and noise "
        "on single columns "
        "do not limit what somebody with knowledge from elsewhere can find out about a person.",
        "これは差分プライバシーではありません。k-匿名性、標本抽出だけ、スワッピング、PRAM、ミクロアグリゲーション、"
        "個々の列へのノイズは、"
        "ほかの知識をもつ人がある人について知りうることの上限を定めません。",
    ),
    "is_dp": Words(
        "This is differential privacy of every {who}, at the cost stated here.",
        "これは、ここに示した費用による、各{who}の差分プライバシーです。",
    ),
    "sampled_condition": Words(
        "k-anonymity alone is not differential privacy. Here it is, because: every record was kept by a secret and "
        "independent coin; "
        "levels and hierarchies were decided without the data; all published columns form the groups; groups of "
        "fewer than k records "
        "were deleted without being counted; and nobody learns otherwise who was in the sample.",
        "k-匿名性だけでは差分プライバシーになりません。ここで成り立つのは次の条件によります。"
        "各レコードを秘密の乱数で互いに独立に抽出したこと、"
        "段階と階層をデータを見ずに決めたこと、公開する列のすべてで等価クラスを作ったこと、"
        "k 件未満の等価クラスを件数を示さずに除いたこと、"
        "そして誰が標本に入ったかがほかから知られないことです。",
    ),
    "sampled_condition_chosen": Words(
        "k-anonymity alone is not differential privacy. Here it is, because: every record was kept by a secret and independent "
        "coin; hierarchies were decided without the data, and looking at it to choose the levels was paid for from the same "
        "budget; all published columns form the groups; groups of fewer than k records were deleted without being counted; and "
        "nobody learns otherwise who was in the sample.",
        "k-匿名性だけでは差分プライバシーになりません。ここで成り立つのは次の条件によります。"
        "各レコードを秘密の乱数で互いに独立に抽出したこと、"
        "階層をデータを見ずに決め、段階を選ぶためにデータを見た費用も同じ予算から払ったこと、"
        "公開する列のすべてで組を作ったこと、"
        "k 件未満の組を数えずに消したこと、そして誰が標本に入ったかがほかから知られないことです。",
    ),
    "columns": Words("Columns", "列"),
    "column": Words("Column", "列"),
    "role": Words("Role", "役割"),
    "hierarchy": Words("Coarser values by", "粗い値の作り方"),
    "level": Words("Level chosen", "選ばれた段階"),
    "level_stated": Words("Level stated", "定めた段階"),
    "level_paid": Words("Level, chosen with budget", "予算を使って選んだ段階"),
    "own_boxes": Words("each class its own", "等価クラスごと"),
    "as_it_is": Words("as it is", "そのまま"),
    "drawn_anew": Words("drawn anew", "新たに生成"),
    "left_out": Words("left out", "除外"),
    "identifiers_note": Words(
        "Columns with the role “identifier” are dropped. Where records must stay linkable, make pseudonyms before "
        "(sudare pseudonymize); they are still personal data.",
        "役割が「識別子」の列は除かれます。レコードを後で結びつける必要がある場合は、先に仮名化してください（sudare "
        "pseudonymize）。"
        "仮名化したデータも個人データです。",
    ),
    "models": Words(
        "Models, checked once more from the written file alone", "条件（書き出したファイルだけから再確認）"
    ),
    "holds": Words("holds", "満たす"),
    "fails": Words("does not hold", "満たさない"),
    "with_population": Words("checked against the population while searching", "探索時に母集団と照合済み"),
    "optimal": Words(
        "No other choice of levels loses less: {checked} of {choices} choices had to be looked at.",
        "これより失うものの少ない段階の選び方はありません（{choices} 通りのうち {checked} 通りを調べて証明）。",
    ),
    "gap": Words(
        "The best of {checked} choices of levels (of {choices}) within the time given. Another one could lose less "
        "by at most {gap}.",
        "制限時間内に調べた {checked} 通り（全 {choices} 通り）のうち最良です。ほかの選び方との差は最大 {gap} です。",
    ),
    "risk": Words("How easily somebody is found", "再識別リスク"),
    "class_size": Words("Records in the class", "等価クラスのレコード数"),
    "before": Words("Before", "前"),
    "after": Words("After", "後"),
    "classes_chart": Words(
        "Share of the records in classes of each size: records in one class have the same quasi-identifiers.",
        "等価クラスの大きさごとの、属するレコードの割合。同じ等価クラスのレコードは準識別子がすべて同じです。",
    ),
    "measure": Words("Measure", "指標"),
    "risk_k": Words("Smallest class (k)", "最小の等価クラス（k）"),
    "risk_classes": Words("Classes", "等価クラスの数"),
    "risk_records": Words("Records", "レコード数"),
    "risk_unique": Words("Records alone in their class", "一意なレコード"),
    "risk_highest": Words("Prosecutor: highest chance to be right", "検察官モデル: 言い当てる確率の最大"),
    "risk_average": Words("Marketer: share of records guessed right", "マーケターモデル: 言い当てられるレコードの割合"),
    "risk_at_risk": Words("Records with a chance above {threshold}", "確率が {threshold} を超えるレコード"),
    "risk_journalist_highest": Words("Journalist: highest chance", "ジャーナリストモデル: 確率の最大"),
    "risk_journalist_average": Words("Journalist: mean chance", "ジャーナリストモデル: 確率の平均"),
    "risk_l": Words(
        "Fewest different values of “{name}” in a class (l)", "等価クラス内の「{name}」の値の種類の最小（l）"
    ),
    "risk_t": Words("Distance of “{name}” from the whole table (t)", "「{name}」の全体との距離（t）"),
    "risk_note": Words(
        "A prosecutor knows that the person is in the table; a journalist does not, and has a list of the "
        "population; a marketer "
        "guesses everybody. All three know the quasi-identifiers and nothing else: the true risk may be larger.",
        "検察官モデルは本人が表にいると知っている場合、ジャーナリストモデルは母集団の名簿だけをもつ場合、"
        "マーケターモデルは全員を言い当てようとする場合です。"
        "いずれも準識別子だけを知っていると仮定しています。実際のリスクはより大きいことがあります。",
    ),
    "attacks": Words("Attacks that were tried", "試した攻撃"),
    "attacks_note": Words(
        "Tried on the written file before it was shown. ✓ nothing was found. ! something was found that the method never "
        "promised to prevent: it is for you to decide. ✗ broken: a promise is not kept, or more than {most} of the people are "
        "found by links that are more often right than wrong (k-map and presence, which look at a population, may allow that).",
        "書き出したファイルを公開する前に試しました。✓ は成功しなかった攻撃、! "
        "は手法が防ぐと約束していないことが分かった攻撃（判断はデータ保有者によります）、✗ は破られた攻撃"
        "（約束が守られていないか、{most} を超える人が見つかり、正しい対応が誤りより多い場合。"
        "母集団についての条件である k-map と presence では認められることがあります）です。",
    ),
    "attacks_limits": Words(
        "These attacks are cheap ones. That they found nothing does not show that no other would.",
        "ここで試したのは手軽な攻撃だけです。成功しなかったことは、ほかの攻撃にも耐えることを意味しません。",
    ),
    "even_if_broken": Words(
        "An attack broke this table, and it was published all the same, because --even-if-broken was said.",
        "この表は攻撃によって破られましたが、--even-if-broken の指定により公開されました。",
    ),
    "held": Words("held", "成功せず"),
    "undecided": Words("for you to decide", "要判断"),
    "broken": Words("broken", "破られた"),
    "utility": Words("What was lost", "失われたもの"),
    "value": Words("Value", "値"),
    "utility_loss": Words("Share of the domain that a value stands for (0 to 1)", "一つの値が表す範囲の割合（0〜1）"),
    "utility_precision": Words("Height in the hierarchies (0 to 1)", "階層の高さ（0〜1）"),
    "utility_average_class_size": Words("Average class size", "等価クラスの平均の大きさ"),
    "utility_discernibility": Words("Discernibility", "識別不能度"),
    "utility_discernibility_of_classes": Words("Discernibility of classes", "識別不能度（秘匿したレコードを除く）"),
    "utility_entropy": Words("Information lost, bits", "失われた情報量（ビット）"),
    "promise": Words("The promise", "プライバシーの約束"),
    "promise_text": Words(
        "What anyone can find out about one {who} from these records is limited, whatever else they know and "
        "however they compute.",
        "これらのレコードから{who}一人について知り得ることには上限があります。ほかに何を知っていても、"
        "どう計算しても変わりません。",
    ),
    "adversary": Words(
        "A test whether one {who} is in the data, with {alarm} false alarms, recognises the {who} in at most "
        "{power} of cases. "
        "Guessing gives {alarm}.",
        "ある{who}がデータにいるかどうかの判定は、誤りを {alarm} まで許しても、正しく言い当てる確率が最大 {power} です。"
        "当て推量なら {alarm} です。",
    ),
    "guessing": Words("By guessing", "当て推量"),
    "with_release": Words("With these records", "このレコードを使った場合"),
    "unit": Words("Who is protected", "保護の単位"),
    "unit_row": Words("One {who} with one record, {change}", "{who}（1 件のレコード）の{change}"),
    "unit_rows": Words("One {who} with up to {rows} records, {change}", "{who}（最大 {rows} 件）の{change}"),
    "add-remove": Words("added or removed", "追加・削除"),
    "replace": Words("replaced by another", "置き換え"),
    "guarantee": Words("Guarantee", "保証"),
    "groups_hold": Words(
        "Every group of equal records in the file has at least k = {k} of them: checked from the file.",
        "ファイル中の等価クラスは、すべて k = {k} 件以上です（ファイルから確認済み）。",
    ),
    "tables": Words(
        "The model ties these columns together; other relations between columns are not kept:",
        "モデルは次の列を結びつけています。ほかの列の間の関係は保たれません。",
    ),
    "values": Words("The published records", "公開したレコード"),
    "values_note": Words(
        "Counts of the published file, not of the people behind it; at most 24 values of a column.",
        "公開したファイルの件数です（元の人数ではありません）。列ごとに最大 24 個の値を示します。",
    ),
    "missing": Words("(missing)", "（欠損）"),
    "nothing_published": Words(
        "No record is published: no group was large enough. Take coarser levels, or a larger budget.",
        "公開されたレコードはありません。十分な大きさの等価クラスがありませんでした。より粗い段階か、より大きい予算にしてください。",
    ),
    "record": Words("Files and proof", "ファイルと証跡"),
    "file": Words("File", "ファイル"),
    "size": Words("Size", "サイズ"),
    "input": Words("SHA-256 of the input", "入力の SHA-256"),
    "keyed_input": Words("Keyed hash of the records", "レコードの鍵付きハッシュ"),
    "dataset": Words("Data set in the ledger", "台帳のデータセット"),
    "entry": Words("Ledger entry", "台帳の項目"),
    "remaining": Words("Budget left", "残りの予算"),
    "versions": Words("Versions", "バージョン"),
    "made_with": Words("Made with sudare {version}.", "sudare {version} で作成。"),
}
