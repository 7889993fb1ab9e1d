-- Answers that held a connection's credential are counted, and too many disable it.

-- Why Lodge disabled the connection; null: it did not.
alter table connections add column status_reason text;
-- When such answers came, within an hour of the last one.
alter table connections add column echoed_at timestamptz(3)[] not null default '{}';
