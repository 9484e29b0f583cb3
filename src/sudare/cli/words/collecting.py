"""The words of collecting randomized answers, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "collect.help": Words(
        "Collect answers that people randomize themselves, and estimate from the reports.\n\nA questionnaire says "
        "how each answer is randomized. Whoever collects the reports never sees an answer.",
        "回答者自身がランダム化した回答を集め、報告から推定します。\n\n調査票に、各回答のランダム化の方法を書きます。"
        "集める側は回答そのものを見ません。",
    ),
    "collect.examples": Words.same(
        "sudare collect randomize survey.toml answers.csv --out reports.parquet\nsudare collect estimate "
        "reports.parquet\nsudare collect crosstab reports.parquet --by smoker --by age --bins age=20,40,60"
    ),
    "collect.randomize.help": Words(
        "Randomize each person's answers. Only the reports are written.\n\nRandomizing the same answers again "
        "gives away more: with --memory everybody keeps the report once given.",
        "各人の回答をランダム化します。書き出すのは報告だけです。\n\n同じ回答を再びランダム化すると、漏れる情報が増えます。"
        "--memory を付けると、一度出した報告を使い続けます。",
    ),
    "collect.randomize.examples": Words.same(
        "sudare collect randomize survey.toml answers.csv --out reports.parquet\nsudare collect randomize "
        "survey.toml answers.parquet --out reports.csv --memory kept.db --person id"
    ),
    "collect.randomize.data": Words(
        "The true answers: a CSV or Parquet file with a column for each question.",
        "真の回答。質問ごとに1列の CSV または Parquet ファイル。",
    ),
    "collect.randomize.out": Words(
        "Where the reports go: .parquet or .csv.",
        "報告の書き出し先（.parquet または .csv）。",
    ),
    "collect.randomize.memory": Words(
        "A file that keeps each person's report for each answer, so that asking again tells nothing new.",
        "各人の回答ごとの報告を保存するファイル。再び尋ねても新しい情報は漏れません。",
    ),
    "collect.randomize.person": Words(
        "The column that tells who a row belongs to; needed with --memory.",
        "行が誰のものかを示す列。--memory と併せて指定します。",
    ),
    "collect.estimate.help": Words(
        "Estimate how many people have each value, with standard errors and intervals.\n\nThe unbiased estimate is "
        "right on average and may be below 0; the constrained one is >= 0 and adds up.",
        "各値の人数を、標準誤差と区間付きで推定します。\n\n不偏推定値は平均的に正しく、負になることもあります。"
        "制約付き推定値は 0 以上で、合計が人数に一致します。",
    ),
    "collect.estimate.examples": Words.same(
        "sudare collect estimate reports.parquet\nsudare collect estimate reports.csv --questions survey.toml "
        "--level 0.9 --out estimates.csv"
    ),
    "collect.estimate.candidates": Words(
        "A file with one text a line, for questions by RAPPOR.",
        "RAPPOR の質問で探す文字列を1行に1つ書いたファイル。",
    ),
    "collect.estimate.level": Words(
        "The probability with which intervals hold the true number.",
        "区間が真の人数を含む確率。",
    ),
    "collect.estimate.out": Words(
        "Write all rows to this .csv or .parquet file.",
        "すべての行を書き出す .csv または .parquet ファイル。",
    ),
    "collect.crosstab.help": Words(
        "Reconstruct the table of true answers to several questions from randomized records.",
        "ランダム化されたレコードから、真の回答のクロス表を推定します。",
    ),
    "collect.crosstab.examples": Words.same(
        "sudare collect crosstab reports.parquet --by sex --by smoker\nsudare collect crosstab reports.parquet "
        "--by sex --by age --bins age=20,40,60 --method inversion --out table.csv"
    ),
    "collect.crosstab.by": Words(
        "A question; several of them are crossed.",
        "質問。複数指定するとクロス集計します。",
    ),
    "collect.crosstab.method": Words(
        "bayes (iterative Bayes), inversion (unbiased) or likelihood (to many digits).",
        "bayes（反復ベイズ）、inversion（逆行列、不偏）、likelihood（最尤、高精度）。",
    ),
    "collect.crosstab.bins": Words(
        "Where bins of a number begin, such as age=20,40,60.",
        "数値の区間の始まり。例: age=20,40,60",
    ),
    "collect.crosstab.level": Words(
        "The probability with which intervals hold the true number.",
        "区間が真の人数を含む確率。",
    ),
    "collect.crosstab.out": Words(
        "Write all cells to this .csv or .parquet file.",
        "すべてのセルを書き出す .csv または .parquet ファイル。",
    ),
    "collect.plan.help": Words(
        "Choose a randomizer for a question, and predict the error of its estimates.\n\nFor values give --values, "
        "for the mean of a number --low and --high; and --epsilon, or --k for Pk-anonymity.",
        "質問に適したランダム化の方法を選び、推定の誤差を予測します。\n\n値を尋ねる場合は --values、数値の平均は --low "
        "と --high を指定します。--epsilon か、Pk-匿名性の --k を付けます。",
    ),
    "collect.plan.examples": Words.same(
        "sudare collect plan --people 100000 --values 20 --epsilon 1\nsudare collect plan --people 100000 --values "
        "5 --k 10\nsudare collect plan --people 100000 --low 0 --high 100 --epsilon 2"
    ),
    "collect.plan.people": Words("How many people will report.", "報告する人数。"),
    "collect.plan.values": Words("How many values the question has.", "質問の値の数。"),
    "collect.plan.low": Words("The smallest number that can be answered.", "回答できる最小の数。"),
    "collect.plan.high": Words("The largest number that can be answered.", "回答できる最大の数。"),
    "collect.plan.epsilon": Words("What one report may cost.", "1つの報告に使える費用。"),
    "collect.plan.k": Words(
        "The k of Pk-anonymity, where this is the only attribute of the records.",
        "Pk-匿名性の k（レコードの属性がこれだけの場合）。",
    ),
    "collect.pk.help": Words(
        "Tell the k of Pk-anonymity of a table randomized by a questionnaire, or the noise for a wanted k.\n\n"
        "Nobody can be linked to a record with a probability above 1/k.",
        "調査票でランダム化した表の Pk-匿名性の k、または目標の k に必要なノイズを示します。\n\n誰も 1/k "
        "を超える確率でレコードと結び付けられません。",
    ),
    "collect.pk.examples": Words.same(
        "sudare collect pk survey.toml --records 10000\nsudare collect pk survey.toml --records 10000 --k 20"
    ),
    "collect.pk.records": Words("How many records the table has.", "表のレコード数。"),
    "collect.pk.k": Words("A wanted k: show the noise that reaches it.", "目標の k。これを満たすノイズを示します。"),
    "collect.prio.help": Words(
        "Sums and histograms by two aggregators, neither of which ever sees a value (Prio3).\n\nEach report is "
        "split into two shares, sealed to the two aggregators. They check together that it is valid, and add up.",
        "どちらも値を見ない2つの集計者による合計（Prio3）。\n\n報告は2つのシェアに分けられ、"
        "それぞれの集計者宛てに封をされます。集計者は協力して正しさを検証し、合計します。",
    ),
    "collect.prio.examples": Words.same(
        "sudare collect prio create task --variant histogram --length 10\nsudare collect prio serve task/task.json "
        "--role helper --keys task/helper --store helper.db\nsudare collect prio send task/task.json < value.txt\n"
        "sudare collect prio collect task/task.json --keys task/collector"
    ),
    "collect.prio.create.help": Words(
        "Draw the keys of a task and write a folder for each party.\n\ntask.json is public. Give the folders "
        "leader, helper and collector to their parties alone, and delete them here.",
        "タスクの鍵を生成し、各当事者のフォルダを書き出します。\n\ntask.json は公開用です。"
        "leader・helper・collector の各フォルダは当事者にだけ渡し、ここからは消してください。",
    ),
    "collect.prio.create.examples": Words.same(
        "sudare collect prio create task --variant count\nsudare collect prio create task --variant histogram "
        "--length 10 --keep 0.5 --minimum 1000\nsudare collect prio create task --variant sum --largest 100"
    ),
    "collect.prio.create.folder": Words(
        "Where to write; it must be new or empty.",
        "書き出すフォルダ（新規または空）。",
    ),
    "collect.prio.create.variant": Words(
        "count, sum, sumvec, histogram or multihot.",
        "種類: count・sum・sumvec・histogram・multihot。",
    ),
    "collect.prio.create.length": Words(
        "How many values or numbers there are (histogram, sumvec, multihot).",
        "値または数の個数（histogram・sumvec・multihot）。",
    ),
    "collect.prio.create.largest": Words("The largest number (sum, sumvec).", "最大の数（sum・sumvec）。"),
    "collect.prio.create.most": Words(
        "The most values that one report may name (multihot).",
        "1つの報告で挙げられる値の最大数（multihot）。",
    ),
    "collect.prio.create.leader": Words("Where the leader will listen.", "leader の待ち受け先。"),
    "collect.prio.create.helper": Words("Where the helper will listen.", "helper の待ち受け先。"),
    "collect.prio.create.minimum": Words(
        "How many reports a batch must have before anything of it is given out.",
        "結果を渡す前に必要な報告の数。",
    ),
    "collect.prio.create.keep": Words(
        "Randomized response in front: the probability with which a value is kept (count, histogram).",
        "送信前のランダム化応答で値をそのまま残す確率（count・histogram）。",
    ),
    "collect.prio.serve.help": Words(
        "Run one of the two aggregators until it is interrupted.\n\nWithout a certificate only loopback addresses "
        "are served.",
        "2つの集計者の一方を、中断されるまで実行します。\n\n証明書がなければループバックアドレスだけで待ち受けます。",
    ),
    "collect.prio.serve.examples": Words.same(
        "sudare collect prio serve task.json --role helper --keys helper --store h.db\nsudare collect prio serve "
        "task/task.json --role helper --keys task/helper --store helper.db --host 0.0.0.0 --certificate chain.pem "
        "--key key.pem"
    ),
    "collect.prio.serve.role": Words("leader or helper.", "役割: leader または helper。"),
    "collect.prio.serve.keys": Words("The folder with this aggregator's keys.", "この集計者の鍵のフォルダ。"),
    "collect.prio.serve.store": Words(
        "Its SQLite file; accepted reports survive a crash.",
        "SQLite ファイル。受け付けた報告は障害があっても失われません。",
    ),
    "collect.prio.serve.host": Words("The address to listen on.", "待ち受けるアドレス。"),
    "collect.prio.serve.port": Words(
        "The port to listen on; by default that of the task.",
        "待ち受けるポート。既定はタスクの記載。",
    ),
    "collect.prio.serve.certificate": Words(
        "A certificate with its chain: listen with TLS.",
        "証明書とその連鎖。TLS で待ち受けます。",
    ),
    "collect.prio.serve.key": Words("The certificate's private key.", "証明書の秘密鍵。"),
    "collect.prio.serve.behind_proxy": Words(
        "Something in front of it does TLS.",
        "前段のプロキシが TLS を行います。",
    ),
    "collect.prio.send.help": Words(
        "Send measurements. When this returns, they are held durably.\n\nA report counts once, however often it "
        "arrives. Give measurements on standard input, one a line: arguments are shown to every user of the "
        "machine, and kept by the shell.",
        "測定値を送ります。終了した時点で確実に保存されています。\n\n報告は何度届いても1回だけ数えられます。"
        "測定値は標準入力から1行に1つ渡してください。引数は同じマシンの全利用者に見え、シェルの履歴にも残ります。",
    ),
    "collect.prio.send.examples": Words.same(
        "sudare collect prio send task/task.json < value.txt\nsudare collect prio send task/task.json "
        "--minimum-batch-at-least 1000 --epsilon-at-most 2 < value.txt\nsudare collect prio send task/task.json "
        "--data answers.csv --column age_group"
    ),
    "collect.prio.send.values": Words(
        "Whole numbers; for vectors with commas between, such as 1,0,5. Left out, or -: standard input.",
        "整数。ベクトルは 1,0,5 のようにコンマで区切ります。省略または - で標準入力から読みます。",
    ),
    "collect.prio.send.data": Words("A file with a measurement in each row.", "各行に測定値があるファイル。"),
    "collect.prio.send.column": Words("The column of the measurements.", "測定値の列。"),
    "collect.prio.send.at_least": Words(
        "Send nothing if the task gives out sums over fewer reports.",
        "これより少ない報告の合計を公開するタスクには送りません。",
    ),
    "collect.prio.send.at_most": Words(
        "Send nothing if a report costs a larger epsilon, or has none.",
        "報告の epsilon がこれより大きい、または定まらない場合は送りません。",
    ),
    "collect.prio.collect.help": Words(
        "Close the batch that is due, and add up what both aggregators hold. Only the collector can.",
        "締め切るバッチを閉じ、両集計者のシェアを合計します。collector だけが実行できます。",
    ),
    "collect.prio.collect.examples": Words.same(
        "sudare collect prio collect task/task.json --keys task/collector\nsudare collect prio collect "
        "task/task.json --keys task/collector --batch 0 --json"
    ),
    "collect.prio.collect.keys": Words("The folder with the collector's keys.", "collector の鍵のフォルダ。"),
    "collect.prio.collect.batch": Words(
        "The number of a batch that was collected before, to get it once more.",
        "以前に収集したバッチの番号（もう一度取得します）。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "collect.randomized": Words(
        "Randomized the answers of {people} people to {questions} questions: {out}",
        "{people} 人の {questions} 問の回答をランダム化しました: {out}",
    ),
    "collect.cost": Words(
        "Each row costs epsilon = {total}: what a person pays for answering once.",
        "1行あたり（1人が1回答えるごと）の費用は epsilon = {total} です。",
    ),
    "collect.once": Words(
        "Randomizing the same answers again adds the same cost; --memory avoids that.",
        "同じ回答を再びランダム化すると、同じ費用が加わります（--memory で防げます）。",
    ),
    "collect.memory_and_person": Words(
        "--memory and --person belong together: the memory keeps what each person reported.",
        "--memory と --person は併せて指定してください。各人の報告を保存するためです。",
    ),
    "collect.no_candidates": Words(
        "The question '{question}' was asked by RAPPOR: name the texts to look for with --candidates.",
        "質問「{question}」は RAPPOR によるものです。探す文字列を --candidates で指定してください。",
    ),
    "collect.no_method": Words(
        "There is no method '{method}'. Methods: {methods}.",
        "「{method}」という方法はありません。使える方法: {methods}。",
    ),
    "collect.no_question": Words(
        "There is no question '{question}' here. Questions: {questions}.",
        "質問「{question}」はありません。質問: {questions}。",
    ),
    "collect.not_crossed": Words(
        "The question '{question}' ({kind}) cannot be crossed as it is; numbers with bounded noise can be, with "
        "--bins.",
        "質問「{question}」（{kind}）はそのままではクロス集計できません。有界ノイズの数値は --bins を付けます。",
    ),
    "collect.not_a_number": Words(
        "The question '{question}' has no bins: only numbers with bounded noise have.",
        "質問「{question}」には区間を指定できません。指定できるのは有界ノイズの数値だけです。",
    ),
    "collect.no_bins": Words(
        "No edge of the bins of '{question}' lies within its range.",
        "「{question}」の区間の境界が範囲内にありません。",
    ),
    "collect.bad_bins": Words(
        "Bins are written like age=20,40,60, not '{text}'.",
        "区間は age=20,40,60 のように書きます（指定: 「{text}」）。",
    ),
    "collect.no_k": Words(
        "No noise can be suggested for '{question}' ({kind}): only for categories and numbers.",
        "「{question}」（{kind}）のノイズは提案できません。分類と数値のみです。",
    ),
    "collect.people": Words("people", "人数"),
    "collect.intervals.bayes": Words(
        "Intervals hold the true number with probability {level}; they come from the information, or, where cells "
        "are near 0, from randomizing the estimated table again and again.",
        "区間は確率 {level} で真の人数を含みます。情報行列から、0 "
        "に近いセルがある場合は推定した表のランダム化を繰り返して求めています。",
    ),
    "collect.intervals.likelihood": Words(
        "Intervals hold the true number with probability {level}; they come from the information, or, where cells "
        "are near 0, from randomizing the estimated table again and again.",
        "区間は確率 {level} で真の人数を含みます。情報行列から、0 "
        "に近いセルがある場合は推定した表のランダム化を繰り返して求めています。",
    ),
    "collect.intervals.inversion": Words(
        "Intervals hold the true number with probability {level}; they come from the standard errors of the "
        "unbiased estimates, and may lie beside the constrained ones shown.",
        "区間は確率 {level} で真の人数を含みます。不偏推定の標準誤差から求めており、"
        "表示された制約付きの人数を含まないことがあります。",
    ),
    "collect.write_all": Words(
        "More cells than are shown; --out writes all of them.",
        "表示しきれないセルがあります。--out ですべて書き出せます。",
    ),
    "collect.value": Words("value", "値"),
    "collect.mean": Words("mean", "平均"),
    "collect.unbiased": Words("unbiased", "不偏推定"),
    "collect.error": Words("standard error", "標準誤差"),
    "collect.interval": Words("interval ({level})", "区間（{level}）"),
    "collect.constrained": Words("constrained", "制約付き"),
    "collect.more": Words("and {count} more", "ほか {count} 件"),
    "collect.plan_needs": Words(
        "Give either --values or both --low and --high, and either --epsilon or --k.",
        "--values か、--low と --high の両方を指定し、さらに --epsilon か --k を指定してください。",
    ),
    "collect.mean_needs_epsilon": Words(
        "For the mean of a number give --epsilon.",
        "数値の平均には --epsilon を指定してください。",
    ),
    "collect.chosen": Words("chosen", "選択"),
    "collect.epsilon": Words("epsilon of a report", "報告1件の epsilon"),
    "collect.kept": Words("kept with probability", "そのまま残す確率"),
    "collect.share": Words("of all people", "全体に対して"),
    "collect.bits": Words("bits of a report", "報告のビット数"),
    "collect.mean_error": Words("standard error of the mean, at worst", "平均の標準誤差（最悪）"),
    "collect.question": Words("question", "質問"),
    "collect.method": Words("method", "方法"),
    "collect.rate": Words("anonymity rate", "匿名率"),
    "collect.parameter": Words("parameter", "パラメータ"),
    "collect.setting": Words("value", "値"),
    "collect.k": Words("k", "k の値"),
    "collect.for_k": Words("Noise for k = {k}, divided equally:", "k = {k} に必要なノイズ（等分）:"),
    "prio.created": Words("The keys are in '{folder}'.", "鍵を「{folder}」に書き出しました。"),
    "prio.apart": Words(
        "Give each of the folders leader, helper and collector to its party alone, and delete it here.",
        "leader・helper・collector の各フォルダは当事者にだけ渡し、ここからは消してください。",
    ),
    "prio.no_role": Words(
        "The role is leader or helper, not '{role}'.",
        "役割は leader か helper です（指定: 「{role}」）。",
    ),
    "prio.serving": Words(
        "The {role} listens on {host}, port {port}. Ctrl-C ends it.",
        "{role} は {host} のポート {port} で待ち受けています。Ctrl-C で終了します。",
    ),
    "prio.values_or_data": Words(
        "Give measurements, on standard input or as arguments, or --data with --column.",
        "測定値を標準入力か引数で渡すか、--data と --column を指定してください。",
    ),
    "prio.type_values": Words(
        "Type one measurement a line; Ctrl-D ends.",
        "測定値を1行に1つ入力してください。Ctrl-D で終わります。",
    ),
    "prio.about": Words(
        "The task gives out sums over at least {minimum} reports. Epsilon of a report: {epsilon}.",
        "このタスクが公開するのは {minimum} 件以上の報告の合計です。報告1件の epsilon: {epsilon}",
    ),
    "prio.no_epsilon": Words("none (no randomized response)", "なし（ランダム化回答を使わないタスク）"),
    "prio.not_a_number": Words(
        "A measurement is a whole number, or several with commas between for vectors.",
        "測定値は整数です。ベクトルはコンマで区切ります。",
    ),
    "prio.sent": Words("Sent {count} reports.", "{count} 件の報告を送りました。"),
    "prio.batch": Words("batch", "バッチ"),
    "prio.reports": Words("reports", "報告数"),
    "prio.rejected": Words("dropped as invalid", "無効として破棄"),
}
