"""The words that every command shares: help, errors, confirmations, stages of work, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "help.usage": Words("Usage:", "使い方:"),
    "help.options_metavar": Words("[OPTIONS]", "[オプション]"),
    "help.arguments": Words("Arguments", "引数"),
    "help.options": Words("Options", "オプション"),
    "help.commands": Words("Commands", "コマンド"),
    "help.common": Words("Options of every command", "共通のオプション"),
    "help.default": Words("[default: {}]", "[既定: {}]"),
    "help.required": Words("[required]", "[必須]"),
    "help.examples": Words("Examples", "例"),
    "help.help": Words("Show this page and exit.", "この説明を表示して終了します。"),
    "help.install_completion": Words(
        "Install completion for the current shell.",
        "使用中のシェルに補完機能を設定します。",
    ),
    "help.show_completion": Words(
        "Show completion for the current shell, to copy it or to adapt the installation.",
        "シェルの補完スクリプトを表示します。",
    ),
    "panel.release": Words("From a plan to a release", "計画から公表まで"),
    "panel.look": Words("Look and check", "見る・確かめる"),
    "panel.collect": Words("Protect while collecting", "収集時の保護"),
    "panel.ask": Words("Ask a database", "データベースへの問い合わせ"),
    "panel.keep": Words("Budgets and meshes", "予算とメッシュ"),
    "sudare.help": Words(
        "Publish statistical tables about people with a proven privacy guarantee.\n\nExit codes: 0 done; 2 wrong "
        "usage or plan; 3 input; 4 budget refused; 5 ledger; 6 output; 7 a check failed; 8 an aggregator; 9 a "
        "query refused; 10 a database; 70 internal error; 130 interrupted.",
        "人に関する統計表を、証明されたプライバシー保護のもとで公表します。\n\n終了コード: 0 正常、2 "
        "使い方または計画の誤り、3 入力、4 予算不足、5 台帳、6 出力、7 検査で不合格、8 集計者、9 クエリの拒否、10 "
        "データベース、70 内部エラー、130 中断。",
    ),
    "sudare.examples": Words.same(
        "sudare ui census\nsudare init census\nsudare plan census/plan.toml\nsudare release census/plan.toml\nsudare verify "
        "census/release --ledger census/budget.db"
    ),
    "any.lang": Words(
        "Language: en or ja. By default that of the locale.",
        "言語: en または ja。既定はロケールの言語。",
    ),
    "any.as_json": Words(
        "One JSON object on stdout and nothing else; errors and warnings as JSON on stderr.",
        "標準出力に JSON オブジェクトを1つだけ出力します。エラーと警告は標準エラー出力に JSON で出力します。",
    ),
    "any.debug": Words(
        "Show the traceback of an error. It may quote the data: keep it to yourself.",
        "エラーのトレースバックを表示します。データの内容を含むことがあるので、外部に渡さないでください。",
    ),
    "any.version": Words("Show the version and exit.", "バージョンを表示して終了します。"),
    "any.file": Words("The plan of the release.", "公表の計画ファイル。"),
    "any.folder": Words("The release folder.", "公表フォルダ。"),
    "any.yes": Words("Don't ask.", "確認せずに実行します。"),
    "any.location": Words("The ledger: a file, or postgresql://...", "台帳: ファイル、または postgresql://..."),
    "any.dataset": Words("The name of the data set in the ledger.", "台帳でのデータセット名。"),
    "any.epsilon": Words("The total budget as epsilon, a decimal.", "総予算のイプシロン（小数）。"),
    "any.delta": Words(
        "The delta that goes with epsilon, such as 1e-6. Left out: pure epsilon.",
        "イプシロンに伴うデルタ（例: 1e-6）。省略すると純粋なイプシロン。",
    ),
    "any.rho": Words(
        "The total budget as rho (zero-concentrated), in place of epsilon.",
        "総予算のロー（ゼロ集中型）。イプシロンの代わりに指定します。",
    ),
    "any.database": Words(
        "The database: a DuckDB file, Parquet or CSV files or their folder, postgresql://... or spark:... Or set "
        "SUDARE_SQL_DATA.",
        "データベース: DuckDB ファイル、Parquet・CSV ファイルまたはそのフォルダ、postgresql://...、"
        "spark:...（環境変数 SUDARE_SQL_DATA でも指定できます）",
    ),
    "any.metadata": Words(
        "The file that says who is protected and what may be asked. Or set SUDARE_SQL_METADATA.",
        "誰を保護し、何を尋ねてよいかを書いたファイル（または SUDARE_SQL_METADATA）。",
    ),
    "any.ledger": Words(
        "The ledger that every query is charged to: a file, or postgresql://... Or set SUDARE_SQL_LEDGER.",
        "すべてのクエリの費用を記録する台帳: ファイル、または postgresql://...（または SUDARE_SQL_LEDGER）",
    ),
    "any.sql_dataset": Words(
        "The name of the data set in the ledger. Or set SUDARE_SQL_DATASET.",
        "台帳でのデータセット名（または SUDARE_SQL_DATASET）。",
    ),
    "any.analyst": Words(
        "Who asks; the ledger then has a data set DATASET/NAME with this analyst's own total, charged too. Or set "
        "SUDARE_SQL_ANALYST.",
        "分析者（または SUDARE_SQL_ANALYST）。台帳のデータセット DATASET/NAME "
        "にある分析者自身の総予算からも差し引かれます。",
    ),
    "any.query": Words(
        "The query; - or nothing reads it from stdin.",
        "クエリ。- または省略すると標準入力から読みます。",
    ),
    "any.query_file": Words("A file with the query.", "クエリを書いたファイル。"),
    "any.query_epsilon": Words(
        "What the query may cost, as epsilon. OPTIONS(epsilon = ...) in the query comes first.",
        "クエリの費用の上限（イプシロン）。クエリ内の OPTIONS(epsilon = ...) が優先されます。",
    ),
    "any.query_delta": Words(
        "The delta that goes with it; needed where groups are not public, and for elastic joins.",
        "イプシロンに伴うデルタ。グループが公開でない場合と --joins elastic の場合に必要です。",
    ),
    "any.query_rho": Words(
        "What the query may cost, as rho, in place of epsilon.",
        "クエリの費用の上限（ロー）。イプシロンの代わりに指定します。",
    ),
    "any.noise": Words(
        "auto (the smaller one), laplace or gaussian.",
        "auto（小さい方）、laplace、gaussian のいずれか。",
    ),
    "any.joins": Words(
        "Joins whose rows belong to two units: truncated (rows beyond max_frequency are left out) or elastic (all "
        "rows; max_frequency must be true of the data; needs epsilon and delta).",
        "二つの保護単位に属する行を作る結合の扱い: truncated（max_frequency を超える行を除く）、"
        "elastic（全行を結合。max_frequency がデータで成り立つことと、イプシロン・デルタが必要）。",
    ),
    "any.answers": Words(
        "Where answers are kept, so that the same query is free. By default LOCATION.answers beside a ledger file.",
        "回答を保存するフォルダ。同じクエリは無料になります。既定は台帳ファイルの隣の LOCATION.answers。",
    ),
    "any.timeout": Words(
        "Cancel the query in the database after so long. Its cost stays spent.",
        "データベースでの処理を打ち切るまでの秒数。費用は消費されたままです。",
    ),
    "any.opt_outs_removed": Words(
        "Say that people who opted out are no longer in the database.",
        "除外を申し出た人が既にデータベースにいないことを宣言します。",
    ),
    "any.code": Words("A mesh code of 4 to 11 digits.", "4～11桁のメッシュコード。"),
    "any.questions": Words(
        "The questionnaire; a Parquet file of reports holds its own.",
        "調査票。報告の Parquet ファイルには含まれています。",
    ),
    "any.reports": Words(
        "A file that `sudare collect randomize` wrote.",
        "`sudare collect randomize` が書き出したファイル。",
    ),
    "any.task": Words("The task file that all parties share.", "全当事者が共有するタスクファイル。"),
    "any.authority": Words("Certificates to trust besides the system's.", "システムのもの以外に信頼する証明書。"),
}

SPOKEN: Mapping[str, Words] = {
    "label.error": Words("Error:", "エラー:"),
    "label.warning": Words("Warning:", "警告:"),
    "failure.internal": Words(
        "Something unexpected happened ({type}). This is a mistake in sudare: please report it with the command, "
        "the output of 'sudare doctor', and the traceback that --debug shows. Take everything about your data out "
        "first.",
        "想定外のことが起きました（{type}）。sudare の誤りです。コマンド、'sudare doctor' の出力、--debug "
        "で表示されるトレースバックを添えて報告してください。データに関する内容は必ず取り除いてください。",
    ),
    "failure.interrupted": Words("Interrupted.", "中断しました。"),
    "extension.not_installed": Words(
        "(Not installed: needs {distribution}.)",
        "（未インストール：{distribution} が必要です。）",
    ),
    "extension.missing": Words(
        "'sudare {command}' is part of {distribution}, which is not installed. In the folder of sudare's "
        "source: pip install ./{folder}",
        "「sudare {command}」は {distribution} に含まれていますが、インストールされていません。sudare の"
        "ソースのフォルダで次を実行してください：pip install ./{folder}",
    ),
    "usage.no_option": Words("There is no option {name}.", "{name} というオプションはありません。"),
    "usage.missing": Words("{name} is missing.", "{name} を指定してください。"),
    "usage.bad_value": Words("The value of {name} cannot be used: {reason}.", "{name} の値が使えません。{reason}"),
    "usage.whole": Words("it must be a whole number", "整数を指定してください。"),
    "usage.whole_within": Words("it must be a whole number {limits}", "{limits}の整数を指定してください。"),
    "usage.number": Words("it must be a number", "数値を指定してください。"),
    "usage.number_within": Words("it must be a number {limits}", "{limits}の数値を指定してください。"),
    "usage.from": Words("from {limit} on", "{limit} 以上"),
    "usage.to": Words("up to {limit}", "{limit} 以下"),
    "usage.choice": Words("it must be one of {choices}", "{choices} のいずれかを指定してください。"),
    "usage.path": Words(
        "there is no such file or folder that can be used", "使えるファイルまたはフォルダを指定してください。"
    ),
    "usage.another": Words("it is not of the kind that is wanted", "形式が違います。"),
    "usage.no_value": Words("{name} needs a value.", "{name} には値が必要です。"),
    "usage.no_command": Words("There is no such command in '{group}'.", "'{group}' にそのようなコマンドはありません。"),
    "usage.other": Words("The command was not called as it can be.", "引数が多すぎるか、指定の仕方に誤りがあります。"),
    "usage.no_budget": Words(
        "Say what the query may cost: --epsilon 1, with --delta where it is needed, or --rho 0.1; or write "
        "OPTIONS(epsilon = ...) into the query.",
        "クエリに使う予算を --epsilon 1 のように指定してください（必要なら --delta も。--rho 0.1 でも指定できます）。"
        "クエリの中に OPTIONS(epsilon = ...) と書くこともできます。",
    ),
    "usage.option": Words("{option} {reason}", "{option} {reason}"),
    "usage.help": Words("'{command} --help' shows how it is used.", "使い方は '{command} --help' で確認できます。"),
    "confirm.nobody": Words(
        "There is no terminal to ask on. Make sure that this is what you want, then add --yes.",
        "確認する端末がありません。内容を確かめ、--yes を付けて実行してください。",
    ),
    "confirm.refused": Words("Stopped, as you wished; nothing was done.", "中止しました。何も行っていません。"),
    "adjacency.add-remove": Words("added or removed", "追加・削除"),
    "adjacency.replace": Words("replaced by another", "置き換え"),
    "any.preparing": Words(
        "Preparing compiled code for this machine (once) ...",
        "この計算機用にコードをコンパイルしています（初回のみ）…",
    ),
    "stage.share": Words.same("{stage}: {share}"),
    "stage.zcdp": Words("Experiment zcdp", "zcdp の実験"),
    "stage.pruning": Words("Experiment pruning", "pruning の実験"),
    "stage.power": Words("Experiment power", "power の実験"),
    "stage.neg-l2": Words("Experiment neg-l2", "neg-l2 の実験"),
    "stage.pk": Words("Experiment pk", "pk の実験"),
    "stage.survey": Words("Experiment survey", "survey の実験"),
    "stage.send": Words("Sending reports", "報告の送信"),
    "stage.predict": Words("Predicting errors", "誤差の予想"),
    "stage.wait": Words(
        "Waiting: another process runs the same plan",
        "別のプロセスが同じ計画を実行中のため、待機しています",
    ),
    "stage.read": Words("Counting people", "人数の集計"),
    "stage.count": Words("Counting people on the cluster", "クラスターでの人数の集計"),
    "stage.bind": Words("Binding the noise to the counts", "ノイズと度数の結び付け"),
    "stage.draw": Words("Drawing noise", "ノイズの生成"),
    "stage.write": Words("Writing tables", "表の書き出し"),
    "stage.report": Words("Writing the report", "報告書の作成"),
    "stage.left": Words("left", "残り"),
}
