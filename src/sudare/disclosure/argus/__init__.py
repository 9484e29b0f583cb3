"""Files of tau-ARGUS: records, tables, judgements and their metadata."""
