"""The words of exported files, and of what refuses to become one."""

from __future__ import annotations

from sudare.bilingual import Words

__all__: list[str] = []

INSIDE = Words(
    "'{file}' would lie inside the release folder, which holds what was published and nothing else. Choose a place outside.",
    "「{file}」は公表フォルダの中です。公表フォルダには公表したファイルだけを置きます。外の場所を指定してください。",
)
CHANGED = Words(
    "The files in '{folder}' are not those that its {document} lists ({what}). `sudare verify` tells more.",
    "「{folder}」のファイルが {document} の記載と一致しません（{what}）。`sudare verify` で確認できます。",
)
UNSOUND = Words(
    "'{document}' does not say what it should; `sudare verify` tells more.",
    "「{document}」の内容が不正です。`sudare verify` で確認できます。",
)
NO_EXPORT = Words(
    "A release of the kind '{kind}' cannot be exported. Counts, tables and records can.",
    "種別「{kind}」の公表物は書き出せません。書き出せるのは counts、tables、records です。",
)
NO_ROWS = Words(
    "'{document}' is a report of a whole window, which has no table. Export the folders of its ticks.",
    "「{document}」は期間全体の報告書で、表がありません。各時点のフォルダを書き出してください。",
)
NO_ICEBERG_PLACE = Words(
    "'{place}' names no table of Iceberg. Write WAREHOUSE/NAMESPACE.TABLE, such as lake/census.people, or "
    "CATALOG:NAMESPACE.TABLE with a catalog of your configuration of pyiceberg.",
    "「{place}」は Iceberg の表を指していません。倉庫フォルダ/名前空間.表（例: lake/census.people）か、"
    "pyiceberg の設定にあるカタログで カタログ:名前空間.表 と書いてください。",
)
NOT_A_TABLE = Words(
    "'{place}' has other files and is no table of {format}. Name an empty or a new folder.",
    "「{place}」には別のファイルがあり、{format} の表ではありません。空のフォルダか新しいフォルダを指定してください。",
)
OTHER_COLUMNS = Words(
    "The table '{place}' has other columns ({there}) than this release ({own}). Nothing was written. Name another table.",
    "表「{place}」の列（{there}）は、この公表物の列（{own}）と異なります。何も書き込んでいません。別の表を指定してください。",
)
READ_AS_ADDRESS = Words(
    "The path '{place}' has one of the signs {signs}, which {format} reads as part of an address. Name another folder.",
    "パス「{place}」に {signs} のいずれかが含まれます。{format} はこれをアドレスの記号として読みます。"
    "別のフォルダを指定してください。",
)
PARTITIONED = Words(
    "The table '{place}' is partitioned, and only tables of Iceberg without partitions can be written. Name another table.",
    "表「{place}」はパーティション分割されています。書き込めるのは分割のない Iceberg の表だけです。別の表を指定してください。",
)
NOT_FINISHED = Words(
    "The export to '{place}' did not finish: {reason}. Readers find one whole version, as before. Run it again: what is "
    "committed already is not committed twice.",
    "「{place}」への書き出しは完了しませんでした（{reason}）。読者に見えるのは、以前と同じく完全な一つの版です。"
    "もう一度実行してください。コミット済みのものが二重になることはありません。",
)
ANOTHER_WRITER = Words(
    "Somebody else changed the table '{place}' meanwhile, so nothing was committed. Run it again.",
    "その間に別の書き込みが表「{place}」を変更したため、何もコミットしていません。もう一度実行してください。",
)
MERGED_MESHES = Words(
    "Merged meshes cannot be exported: no format here can say in which mesh another one is counted. Hand on table.csv.",
    "合算したメッシュは書き出せません。どのメッシュに合算したかを表せる形式がないためです。table.csv をそのまま渡してください。",
)
SEVERAL_TABLES = Words(
    "'{folder}' has several tables: {names}. Name one of them with --table.",
    "「{folder}」には複数の表（{names}）があります。--table で 1 つ指定してください。",
)
NO_TABLE = Words(
    "'{folder}' has no table named '{table}'. It has: {names}.",
    "「{folder}」に表「{table}」はありません。あるのは {names} です。",
)
ONE_TABLE = Words(
    "'{folder}' has one table: leave out --table.", "「{folder}」の表は 1 つだけです。--table は省略してください。"
)
TOO_MANY_CELLS = Words(
    "{format} cannot hold this table: it has {cells:,} cells, and such a file lists every one of at most {most:,}. Publish a "
    "coarser table, or hand on the Parquet file.",
    "{format} にはこの表を収められません。セルが {cells:,} 個あり、全セルを並べるこの形式の上限は {most:,} 個です。"
    "粗い表を公表するか、Parquet ファイルを渡してください。",
)
TOO_MANY_ROWS = Words(
    "An Excel sheet cannot hold this: it has {rows:,} rows, and a sheet has room for {most:,}. Hand on the Parquet or CSV file, "
    "or export to SDMX or GeoPackage.",
    "Excel のシートには収まりません。{rows:,} 行ありますが、シートの上限は {most:,} 行です。"
    "Parquet や CSV のファイルを渡すか、SDMX や GeoPackage に書き出してください。",
)
TOO_MANY_COLUMNS = Words(
    "An Excel sheet cannot hold this: it has {columns:,} columns, and a sheet has room for {most:,}.",
    "Excel のシートには収まりません。{columns:,} 列ありますが、シートの上限は {most:,} 列です。",
)
LONG_TEXT = Words(
    "An Excel cell has room for {most:,} letters, and a text of this release is longer.",
    "Excel のセルに入る文字数は {most:,} までですが、この公表物にはそれより長い文字列があります。",
)
LONG_NAME = Words(
    "A name in a PX file has room for {most:,} letters, and a name of this release is longer.",
    "PX の名称に入る文字数は {most:,} までですが、この公表物にはそれより長い名称があります。",
)
ONLY_TABLES = Words(
    "{format} holds tables, and this release has records. Export it to xlsx, or hand on its CSV file.",
    "{format} は表の形式ですが、この公表物はレコードです。xlsx に書き出すか、CSV ファイルを渡してください。",
)
NO_MESH = Words(
    "A GeoPackage holds places, and this table has no mesh. Use another format, or join the areas by their codes.",
    "GeoPackage は地物の形式ですが、この表にはメッシュがありません。別の形式にするか、コードで境界データと結合してください。",
)
NO_DEPLOYMENT = Words(
    "The registry lists deployments of differential privacy, and this release states none. Only counts can be registered.",
    "この登録簿は差分プライバシーの導入事例の一覧ですが、この公表物には該当する記載がありません。"
    "登録できるのは counts だけです。",
)
SAME_COLUMN = Words(
    "Two columns of the file would have the name '{name}'. Rename the dimension in the plan.",
    "ファイルの列名「{name}」が重複します。計画の次元の名前を変えてください。",
)

GUARANTEE = Words(
    "Protected by differential privacy with {budget}. The unit of protection is one {who}. The figures contain random noise: "
    "they are no exact counts.",
    "差分プライバシー（{budget}）で保護しています。保護の単位は 1 {who}です。"
    "数値には乱数によるノイズが含まれ、正確な件数ではありません。",
)
PROMISE = Words(
    "Whoever tries to tell from these figures whether one {who} is in the data, and accepts {alarm:.0%} false alarms, detects a "
    "{who} who is in it at most {power:.1%} of the time.",
    "ある 1 {who}がデータに含まれるかをこの数値から判定しようとしても、誤警報を {alarm:.0%} まで許すとき、"
    "含まれていることを検出できる割合は高々 {power:.1%} です。",
)
CELL_ERROR = Words(
    "The expected error (root mean square) of a single cell is {rmse}; in {confidence} of 100 releases it lies between {low} and "
    "{high}.",
    "1 セルの予想誤差（二乗平均平方根）は {rmse} です。公表 100 回のうち {confidence} 回は {low} から {high} の間になります。",
)
AREA_ERROR = Words(
    "Expected error of {what}: {rmse} ({confidence} % interval {low} to {high}).",
    "{what}の予想誤差: {rmse}（{confidence} % 区間 {low}〜{high}）。",
)
PARTIAL = Words(
    "Values of '{name}' that are not listed are published as 0.",
    "「{name}」のうち記載のない値は、0 として公表されています。",
)
UNLISTED = Words("Cells without a row are published as 0.", "行のないセルは、0 として公表されています。")
UNPROTECTED = Words("Published without noise: {what}.", "ノイズなしで公表したもの: {what}。")
SIGNED = Words(
    "Noisy counts are published as they were drawn, negative ones too, so that sums are right on average.",
    "合計が平均して正しくなるように、ノイズを含む値を負の値も含めてそのまま公表しています。",
)
FROM_RELEASE = Words(
    "Made from the published files alone; SHA-256 of {document}: {hash}",
    "公表済みのファイルだけから作成しました。{document} の SHA-256: {hash}",
)
PERSON = Words("person", "人")

LABELS = {
    "title": Words("Title", "表題"),
    "publisher": Words("Publisher", "公表機関"),
    "description": Words("Description", "説明"),
    "created": Words("Published (UTC)", "公表日時（UTC）"),
    "protection": Words("Protection", "保護の方法"),
    "budget": Words("Privacy budget", "プライバシー予算"),
    "unit": Words("Unit of protection", "保護の単位"),
    "mechanism": Words("Mechanism", "メカニズム"),
    "total": Words("Published total", "公表した合計"),
    "origin": Words("Origin", "作成元"),
    "software": Words("Software", "ソフトウェア"),
    "note": Words("Note", "注"),
}
COVER = Words("About", "概要")
DATA = Words("Data", "データ")
ACCURACY = Words("Accuracy", "精度")
CODES = Words("Codes", "コード")
CODE, LABEL, DIMENSION = Words("code", "コード"), Words("label", "名称"), Words("dimension", "次元")
SUM, RMSE = Words("sum", "合計の単位"), Words("expected error", "予想誤差")
LOW, HIGH = Words("interval from", "区間の下端"), Words("interval to", "区間の上端")
CONFIDENCE = Words("interval (%)", "区間（%）")
STATUS, HIDDEN, SHOWN = Words("status", "状態"), Words("hidden", "秘匿"), Words("published", "公表")
NOT_THERE = Words("not applicable", "該当なし")
PEOPLE = Words("number of {who}s", "{who}数")
