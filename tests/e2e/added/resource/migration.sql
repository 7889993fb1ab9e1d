create table notes (
  id text primary key,
  account_id text not null references accounts (id),
  agent_id text not null references agents (id) on delete cascade,
  text_sealed text not null,
  created_at timestamptz(3) not null default clock_timestamp()
);
