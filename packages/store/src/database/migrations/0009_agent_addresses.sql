-- What of an agent's guest is served under an address of its own.
create table agent_ports (
  agent_id text not null references agents (id),
  port integer not null check (port between 1 and 65535),
  public boolean not null,
  created_at timestamptz(3) not null default now(),
  primary key (agent_id, port)
);

-- A link to one page of an agent, and once it is opened the visit of the browser that did.
create table agent_visits (
  id text primary key default gen_random_uuid()::text,
  account_id text not null references accounts (id),
  -- By whose right.
  key_id text not null references api_keys (id),
  agent_id text not null references agents (id),
  -- Null is the gateway.
  port integer check (port between 1 and 65535),
  path text not null,
  visit_seconds integer not null check (visit_seconds > 0),
  -- SHA-256 of the link's token, then of the visit's; neither is kept anywhere.
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz(3) not null default now(),
  opened_at timestamptz(3),
  expires_at timestamptz(3) not null
);
create index agent_visits_of_agent on agent_visits (agent_id, created_at);
create index agent_visits_of_account on agent_visits (account_id);
create index agent_visits_by_end on agent_visits (expires_at);
