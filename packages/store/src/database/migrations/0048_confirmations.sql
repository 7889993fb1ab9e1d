-- Calls of agents that wait for somebody's yes, and questions to their owners.

alter table agents
  -- {"rules": [{"on", "match", "policy"}], "default", "deliver", "deciders", "expires"}; null: everything is allowed.
  add column confirmations jsonb check ((jsonb_typeof(confirmations -> 'rules') = 'array') is not false);

create table confirmations (
  id text collate "C" primary key,
  seq bigint generated always as identity,
  account_id text not null references accounts (id) on delete cascade,
  agent_id text not null references agents (id) on delete cascade,
  kind text not null,
  -- The narrowest word for rules, and the text that they match: a method with its path, or a tool.
  subject text not null,
  target text not null,
  -- The conversation of the turn in which it was asked; null where there was none, or several.
  conversation text,
  member text,
  -- SHA-256 of the call as it is stored, in hex.
  digest text not null,
  -- The words that are shown, and the call itself, which is forgotten once it is made.
  shown_sealed text not null,
  call_sealed text,
  status text not null default 'pending',
  decision text,
  remember text not null default 'none',
  -- The owner's words: a reason, and the answer to a question.
  words_sealed text,
  -- The answer of the service, until the agent knows it.
  result_sealed text,
  -- A call in a turn waits until then at most, and does what is decided by then itself.
  waits_until timestamptz(3),
  -- The call is under way until then at most.
  sends_until timestamptz(3),
  -- Whether the agent knows the end.
  told boolean not null default false,
  -- Columns of an end of work.
  attempts integer not null default 0,
  requested_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  decided_at timestamptz(3),
  ended_at timestamptz(3)
);
create index confirmations_by_account on confirmations (account_id, seq);
create index confirmations_by_agent on confirmations (agent_id, seq);
create index confirmations_ended on confirmations (ended_at) where ended_at is not null;
create index confirmations_pending on confirmations (expires_at) where status = 'pending';
create index confirmations_remembered on confirmations (agent_id, conversation) where remember = 'conversation';

create trigger confirmations_forget_work after delete on confirmations
  referencing old table as gone for each statement execute function forget_work('confirmation');
