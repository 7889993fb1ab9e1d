-- What several servers must agree on: how many requests are left, and which were carried out already.

create table rate_buckets (
  subject text primary key,
  tokens double precision not null,
  -- What the last lease gave.
  granted integer not null,
  at timestamptz not null
);

create table rate_places (
  id uuid primary key default gen_random_uuid(),
  subject text not null,
  until timestamptz not null
);
create index rate_places_of_subject on rate_places (subject);

create table idempotency_keys (
  account_id text not null references accounts (id),
  key text not null check (char_length(key) between 1 and 255),
  -- SHA-256 of method, path and body.
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  -- Decided before the agent is made, so that a second attempt makes the same one or finds it.
  agent_id text not null,
  attempt uuid not null,
  -- Whose server died does not renew it.
  lease_until timestamptz not null,
  -- Written in the transaction of the effect.
  effective boolean not null default false,
  done_at timestamptz,
  -- Null, with done_at set, where the reply is not kept.
  status integer,
  headers jsonb,
  body text check (octet_length(body) <= 262144),
  created_at timestamptz not null,
  primary key (account_id, key),
  constraint idempotency_reply_whole check ((status is null) = (headers is null) and (status is null) = (body is null))
);
create index idempotency_keys_by_age on idempotency_keys (account_id, created_at);
