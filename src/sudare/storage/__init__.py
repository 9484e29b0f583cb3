"""What is kept on a disk: private databases, folders and files that appear whole or not at all, documents, hashes.

All of it needs the standard library only, so that people's devices can use it; a test in a fresh process proves that. All code
that keeps a file, writes one, or reads one that others may have written uses this room.

- `sqlite_file`: a private SQLite file. `sqlite_faults`: what can be the matter with one, in words.
- `private_files`: files for their owner alone. `durable`: names and bytes that survive a power cut.
- `atomic`: files that appear whole or not at all. `staging`: folders that do.
- `guarded_json`: documents that anybody may have written. `hashes`: of files, and keyed ones that seal documents.
"""
