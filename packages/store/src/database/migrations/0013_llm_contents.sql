-- What is said in model calls, kept for a while where the account wants it.

alter table accounts add column record_llm_calls boolean not null default false;

-- `sealed`: request and response as JSON, under the deployment's data key.
create table llm_call_contents (
  call_id text primary key references llm_calls (id),
  agent_id text not null,
  ended_at timestamptz not null default clock_timestamp(),
  truncated boolean not null,
  sealed text not null
);
create index llm_call_contents_by_end on llm_call_contents (ended_at);
create index llm_call_contents_of_agent on llm_call_contents (agent_id);
-- It does not compress.
alter table llm_call_contents alter column sealed set storage external;

-- With the agent goes what it said. A function looks anew, so it also sees what was kept while the deletion waited for the row.
create function agents_forget_contents() returns trigger language plpgsql as $$
begin
  delete from llm_call_contents where agent_id = new.id;
  return null;
end
$$;

create trigger agents_contents after update of deleted_at on agents
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function agents_forget_contents();
