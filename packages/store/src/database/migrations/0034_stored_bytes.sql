-- What the database keeps beside records is counted by account and agent: replies of requests with an Idempotency-Key, and
-- contents of model calls. Writers are many (claims, prunes, the end of an agent), so triggers count for all of them.

create table stored_bytes (
  account_id text not null,
  kind text not null check (kind in ('replies', 'contents')),
  -- Replies are counted by account alone.
  agent_id text not null default '',
  items bigint not null,
  bytes bigint not null,
  primary key (account_id, kind, agent_id)
) with (fillfactor = 50);

insert into stored_bytes (account_id, kind, items, bytes)
select account_id, 'replies', count(*), coalesce(sum(octet_length(body)), 0) from idempotency_keys group by account_id;

insert into stored_bytes (account_id, kind, agent_id, items, bytes)
select a.account_id, 'contents', c.agent_id, count(*), sum(octet_length(c.sealed))
from llm_call_contents c join agents a on a.id = c.agent_id group by 1, 3;

create function add_stored(of_account text, of_kind text, of_agent text, more_items bigint, more_bytes bigint) returns void
language sql as $$
  insert into stored_bytes as s (account_id, kind, agent_id, items, bytes)
  values (of_account, of_kind, of_agent, more_items, more_bytes)
  on conflict (account_id, kind, agent_id) do update set items = s.items + excluded.items, bytes = s.bytes + excluded.bytes
$$;

-- Rows are counted in one order, so that two commits never wait for each other.
create function count_replies() returns trigger language plpgsql as $$
declare
  of record;
begin
  if tg_op = 'INSERT' then
    for of in select account_id, count(*) as items, coalesce(sum(octet_length(body)), 0) as bytes
      from added group by 1 order by 1
    loop perform add_stored(of.account_id, 'replies', '', of.items, of.bytes); end loop;
  elsif tg_op = 'DELETE' then
    for of in select account_id, count(*) as items, coalesce(sum(octet_length(body)), 0) as bytes
      from removed group by 1 order by 1
    loop perform add_stored(of.account_id, 'replies', '', -of.items, -of.bytes); end loop;
  else
    for of in select account_id, sum(bytes) as bytes from (
        select account_id, octet_length(body) as bytes from added where body is not null
        union all select account_id, -octet_length(body) from removed where body is not null
      ) each group by 1 having sum(bytes) <> 0 order by 1
    loop perform add_stored(of.account_id, 'replies', '', 0, of.bytes); end loop;
  end if;
  return null;
end
$$;
create trigger idempotency_keys_added after insert on idempotency_keys
  referencing new table as added for each statement execute function count_replies();
create trigger idempotency_keys_changed after update on idempotency_keys
  referencing old table as removed new table as added for each statement execute function count_replies();
create trigger idempotency_keys_removed after delete on idempotency_keys
  referencing old table as removed for each statement execute function count_replies();

create function count_contents() returns trigger language plpgsql as $$
declare
  of record;
begin
  if tg_op = 'INSERT' then
    for of in select a.account_id, c.agent_id, count(*) as items, sum(octet_length(c.sealed)) as bytes
      from added c join agents a on a.id = c.agent_id group by 1, 2 order by 1, 2
    loop perform add_stored(of.account_id, 'contents', of.agent_id, of.items, of.bytes); end loop;
  else
    for of in select a.account_id, c.agent_id, count(*) as items, sum(octet_length(c.sealed)) as bytes
      from removed c join agents a on a.id = c.agent_id group by 1, 2 order by 1, 2
    loop perform add_stored(of.account_id, 'contents', of.agent_id, -of.items, -of.bytes); end loop;
  end if;
  return null;
end
$$;
create trigger llm_call_contents_added after insert on llm_call_contents
  referencing new table as added for each statement execute function count_contents();
create trigger llm_call_contents_removed after delete on llm_call_contents
  referencing old table as removed for each statement execute function count_contents();

-- Replies whose bodies give way, oldest first.
create index idempotency_keys_kept on idempotency_keys (account_id, created_at) where body is not null;
-- Contents that give way, oldest first.
drop index llm_call_contents_of_agent;
create index llm_call_contents_of_agent on llm_call_contents (agent_id, ended_at);

-- Events have bounds by who caused them: what agents do by themselves never pushes out what people did.
create index events_of_kind on events (account_id, actor_kind, id) where actor_kind is not null;
create index events_by_nobody on events (account_id, id) where actor_kind is null;
