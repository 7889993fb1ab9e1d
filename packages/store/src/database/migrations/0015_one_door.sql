-- Sessions open what API keys open: links to agents' pages too. People may be invited to read alone.
alter table accounts
  drop constraint accounts_role_check,
  add constraint accounts_role_check check (role in ('owner', 'member', 'viewer'));

alter table account_links
  -- Of the account that an invitation makes.
  add column role text not null default 'member' check (role in ('member', 'viewer'));

alter table agent_visits
  alter column key_id drop not null,
  -- A session that ends takes its links and visits along.
  add column session_id text references sessions (id) on delete cascade,
  add constraint agent_visits_by_one check ((key_id is null) <> (session_id is null));
create index agent_visits_of_session on agent_visits (session_id) where session_id is not null;
