-- Full-text tables, created only where this SQLite has FTS5 (and, for trigrams, 3.34 or newer).
-- The first three are upstream's: standalone, kept in sync by the code that writes the rows.

CREATE VIRTUAL TABLE IF NOT EXISTS messages_fts USING fts5(content, tokenize='porter unicode61');
CREATE VIRTUAL TABLE IF NOT EXISTS summaries_fts
  USING fts5(summary_id UNINDEXED, content, tokenize='porter unicode61');
CREATE VIRTUAL TABLE IF NOT EXISTS summaries_fts_cjk
  USING fts5(summary_id UNINDEXED, content, tokenize='trigram');

-- Ours: contentless, rowid = message_id, filled in batches up to a watermark in lossless_meta;
-- rows above it are scanned directly, so an answer is complete at any moment.
CREATE VIRTUAL TABLE IF NOT EXISTS lossless_trigram
  USING fts5(c, content='', tokenize='trigram', detail=none, columnsize=0);
CREATE VIRTUAL TABLE IF NOT EXISTS lossless_cjk
  USING fts5(c, content='', tokenize='unicode61 remove_diacritics 0', detail=none, columnsize=0);
