-- Connections under their own name: hosts that an agent's programs reach as they are, with secrets that the host fills in.
alter table connections
  add column hosts jsonb not null default '[]' check (jsonb_typeof(hosts) = 'array'),
  drop constraint connections_kind_check,
  add constraint connections_kind_check check (kind in ('mcp', 'http', 'host'));

create table connection_secrets (
  agent_id text not null,
  connection text not null,
  -- The variable's.
  name text not null,
  sealed text not null,
  last4 text not null check (char_length(last4) <= 4),
  -- Names of headers, in lower case.
  headers jsonb not null check (jsonb_typeof(headers) = 'array'),
  -- The variable's value in the machine.
  placeholder text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (agent_id, connection, name),
  foreign key (agent_id, connection) references connections (agent_id, name) on delete cascade
);

-- Keys that this Lodge draws once. `hosts`: the authority that machines trust for the hosts of connections.
create table authorities (
  name text primary key,
  certificate text not null,
  sealed text not null,
  created_at timestamptz(3) not null default clock_timestamp()
);

-- What an agent's machine has of its host connections; null: nothing. It is written with them.
alter table agents add column host_access jsonb check (jsonb_typeof(host_access) = 'object');
