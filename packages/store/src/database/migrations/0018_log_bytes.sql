-- Bytes of each agent's log, so that it is bounded by more than the number of its entries. Entries that are there already are
-- not counted: they are the oldest, and go first. Nothing is read or rewritten beside one row for each agent.
alter table agent_log_heads
  add column bytes bigint not null default 0,
  add column counted_after bigint not null default 0;
update agent_log_heads set counted_after = last_id;
