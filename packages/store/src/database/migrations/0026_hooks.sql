-- Inbound hooks: addresses at which a third party's requests become messages to an agent, and what became of each.

create table hooks (
  id text primary key,
  -- The order in which they were made.
  seq bigint generated always as identity,
  agent_id text not null references agents (id),
  account_id text not null,
  name text not null,
  -- SHA-256 of the token, which is kept nowhere.
  token_hash bytea not null unique,
  last4 text not null,
  template text,
  conversation text,
  -- Null: whoever has the token is believed.
  signature text check (signature in ('github', 'stripe', 'standard', 'hmac')),
  signature_header text,
  signature_encoding text check (signature_encoding in ('hex', 'base64')),
  signature_prefix text,
  secret_sealed text,
  secret_last4 text,
  created_at timestamptz(3) not null default clock_timestamp(),
  constraint hooks_signature_whole check (
    (signature is null) = (secret_sealed is null) and (signature is null) = (secret_last4 is null)
  ),
  constraint hooks_own_signature check (
    (signature is not distinct from 'hmac') = (num_nonnulls(signature_header, signature_encoding, signature_prefix) = 3)
    and num_nonnulls(signature_header, signature_encoding, signature_prefix) in (0, 3)
  )
);
create index hooks_of_agent on hooks (agent_id, seq);

create table hook_messages (
  id text primary key default gen_random_uuid()::text,
  seq bigint generated always as identity,
  hook_id text not null references hooks (id) on delete cascade,
  agent_id text not null,
  account_id text not null,
  -- The name that the sender gives it; null: none.
  delivery_id text,
  event text,
  -- What the agent is told; null once the message has ended.
  text text,
  is_cut boolean not null,
  received_at timestamptz(3) not null default clock_timestamp(),
  -- Not before: until another attempt.
  due_at timestamptz(3) not null default clock_timestamp(),
  started_at timestamptz(3),
  -- Of the attempt under way, or of one whose process died.
  attempt_at timestamptz(3),
  ended_at timestamptz(3),
  -- Null while it waits or is under way.
  status text check (status in ('answered', 'failed', 'skipped')),
  attempts integer not null default 0,
  -- An attempt began and did not come to its end.
  may_have_acted boolean not null default false,
  reason text,
  -- One process at a time. The number rises with each claim, and fences what it may write.
  claim integer not null default 0,
  claim_holder text,
  claim_until timestamptz(3),
  constraint hook_messages_ended check ((status is null) = (ended_at is null) and (status is null) = (text is not null)),
  constraint hook_messages_claim_whole check ((claim_holder is null) = (claim_until is null))
);
-- A delivery is one message, however often it is sent.
create unique index hook_messages_of_delivery on hook_messages (hook_id, delivery_id) where delivery_id is not null;
create index hook_messages_waiting on hook_messages (agent_id, due_at, seq) where status is null;
create index hook_messages_of_hook on hook_messages (hook_id, seq);
create index hook_messages_by_end on hook_messages (ended_at) where ended_at is not null;
