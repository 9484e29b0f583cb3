"""Plans to start from, with a comment on every line that has to be decided."""

from __future__ import annotations

from sudare.cli.console.messages import Language

__all__ = ["plan_text"]

ENGLISH = """# The plan of a release. Change what is not as it should be, then look at what to expect (nothing is spent):
#     sudare plan plan.toml

title = "Population by 500 m mesh"
publisher = "Statistics office"
description = "Who is counted, where, and when."
language = "en"                   # of the report: "en" or "ja"

[source]                          # the data; paths are meant from this file
path = "people.csv"               # a file, a folder, or a list: CSV, Parquet, Arrow, e-Stat, GeoTIFF, ...
rows = "people"                   # each row is one person; "counts" if a column holds counts
# count = "population"            # that column, with rows = "counts"
# person = "person_id"            # the column that tells people apart, if one has several rows
# columns = { KEY_CODE = "mesh" } # where a column has another name than the attribute below
# columns = { sex = { female = "women", male = "men" } }   # an attribute in several columns of counts
# encoding = "cp932"              # told from the file if left out

[[domain]]                        # the cells of the table; they are public, and must not come from the data
name = "KEY_CODE"
kind = "mesh"                     # Japanese regional meshes (JIS X 0410)
level = "1/2"                     # "1" 80 km, "2" 10 km, "3" 1 km, "1/2" 500 m, "1/4" 250 m, "1/8" 125 m
corners = ["5339", "5340"]        # south-west and north-east mesh, of any level; or area = "japan"
# meshes = "mesh-list.csv"        # better: a public list of meshes, so that nobody is published in the sea
# public = true                   # with a list: you declare that it is public, and not made from the data
# prefectures = ["Tokyo"]         # of that list, if it has municipality codes; or municipalities = [13101]

# [[domain]]                      # more attributes, if the table has them
# name = "sex"
# kind = "category"
# labels = ["female", "male"]
#
# [[domain]]
# name = "age"
# kind = "bins"
# edges = [0, 15, 65, 120]
#
# [[domain]]
# name = "time"                   # a column of times
# kind = "time"
# by = "hour of day"              # or "weekday", "hour of week"; "hour", "day" or "month" of the span
# from = 2025-04-01
# to = 2025-04-30                 # the last day
# time_zone = "Asia/Tokyo"

[unit]                            # who is protected
who = "person"
# rows = 3                        # if one person may have several rows
# cells = 3                       # or: distinct people in each cell, each person in at most so many cells

[budget]                          # what this release spends: epsilon, epsilon and delta, or rho
{budget}

[ledger]                          # where it is charged; the same ledger for all releases of the data set
location = "{ledger}"
dataset = {dataset}

[method]
name = "auto"                     # sudare plans the most accurate one it knows
# workload = "areas"              # which sums matter: "cells", "areas", "margins", "totals", sides such as [1, 4, 16],
#                                 # or several with weights: { cells = 1, 16 = 2 }
# public_total = true             # publish the total exactly; it is then not protected

# [reference]                     # a table that is public already makes the result more accurate
# name = "Census 2015"
# public = true                   # you declare that it is public: it is not protected
# path = "census-2015.csv"
# count = "population"

[output]
folder = "release"                # must not exist yet
formats = ["parquet", "csv"]      # parquet, csv, arrow, geoparquet, geotiff
# measurements = true             # publish the noisy measurements, too
"""

JAPANESE = """# 公表の計画です。実情に合わせて書き換え、結果の見通しを確認してください（予算は使いません）:
#     sudare plan plan.toml

title = "500m メッシュ別人口"
publisher = "統計局"
description = "誰を、どこで、いつ数えたか。"
language = "ja"                   # 報告書の言語: "ja" または "en"

[source]                          # データ。パスはこのファイルからの相対パス
path = "people.csv"               # ファイル、フォルダ、またはリスト: CSV, Parquet, Arrow, e-Stat, GeoTIFF など
rows = "people"                   # 1行が1人。人数の列がある場合は "counts"
# count = "population"            # rows = "counts" のとき、人数の列
# person = "person_id"            # 1人が複数行を持つとき、人を区別する列
# columns = { KEY_CODE = "mesh" } # 列名が下の属性名と違うとき
# columns = { sex = { female = "women", male = "men" } }   # 属性が複数の人数の列に分かれているとき
# encoding = "cp932"              # 指定しなければファイルから判別します

[[domain]]                        # 表のセル。公開される情報なので、データから作らないこと
name = "KEY_CODE"
kind = "mesh"                     # 地域メッシュ（JIS X 0410）
level = "1/2"                     # "1" 80km, "2" 10km, "3" 1km, "1/2" 500m, "1/4" 250m, "1/8" 125m
corners = ["5339", "5340"]        # 南西と北東のメッシュ（どの階層でも可）。area = "japan" も使えます
# meshes = "mesh-list.csv"        # 公開されたメッシュの一覧を指定すると、海上に人が公表されません
# public = true                   # 一覧が公開のもので、データから作ったものでないことの宣言
# prefectures = ["Tokyo"]         # 一覧に市区町村コードがあるとき。municipalities = [13101] も可

# [[domain]]                      # 他の属性があれば追加
# name = "sex"
# kind = "category"
# labels = ["female", "male"]
#
# [[domain]]
# name = "age"
# kind = "bins"
# edges = [0, 15, 65, 120]
#
# [[domain]]
# name = "time"                   # 時刻の列
# kind = "time"
# by = "hour of day"              # または "weekday"、"hour of week"。期間の "hour"、"day"、"month" も可
# from = 2025-04-01
# to = 2025-04-30                 # 最終日
# time_zone = "Asia/Tokyo"

[unit]                            # 保護する単位
who = "person"
# rows = 3                        # 1人が複数行を持ちうるとき
# cells = 3                       # または: セルごとの実人数。1人が数えられるセルの数

[budget]                          # この公表で使う予算: epsilon、epsilon と delta、または rho
{budget}

[ledger]                          # 予算の台帳。同じデータの公表はすべて同じ台帳を使うこと
location = "{ledger}"
dataset = {dataset}

[method]
name = "auto"                     # 最も正確な方法を sudare が計画します
# workload = "areas"              # 重視する合計: "cells", "areas", "margins", "totals"、[1, 4, 16] のような辺の長さ、
#                                 # または重み付きの組合せ { cells = 1, 16 = 2 }
# public_total = true             # 合計を正確に公表する（合計は保護されなくなります）

# [reference]                     # 既に公開されている表があれば、結果がより正確になります
# name = "国勢調査 2015"
# public = true                   # 公開済みであることの宣言（この表は保護されません）
# path = "census-2015.csv"
# count = "population"

[output]
folder = "release"                # まだ存在しないフォルダ
formats = ["parquet", "csv"]      # parquet, csv, arrow, geoparquet, geotiff
# measurements = true             # ノイズを加えた測定値も公表する
"""


def plan_text(language: Language, dataset: str, budget: str, ledger: str) -> str:
    """A plan to start from.

    Args:
        language: of the comments and the report.
        dataset: its name in the ledger.
        budget: the lines of the section ``[budget]``.
        ledger: where the ledger is, from the plan.

    Example:
        >>> 'dataset = "census"' in plan_text("en", "census", "epsilon = 0.25", "budget.db")
        True
    """
    template = JAPANESE if language == "ja" else ENGLISH
    for blank, text in (("budget", budget), ("ledger", ledger), ("dataset", _quoted(dataset))):
        template = template.replace(f"{{{blank}}}", text)
    return template


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'
