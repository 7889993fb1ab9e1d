-- Servers that are told of events, and each telling.

create table webhooks (
  id text primary key default gen_random_uuid()::text,
  account_id text not null references accounts (id),
  url text not null,
  description text not null,
  -- Types of events, or the beginnings of them with `*`.
  patterns text[] not null check (cardinality(patterns) > 0),
  enabled boolean not null,
  -- Why Lodge disabled it; null where it did not.
  disabled_reason text,
  sealed_secret text not null,
  secret_last4 text not null check (length(secret_last4) <= 4),
  -- The secret before this one goes on signing for a while.
  sealed_previous text,
  previous_until timestamptz(3),
  -- Events up to this one have their deliveries.
  position bigint not null,
  -- Since when every attempt has failed; null where the last one did not.
  failing_since timestamptz(3),
  -- One process delivers at a time. The number rises with each; what an earlier one writes is refused by it.
  lease_holder text,
  lease_number integer not null default 0,
  lease_until timestamptz(3),
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  constraint webhooks_previous_whole check ((sealed_previous is null) = (previous_until is null)),
  constraint webhooks_lease_whole check ((lease_holder is null) = (lease_until is null)),
  constraint webhooks_reason check (disabled_reason is null or not enabled)
);
create index webhooks_of_account on webhooks (account_id, created_at, id);

create table webhook_deliveries (
  -- The order of the events, within one webhook.
  id bigint generated always as identity primary key,
  webhook_id text not null references webhooks (id) on delete cascade,
  -- Null: a test.
  event_id bigint,
  type text not null,
  agent_id text,
  -- What is sent, as bytes: an attempt repeats the one before to the letter.
  body text not null check (octet_length(body) <= 65536),
  state text not null check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- Of a pending one.
  next_at timestamptz(3),
  first_attempt_at timestamptz(3),
  last_attempt_at timestamptz(3),
  -- Of the last answer; null where there was none.
  status integer,
  -- What went wrong last, in a sentence.
  reason text,
  duration_ms integer,
  created_at timestamptz(3) not null default clock_timestamp(),
  ended_at timestamptz(3),
  constraint webhook_deliveries_next check ((state = 'pending') = (next_at is not null)),
  constraint webhook_deliveries_ended check ((state = 'pending') = (ended_at is null))
);
-- An event makes one delivery, whoever reads it again.
create unique index webhook_deliveries_of_event on webhook_deliveries (webhook_id, event_id) where event_id is not null;
create index webhook_deliveries_pending on webhook_deliveries (webhook_id, id) where state = 'pending';
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_ended_at on webhook_deliveries (ended_at) where ended_at is not null;
