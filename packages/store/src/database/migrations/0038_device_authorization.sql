-- A scope for keys that manage keys. A key that a key made ends with it.
alter table api_keys drop constraint api_keys_scopes_check;
alter table api_keys add constraint api_keys_scopes_check check (
  cardinality(scopes) > 0
  and scopes <@ array['agents:read', 'agents:write', 'agents:delete', 'usage:read', 'agents:chat', 'keys:write']::text[]
);
alter table api_keys add column made_by text references api_keys (id);
create index api_keys_by_maker on api_keys (made_by) where made_by is not null;

-- Machines that ask for a key and wait for a person (RFC 8628). The key itself is made only when the machine fetches it.
create table oauth_devices (
  id text primary key default gen_random_uuid()::text,
  device_hash bytea not null unique check (octet_length(device_hash) = 32),
  user_code text not null unique,
  client_name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  address text not null,
  network text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  interval_seconds integer not null,
  polled_at timestamptz(3),
  -- Whoever decided, and what they gave; no scope: nothing.
  account_id text references accounts (id),
  granted text[],
  constraint oauth_devices_decided check ((account_id is null) = (granted is null))
);
create index oauth_devices_by_end on oauth_devices (expires_at);
create index oauth_devices_of_network on oauth_devices (network);
