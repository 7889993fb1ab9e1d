-- OAuth of connections that are MCP servers: what their owners put, and what was granted. Nothing of it leaves the host.

-- The server asked for OAuth, and its connection has none.
alter table connections add column asks_oauth boolean not null default false;

create table connection_oauth (
  agent_id text not null,
  connection text not null,
  -- Null: a client is registered with each consent.
  client_id text,
  client_secret_sealed text check (client_secret_sealed is null or client_id is not null),
  client_secret_last4 text not null default '' check (char_length(client_secret_last4) <= 4),
  -- The authorization server that took the client first: no other one is told its secret.
  client_issuer text,
  scope text,
  status text not null default 'needed' check (status in ('needed', 'connected', 'failed')),
  reason text,
  -- Another with each change of the grant: who renews one names it.
  version text not null default gen_random_uuid()::text,
  -- Tokens, and where they are renewed.
  grant_sealed text check (grant_sealed is not null or status = 'needed'),
  granted_scope text,
  granted_at timestamptz(3),
  -- Null: the authorization server did not say.
  expires_at timestamptz(3),
  renew_at timestamptz(3),
  -- Who renews the grant holds it so long; a process that dies leaves a claim that ends by itself.
  claimed_until timestamptz(3),
  -- Behind a failure.
  retry_at timestamptz(3),
  primary key (agent_id, connection),
  foreign key (agent_id, connection) references connections (agent_id, name) on delete cascade
);

-- A consent is for a mailbox, or for a connection.
alter table channel_oauth_sessions add column connection text;
alter table channel_oauth_sessions
  add foreign key (agent_id, connection) references connections (agent_id, name) on delete cascade;
