-- OAuth of connections whose servers do not name their authorization server: the owner names it.

alter table connection_oauth
  add column authorization_url text,
  add column token_url text,
  -- Null: as RFC 6749 has it, in a header.
  add column client_auth text check (client_auth in ('client_secret_basic', 'client_secret_post')),
  add check ((authorization_url is null) = (token_url is null)),
  add check (token_url is not null or client_auth is null);
