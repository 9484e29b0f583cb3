"""The words of plans and releases, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "ui.help": Words(
        "Open a page in the browser: from a file to a checked release, with sliders and maps.\n\nIt runs on this machine "
        "alone, "
        "for whoever has its address, until it is stopped by Ctrl-C. It writes the same plans and uses the same ledger as the "
        "commands.",
        "ブラウザの画面で、計画から公表・検査まで行います。\n\nスライダーと地図を見ながら進められます。"
        "この端末だけで動き、アドレスを知る人だけが使えます。Ctrl-C で終了します。計画や台帳はコマンドと同じものです。",
    ),
    "ui.examples": Words.same("sudare ui\nsudare ui census --port 8080\nsudare ui census --no-browser --lang ja"),
    "ui.folder": Words(
        "The folder that the page works in: its data, plans, releases and ledgers. By default here.",
        "作業するフォルダ（データ、計画、公表、台帳）。既定は現在のフォルダ。",
    ),
    "ui.port": Words("The port to listen on. By default a free one.", "使用するポート番号。既定は空いている番号。"),
    "ui.no_browser": Words(
        "Print the address, and open no browser.", "アドレスを表示するだけで、ブラウザは開きません。"
    ),
    "init.help": Words(
        "Write a plan to start from, and a ledger with one data set.\n\nNothing that exists is overwritten.",
        "計画の雛形と、データセットを1つ登録した台帳を作ります。\n\n既存のファイルは上書きしません。",
    ),
    "init.examples": Words.same(
        "sudare init\nsudare init census --from people.csv\nsudare init firms --from firms.csv --kind tables\nsudare init "
        "census --dataset census-2025 --epsilon 2\n"
        "sudare init census --rho 0.5 --lang ja"
    ),
    "init.folder": Words(
        "Where to write plan.toml and budget.db; by default here.",
        "plan.toml と budget.db を作る場所。既定は現在のフォルダ。",
    ),
    "init.from_file": Words(
        "Draft the plan from this file: its columns are recognized by their names and the sort of their values. No value of "
        "anybody enters the plan.",
        "このファイルから計画を下書きします。列は名前と値の種類で判別し、個人の値は計画に書き込みません。",
    ),
    "init.kind": Words(
        "What is drafted with --from: counts, records (anonymized) or tables (by disclosure control). By default counts.",
        "--from で下書きする計画の種類: counts（度数表）、records（匿名化した個票）、tables（秘匿処理をした統計表）。"
        "既定は counts。",
    ),
    "init.epsilon": Words(
        "The total budget of the data set as epsilon, a decimal. By default 1.",
        "総予算のイプシロン（小数）。既定は 1。",
    ),
    "plan.help": Words(
        "Show what a plan means: predicted accuracy, the charge, what would remain, alternatives; and what is in the way "
        "of carrying it out.\n\nTakes plans of every kind: counts, records, tables, series. Looks at the names of files and "
        "columns and "
        "at no row, and spends nothing. The exit code is 0 if the plan can be carried out, else that of `sudare run`.",
        "計画の内容を表示します: 予想精度、予算、他の方法、実行の妨げ。\n\n"
        "どの種類の計画（度数表、個票、統計表、系列）も扱います。ファイルと列の名前だけを見て、行は見ず、予算も使いません。"
        "実行できるときの終了コードは 0、できないときは `sudare run` と同じコードです。",
    ),
    "plan.examples": Words.same(
        "sudare plan plan.toml\nsudare plan plan.toml --json\nsudare plan plan.toml --plan-only"
    ),
    "plan.plan_only": Words(
        "Check the plan alone, where its data and ledger are not at hand: leave out what is in the way.",
        "計画だけを検査します（データや台帳が手元にない環境用）。実行の妨げになるものは調べません。",
    ),
    "run.help": Words(
        "Carry out a plan of any kind: counts, records, tables, or one tick of a series.\n\nWith a budget it shows the charge "
        "and "
        "asks before it spends, as `sudare release` does. What has no guarantee is attacked before it is "
        "shown, as with `sudare protect` and `sudare anonymize`. The folder is printed to stdout.",
        "どの種類の計画（度数表、個票、統計表、系列）も実行します。\n\n予算を使う計画では、`sudare release` と同"
        "じく、消費する予算を示して確認します。保証のない手法の結果は、`sudare protect` や `sudare anonym"
        "ize` と同じく、公開の前に攻撃を試します。フォルダを標準出力に出力します。",
    ),
    "run.examples": Words.same(
        "sudare run plan.toml\nsudare run plan.toml --yes --out published\nsudare run series.toml --at 2026-11-16T08:10 --yes"
    ),
    "run.at": Words(
        "Of a series: the tick that begins at this moment. By default the latest one that is over.",
        "系列の計画で、この日時に始まる時点を公表します。省くと、終わった最新の時点です。",
    ),
    "run.file": Words(
        "The plan, of any kind.",
        "計画ファイル（種類は問いません）。",
    ),
    "run.out": Words(
        "The folder for the result; must not exist. By default what the plan says.",
        "結果のフォルダ（既にあってはなりません）。省くと計画のとおりです。",
    ),
    "run.yes": Words(
        "Don't ask before a budget is spent; needed where there is no terminal.",
        "予算を使う前に確認しません。端末のない環境では必要です。",
    ),
    "run.again": Words(
        "With a budget: draw, and spend, once more even if the very same release was made before.",
        "予算を使う計画で、同じ公表が既にあっても、改めて実行し、予算を消費します。",
    ),
    "run.even_if_broken": Words(
        "Publish even if an attack on the result succeeds; the report says so.",
        "結果への攻撃が成功しても公開します。報告書にその旨が残ります。",
    ),
    "run.threads": Words(
        "How many threads to use. By default as many as there are cores, at most 8.",
        "使うスレッド数。省くとコアの数（最大 8）です。",
    ),
    "release.help": Words(
        "Carry out a plan: charge the ledger, publish, and write the release folder.\n\nShows the charge and asks "
        "before it spends. The folder is printed to stdout. A release that was made before is shown again and "
        "costs nothing. `sudare run` does the same for plans of every kind.",
        "計画を実行します: 台帳に記帳し、公表フォルダを書き出します。\n\n予算を使う前に費用を示して確認します。"
        "フォルダ名は標準出力に出力します。同一の公表が既にあれば再表示し、予算は使いません。"
        "`sudare run` はどの種類の計画も同じように実行します。",
    ),
    "release.examples": Words.same(
        "sudare release plan.toml\nsudare release plan.toml --yes --threads 4\nsudare release plan.toml --again"
    ),
    "release.yes": Words(
        "Don't ask before the budget is spent; needed where there is no terminal.",
        "確認せずに予算を使います。端末がない場合は必須です。",
    ),
    "release.again": Words(
        "Draw, and spend, once more even if the very same release was made before.",
        "同一の公表が既にあっても、改めて乱数を引き、予算を使います。",
    ),
    "release.threads": Words(
        "How many threads to use. By default as many as there are cores, at most 8.",
        "使うスレッド数。既定はコア数（最大 8）。",
    ),
    "report.help": Words(
        "Render the page of a release again.\n\nWith the truth beside the published figures the page is "
        "CONFIDENTIAL: it is written outside the release folder, readable by you only.",
        "公表物の報告書を作り直します。\n\n真のデータと比較したページは機密です。公表フォルダの外に、"
        "本人だけが読める形で書き出します。",
    ),
    "report.examples": Words.same(
        "sudare report release --lang ja\nsudare report release --out page.html\nsudare report release "
        "--with-truth plan.toml --yes"
    ),
    "report.with_truth": Words(
        "Show the errors against the true data that this plan reads. The page is confidential.",
        "この計画が読む真のデータとの誤差を示します。ページは機密になります。",
    ),
    "report.out": Words(
        "The page. By default release.html in the folder, or release-confidential.html beside it.",
        "書き出すファイル。既定はフォルダ内の release.html、機密の場合はフォルダの隣の release-confidential.html。",
    ),
    "verify.help": Words(
        "Check a release: hashes, sums, signs, the stated cost, and the ledger's entry.\n\nFolders of protected "
        "records or tables are checked as well. Exit code 7 if a check fails.",
        "公表物を検査します: ハッシュ、合計、符号、費用の記載、台帳の記録。\n\n"
        "保護した個票や表のフォルダも検査します。不合格があれば終了コードは 7 です。",
    ),
    "verify.examples": Words.same("sudare verify release\nsudare verify release --ledger budget.db"),
    "verify.ledger": Words("Also check the charge in this ledger.", "この台帳の記録も検査します。"),
    "export.help": Words(
        "Write a release in the format that another office reads.\n\nEverything comes from the published files: title, "
        "publisher, dimensions, guarantee and expected errors. Neither the data nor a ledger is opened.\n\nA table of Delta or "
        "Iceberg gets a new version in one commit with the release's hash. Exporting the same release again changes nothing.",
        "公表物を、ほかの機関が読む形式で書き出します。\n\n表題、公表機関、次元、保護の内容、予想誤差は、"
        "すべて公表済みのファイルから取ります。元のデータも台帳も開きません。\n\n"
        "Delta や Iceberg の表には、公表物のハッシュとともに一つのコミットで新しい版を加えます。"
        "同じ公表物をもう一度書き出しても何も変わりません。",
    ),
    "export.examples": Words.same(
        "sudare export px release\nsudare export xlsx release --out table.xlsx\nsudare export sdmx firms --table sales\n"
        "sudare export delta release --out lake/people"
    ),
    "export.form": Words(
        "sdmx, px, json-stat, opendp-registry, xlsx or gpkg; delta or iceberg.",
        "sdmx、px、json-stat、opendp-registry、xlsx、gpkg か、delta、iceberg。",
    ),
    "export.folder": Words("The release folder.", "公表フォルダ。"),
    "export.out": Words(
        "The file. By default beside the folder, with its name and the format's suffix. Of delta the table's folder or address; "
        "of iceberg WAREHOUSE/NAMESPACE.TABLE or CATALOG:NAMESPACE.TABLE.",
        "書き出すファイル。既定はフォルダの隣で、フォルダ名に形式の拡張子をつけた名前です。delta では表のフォルダかアドレス、"
        "iceberg では 倉庫フォルダ/名前空間.表 か カタログ:名前空間.表。",
    ),
    "export.table": Words("Which table, where there are several.", "表が複数ある場合に、書き出す表の名前。"),
    "map.help": Words(
        "Draw the map of a release as a PNG or SVG with title, legend and scale, or in the terminal.\n\nA data file that "
        "is no release can be drawn with its plan; the picture is then as confidential as the data, and says so.",
        "公表物の地図を、題・凡例・縮尺つきの PNG か SVG、または端末に描きます。\n\n"
        "公表物でないデータファイルは計画を指定すると描けますが、その画像はデータと同じく機密で、画像にもそう書かれます。",
    ),
    "map.examples": Words.same(
        "sudare map release\nsudare map release --out map.png\nsudare map release --out map.svg --title 'People at noon'\n"
        "sudare map people.parquet --plan plan.toml --out secret.png"
    ),
    "map.place": Words(
        "A release folder, its table, or a data file.",
        "公表フォルダ、その中の表、またはデータファイル。",
    ),
    "map.out": Words(
        "The picture. Left out: a small map in the terminal.",
        "画像ファイル。省略すると端末に小さな地図を表示します。",
    ),
    "map.title": Words(
        "What stands above the map. By default the title of the release.",
        "地図の上に書く題。既定は公表物の題です。",
    ),
    "map.bare": Words(
        "Only the cells, a point for each, without title, legend and scale: to lay over something else.",
        "題・凡例・縮尺のない、1セル1点だけの画像にします（他の図に重ねる場合）。",
    ),
    "map.plan": Words(
        "How a data file that is no release is laid out.",
        "公表物でないデータファイルの構成を示す計画。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "run.kind": Words(
        "kind",
        "種類",
    ),
    "run.done": Words(
        "Done.",
        "完了しました。",
    ),
    "ui.open": Words(
        "The page of {folder} is open to whoever has this address:",
        "{folder} の画面のアドレス（知る人だけが開けます）:",
    ),
    "ui.stop": Words("Ctrl-C stops it. What was released stays.", "Ctrl-C で終了します。公表したものは残ります。"),
    "init.done": Words(
        "Wrote {plan}, and {ledger} with the data set '{dataset}' ({total} in all).",
        "{plan} と {ledger} を作成しました（データセット「{dataset}」、総予算 {total}）。",
    ),
    "init.done_free": Words(
        "Wrote {plan}. Look at what each column is said to be: it was guessed from its name.",
        "{plan} を作成しました。各列の役割は名前からの推定です。確認してください。",
    ),
    "init.kind_without_budget": Words(
        "--kind {kind} needs --from FILE, and takes no budget.",
        "--kind {kind} には --from FILE が必要で、予算は指定できません。",
    ),
    "init.undecided": Words("Still to decide: {column}: {question}.", "未定: {column}: {question}。"),
    "init.next": Words(
        "Next: change the plan, then 'sudare plan {plan}'.",
        "次に計画を書き換え、'sudare plan {plan}' を実行してください。",
    ),
    "plan.without_reference": Words(
        "The prediction does without the reference: {reason}",
        "参照表を使わずに予想しました: {reason}",
    ),
    "plan.spends_nothing": Words(
        "Nothing was spent. Carry it out with 'sudare run {plan}'.",
        "予算は使っていません。実行するには 'sudare run {plan}'。",
    ),
    "plan.alone": Words(
        "The plan is sound. Whether data, ledger and folder are ready for it was not looked at.",
        "計画に誤りはありません。データ・台帳・フォルダの準備ができているかは調べていません。",
    ),
    "plan.made_before": Words(
        "Nothing was spent. This very release was made before: 'sudare run {plan}' shows it again, at no cost.",
        "予算は使っていません。同一の公表が既に実行済みです。'sudare run {plan}' は予算を使わずに再表示します。",
    ),
    "plan.unfinished": Words(
        "A run of this very plan was stopped after noise may have been drawn, or is still at work (ledger entry {entries}). Its "
        "charge stays spent. Carrying the plan out charges once more; it asks first, or needs --again where nobody is asked.",
        "同じ計画の以前の実行が、ノイズが生成された可能性のある段階で止まっているか、まだ実行中です（台帳の項目 {entries}）。"
        "その費用は使用済みのままです。実行するとさらに予算を使うため、その前に確認します"
        "（確認できない環境では --again が必要です）。",
    ),
    "plan.in_the_way": Words(
        "Nothing was spent. The plan cannot be carried out yet ({number} in the way, see above). Mend it, then try "
        "'sudare plan "
        "{plan}' again.",
        "予算は使っていません。この計画はまだ実行できません（上記の {number} 件）。直してから、もう一度 'sudare plan {plan}' "
        "で確かめてください。",
    ),
    "plan.cells": Words("cells", "セル数"),
    "plan.protected": Words("protected", "保護単位"),
    "plan.unit_once": Words("{who}, counted in one row, {change}", "{who}の{change}（数えるのは1行まで）"),
    "plan.unit_rows": Words(
        "{who}, counted in up to {rows} rows, {change}",
        "{who}の{change}（数えるのは {rows} 行まで）",
    ),
    "plan.unit_cells": Words(
        "{who}, counted in up to {rows} rows, in {cells} cells with up to {each} in each, {change}",
        "{who}の{change}（数えるのは {rows} 行まで、{cells} セル、1セルあたり {each} 行まで）",
    ),
    "plan.unit_over_time": Words("{unit}; {time}", "{unit}。{time}"),
    "time.event": Words("one appearance at one tick", "1つの時点への1回の出現を保護"),
    "time.person-day": Words("everything within a window of {ticks} ticks", "1期間（{ticks} 時点）の全体を保護"),
    "time.person-window": Words("everything in any {ticks} ticks in a row", "連続する任意の {ticks} 時点の全体を保護"),
    "plan.promise": Words("promise", "保証"),
    "plan.power": Words(
        "a test of {who}'s presence with {alarm} false alarms finds it at most {power} of the time",
        "{who}の有無を誤検出率 {alarm} で検定しても、検出できる確率は最大 {power}",
    ),
    "plan.method": Words("method", "方法"),
    "plan.counts": Words("counts", "値"),
    "plan.signed": Words(
        'signed: noise as it is drawn, some counts below 0; refine = "counts" makes whole numbers from 0 on',
        '符号付き: ノイズを加えたままの値で、負の値を含みます（refine = "counts" で非負の整数になります）',
    ),
    "plan.exact": Words("published exactly", "正確に公表する量"),
    "plan.folder": Words("release folder", "公表フォルダ"),
    "plan.accuracy": Words("Predicted accuracy", "予想精度"),
    "plan.size": Words("about", "およそ"),
    "plan.all_areas": Words("Over all areas, also those where nobody lives", "人の住まない所も含むすべての領域"),
    "plan.side": Words("side", "一辺"),
    "plan.typical": Words("expected error", "予想誤差"),
    "plan.interval": Words("90 % interval", "90 % 区間"),
    "plan.all_areas_note": Words(
        "An error lies in its interval nine times out of ten. Maps differ in how much of them is empty, and empty "
        "areas have smaller errors.",
        "誤差は10回に9回は区間に入ります。人の住まない領域の誤差は小さいため、その割合によって異なります。",
    ),
    "plan.state_people": Words(
        "Where the number of people is public, write people = ... under [prediction]: intervals get narrower.",
        "おおよその人口が公開情報なら、[prediction] に people = ... と書くと範囲が狭まります。",
    ),
    "plan.delta_for": Words("about {people} people", "約 {people} 人"),
    "plan.delta_for_any": Words("any number of people", "任意の人数"),
    "plan.delta_epsilon_delta": Words(
        "Suggested for {size}: at most {suggested}; the plan has {given}. The worst that a delta allows is that "
        "each record is exposed with this probability; an attacker who is content with anybody then succeeds in "
        "less than 1 % of all cases.",
        "推奨値（{size}の場合）は {suggested} 以下、計画の値は {given} です。delta が許す最悪の事態は、"
        "各人のレコードがこの確率で露見することです。推奨値なら、誰でもよいから暴こうとする攻撃者が成功する確率も "
        "1 % 未満です。",
    ),
    "plan.delta_rho": Words(
        "A budget in rho needs none. In words: epsilon = {epsilon} at delta = {suggested}, the one suggested for "
        "{size} (an attacker who is content with anybody succeeds in less than 1 % of all cases).",
        "rho の予算では不要です。言い換えると、推奨値 delta = {suggested}（{size}の場合。"
        "誰でもよいから暴こうとする攻撃者が成功する確率は 1 % 未満）で epsilon = {epsilon} です。",
    ),
    "plan.delta_epsilon": Words(
        "None, and none is needed: epsilon alone is the stronger promise. If you want Gaussian noise: at most "
        "{suggested}, for {size}.",
        "使っておらず、必要もありません（epsilon だけの保証のほうが強い保証です）。ガウスノイズを使う場合は、"
        "{size}に対して {suggested} 以下にしてください。",
    ),
    "plan.delta_unused": Words(
        "This plan adds Laplace noise, which does not use it: leave delta out, and the data set keeps it.",
        "この計画はラプラスノイズを使うため、delta を使いません。delta を省けば、データセットの予算に残ります。",
    ),
    "plan.delta_costs": Words(
        "With {suggested} the noise grows by {noise}.",
        "{suggested} にすると、ノイズは {noise} 大きくなります。",
    ),
    "plan.delta_group": Words(
        "For {members} at once, such as a household where one {who} is protected, it counts {growth} times.",
        "{members} 単位をまとめて見る場合（「{who}」が1人なら4人世帯など）、delta は {growth} 倍に相当します。",
    ),
    "plan.delta_people": Words(
        "Where the number of people is public, write people = ... under [prediction]; no count of the data.",
        "おおよその人数が公開情報なら、[prediction] に people = ... と書いてください（データから数えた値は不可）。",
    ),
    "plan.delta_dangerous": Words(
        "delta = {given} is too large for about {people} people: in the worst case that it allows, {exposed} of "
        "them are exposed. Take at most {suggested}.",
        "delta = {given} は約 {people} 人に対して大きすぎます。delta が許す最悪の場合、そのうち {exposed} "
        "人が露見します。{suggested} 以下にしてください。",
    ),
    "plan.workload": Words("What the workload asks for", "重視するもの"),
    "plan.parts": Words("For each part of the table", "表の各部分"),
    "plan.part": Words("part", "対象"),
    "plan.noise_alone": Words("noise alone", "ノイズのみ"),
    "plan.with_people": Words("where people are, 90 %", "人のいる所（90 % 区間）"),
    "plan.everywhere": Words("all, 90 %", "すべて（90 % 区間）"),
    "plan.parts_note": Words(
        "Noise alone: if there are people everywhere. 90 %: the interval that holds the error nine times out of ten, over "
        "sums with people, and over all sums.",
        "「ノイズのみ」は、どの部分にも人がいる場合の誤差です。"
        "誤差は10回に9回は区間に入ります（人のいる合計とすべての合計について）。",
    ),
    "plan.alternatives": Words("Alternatives, error relative to this plan", "他の方法（この計画に対する誤差の比）"),
    "plan.mechanism": Words("mechanism", "方法"),
    "plan.ratio": Words("mean", "平均"),
    "plan.worst": Words("worst", "最大"),
    "plan.why": Words("Why this one", "選んだ理由"),
    "plan.charge": Words("Budget", "予算"),
    "release.ask": Words("Spend this and publish?", "この予算を使って公表しますか。"),
    "release.done": Words(
        "Released. {charge} was charged (ledger entry {entry}); {left} is left.",
        "公表しました。{charge} を使いました（台帳の項目 {entry}）。残りは {left} です。",
    ),
    "release.repeated": Words(
        "This very release was made before (ledger entry {entry}): nothing was spent.",
        "同一の公表が既に実行済みです（台帳の項目 {entry}）。予算は使っていません。",
    ),
    "release.page": Words("The report is {page}.", "報告書: {page}"),
    "report.confidential": Words(
        "{page} will show true counts. It is CONFIDENTIAL: never publish it.",
        "{page} には真の人数が含まれます。機密です。決して公表しないでください。",
    ),
    "report.ask": Words("Write a page with the true data?", "真のデータを含むページを作成しますか。"),
    "report.inside": Words(
        "'{page}' is inside the release folder, which gets published. Choose a place outside for the true data.",
        "「{page}」は公表フォルダの中です。公表されてしまうので、真のデータはフォルダの外に書き出してください。",
    ),
    "report.done": Words("The page is written.", "ページを書き出しました。"),
    "verify.check": Words("check", "検査"),
    "verify.finding": Words("finding", "結果"),
    "verify.sound": Words("The release is sound.", "公表物は正常です。"),
    "verify.unsound": Words(
        "The release is NOT sound: {number} checks failed.",
        "公表物に問題があります: {number} 件の検査が不合格です。",
    ),
    "export.no_format": Words(
        "'{form}' is no format to export to. There are: {listed}.",
        "「{form}」という書き出し形式はありません。使えるのは {listed} です。",
    ),
    "export.no_place": Words(
        "A table of a lakehouse needs a place: say it with --out, such as --out {example}.",
        "レイクハウスの表には場所が必要です。--out {example} のように指定してください。",
    ),
    "export.committed": Words("Committed as {words}: {version}.", "コミットしました: {words}（{version}）。"),
    "export.committed_before": Words(
        "Nothing was changed: the table has this release already, as version {version} (now: {latest}).",
        "何も変えていません。この公表物は表の版 {version} として既にあります（現在の版: {latest}）。",
    ),
    "export.committed_long_ago": Words(
        "Nothing was changed: the table had this release before, in a version that its history no longer tells (now: {latest}).",
        "何も変えていません。この公表物は以前にコミット済みですが、その版は履歴に残っていません（現在の版: {latest}）。",
    ),
    "export.done": Words("Written as {words}.", "書き出しました: {words}。"),
    "map.no_picture": Words(
        "The picture must be a .png or .svg file, not '{file}'.",
        "画像は .png または .svg ファイルにしてください（指定: {file}）。",
    ),
    "map.bare_is_png": Words(
        "The cells alone (--bare) are a .png file, not '{file}'.",
        "セルだけの画像（--bare）は .png ファイルにしてください（指定: {file}）。",
    ),
    "map.bare_is_public": Words(
        "The cells alone (--bare) are drawn of a release only: a picture of true counts must say that it is confidential.",
        "セルだけの画像（--bare）は公表物に限ります。真の値の画像には、機密であることを示す必要があります。",
    ),
    "map.no_letters": Words(
        "'{text}' is not in the picture: drawing it needs Pillow (pip install 'sudare[report]') and a Japanese font of the "
        "system. A file that ends in .svg has all texts.",
        "「{text}」は画像に描かれていません。描くには Pillow（pip install 'sudare[report]'）とシステムの日本語フォントが"
        "必要です。.svg のファイルにはすべての文字が入ります。",
    ),
    "map.note": Words("Published counts, {budget}, per {who}", "公表した値、{budget}（{who}あたり）"),
    "map.no_out": Words(
        "Name a file with --out: stdout is no terminal to draw on.",
        "標準出力が端末ではありません。--out で画像ファイルを指定してください。",
    ),
    "map.no_plan": Words(
        "'{file}' is no file of a release. If you may look at it, add --plan with the plan that describes it.",
        "「{file}」は公表物のファイルではありません。見てもよいデータなら、--plan でその計画を指定してください。",
    ),
    "map.confidential": Words(
        "'{file}' is NOT a release: it may hold true counts of people. Keep the picture as secret as the data.",
        "「{file}」は公表物ではありません。真の人数を含む可能性があります。"
        "画像はデータと同じく機密として扱ってください。",
    ),
    "map.done": Words(
        "Drew {width} x {height} pixels, each {block} x {block} cells.",
        "{width} x {height} 画素で描きました（1画素は {block} x {block} セル）。",
    ),
}
