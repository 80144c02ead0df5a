-- The whole file as we create it: upstream's tables and indexes (v0.15.3, format facts of the
-- specification, store-and-ingest 1.2 to 1.4), then ours, which upstream ignores.
-- Five redundant or unused upstream indexes are left out (design 12 "Layout"); upstream adds them
-- again when it opens the file. No triggers, no views, user_version stays 0.

CREATE TABLE IF NOT EXISTS conversations (
  conversation_id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  session_key TEXT,
  active INTEGER NOT NULL DEFAULT 1,
  archived_at TEXT,
  archive_cause TEXT,
  title TEXT,
  bootstrapped_at TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now')),
  updated_at TEXT NOT NULL DEFAULT (datetime('now'))
);

CREATE TABLE IF NOT EXISTS messages (
  message_id INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id INTEGER NOT NULL REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
  content TEXT NOT NULL,
  token_count INTEGER NOT NULL,
  identity_hash TEXT,
  openclaw_sender_metadata TEXT,
  transcript_entry_id TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now')),
  large_content TEXT,
  stable_event_key TEXT,
  UNIQUE (conversation_id, seq)
);

CREATE TABLE IF NOT EXISTS message_parts (
  part_id TEXT PRIMARY KEY,
  message_id INTEGER NOT NULL REFERENCES messages(message_id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  part_type TEXT NOT NULL CHECK (part_type IN (
    'text', 'reasoning', 'tool', 'patch', 'file', 'subtask', 'compaction',
    'step_start', 'step_finish', 'snapshot', 'agent', 'retry')),
  ordinal INTEGER NOT NULL,
  text_content TEXT,
  is_ignored INTEGER,
  is_synthetic INTEGER,
  tool_call_id TEXT,
  tool_name TEXT,
  tool_status TEXT,
  tool_input TEXT,
  tool_output TEXT,
  tool_error TEXT,
  tool_title TEXT,
  patch_hash TEXT,
  patch_files TEXT,
  file_mime TEXT,
  file_name TEXT,
  file_url TEXT,
  subtask_prompt TEXT,
  subtask_desc TEXT,
  subtask_agent TEXT,
  step_reason TEXT,
  step_cost REAL,
  step_tokens_in INTEGER,
  step_tokens_out INTEGER,
  snapshot_hash TEXT,
  compaction_auto INTEGER,
  metadata TEXT,
  UNIQUE (message_id, ordinal)
);

CREATE TABLE IF NOT EXISTS summaries (
  summary_id TEXT PRIMARY KEY,
  conversation_id INTEGER NOT NULL REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('leaf', 'condensed')),
  depth INTEGER NOT NULL DEFAULT 0,
  content TEXT NOT NULL,
  token_count INTEGER NOT NULL,
  earliest_at TEXT,
  latest_at TEXT,
  descendant_count INTEGER NOT NULL DEFAULT 0,
  descendant_token_count INTEGER NOT NULL DEFAULT 0,
  source_message_token_count INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL DEFAULT (datetime('now')),
  file_ids TEXT NOT NULL DEFAULT '[]',
  model TEXT NOT NULL DEFAULT 'unknown'
);

CREATE TABLE IF NOT EXISTS summary_messages (
  summary_id TEXT NOT NULL REFERENCES summaries(summary_id) ON DELETE CASCADE,
  message_id INTEGER NOT NULL REFERENCES messages(message_id) ON DELETE RESTRICT,
  ordinal INTEGER NOT NULL,
  PRIMARY KEY (summary_id, message_id)
);

-- Naming trap: (summary_id, parent_summary_id) means that summary_id was made FROM
-- parent_summary_id. In this code they are `derived` and `source`.
CREATE TABLE IF NOT EXISTS summary_parents (
  summary_id TEXT NOT NULL REFERENCES summaries(summary_id) ON DELETE CASCADE,
  parent_summary_id TEXT NOT NULL REFERENCES summaries(summary_id) ON DELETE RESTRICT,
  ordinal INTEGER NOT NULL,
  PRIMARY KEY (summary_id, parent_summary_id)
);

CREATE TABLE IF NOT EXISTS context_items (
  conversation_id INTEGER NOT NULL REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  item_type TEXT NOT NULL CHECK (item_type IN ('message', 'summary')),
  message_id INTEGER REFERENCES messages(message_id) ON DELETE RESTRICT,
  summary_id TEXT REFERENCES summaries(summary_id) ON DELETE RESTRICT,
  created_at TEXT NOT NULL DEFAULT (datetime('now')),
  PRIMARY KEY (conversation_id, ordinal),
  CHECK (
    (item_type = 'message' AND message_id IS NOT NULL AND summary_id IS NULL) OR
    (item_type = 'summary' AND summary_id IS NOT NULL AND message_id IS NULL))
);

CREATE TABLE IF NOT EXISTS large_files (
  file_id TEXT PRIMARY KEY,
  conversation_id INTEGER NOT NULL REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  file_name TEXT,
  mime_type TEXT,
  byte_size INTEGER,
  line_count INTEGER,
  storage_uri TEXT NOT NULL,
  exploration_summary TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now'))
);

CREATE TABLE IF NOT EXISTS conversation_bootstrap_state (
  conversation_id INTEGER PRIMARY KEY REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  session_file_path TEXT NOT NULL,
  last_seen_size INTEGER NOT NULL,
  last_seen_mtime_ms INTEGER NOT NULL,
  last_processed_offset INTEGER NOT NULL,
  last_processed_entry_hash TEXT,
  session_header_id TEXT,
  last_processed_entry_id TEXT,
  fork_bounded INTEGER NOT NULL DEFAULT 0,
  fork_source_message_count INTEGER NOT NULL DEFAULT 0,
  soft_reset_pruned_at TEXT,
  updated_at TEXT NOT NULL DEFAULT (datetime('now'))
);

CREATE TABLE IF NOT EXISTS conversation_compaction_telemetry (
  conversation_id INTEGER PRIMARY KEY REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  last_observed_cache_read INTEGER,
  last_observed_cache_write INTEGER,
  last_observed_prompt_token_count INTEGER,
  last_observed_cache_hit_at TEXT,
  last_observed_cache_break_at TEXT,
  cache_state TEXT NOT NULL DEFAULT 'unknown' CHECK (cache_state IN ('hot', 'cold', 'unknown')),
  consecutive_cold_observations INTEGER NOT NULL DEFAULT 0,
  retention TEXT,
  last_leaf_compaction_at TEXT,
  turns_since_leaf_compaction INTEGER NOT NULL DEFAULT 0,
  tokens_accumulated_since_leaf_compaction INTEGER NOT NULL DEFAULT 0,
  last_activity_band TEXT NOT NULL DEFAULT 'low' CHECK (last_activity_band IN ('low', 'medium', 'high')),
  last_api_call_at TEXT,
  last_cache_touch_at TEXT,
  provider TEXT,
  model TEXT,
  updated_at TEXT NOT NULL DEFAULT (datetime('now'))
);

CREATE TABLE IF NOT EXISTS conversation_compaction_maintenance (
  conversation_id INTEGER PRIMARY KEY REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  pending INTEGER NOT NULL DEFAULT 0,
  requested_at TEXT,
  reason TEXT,
  running INTEGER NOT NULL DEFAULT 0,
  last_started_at TEXT,
  last_finished_at TEXT,
  last_failure_summary TEXT,
  token_budget INTEGER,
  current_token_count INTEGER,
  projected_token_count INTEGER,
  raw_tokens_outside_tail INTEGER,
  context_threshold REAL,
  context_threshold_source TEXT,
  context_fresh_tail_count INTEGER,
  context_leaf_chunk_tokens INTEGER,
  retry_attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_after TEXT,
  resolution_reason TEXT,
  resolved_at TEXT,
  maintenance_revision INTEGER NOT NULL DEFAULT 0,
  updated_at TEXT NOT NULL DEFAULT (datetime('now'))
);

CREATE TABLE IF NOT EXISTS focus_briefs (
  brief_id TEXT PRIMARY KEY,
  conversation_id INTEGER NOT NULL REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  session_key TEXT,
  prompt TEXT NOT NULL,
  content TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'active', 'superseded', 'failed', 'inactive')),
  token_count INTEGER NOT NULL DEFAULT 0,
  target_tokens INTEGER NOT NULL DEFAULT 0,
  covered_latest_at TEXT,
  covered_message_seq INTEGER,
  source_context_hash TEXT NOT NULL DEFAULT '',
  generator_run_id TEXT,
  generator_session_key TEXT,
  raw_result_json TEXT,
  error TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now')),
  updated_at TEXT NOT NULL DEFAULT (datetime('now')),
  superseded_at TEXT
);

CREATE TABLE IF NOT EXISTS focus_brief_sources (
  brief_id TEXT NOT NULL REFERENCES focus_briefs(brief_id) ON DELETE CASCADE,
  summary_id TEXT NOT NULL,
  ordinal INTEGER,
  role TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT (datetime('now')),
  PRIMARY KEY (brief_id, summary_id, role)
);

CREATE TABLE IF NOT EXISTS lcm_migration_state (
  step_name TEXT NOT NULL,
  algorithm_version INTEGER NOT NULL,
  completed_at TEXT NOT NULL DEFAULT (datetime('now')),
  PRIMARY KEY (step_name, algorithm_version)
);

CREATE UNIQUE INDEX IF NOT EXISTS conversations_active_session_key_idx
  ON conversations(session_key) WHERE session_key IS NOT NULL AND active = 1;
CREATE INDEX IF NOT EXISTS conversations_session_key_active_created_idx
  ON conversations(session_key, active, created_at);
CREATE INDEX IF NOT EXISTS conversations_session_id_active_created_idx
  ON conversations(session_id, active, created_at);
CREATE UNIQUE INDEX IF NOT EXISTS messages_conv_entry_unique_idx
  ON messages(conversation_id, transcript_entry_id) WHERE transcript_entry_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS messages_stable_event_key_unique
  ON messages(conversation_id, stable_event_key) WHERE stable_event_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS summaries_conv_created_idx ON summaries(conversation_id, created_at);
CREATE INDEX IF NOT EXISTS summaries_conv_depth_kind_idx ON summaries(conversation_id, depth, kind);
CREATE INDEX IF NOT EXISTS summary_messages_message_idx ON summary_messages(message_id);
CREATE INDEX IF NOT EXISTS summary_parents_parent_summary_idx ON summary_parents(parent_summary_id);
CREATE INDEX IF NOT EXISTS large_files_conv_idx ON large_files(conversation_id, created_at);
CREATE INDEX IF NOT EXISTS bootstrap_state_path_idx
  ON conversation_bootstrap_state(session_file_path, updated_at);
CREATE INDEX IF NOT EXISTS compaction_telemetry_state_idx
  ON conversation_compaction_telemetry(cache_state, updated_at);
CREATE INDEX IF NOT EXISTS focus_briefs_conversation_status_idx
  ON focus_briefs(conversation_id, status, created_at);
CREATE INDEX IF NOT EXISTS focus_brief_sources_summary_idx ON focus_brief_sources(summary_id);

-- Ours. No column is named conversation_id: an upstream repair refuses lanes of which an unknown
-- table has one. Everything here can be lost and built again from the tables above, but for the
-- exact originals (lossless_message.rest) and the one number of the alignment.

CREATE TABLE IF NOT EXISTS lossless_meta (
  name TEXT PRIMARY KEY,
  value NOT NULL
);

-- hash: 16 bytes, full-content identity (message/identity.py). tokens: our estimate.
-- flags: 1 makes tool calls, 2 carries tool results, 4 was written by upstream (inexact).
-- outside: model.Outside, NULL when in the context. after: the row before it when it was taken out.
CREATE TABLE IF NOT EXISTS lossless_message (
  message_id INTEGER PRIMARY KEY REFERENCES messages(message_id) ON DELETE CASCADE,
  conversation INTEGER NOT NULL,
  hash BLOB NOT NULL,
  tokens INTEGER NOT NULL,
  flags INTEGER NOT NULL DEFAULT 0,
  outside TEXT,
  after INTEGER,
  rest BLOB
);
CREATE INDEX IF NOT EXISTS lossless_message_hash ON lossless_message(conversation, hash);

-- One row per conversation: running totals of the context and what the turn's path needs.
-- stored, stored_tokens: messages ever stored, for verify and status. first: seq at which the last list began (alignment). head: JSON list of the message ids of the newest system head.
-- cut, cut_budget: the stored cut (an ordinal) and the budget it was made for.
-- ambiguous, conflicts: messages stored though known texts, and copies that said something else.
CREATE TABLE IF NOT EXISTS lossless_context (
  conversation INTEGER PRIMARY KEY REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  tokens INTEGER NOT NULL DEFAULT 0,
  items INTEGER NOT NULL DEFAULT 0,
  stored INTEGER NOT NULL DEFAULT 0,
  stored_tokens INTEGER NOT NULL DEFAULT 0,
  first INTEGER NOT NULL DEFAULT 0,
  head TEXT NOT NULL DEFAULT '[]',
  cut INTEGER,
  cut_budget INTEGER,
  budget INTEGER,
  overhead INTEGER NOT NULL DEFAULT 0,
  ambiguous INTEGER NOT NULL DEFAULT 0,
  conflicts INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS lossless_summary (
  summary_id TEXT PRIMARY KEY REFERENCES summaries(summary_id) ON DELETE CASCADE,
  tokens INTEGER NOT NULL,
  level TEXT NOT NULL,
  prompt_version TEXT,
  state TEXT NOT NULL DEFAULT 'ok'
);

-- A transcript that feeds a conversation. The newest is mirrored in upstream's checkpoint row.
CREATE TABLE IF NOT EXISTS lossless_sources (
  path TEXT NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversations(conversation_id) ON DELETE CASCADE,
  format TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ms INTEGER NOT NULL,
  processed INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  read_at TEXT NOT NULL,
  PRIMARY KEY (path, conversation)
);
CREATE INDEX IF NOT EXISTS lossless_sources_conversation ON lossless_sources(conversation);
