-- What agents' machines may reach, and which models they may call.
alter table agents
  -- {"mode": text, "allow": [text]}
  add column egress jsonb not null default '{"mode": "public", "allow": []}'
    check ((egress ->> 'mode' in ('public', 'allowlist', 'none') and jsonb_typeof(egress -> 'allow') = 'array') is true),
  -- Which of the rules that were are on the machine's network. What exists already may reach every public address.
  add column egress_version integer not null default 1,
  add column egress_applied integer not null default 1,
  -- Beside its own, as <provider>/<model>; null: any.
  add column models text[];
