"""The words of pseudonyms and people's rights, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "panel.people": Words("Protect records", "個票データの保護"),
    "any.key": Words(
        "The secret key file. Or set SUDARE_KEY.",
        "秘密鍵のファイル。環境変数 SUDARE_KEY でも指定できます。",
    ),
    "any.register": Words(
        "The register of the key. By default KEY.register beside the key.",
        "鍵の登録簿。省略すると鍵の隣の KEY.register。",
    ),
    "any.mapping": Words(
        "The mapping of random pseudonyms, where the method table is used.",
        "方法 table で使う、乱数の仮名の対応表。",
    ),
    "any.recipient": Words(
        "Who gets the pseudonyms. Two recipients cannot compare theirs.",
        "仮名の提供先。提供先が違えば、仮名どうしを照合できません。",
    ),
    "any.kind": Words(
        "The kind of identifier, such as patient: what stood behind --id COLUMN=KIND, or the column's name.",
        "識別子の種類（例: patient）。--id COLUMN=KIND で指定した名前、または列の名前。",
    ),
    "any.epoch": Words("The epoch of the key. By default the latest.", "鍵の世代。省略すると最新。"),
    "any.encoding": Words(
        "The encoding of text files, such as utf-8 or cp932; auto tells it from each file.",
        "テキストファイルの文字コード（utf-8、cp932 など）。auto はファイルごとに判別します。",
    ),
    "any.person": Words(
        "The person's identifier as it stands in the raw data; - reads it from stdin, out of the shell's history.",
        "元のデータにあるとおりの識別子。- なら標準入力から読み、シェルの履歴に残しません。",
    ),
    "any.files": Words(
        "Files or folders. Left out: all files that were made with the key.",
        "ファイルまたはフォルダ。省略すると、この鍵で作ったすべてのファイル。",
    ),
    "any.column": Words(
        "The column of identifiers in files that were not made with the key.",
        "この鍵で作ったものではないファイルの、識別子の列。",
    ),
    "pseudonymize.help": Words(
        "Replace identifiers by pseudonyms that nobody can link without the key.\n\nPseudonymized data is still "
        "personal data: what else stands in a row may tell whose it is. A command alone does not make it pseudonymously "
        "processed information (Japan): the rules for processing, keeping and using it must be met, too.",
        "識別子を、鍵なしでは誰も結び付けられない仮名に置き換えます。\n\n仮名化したデータも個人データです。"
        "行のほかの値から本人が分かることがあります。個人情報保護法の仮名加工情報とするには、ほかの特定につながる記述も"
        "基準に沿って加工し、削除情報等（鍵など）の安全管理や利用目的の制限を守る必要があります。"
        "コマンドを実行しただけでは仮名加工情報になりません。",
    ),
    "pseudonymize.examples": Words.same(
        "sudare pseudonymize new-key keys/study.key\nsudare pseudonymize run visits.csv --id patient --key "
        "keys/study.key --recipient university --out out/visits.csv"
    ),
    "pseudonymize.new-key.help": Words(
        "Make a secret key from the operating system's randomness, and its register.\n\nOnly you can read them. An "
        "existing key is never overwritten.",
        "OS の乱数から秘密鍵とその登録簿を作ります。\n\n読めるのは本人だけです。既にある鍵は上書きされません。",
    ),
    "pseudonymize.new-key.examples": Words.same("sudare pseudonymize new-key keys/study.key"),
    "pseudonymize.new-key.key": Words(
        "Where the key shall be: in a folder that is not given away.",
        "鍵の場所。提供しないフォルダの中にしてください。",
    ),
    "pseudonymize.new-mapping.help": Words(
        "Make an empty mapping, for pseudonyms by the method table.",
        "方法 table のための空の対応表を作ります。",
    ),
    "pseudonymize.new-mapping.examples": Words.same(
        "sudare pseudonymize new-mapping tables/names.db --key keys/study.key"
    ),
    "pseudonymize.new-mapping.mapping": Words(
        "Where the mapping shall be, in another folder than the key.",
        "対応表の場所。鍵とは別のフォルダにしてください。",
    ),
    "pseudonymize.run.help": Words(
        "Replace the identifiers in some columns of a file, and write a new file.\n\nThe same person has the same "
        "pseudonym in every file for one recipient. Who opted out is left out.",
        "識別子を仮名に置き換えたファイルを書き出します。\n\n同じ提供先なら、"
        "同じ人の仮名はどのファイルでも同じです。除外を申し出た人は除かれます。",
    ),
    "pseudonymize.run.examples": Words.same(
        "sudare pseudonymize run a.csv --id person --recipient lab --out out/a.csv\nsudare pseudonymize run "
        "visits.parquet --id patient --id doctor=staff --key keys/study.key --recipient insurer --form digits "
        "--out out/visits.parquet"
    ),
    "pseudonymize.run.source": Words("A CSV or Parquet file of people.", "個人の CSV または Parquet ファイル。"),
    "pseudonymize.run.columns": Words(
        "A column of identifiers, and their kind if it is not the column's name. Several may be named.",
        "識別子の列と、列名と違うときはその種類。複数指定できます。",
    ),
    "pseudonymize.run.out": Words(
        "The new file, .csv or .parquet, in a folder without the key and the mapping.",
        "新しいファイル（.csv か .parquet）。鍵と対応表のないフォルダに書きます。",
    ),
    "pseudonymize.run.method": Words(
        "keyed (a keyed hash; the default) or table (random, kept in a mapping).",
        "keyed（鍵付きハッシュ、既定）か table（乱数、対応表に保存）。",
    ),
    "pseudonymize.run.hash_name": Words("blake2b (the default) or hmac-sha256.", "blake2b（既定）か hmac-sha256。"),
    "pseudonymize.run.form": Words(
        "hex (the default, 32 characters), base32 or digits.",
        "hex（既定、32 文字）、base32、digits（数字）。",
    ),
    "pseudonymize.run.length": Words(
        "Characters of a pseudonym. By default enough for --people, and the same as in earlier files for the "
        "recipient.",
        "仮名の文字数。省略すると --people に足りる長さ（同じ提供先の以前のファイルがあればそれと同じ）。",
    ),
    "pseudonymize.run.people": Words(
        "How many people there may be, 10^10 if left out. The chance that any two share a pseudonym is below 1 in "
        "10^9. With --per each is taken to have up to 10,000 values: state more people where there may be more.",
        "人数の上限（省略時は 100 億人）。誰か二人の仮名が一致する確率は10億分の1未満です。--per "
        "では1人あたり1万個までの値を見込みます。それより多いときは人数を増やしてください。",
    ),
    "pseudonymize.run.several": Words(
        "Give each person so many pseudonyms; each row takes one at random.",
        "1人にこの数の仮名を与え、行ごとに一つを無作為に使います。",
    ),
    "pseudonymize.run.per": Words(
        "Give a person another pseudonym for each value of this column, such as a visit.",
        "この列の値（受診など）ごとに別の仮名にします。",
    ),
    "pseudonymize.run.normalize": Words(
        "Change identifiers before: nfkc, strip, upper, no-leading-zeros. By default nothing.",
        "識別子を先に整えます: nfkc、strip、upper、no-leading-zeros。既定では何もしません。",
    ),
    "pseudonymize.run.missing": Words(
        "What to do with missing identifiers: refuse the file, or keep them missing.",
        "識別子がない行の扱い: refuse（拒否）か keep（空のまま）。",
    ),
    "pseudonymize.export.help": Words(
        "Write a mapping as identifiers and pseudonyms, readable by you only.",
        "対応表を識別子と仮名の表に書き出します。\n\n読めるのは本人だけです。",
    ),
    "pseudonymize.export.examples": Words.same(
        "sudare pseudonymize export n.db --recipient lab --kind person --out n.csv\nsudare pseudonymize export "
        "tables/names.db --key keys/study.key --recipient university --kind patient --out names.csv"
    ),
    "pseudonymize.export.mapping": Words("The mapping.", "対応表。"),
    "pseudonymize.export.out": Words("The table, .csv or .parquet.", "表（.csv か .parquet）。"),
    "pseudonymize.export.several": Words(
        "The pseudonyms were made with --several or --per.",
        "--several か --per で作った仮名です。",
    ),
    "pseudonymize.import.help": Words(
        "Take a table that was exported into a mapping; all or nothing.",
        "書き出した表を対応表に取り込みます。\n\n一部だけ取り込まれることはありません。",
    ),
    "pseudonymize.import.examples": Words.same(
        "sudare pseudonymize import n.db n.csv --recipient lab --kind person\nsudare pseudonymize import "
        "tables/names.db names.csv --key keys/study.key --recipient university --kind patient"
    ),
    "pseudonymize.import.mapping": Words("The mapping.", "対応表。"),
    "pseudonymize.import.source": Words(
        "The table, with the columns identifier and pseudonym.",
        "identifier と pseudonym の列がある表。",
    ),
    "pseudonymize.import.several": Words(
        "The pseudonyms were made with --several or --per; the table has a column index.",
        "--several か --per で作った仮名です。表に index の列があります。",
    ),
    "pseudonymize.rotate.help": Words(
        "Begin a new epoch: from now on everybody has new pseudonyms.\n\nThose of older epochs can still be "
        "computed until their secret is destroyed.",
        "新しい世代を始めます。\n\n今後は全員の仮名が新しくなります。古い世代の仮名は、"
        "その秘密を破棄するまで計算できます。",
    ),
    "pseudonymize.rotate.examples": Words.same("sudare pseudonymize rotate keys/study.key"),
    "pseudonymize.rotate.key": Words(
        "The secret key file; it is written anew.",
        "秘密鍵のファイル。書き直されます。",
    ),
    "pseudonymize.destroy.help": Words(
        "Destroy the secret of an older epoch: nobody can compute its pseudonyms again.\n\nBackups of the key are "
        "not reached; destroy them too.",
        "古い世代の秘密を破棄します。\n\nその仮名は誰にも再計算できなくなります。鍵の控えには及びません。"
        "控えも破棄してください。",
    ),
    "pseudonymize.destroy.examples": Words.same("sudare pseudonymize destroy keys/study.key --epoch 1"),
    "pseudonymize.destroy.key": Words(
        "The secret key file; it is written anew.",
        "秘密鍵のファイル。書き直されます。",
    ),
    "pseudonymize.destroy.epoch": Words("Which epoch; not the latest.", "破棄する世代。最新の世代は破棄できません。"),
    "pseudonymize.destroy.mapping": Words(
        "A mapping whose pseudonyms of that epoch are deleted too.",
        "その世代の仮名も消す対応表。",
    ),
    "pseudonymize.gone.help": Words(
        "Declare that a file which was made with the key is gone for good.\n\nNobody is looked for in it any more: "
        "without this, deleting somebody from all files never ends. The log keeps that it was declared.",
        "この鍵で作ったファイルが失われたことを申告します。\n\n以後、そのファイルの中は探しません。申告しない限り、"
        "全ファイルからの削除は完了しません。申告は記録に残ります。",
    ),
    "pseudonymize.gone.examples": Words.same("sudare pseudonymize gone out/visits.csv --key keys/study.key"),
    "pseudonymize.gone.file": Words(
        "Where the file was written; it must not be there any more.",
        "ファイルを書き出した場所。もう存在しないことが必要です。",
    ),
    "pseudonymize.relink.help": Words(
        "Write old pseudonyms beside those of the latest epoch, for whoever holds the key.",
        "古い仮名と新しい仮名の対応を書き出します。\n\n鍵を持つ人だけが作れます。",
    ),
    "pseudonymize.relink.examples": Words.same(
        "sudare pseudonymize relink --recipient x --kind id --file a.csv --out b.csv\nsudare pseudonymize relink "
        "--key keys/study.key --recipient university --kind patient --from 1 --file visits.csv --out relink.csv"
    ),
    "pseudonymize.relink.old": Words(
        "The epoch of the old pseudonyms. By default the one before the latest.",
        "古い仮名の世代。省略すると最新の一つ前。",
    ),
    "pseudonymize.relink.source": Words(
        "A file of raw identifiers; not needed with a mapping.",
        "元の識別子のファイル。対応表があれば不要です。",
    ),
    "pseudonymize.relink.column": Words(
        "Its column of identifiers. By default the one named like the kind.",
        "その識別子の列。省略すると種類と同じ名前の列。",
    ),
    "pseudonymize.relink.out": Words(
        "The table of old and new pseudonyms, .csv or .parquet.",
        "古い仮名と新しい仮名の表（.csv か .parquet）。",
    ),
    "person.help": Words(
        "One person's rights: find, correct, delete or opt out, in all files and in all to come.\n\nThe register "
        "keeps keyed hashes only, never who asked. Asking twice changes nothing.",
        "一人の権利: すべてのファイルと今後のファイルでの検索・訂正・削除・除外。\n\n"
        "登録簿には鍵付きハッシュだけが残り、誰の申し出かは残りません。二度申し出ても結果は同じです。",
    ),
    "person.examples": Words.same(
        "sudare person find 1234 --key keys/study.key --kind patient\nsudare person opt-out - --key keys/study.key "
        "--kind patient"
    ),
    "person.find.help": Words("Find one person's rows.", "一人の行を探します。"),
    "person.find.examples": Words.same(
        "sudare person find 1234 --key keys/study.key --kind patient --out rows.jsonl\nsudare person find 1234 "
        "raw/ --id patient --key keys/study.key --kind patient"
    ),
    "person.find.out": Words(
        "Write the rows here, one JSON object a line, readable by you only.",
        "見つかった行を JSON Lines で書き出すファイル。読めるのは本人だけです。",
    ),
    "person.correct.help": Words(
        "Correct fields of one person's rows, in files there are and in files to come.\n\nFiles to come are "
        "corrected where they hold the wrong value again.",
        "一人の行の値を訂正します。\n\n今あるファイルと今後のファイルが対象です。今後のファイルでは、"
        "同じ誤った値があるときに訂正します。",
    ),
    "person.correct.examples": Words.same(
        "sudare person correct 1234 --set city=Osaka --kind patient\nsudare person correct - raw.csv --id patient "
        "--set city=Osaka --key keys/study.key --kind patient"
    ),
    "person.correct.fields": Words(
        "A column and its right value. Several may be named.",
        "列と正しい値。複数指定できます。",
    ),
    "person.delete.help": Words(
        "Delete one person's rows, and leave the person out of files to come.",
        "一人の行を削除し、今後のファイルからも除きます。",
    ),
    "person.delete.examples": Words.same(
        "sudare person delete 1234 --key keys/study.key --kind patient --yes\nsudare person delete 1234 raw.csv "
        "--id patient --key keys/study.key --kind patient --yes"
    ),
    "person.delete.location": Words(
        "A ledger in which the person opts out as well, so that its releases leave the person out.",
        "この人の除外も記録する台帳。その公表からも除かれます。",
    ),
    "person.delete.dataset": Words(
        "A data set of that ledger. Several may be named.",
        "その台帳のデータセット。複数指定できます。",
    ),
    "person.opt-out.help": Words(
        "Leave one person out of files and releases, from now on.\n\nRows leave the files that were made with the "
        "key; raw files change only if they are named.",
        "一人を今後のファイルと公表から除きます。\n\nこの鍵で作ったファイルからも行を除きます。"
        "元のファイルは指定したときだけ変更します。",
    ),
    "person.opt-out.examples": Words.same(
        "sudare person opt-out - --key keys/study.key --kind patient\nsudare person opt-out 1234 --key "
        "keys/study.key --kind patient --ledger budget.db --dataset census"
    ),
    "person.opt-out.only_future": Words(
        "Leave the files that there are as they are.",
        "今あるファイルは変更しません。",
    ),
    "person.opt-out.location": Words(
        "A ledger in which the person opts out as well, so that its releases leave the person out.",
        "この人の除外も記録する台帳。その公表からも除かれます。",
    ),
    "person.opt-out.dataset": Words(
        "A data set of that ledger. Several may be named.",
        "その台帳のデータセット。複数指定できます。",
    ),
    "person.opt-in.help": Words(
        "Take an opt-out or a deletion back, for files to come.",
        "除外や削除の申し出を、今後のファイルについて取り消します。",
    ),
    "person.opt-in.examples": Words.same("sudare person opt-in 1234 --key keys/study.key --kind patient"),
    "person.log.help": Words(
        "Show what was done, when and to which file, and check that nobody changed it.\n\nExit code 7 if something "
        "was changed.",
        "行われたことの記録を表示し、検査します。\n\nいつ、どのファイルに何をしたかが分かります。"
        "改変があれば終了コードは 7 です。",
    ),
    "person.log.examples": Words.same(
        "sudare person log --key keys/study.key --verify --files\nsudare person log --key keys/study.key --person "
        "- --kind patient"
    ),
    "person.log.person": Words(
        "Only what was done for this person; - reads the identifier from stdin.",
        "この人についての記録だけ。- なら標準入力から読みます。",
    ),
    "person.log.kind": Words("The kind of that identifier.", "その識別子の種類。"),
    "person.log.verify": Words(
        "Check every seal, and that the register is what the log says.",
        "すべての封印と、登録簿が記録どおりであることを検査します。",
    ),
    "person.log.files": Words("Also compare the files that are still there.", "残っているファイルとも照合します。"),
    "person.log.head": Words(
        "A seal that was noted earlier; it must still be there.",
        "以前に控えた封印。今も記録に残っているかを検査します。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "pseudonym.register_exists": Words(
        "The register {register} exists already; a new key needs a new one. Choose another name.",
        "登録簿 {register} は既にあります。新しい鍵には新しい登録簿が必要です。別の名前にしてください。",
    ),
    "pseudonym.key_made": Words(
        "Made the key {file} and its register {register}.",
        "鍵 {file} と登録簿 {register} を作りました。",
    ),
    "pseudonym.keep_key": Words(
        "Keep a copy of the key in a safe: without it nobody is found again. Never give it away with the data.",
        "鍵の控えを金庫などに保管してください。なくすと誰も探せません。データと一緒に渡さないでください。",
    ),
    "pseudonym.mapping_made": Words("Made the mapping {mapping}.", "対応表 {mapping} を作りました。"),
    "pseudonym.twice": Words(
        "The column {column} is named twice by --id.",
        "列 {column} が --id で二度指定されています。",
    ),
    "pseudonym.done": Words(
        "Wrote {out} with pseudonyms for {recipient}. It is still personal data.",
        "{recipient} 向けの仮名で {out} を書き出しました。これも個人データです。",
    ),
    "pseudonym.new_kind": Words(
        "The kind '{kind}' is new: nobody is left out by it. People are left out of the kinds {kinds}. If it is "
        "one of these, delete the new file and run again with --id COLUMN=KIND.",
        "種類「{kind}」は新しいため、誰も除かれていません。除外の申し出がある種類: {kinds}。そのいずれかであれば、"
        "新しいファイルを消し、--id COLUMN=KIND で実行し直してください。",
    ),
    "pseudonym.links": Words(
        "{file} links people to pseudonyms. Keep it as secret as the key, and delete it after use.",
        "{file} は人と仮名を結び付けます。鍵と同じように秘密にし、使い終えたら消してください。",
    ),
    "pseudonym.imported": Words("Taken into {mapping}.", "{mapping} に取り込みました。"),
    "pseudonym.rotated": Words(
        "Epoch {epoch} has begun: files from now on have new pseudonyms.",
        "世代 {epoch} を始めました。今後のファイルの仮名は新しくなります。",
    ),
    "pseudonym.no_old_epoch": Words(
        "Epoch {epoch} is not an older epoch of this key; the latest is {latest}, and cannot be destroyed.",
        "世代 {epoch} はこの鍵の古い世代ではありません。最新の世代 {latest} は破棄できません。",
    ),
    "pseudonym.ask_destroy": Words("Destroy epoch {epoch} for ever?", "世代 {epoch} を永久に破棄しますか？"),
    "pseudonym.destroyed": Words(
        "The secret of epoch {epoch} is destroyed. Destroy copies of the key file as well.",
        "世代 {epoch} の秘密を破棄しました。鍵ファイルの控えも破棄してください。",
    ),
    "pseudonym.ask_gone": Words(
        "Is {file} gone for good, with all its copies?",
        "{file} は、控えも含めて失われましたか？",
    ),
    "pseudonym.gone": Words(
        "Noted: {file} is gone. If a copy turns up, nobody who asked was taken out of it: delete it.",
        "記録しました: {file} は失われました。控えが見つかったら、申し出た人が残っているため消してください。",
    ),
    "pseudonym.never_made": Words(
        "No file was made for {recipient} with {kind} in epoch {epoch}, or it is the latest epoch.",
        "世代 {epoch} は最新の世代か、{recipient} 向けに {kind} のファイルを作ったことがない世代です。",
    ),
    "pseudonym.needs_mapping": Words(
        "These pseudonyms are from a mapping: name it by --mapping.",
        "この仮名は対応表によるものです。--mapping で指定してください。",
    ),
    "pseudonym.needs_file": Words(
        "These pseudonyms are keyed hashes: name a file of raw identifiers by --file, and its column by --id.",
        "この仮名は鍵付きハッシュです。元の識別子のファイルを --file、列を --id で指定してください。",
    ),
    "person.ledger_and_dataset": Words(
        "--ledger and --dataset go together.",
        "--ledger と --dataset は一緒に指定してください。",
    ),
    "person.person_and_kind": Words(
        "--person and --kind go together.",
        "--person と --kind は一緒に指定してください。",
    ),
    "person.bad_field": Words("--set takes COLUMN=VALUE.", "--set は「列=値」の形で指定してください。"),
    "person.spelling": Words(
        "The identifier is empty, has blanks around it, or characters that cannot be printed. Write it exactly as "
        "in the data. Nothing was done.",
        "識別子が空か、前後に空白があるか、表示できない文字があります。データのとおりに書いてください。"
        "何も行われていません。",
    ),
    "person.ask_delete": Words("Delete this person's rows for ever?", "この人の行を永久に削除しますか？"),
    "person.opted_out": Words("Noted: left out from now on.", "記録しました。今後は除かれます。"),
    "person.opted_in": Words(
        "Noted: may be in files to come again.",
        "記録しました。今後のファイルには再び含まれることがあります。",
    ),
    "person.deleted": Words("Deleted, and left out from now on.", "削除しました。今後も除かれます。"),
    "person.corrected": Words("Corrected, also in files to come.", "訂正しました。今後のファイルでも訂正されます。"),
    "person.known_already": Words("The register knows of this already.", "既に登録簿に記録されています。"),
    "person.warn_missing": Words(
        "{file} is not where it was written; what was moved must be named, and what is gone for good is declared "
        "by `sudare pseudonymize gone`.",
        "{file} が書き出した場所にありません。移動したファイルは名前で指定し、失われたファイルは `sudare "
        "pseudonymize gone` で申告してください。",
    ),
    "person.warn_unlinkable": Words(
        "{file} has pseudonyms of an epoch that was destroyed; nobody can find the person in it.",
        "{file} の仮名は破棄された世代のものです。誰にもこの人を探せません。",
    ),
    "person.warn_unknown": Words(
        "{file} was not made with this key and was not looked into; name its column of identifiers by --id.",
        "{file} はこの鍵で作られたものではないため調べていません。識別子の列を --id で指定してください。",
    ),
    "person.warn_unreadable": Words(
        "{file} is damaged or cannot be read, and was not looked into. Mend or remove it, and ask again.",
        "{file} は壊れているか読めないため、調べていません。直すか取り除いてから、もう一度申し出てください。",
    ),
    "person.warn_unwritable": Words(
        "{file} cannot be written: the person is in it still. Make it writable, and ask again.",
        "{file} に書き込めず、この人の行が残っています。書き込めるようにしてから、もう一度申し出てください。",
    ),
    "person.mapping_kept": Words(
        "The mapping still holds the person: it was not named, or the person may still be in files that were made "
        "with it. Name it by --mapping, without files, once all its files can be looked into.",
        "対応表にはまだこの人が残っています。対応表が指定されていないか、"
        "それで作ったファイルに残っている可能性があります。すべてのファイルを調べられる状態にし、"
        "ファイル名を省いて --mapping で指定してください。",
    ),
    "person.new_kind": Words(
        "No file with the kind '{kind}' was made with this key yet. Known kinds: {kinds}.",
        "この鍵で種類「{kind}」のファイルはまだ作られていません。既にある種類: {kinds}。",
    ),
    "person.file": Words("file", "ファイル"),
    "person.state": Words("state", "状態"),
    "person.rows": Words("rows", "行数"),
    "person.state_found": Words("found", "あり"),
    "person.state_rewritten": Words("rewritten", "書き直し済み"),
    "person.state_nothing": Words("not in it", "なし"),
    "person.state_missing": Words("file is gone", "ファイルなし"),
    "person.state_unlinkable": Words("epoch destroyed", "世代破棄済み"),
    "person.state_unknown": Words("not looked into", "未調査"),
    "person.state_unreadable": Words("cannot be read", "読込不可"),
    "person.state_unwritable": Words("cannot be written", "書込不可"),
    "person.entry": Words("entry", "番号"),
    "person.time": Words("time (UTC)", "時刻 (UTC)"),
    "person.did": Words("what was done", "内容"),
    "person.head": Words(
        "Last seal, to be noted elsewhere: {head}",
        "最後の封印（別の場所に控えてください）: {head}",
    ),
    "person.sound": Words("Nothing was changed.", "改変はありません。"),
}
