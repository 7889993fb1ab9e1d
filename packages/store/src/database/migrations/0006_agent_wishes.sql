-- What a client asks of an agent beside model and machine.
alter table agents
  add column instructions text check (octet_length(instructions) between 1 and 32768),
  add column dashboard boolean not null default false,
  -- {"dailyUsd": decimal text or null, "monthlyUsd": likewise, "action": "block" | "pause"}
  add column spend_limit jsonb check (jsonb_typeof(spend_limit) = 'object');
