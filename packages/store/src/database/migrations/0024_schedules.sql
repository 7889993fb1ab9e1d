-- Schedules: prompts that agents get by themselves, and what became of each of their times.

create table schedules (
  id text primary key,
  -- The order in which they were made.
  seq bigint generated always as identity,
  agent_id text not null references agents (id),
  account_id text not null,
  name text not null,
  enabled boolean not null,
  cron text,
  every text,
  at timestamptz(3),
  time_zone text not null,
  -- Where intervals are counted from.
  anchor timestamptz(3) not null,
  prompt text not null,
  conversation text,
  deliver_to text not null check (deliver_to in ('none', 'channel', 'webhook')),
  deliver_channel text,
  -- The platform's.
  deliver_conversation text,
  wake boolean not null,
  -- Null: it is not enabled, or its time has passed.
  next_run_at timestamptz(3),
  -- When this time was chosen: ahead of the clock where that went back.
  planned_at timestamptz(3) not null default clock_timestamp(),
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  constraint schedules_one_timing check (num_nonnulls(cron, every, at) = 1),
  constraint schedules_delivery_whole check (
    (deliver_to = 'channel') = (deliver_channel is not null) and (deliver_to = 'channel') = (deliver_conversation is not null)
  )
);
create index schedules_of_agent on schedules (agent_id, seq);
create index schedules_due on schedules (next_run_at) where next_run_at is not null;
create index schedules_by_plan on schedules (planned_at) where next_run_at is not null;

create table schedule_runs (
  id text primary key default gen_random_uuid()::text,
  seq bigint generated always as identity,
  schedule_id text not null references schedules (id) on delete cascade,
  agent_id text not null,
  account_id text not null,
  scheduled_for timestamptz(3) not null,
  manual boolean not null default false,
  -- Not before: put off with others, or until another attempt.
  due_at timestamptz(3) not null,
  started_at timestamptz(3),
  -- Of the attempt under way, or of one whose process died.
  attempt_at timestamptz(3),
  ended_at timestamptz(3),
  -- Null while it waits or is under way.
  status text check (status in ('ok', 'failed', 'missed', 'skipped')),
  attempts integer not null default 0,
  -- An attempt began and did not come to its end.
  may_have_acted boolean not null default false,
  cost_usd numeric,
  answer_preview text,
  error text,
  -- One process at a time. The number rises with each claim, and fences what it may write.
  claim integer not null default 0,
  claim_holder text,
  claim_until timestamptz(3),
  constraint schedule_runs_ended check ((status is null) = (ended_at is null)),
  constraint schedule_runs_claim_whole check ((claim_holder is null) = (claim_until is null))
);
-- A time has one run, whoever finds it due and whatever the clock does.
create unique index schedule_runs_of_time on schedule_runs (schedule_id, scheduled_for) where not manual;
-- Runs of a schedule never overlap.
create unique index schedule_runs_open on schedule_runs (schedule_id) where status is null;
create index schedule_runs_waiting on schedule_runs (due_at) where status is null;
create index schedule_runs_of_schedule on schedule_runs (schedule_id, seq);
create index schedule_runs_by_end on schedule_runs (ended_at) where ended_at is not null;

-- The last sender who was let in: whether an answer may be said there is decided by who is there, and messages are not kept for ever.
alter table channel_conversations add column sender_id text;
update channel_conversations v set sender_id = (
  select m.sender_id from channel_messages m where m.conversation = v.id and m.state <> 'refused' order by m.seq desc limit 1
);
