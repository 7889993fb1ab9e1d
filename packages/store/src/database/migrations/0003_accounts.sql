-- Accounts that people sign in to, their sessions and links, counted attempts, the audit log, and data keys.

alter table accounts
  -- Lower-case. Null, with the password, until somebody has taken the account over by its owner link.
  add column email text unique check (email = lower(email) and char_length(email) <= 254),
  -- Argon2id in its own text form, parameters and salt in it.
  add column password_hash text,
  add column role text not null default 'owner' check (role in ('owner', 'member')),
  add column totp_sealed text,
  add column totp_pending_sealed text,
  -- The time step of the last code that was taken: none is taken twice.
  add column totp_last_step bigint,
  add constraint accounts_credentials_whole check ((email is null) = (password_hash is null));
-- The one there is was made by the first start; the others are not owners unless that is said.
alter table accounts alter column role set default 'member';

create table recovery_codes (
  account_id text not null references accounts (id),
  -- SHA-256 of the code, which has 80 random bits.
  hash bytea not null check (octet_length(hash) = 32),
  primary key (account_id, hash)
);

create table sessions (
  id text primary key default gen_random_uuid()::text,
  account_id text not null references accounts (id),
  -- SHA-256 of the token, which is itself kept nowhere.
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  -- However much it is used.
  expires_at timestamptz(3) not null,
  address text not null,
  user_agent text
);
create index sessions_of_account on sessions (account_id, last_seen_at);

-- Addresses an account was signed in from: guesses from elsewhere do not keep its owner waiting there.
create table known_addresses (
  account_id text not null references accounts (id),
  address text not null,
  last_at timestamptz not null default now(),
  primary key (account_id, address)
);

create table account_links (
  id text primary key default gen_random_uuid()::text,
  kind text not null check (kind in ('owner', 'invite', 'reset')),
  -- The account it opens (owner, reset), or the one that invites.
  account_id text not null references accounts (id),
  email text,
  removes_totp boolean not null default false,
  -- SHA-256 of the token, which is itself kept nowhere.
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create table attempts (
  subject text primary key,
  failures integer not null check (failures >= 0),
  last_at timestamptz not null,
  blocked_until timestamptz
);
create index attempts_by_age on attempts (last_at);

create table audit_events (
  id bigint generated always as identity primary key,
  account_id text not null references accounts (id),
  actor_kind text not null check (actor_kind in ('account', 'api_key', 'operator')),
  actor_id text,
  action text not null,
  target_kind text,
  target_id text,
  address text,
  request_id text,
  at timestamptz(3) not null,
  details jsonb not null check (jsonb_typeof(details) = 'object'),
  constraint audit_events_actor_whole check ((actor_kind = 'operator') = (actor_id is null)),
  constraint audit_events_target_whole check ((target_kind is null) = (target_id is null))
);
create index audit_events_of_account on audit_events (account_id, id);

-- Keys that secrets are sealed with, each sealed with the master key. There is one, but for the time of a rotation.
create table data_keys (
  id text primary key,
  wrapped text not null,
  master_key_id text not null unique,
  created_at timestamptz not null default now()
);

-- Servers remember keys for a moment: this is how they hear that one is no longer what it was.
create function notify_api_key_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_key_changed', new.id);
  return null;
end
$$;

create trigger api_keys_changed after update on api_keys
  for each row
  when (
    (old.revoked_at, old.expires_at, old.scopes) is distinct from (new.revoked_at, new.expires_at, new.scopes)
  )
  execute function notify_api_key_changed();

create index api_keys_of_account on api_keys (account_id, created_at);
