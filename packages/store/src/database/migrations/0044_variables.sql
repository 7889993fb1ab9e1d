-- Plain variables that owners give to the programs in their agents' machines.
alter table agents
  -- {name: value}; at most 64 values of 4 KiB.
  add column env jsonb not null default '{}'
    check ((jsonb_typeof(env) = 'object' and octet_length(env::text) <= 2000000) is true);
