-- Other people's programs that a person gives access to (OAuth 2.1).

-- Programs that registered themselves. Those that nobody agreed to are removed after a week.
create table oauth_clients (
  id text primary key,
  name text not null,
  redirect_uris text[] not null check (cardinality(redirect_uris) > 0),
  network text not null,
  created_at timestamptz(3) not null default now(),
  used_at timestamptz(3)
);
create index oauth_clients_of_network on oauth_clients (network, created_at);
create index oauth_clients_unused on oauth_clients (created_at) where used_at is null;

-- What a person gave. Its access token is the one API key of the same id: it is replaced with each renewal, and ends the grant
-- with its own end.
create table oauth_grants (
  key_id text primary key references api_keys (id),
  account_id text not null references accounts (id),
  client_id text not null,
  client_name text not null,
  redirect_host text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  resource text,
  -- The first half of every refresh token of the grant; the second half of the present one and of the one before.
  family_hash bytea not null unique check (octet_length(family_hash) = 32),
  refresh_hash bytea not null check (octet_length(refresh_hash) = 32),
  previous_hash bytea check (octet_length(previous_hash) = 32),
  rotated_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index oauth_grants_of_account on oauth_grants (account_id, created_at);

-- Codes are kept for a while after their use: one that comes twice ends what it gave.
create table oauth_codes (
  hash bytea primary key check (octet_length(hash) = 32),
  account_id text not null references accounts (id),
  client_id text not null,
  client_name text not null,
  redirect_uri text not null,
  challenge text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  resource text,
  expires_at timestamptz(3) not null,
  key_id text references oauth_grants (key_id)
);
create index oauth_codes_by_end on oauth_codes (expires_at);
