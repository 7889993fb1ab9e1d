-- The packages that owners want in their agents' machines.
alter table agents
  -- {"apt": [text], "pip": [text], "npm": [text]}
  add column packages jsonb not null default '{"apt": [], "pip": [], "npm": []}'
    check ((jsonb_typeof(packages -> 'apt') = 'array' and jsonb_typeof(packages -> 'pip') = 'array'
      and jsonb_typeof(packages -> 'npm') = 'array') is true),
  -- A digest of those that are in the machine; null: unknown. What exists already has none.
  add column packages_applied text default 'none',
  add column packages_error text;
