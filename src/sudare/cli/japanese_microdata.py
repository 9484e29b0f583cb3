"""What the commands that protect records say in Japanese."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "anonymize.help": "個票データの計画を実行し、保護した記録と報告書を書き出します。\n\n"
    "k-匿名性とその仲間を満たすまで値を粗くし、記録を抑制します。交換、PRAM、ミクロアグリゲーション、ノイズも使えます。"
    "k-匿名性は差分プライバシーではありません。標本抽出つき k-匿名性は差分プライバシーで、予算を使う前に確認します。",
    "anonymize.examples": "sudare anonymize plan.toml --out protected\nsudare anonymize plan.toml --check",
    "anonymize.file": "計画ファイル（列と、それぞれの扱い）。",
    "anonymize.out": "people.csv と報告書のフォルダ（まだないもの）。省略時は計画のとおり。",
    "anonymize.check": "計画を確認し、内容を表示するだけです。記録は読まず、予算も使いません。",
    "anonymize.yes": "予算を使う前に確認しません。端末がない場合に必要です。",
    "anonymize.again": "同じ結果が既にあっても、もう一度予算を使って作り直します。",
    "anonymize.even_if_broken": "結果への攻撃が成功しても公開します。報告書にその旨が残ります。",
    "sample.help": "ファイルから記録を公平に抽出するか、抽出の計画を実行します。\n\n"
    "記録はそのまま公開されるため、標本抽出だけではあまり守られません。sampled-k-anonymity "
    "の計画なら差分プライバシーになります。",
    "sample.examples": "sudare sample people.csv --rate 1/10 --out sample.csv\n"
    "sudare sample people.parquet --rows 500 --by region --out sample.parquet\n"
    "sudare sample plan.toml --out protected",
    "sample.file": "個票のファイル、または .toml で終わる計画ファイル。",
    "sample.out": "新しいファイル（.csv または .parquet）。計画の場合はフォルダ。",
    "sample.rate": "抽出する割合（1/10 や 0.05）。記録ごとに硬貨を投げます。",
    "sample.rows": "抽出する件数。--by があれば、列の値ごとの件数。",
    "sample.by": "この列の値ごとに抽出します。",
    "sample.check": "計画を確認するだけです。記録は読まず、予算も使いません。",
    "sample.yes": "予算を使う前に確認しません。端末がない場合に必要です。",
    "sample.again": "計画の場合、もう一度予算を使って抽出し直します。",
    "sample.even_if_broken": "計画の場合、結果への攻撃が成功しても公開します。",
    "synthesize.help": "記録または公表済みの表から、架空の人の行を作ります。\n\n"
    "記録からは予算を使い、MST か AIM で差分プライバシーのもとに似た集計になる行を作ります。公表からは、"
    "その表と完全に一致する行を"
    "追加の費用なしで作ります。",
    "synthesize.examples": "sudare synthesize plan.toml --out synthetic\n"
    "sudare synthesize --from-table release --out people.parquet",
    "synthesize.file": "手法が mst か aim の計画ファイル。",
    "synthesize.out": "フォルダ（まだないもの）。--from-table の場合はファイル（.csv または .parquet）。",
    "synthesize.from_table": "代わりに元にする公表フォルダ、またはその中の表。",
    "synthesize.points": "--from-table の場合に、各人のメッシュの中の点を加えます。",
    "synthesize.check": "計画を確認し、費用を表示するだけです。記録は読みません。",
    "synthesize.yes": "予算を使う前に確認しません。端末がない場合に必要です。",
    "synthesize.again": "同じ結果が既にあっても、もう一度予算を使って作り直します。",
    "risk.help": "個票データで人がどれほど見つかりやすいかを測ります。\n\n"
    "データの保有者のためのものです。結果は記録から計算され、公表するものではありません。",
    "risk.examples": "sudare risk people.csv --quasi-identifiers age,sex,zip\n"
    "sudare risk people.csv -q age,sex --sensitive illness --json",
    "risk.file": "個票のファイル（CSV、Parquet、Arrow）。",
    "risk.quasi_identifiers": "他人に知られうる列（コンマ区切り）。",
    "risk.sensitive": "知られてはならない列（コンマ区切り）。",
    "risk.population": "同じ列をもつ母集団のファイル（記者型のリスクに使います）。",
    "risk.threshold": "再識別の確率がこれを超える記録を、危険とみなします。",
    "hierarchy.help": "階層（値を粗くまとめる段階）を確認、または下書きします。",
    "hierarchy.examples": "sudare hierarchy check zip.csv\n"
    "sudare hierarchy build people.csv age --intervals 5,10 --whole --out age.csv",
    "hierarchy.check.help": "階層ファイルを確認します（値ごとに一行、各段階の区分を並べたもの）。",
    "hierarchy.check.examples": "sudare hierarchy check zip.csv\n"
    "sudare hierarchy check zip.csv --data people.csv --column zip",
    "hierarchy.check.file": "階層ファイル（ARX と同じ形式。区切りはセミコロン、コンマ、タブ、縦棒）。",
    "hierarchy.check.data": "個票のファイル。すべての値が階層にあるか確認します。",
    "hierarchy.check.column": "データのどの列の階層か。",
    "hierarchy.build.help": "列の値から階層ファイルの下書きを作ります。確認して編集してください。",
    "hierarchy.build.examples": "sudare hierarchy build people.csv age --intervals 5,10 --whole --out age.csv\n"
    "sudare hierarchy build people.csv born --dates month,year --out born.csv\n"
    "sudare hierarchy build people.csv zip --mask --out zip.csv",
    "hierarchy.build.file": "個票のファイル。",
    "hierarchy.build.column": "列。",
    "hierarchy.build.out": "書き出す階層ファイル。",
    "hierarchy.build.intervals": "数値をこれらの幅の区間に分けます。各幅は前の幅の倍数です。",
    "hierarchy.build.whole": "整数とみなし、[20, 25) の代わりに 20-24 と書きます。",
    "hierarchy.build.lowest": "これより小さい数値を一つの区分にします。",
    "hierarchy.build.highest": "これ以上の数値を一つの区分にします。",
    "hierarchy.build.dates": "日付を month,quarter,year,decade のいくつかにまとめます。",
    "hierarchy.build.mesh": "このレベル（1/2 など）のメッシュコードを粗いメッシュにまとめます。",
    "hierarchy.build.mask": "同じ長さの文字列を、段階ごとに一文字ずつ隠します。",
    "hierarchy.build.flat": "値をそのまま公開するか、まったく公開しないかです。",
    "hierarchy.build.missing": "粗い段階での欠損値の名前。省略時は欠損があると拒否します。",
}

SPOKEN: Mapping[str, str] = {
    "stage.load": "記録の読み込み",
    "stage.protect": "記録の保護",
    "stage.save": "記録の書き出し",
    "stage.measure": "リスクの測定",
    "stage.attack": "結果への攻撃",
    "check.published": "公開した記録",
    "check.models": "約束した条件",
    "check.groups": "最小の組",
    "check.attacks": "攻撃",
    "people.methods": "手法",
    "people.published": "公開する列",
    "people.left_out": "除く列",
    "people.model": "条件",
    "people.checked": "計画に誤りはありません。記録は読まず、予算も使っていません。",
    "people.not_private": "完了しました。差分プライバシーではありません。守られることは報告書にあります。"
    "報告書は元データと同じ場所に置き、people のファイルだけを渡してください。",
    "people.use_synthesize": "計画の手法は {method} です。`sudare synthesize` を使ってください。",
    "people.use_anonymize": "計画の手法は {method} です。`sudare anonymize` を使ってください（mst と aim は "
    "`sudare synthesize`）。",
    "people.sample_plan": "抽出の方法は計画にあります。--rate、--rows、--by は付けないでください。",
    "people.broken_plan": "--even-if-broken は計画と共に使います。計画のない標本には攻撃を試しません。",
    "people.even_if_broken": "この表は攻撃によって破られましたが、--even-if-broken の指定により公開しました。",
    "people.no_out": "書き出す場所を --out で指定してください。",
    "people.rate_or_rows": "--rate か --rows のどちらか一方を指定してください。",
    "people.no_share": "「{text}」は 0 から 1 の割合ではありません（例: 1/10、0.05）。",
    "people.no_number": "「{text}」は数値ではありません。",
    "people.plan_or_table": "計画か、--from-table と公表フォルダの、どちらか一方を指定してください。",
    "people.points": "--points は --from-table とだけ使えます。",
    "people.sampled": "標本を {out} に書き出しました。",
    "people.drawn": "{release} と完全に一致する架空の人 {rows} 行を作りました。予算は使っていません。",
    "people.no_columns": "--quasi-identifiers で列を一つ以上指定してください。",
    "people.both_roles": "列「{column}」は、準識別子と機微な列を兼ねられません。",
    "people.data_and_column": "--data と --column は一緒に指定してください。",
    "people.one_rule": "{rules} のうち一つだけを指定してください。",
    "people.risk_confidential": "これらの数値は記録から計算されました。データの保有者のためのもので、"
    "公表するものではありません。",
    "people.records": "記録の数",
    "people.classes": "同じに見える組の数",
    "people.k": "最小の組（k）",
    "people.unique": "ほかと重ならない記録",
    "people.prosecutor": "検察官型の最大の確率",
    "people.at_risk": "確率が {threshold} を超える記録",
    "people.marketer": "マーケター型で当たる割合",
    "people.journalist": "記者型の最大の確率",
    "people.sensitive": "組から分かること",
    "people.table_column": "列",
    "people.table_l": "値の種類（l）",
    "people.table_entropy": "エントロピー l",
    "people.table_t": "距離（t）",
    "people.table_alpha": "最大の割合",
    "people.hierarchy_sound": "{file} は正しい階層です。",
    "people.hierarchy_made": "{out} を書き出しました。",
    "people.hierarchy_values": "データにある値が並んでいます。確認し、今後ありうる値も加えてください。",
    "people.level": "段階",
    "people.groups": "区分の数",
    "people.labels": "例",
}
