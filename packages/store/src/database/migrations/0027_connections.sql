-- Connections of agents to services of other people. Their credentials are sealed, and never leave the host.

create table connections (
  agent_id text not null references agents (id),
  name text not null,
  account_id text not null,
  kind text not null check (kind in ('mcp', 'http')),
  url text not null,
  allow jsonb not null check (jsonb_typeof(allow) = 'array'),
  -- Null: all that the server has.
  tools jsonb check (jsonb_typeof(tools) = 'array'),
  enabled boolean not null,
  -- Another with each change.
  revision text not null default gen_random_uuid()::text,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (agent_id, name)
);

create table connection_headers (
  agent_id text not null,
  connection text not null,
  name text not null,
  sealed text not null,
  last4 text not null check (char_length(last4) <= 4),
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (agent_id, connection, name),
  foreign key (agent_id, connection) references connections (agent_id, name) on delete cascade
);
