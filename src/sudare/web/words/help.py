"""Help beside the fields, in the words of a statistician."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP"]

HELP: Mapping[str, Words] = {
    "help": Words("Help: {field}", "説明: {field}"),
    "help.column-role": Words(
        "What a column is to the table. “Tells people apart” is never published: it bounds how many rows of one person "
        "count. Mesh, "
        "category, number and time are the dimensions of the table; what is left out is not read.",
        "その列を表でどう使うかです。「人を区別する番号」は公表せず、1人の行数を制限するために使います。"
        "メッシュ・区分・数値・時刻は表の次元になり、"
        "「使わない」列は読み込みません。",
    ),
    "help.details": Words(
        "The domain of each dimension: every cell that could be published, whether anybody is in it or not. It must be known "
        "without "
        "the data, or the list of cells itself would tell who is there.",
        "各次元の定義域、つまり人の有無にかかわらず公表され得る全てのセルです。データを見ずに決める必要があります"
        "（セルの一覧自体が、誰がいるかを示してしまうため）。",
    ),
    "help.level": Words(
        "The size of a mesh (JIS X 0410). Smaller meshes show more detail and have larger relative errors; larger areas are "
        "added up "
        "from them.",
        "メッシュの大きさ（JIS X 0410）。小さいほど細かく表示できますが、相対誤差は大きくなります。大きな区域はその合計です。",
    ),
    "help.area": Words(
        "Where people are counted: all Japan, the rectangle between two meshes, or the meshes of named prefectures and "
        "municipalities "
        "from a public list. A smaller area makes a smaller table; it does not change epsilon.",
        "集計する範囲: 全国、2つのメッシュを対角とする長方形、または公開の一覧にある都道府県・市区町村のメッシュ。"
        "範囲を狭くすると表は小さくなりますが、"
        "ε は変わりません。",
    ),
    "help.encoding": Words(
        "UTF-8, Shift_JIS (cp932), EUC-JP and UTF-16 are told apart; choose one if column names look broken.",
        "UTF-8・Shift_JIS（cp932）・EUC-JP・UTF-16 を判別します。列名が文字化けしている場合は選んでください。",
    ),
    "help.corners": Words(
        "The codes of the meshes in the south-west and the north-east, of any level: the table covers the rectangle "
        "between them.",
        "南西端と北東端のメッシュコード（階層は任意）。その間の長方形が集計範囲になります。",
    ),
    "help.mesh-list": Words(
        "The Statistics Bureau publishes lists of meshes by municipality: copy the CSV file of the prefecture into the folder. "
        "Municipalities are given by name or code; the list becomes public with the release.",
        "総務省統計局の「市区町村別メッシュ・コード一覧」の CSV をこのフォルダに置いてください。"
        "市区町村は名称かコードで指定します。"
        "一覧は公表物の一部になります。",
    ),
    "help.own-labels": Words(
        "The categories of the classification, as the data spells them, one a line. Take them from the questionnaire or "
        "the code "
        "book, not from the file.",
        "分類の区分をデータの表記どおりに1行に1つ書きます。ファイルからではなく、調査票や符号表から取ってください。",
    ),
    "help.labels": Words(
        "All values that are published, one a line. A value in the data that is not here is refused, by its name alone: add "
        "“other” to the list and to the data if those people shall count.",
        "公表する値を1行に1つ書きます。一覧にない値がデータにあると公表を拒否します。含めるには一覧とデータの両方に「その他」"
        "などの値を加えてください。",
    ),
    "help.edges": Words(
        "Groups begin at each number and end before the next one: 0, 15, 65, 120 makes 0–14, 15–64 and 65–119.",
        "各数値から次の数値の手前までが1つの階級です。0, 15, 65, 120 なら 0～14、15～64、65～119 になります。",
    ),
    "help.period": Words(
        "Length of the periods, first and last day, and the time zone in which a day begins. A person who comes in several "
        "periods "
        "counts once in each; say below how many rows of one person count.",
        "期間の長さ、最初と最後の日、日付を区切るタイムゾーンです。複数の期間に現れる人は各期間で1回ずつ数えます。"
        "1人の最大行数は下で指定します。",
    ),
    "help.title": Words("It stands on the report, on maps and in the ledger.", "報告書・地図・台帳に表示されます。"),
    "help.publisher": Words(
        "Who answers for the release; it stands on the report.", "公表の責任を負う機関。報告書に表示されます。"
    ),
    "help.people": Words(
        "Errors depend on how many people there are. Give a public figure, such as one of the last census; never one counted "
        "from "
        "this file. Without it errors are predicted for any number.",
        "誤差は人数によって変わります。前回の国勢調査など公開の数値を入力してください（このファイルから数えた値は不可）。"
        "空欄でも予測できます。",
    ),
    "help.rows": Words(
        "The bound on contributions. Of a person with more rows than this some are not counted; a larger bound needs more "
        "noise in proportion.",
        "1人の寄与の上限です。これを超える行は数えません。上限を大きくすると、ノイズも比例して増えます。",
    ),
    "help.account": Words(
        "Everything published about the same people is charged to the same account, whoever publishes it. A new ledger for "
        "people "
        "who have one already would break the promise.",
        "同じ人たちについての公表は、誰が行っても同じ口座に課金します。既に台帳のある人たちに新しい台帳を作ると、"
        "保証が成り立たなくなります。",
    ),
    "help.total": Words(
        "The promise to each person for all times: the sum of all releases stays below it. 1 is common for counts of people; "
        "from 10 "
        "on it protects little.",
        "各個人に対する全期間の約束です。すべての公表の合計がこれを超えることはありません。人数の統計では 1 程度が一般的で、"
        "10 以上では保護が弱くなります。",
    ),
    "help.epsilon": Words(
        "How much one person may change what is published. At 0.5, whatever anybody concludes is at most 1.65 times (e to "
        "the 0.5) as "
        "likely with that person in the data as without.",
        "1人の有無が公表結果に与え得る影響の上限です。0.5 の場合、その人がデータにいるときの結果の起こりやすさは、"
        "いないときの最大 1.65 倍（e の 0.5 乗）です。",
    ),
    "help.wished": Words(
        "The root mean square error of sums over that area or margin. The page finds the smallest epsilon that keeps it.",
        "その区域または周辺表の合計の平均二乗誤差の平方根です。これを満たす最小の ε を求めます。",
    ),
    "help.record-role": Words(
        "Identifiers name a person and are left out. Quasi-identifiers are what others may know, such as age or place: they "
        "are made "
        "coarser. Sensitive values are what nobody shall learn. Others are published as they are.",
        "識別子は個人を特定するため削除します。準識別子は年齢や居住地など他人が知り得る値で、粗くします。"
        "機微な情報は知られてはならない値です。その他はそのまま公表します。",
    ),
    "help.rule": Words(
        "The generalization hierarchy: intervals that grow, parts of a date, coarser meshes, fewer letters, groups of your "
        "own, or "
        "all values in one.",
        "一般化階層の作り方: 幅の広がる区間、日付の一部、粗いメッシュ、文字の伏せ字、独自のグループ、"
        "または全体を1つにまとめます。",
    ),
    "help.detail": Words(
        "For intervals their widths, such as 5, 10, 20; each must be a multiple of the one before. For groups one a line, "
        "such as "
        "“health: nurse, doctor”. For meshes the level of the data.",
        "区間の場合は幅（例: 5, 10, 20。前の幅の倍数）。グループの場合は1行に1つ（例: 医療: 看護師, 医師）。"
        "メッシュの場合はデータの階層。",
    ),
    "help.model": Words(
        "What must hold for a sensitive value in each equivalence class: l-diversity wants l different values, t-closeness a "
        "distribution near that of all records, and so on. The number beside it is l, t, and so on.",
        "各等価クラスの機微な値についての条件です。l-多様性は l 種類以上の値、t-近接性は全体に近い分布を求めます。右の数値は "
        "l や t です。",
    ),
    "help.k": Words(
        "Every published record looks like at least k − 1 others in its quasi-identifiers. Whoever knows them finds k "
        "records, and a "
        "chance of at most 1/k for each. 5 is common, 10 and more for files that everybody gets.",
        "準識別子が同じレコードが必ず k 件以上になるようにします。再識別の確率は 1/k 以下です。5 程度が一般的で、"
        "誰にでも渡すファイルでは 10 以上にします。",
    ),
    "help.suppression": Words(
        "Records that stand out may be left out instead of making all others coarser: 0.05 allows one of twenty.",
        "目立つレコードを削除してよい割合です。全体を粗くせずに済みます。0.05 なら20件に1件まで削除します。",
    ),
    "help.table-role": Words(
        "Columns that span the table make its cells. One column of amounts may be added up; without it contributors are "
        "counted. “Says who contributes” names the contributor of a row, such as a company or its holding.",
        "「表の軸」の組合せがセルになります。金額などの列を1つ集計できます（なければ提供者数を数えます）。「提供者の番号」"
        "は各行の提供者（企業や企業グループ）を示します。",
    ),
    "help.threshold": Words(
        "Cells with fewer contributors are hidden (primary suppression): with 3, nobody in a cell learns the value of the "
        "only other one.",
        "提供者がこれより少ないセルを秘匿します（一次秘匿）。3 なら、セル内の者がもう1者の値を知ることを防ぎます。",
    ),
    "help.p": Words(
        "Dominance: a cell is hidden if its second largest contributor could work out the largest one to within p percent.",
        "占有度の規則: 2番目に大きい提供者が最大の提供者の値を p % 以内の精度で推定できるセルを秘匿します。",
    ),
    "help.how": Words(
        "Hide unsafe cells and further ones that would give them away (secondary suppression), or round all cells so that "
        "rows and "
        "columns still add up.",
        "安全でないセルとその逆算を防ぐ別のセルを秘匿する（二次秘匿）か、行・列の合計が合うように全セルを丸めます。",
    ),
    "help.cost": Words(
        "What secondary suppression should lose as little of: amount, contributors, or cells.",
        "二次秘匿で失うものをどの尺度で最小にするか: 値、提供者数、セル数。",
    ),
    "help.base": Words(
        "All cells become multiples of this number; nobody can tell a value more closely than that.",
        "すべてのセルをこの数の倍数にします。値はその幅より細かくは分かりません。",
    ),
    "help.keep": Words(
        "The classifications that span the table. Without one of them its cells are added up: fewer cells, each with more "
        "contributors.",
        "表を構成する分類です。外した分類については合計だけが残るため、セルが減り、1セルの提供者が増えます。",
    ),
    "help.map": Words(
        "Layers: the published counts, the error that the design lets expect, and for the holder alone the true counts and the "
        "difference. With two of them a slider moves the border between them. On a logarithmic scale sparse and dense "
        "areas are "
        "both legible.",
        "表示できる値は、公表値、設計から予想される誤差、そして保有者だけが見られる真の値とその差です。2つ選ぶと、"
        "境目を動かして比較できます。"
        "対数目盛では人の少ない所と多い所を同時に読み取れます。",
    ),
    "help.data": Words(
        "The tables that are asked: a DuckDB file, or CSV or Parquet files. They are only read.",
        "問い合わせの対象となる表（DuckDB、CSV、Parquet のファイル）。読み取るだけで、変更しません。",
    ),
    "help.metadata-text": Words(
        "For each table: the column that names the protected unit, how many rows one unit may have, and bounds or lists "
        "of values "
        "that sums and groups need. Bounds cut the values beyond them, so that one person’s influence is limited.",
        "表ごとに、保護する単位を示す列、1単位の最大行数、合計や分類に必要な値の範囲・一覧を定めます。"
        "範囲を超える値は範囲の端に丸められ、"
        "1人の影響が抑えられます。",
    ),
    "help.window": Words(
        "The time for which one promise holds, such as a day: whatever is published within it about a person costs the "
        "budget once.",
        "1つの保証が及ぶ期間（例: 1日）。その間にある人について何回公表しても、予算の使用は1回分です。",
    ),
    "help.areas": Words(
        "Areas whose counts are drawn over the window, with intervals of 95 %. Hold Ctrl to choose several.",
        "期間中の度数の推移を 95 % 区間つきで表示する地域。Ctrl キーを押しながら複数選べます。",
    ),
    "help.tick": Words(
        "The moment at which the interval that is counted begins. A tick can be published when it is over; one that was "
        "published "
        "is shown again and not drawn anew.",
        "集計する時間区間の始まりです。区間が終わった後に公表できます。公表済みの時点は再表示され、ノイズは引き直されません。",
    ),
    "help.weights": Words(
        "A column of weight 2 loses twice as much by each step, so it is kept finer and others are made coarser.",
        "重み 2 の列は1段階粗くすると2倍の損失とみなされるため、より細かく保たれます。",
    ),
    "help.metadata": Words(
        "Says who one person is in the tables, how many rows they may have, and within which bounds values lie.",
        "表の中で1人を表す単位、1人の最大行数、値の範囲を定めたファイルです。",
    ),
    "help.sql": Words(
        "SELECT with COUNT, SUM, AVG and other aggregates, WHERE, GROUP BY and joins along keys. The price is shown first.",
        "COUNT・SUM・AVG などの集計、WHERE、GROUP BY、キーによる結合を含む SELECT 文。先に価格が表示されます。",
    ),
}
