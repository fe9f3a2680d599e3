-- The hash chain: each event's hash covers the one before it; the job's head is the newest.
ALTER TABLE events ADD COLUMN hash BLOB;
ALTER TABLE jobs ADD COLUMN head BLOB;
-- What a list of jobs shows, and the digest of the index's row.
ALTER TABLE jobs ADD COLUMN line BLOB;
ALTER TABLE jobs ADD COLUMN sum BLOB;
CREATE INDEX jobs_status ON jobs (status);
CREATE TABLE snapshots (
  job TEXT PRIMARY KEY, seq INTEGER NOT NULL, head BLOB NOT NULL, state BLOB NOT NULL, sum BLOB NOT NULL
);
CREATE TABLE tasks (
  id TEXT NOT NULL, job TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (id, job)
) WITHOUT ROWID;
CREATE INDEX tasks_key ON tasks (key, job);
-- The order in which costs are summed, with all that is summed.
DROP INDEX usage_job;
CREATE INDEX usage_sum ON usage (job, task, attempt, traffic, model, time, pictures, tokens_in, tokens_out, tokens_cached, cost);
-- What was found damaged and could be mended: it is told, and stays told.
CREATE TABLE damage (
  job TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, words TEXT NOT NULL, PRIMARY KEY (job, seq, kind, words)
) WITHOUT ROWID;
INSERT INTO meta VALUES ('commits', 0);
