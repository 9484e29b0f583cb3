"""What the commands about pseudonyms and people's rights say in Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.cli.english_pseudonyms import HELP as ENGLISH_HELP

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "panel.people": "個票データの保護",
    "any.key": "秘密鍵のファイル。環境変数 SUDARE_KEY でも指定できます。",
    "any.register": "鍵の登録簿。省略すると鍵の隣の KEY.register。",
    "any.mapping": "方法 table で使う、乱数の仮名の対応表。",
    "any.recipient": "仮名の提供先。提供先が違えば、仮名どうしを照合できません。",
    "any.kind": "識別子の種類（例: patient）。--id COLUMN=KIND で指定した名前、または列の名前。",
    "any.epoch": "鍵の世代。省略すると最新。",
    "any.encoding": "テキストファイルの文字コード（utf-8、cp932 など）。auto はファイルごとに判別します。",
    "any.person": "元のデータにあるとおりの識別子。- なら標準入力から読み、シェルの履歴に残しません。",
    "any.files": "ファイルまたはフォルダ。省略すると、この鍵で作ったすべてのファイル。",
    "any.column": "この鍵で作ったものではないファイルの、識別子の列。",
    "pseudonymize.help": "識別子を、鍵なしでは誰も結び付けられない仮名に置き換えます。\n\n"
    "仮名化したデータも個人データです。行のほかの値から本人が分かることがあります。",
    "pseudonymize.examples": ENGLISH_HELP["pseudonymize.examples"],
    "pseudonymize.new-key.help": "OS の乱数から秘密鍵とその登録簿を作ります。\n\n"
    "読めるのは本人だけです。既にある鍵は上書きされません。",
    "pseudonymize.new-key.examples": ENGLISH_HELP["pseudonymize.new-key.examples"],
    "pseudonymize.new-key.key": "鍵の場所。提供しないフォルダの中にしてください。",
    "pseudonymize.new-mapping.help": "方法 table のための空の対応表を作ります。",
    "pseudonymize.new-mapping.examples": ENGLISH_HELP["pseudonymize.new-mapping.examples"],
    "pseudonymize.new-mapping.mapping": "対応表の場所。鍵とは別のフォルダにしてください。",
    "pseudonymize.run.help": "識別子を仮名に置き換えたファイルを書き出します。\n\n"
    "同じ提供先なら、同じ人の仮名はどのファイルでも同じです。除外を申し出た人は除かれます。",
    "pseudonymize.run.examples": ENGLISH_HELP["pseudonymize.run.examples"],
    "pseudonymize.run.source": "個人の CSV または Parquet ファイル。",
    "pseudonymize.run.columns": "識別子の列と、列名と違うときはその種類。複数指定できます。",
    "pseudonymize.run.out": "新しいファイル（.csv か .parquet）。鍵と対応表のないフォルダに書きます。",
    "pseudonymize.run.method": "keyed（鍵つきハッシュ、既定）か table（乱数、対応表に保存）。",
    "pseudonymize.run.hash_name": "blake2b（既定）か hmac-sha256。",
    "pseudonymize.run.form": "hex（既定、32 文字）、base32、digits（数字）。",
    "pseudonymize.run.length": "仮名の文字数。"
    "省略すると --people に足りる長さ（同じ提供先の以前のファイルがあればそれと同じ）。",
    "pseudonymize.run.people": "人数の上限（省略時は 100 億人）。誰か二人の仮名が一致する確率は10億分の1未満です。"
    "--per では1人あたり1万個までの値を見込みます。それより多いときは人数を増やしてください。",
    "pseudonymize.run.several": "1人にこの数の仮名を与え、行ごとに一つを無作為に使います。",
    "pseudonymize.run.per": "この列の値（受診など）ごとに別の仮名にします。",
    "pseudonymize.run.normalize": "識別子を先に整えます: nfkc、strip、upper、no-leading-zeros。既定では何もしません。",
    "pseudonymize.run.missing": "識別子がない行の扱い: refuse（拒否）か keep（空のまま）。",
    "pseudonymize.export.help": "対応表を識別子と仮名の表に書き出します。\n\n読めるのは本人だけです。",
    "pseudonymize.export.examples": ENGLISH_HELP["pseudonymize.export.examples"],
    "pseudonymize.export.mapping": "対応表。",
    "pseudonymize.export.out": "表（.csv か .parquet）。",
    "pseudonymize.export.several": "--several か --per で作った仮名です。",
    "pseudonymize.import.help": "書き出した表を対応表に取り込みます。\n\n一部だけ取り込まれることはありません。",
    "pseudonymize.import.examples": ENGLISH_HELP["pseudonymize.import.examples"],
    "pseudonymize.import.mapping": "対応表。",
    "pseudonymize.import.source": "identifier と pseudonym の列がある表。",
    "pseudonymize.import.several": "--several か --per で作った仮名です。表に index の列があります。",
    "pseudonymize.rotate.help": "新しい世代を始めます。\n\n今後は全員の仮名が新しくなります。"
    "古い世代の仮名は、その秘密を破棄するまで計算できます。",
    "pseudonymize.rotate.examples": ENGLISH_HELP["pseudonymize.rotate.examples"],
    "pseudonymize.rotate.key": "秘密鍵のファイル。書き直されます。",
    "pseudonymize.destroy.help": "古い世代の秘密を破棄します。\n\nその仮名は誰にも再計算できなくなります。"
    "鍵の控えには及びません。控えも破棄してください。",
    "pseudonymize.destroy.examples": ENGLISH_HELP["pseudonymize.destroy.examples"],
    "pseudonymize.destroy.key": "秘密鍵のファイル。書き直されます。",
    "pseudonymize.destroy.epoch": "破棄する世代。最新の世代は破棄できません。",
    "pseudonymize.destroy.mapping": "その世代の仮名も消す対応表。",
    "pseudonymize.gone.help": "この鍵で作ったファイルが失われたことを申告します。\n\n"
    "以後、そのファイルの中は探しません。申告しない限り、全ファイルからの削除は完了しません。申告は記録に残ります。",
    "pseudonymize.gone.examples": ENGLISH_HELP["pseudonymize.gone.examples"],
    "pseudonymize.gone.file": "ファイルを書き出した場所。もう存在しないことが必要です。",
    "pseudonymize.relink.help": "古い仮名と新しい仮名の対応を書き出します。\n\n鍵を持つ人だけが作れます。",
    "pseudonymize.relink.examples": ENGLISH_HELP["pseudonymize.relink.examples"],
    "pseudonymize.relink.old": "古い仮名の世代。省略すると最新の一つ前。",
    "pseudonymize.relink.source": "元の識別子のファイル。対応表があれば不要です。",
    "pseudonymize.relink.column": "その識別子の列。省略すると種類と同じ名前の列。",
    "pseudonymize.relink.out": "古い仮名と新しい仮名の表（.csv か .parquet）。",
    "person.help": "一人の権利: すべてのファイルと今後のファイルでの検索・訂正・削除・除外。\n\n"
    "登録簿には鍵つきハッシュだけが残り、誰の申し出かは残りません。二度申し出ても結果は同じです。",
    "person.examples": ENGLISH_HELP["person.examples"],
    "person.find.help": "一人の行を探します。",
    "person.find.examples": ENGLISH_HELP["person.find.examples"],
    "person.find.out": "見つかった行を JSON Lines で書き出すファイル。読めるのは本人だけです。",
    "person.correct.help": "一人の行の値を訂正します。\n\n今あるファイルと今後のファイルが対象です。"
    "今後のファイルでは、同じ誤った値があるときに訂正します。",
    "person.correct.examples": ENGLISH_HELP["person.correct.examples"],
    "person.correct.fields": "列と正しい値。複数指定できます。",
    "person.delete.help": "一人の行を削除し、今後のファイルからも除きます。",
    "person.delete.examples": ENGLISH_HELP["person.delete.examples"],
    "person.delete.location": "この人の除外も記録する台帳。その公表からも除かれます。",
    "person.delete.dataset": "その台帳のデータセット。複数指定できます。",
    "person.opt-out.help": "一人を今後のファイルと公表から除きます。\n\n"
    "この鍵で作ったファイルからも行を除きます。元のファイルは指定したときだけ変更します。",
    "person.opt-out.examples": ENGLISH_HELP["person.opt-out.examples"],
    "person.opt-out.only_future": "今あるファイルは変更しません。",
    "person.opt-out.location": "この人の除外も記録する台帳。その公表からも除かれます。",
    "person.opt-out.dataset": "その台帳のデータセット。複数指定できます。",
    "person.opt-in.help": "除外や削除の申し出を、今後のファイルについて取り消します。",
    "person.opt-in.examples": ENGLISH_HELP["person.opt-in.examples"],
    "person.log.help": "行われたことの記録を表示し、検査します。\n\nいつ、どのファイルに何をしたかが分かります。"
    "改変があれば終了コードは 7 です。",
    "person.log.examples": ENGLISH_HELP["person.log.examples"],
    "person.log.person": "この人についての記録だけ。- なら標準入力から読みます。",
    "person.log.kind": "その識別子の種類。",
    "person.log.verify": "すべての封印と、登録簿が記録どおりであることを検査します。",
    "person.log.files": "残っているファイルとも照合します。",
    "person.log.head": "以前に控えた封印。今も記録に残っているかを検査します。",
}

SPOKEN: Mapping[str, str] = {
    "pseudonym.register_exists": "登録簿 {register} は既にあります。"
    "新しい鍵には新しい登録簿が必要です。別の名前にしてください。",
    "pseudonym.key_made": "鍵 {file} と登録簿 {register} を作りました。",
    "pseudonym.keep_key": "鍵の控えを金庫などに保管してください。なくすと誰も探せません。データと一緒に渡さないでください。",
    "pseudonym.mapping_made": "対応表 {mapping} を作りました。",
    "pseudonym.twice": "列 {column} が --id で二度指定されています。",
    "pseudonym.done": "{recipient} 向けの仮名で {out} を書き出しました。これも個人データです。",
    "pseudonym.new_kind": "種類「{kind}」は新しいため、誰も除かれていません。除外の申し出がある種類: {kinds}。"
    "そのいずれかであれば、新しいファイルを消し、--id COLUMN=KIND で実行し直してください。",
    "pseudonym.links": "{file} は人と仮名を結び付けます。鍵と同じように秘密にし、使い終えたら消してください。",
    "pseudonym.imported": "{mapping} に取り込みました。",
    "pseudonym.rotated": "世代 {epoch} を始めました。今後のファイルの仮名は新しくなります。",
    "pseudonym.no_old_epoch": "世代 {epoch} はこの鍵の古い世代ではありません。最新の世代 {latest} は破棄できません。",
    "pseudonym.ask_destroy": "世代 {epoch} を永久に破棄しますか？",
    "pseudonym.destroyed": "世代 {epoch} の秘密を破棄しました。鍵ファイルの控えも破棄してください。",
    "pseudonym.ask_gone": "{file} は、控えも含めて失われましたか？",
    "pseudonym.gone": "記録しました: {file} は失われました。控えが見つかったら、申し出た人が残っているため消してください。",
    "pseudonym.never_made": "世代 {epoch} は最新の世代か、{recipient} 向けに {kind} のファイルを作ったことがない世代です。",
    "pseudonym.needs_mapping": "この仮名は対応表によるものです。--mapping で指定してください。",
    "pseudonym.needs_file": "この仮名は鍵つきハッシュです。元の識別子のファイルを --file、列を --id で指定してください。",
    "person.ledger_and_dataset": "--ledger と --dataset は一緒に指定してください。",
    "person.person_and_kind": "--person と --kind は一緒に指定してください。",
    "person.bad_field": "--set は「列=値」の形で指定してください。",
    "person.spelling": "識別子が空か、前後に空白があるか、表示できない文字があります。"
    "データのとおりに書いてください。何も行われていません。",
    "person.ask_delete": "この人の行を永久に削除しますか？",
    "person.opted_out": "記録しました。今後は除かれます。",
    "person.opted_in": "記録しました。今後のファイルには再び含まれることがあります。",
    "person.deleted": "削除しました。今後も除かれます。",
    "person.corrected": "訂正しました。今後のファイルでも訂正されます。",
    "person.known_already": "既に登録簿に記録されています。",
    "person.warn_missing": "{file} が書き出した場所にありません。移動したファイルは名前で指定し、"
    "失われたファイルは `sudare pseudonymize gone` で申告してください。",
    "person.warn_unlinkable": "{file} の仮名は破棄された世代のものです。誰にもこの人を探せません。",
    "person.warn_unknown": "{file} はこの鍵で作られたものではないため調べていません。識別子の列を --id で指定してください。",
    "person.warn_unreadable": "{file} は壊れているか読めないため、調べていません。"
    "直すか取り除いてから、もう一度申し出てください。",
    "person.warn_unwritable": "{file} に書き込めず、この人の行が残っています。"
    "書き込めるようにしてから、もう一度申し出てください。",
    "person.mapping_kept": "対応表にはまだこの人が残っています。対応表が指定されていないか、"
    "それで作ったファイルに残っている可能性があります。"
    "すべてのファイルを調べられる状態にし、ファイル名を省いて --mapping で指定してください。",
    "person.new_kind": "この鍵で種類「{kind}」のファイルはまだ作られていません。既にある種類: {kinds}。",
    "person.file": "ファイル",
    "person.state": "状態",
    "person.rows": "行数",
    "person.state_found": "あり",
    "person.state_rewritten": "書き直し済み",
    "person.state_nothing": "なし",
    "person.state_missing": "ファイルなし",
    "person.state_unlinkable": "世代破棄済み",
    "person.state_unknown": "未調査",
    "person.state_unreadable": "読込不可",
    "person.state_unwritable": "書込不可",
    "person.entry": "番号",
    "person.time": "時刻 (UTC)",
    "person.did": "内容",
    "person.head": "最後の封印（別の場所に控えてください）: {head}",
    "person.sound": "改変はありません。",
}
