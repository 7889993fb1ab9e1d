-- The skills of the library that agents use.

create table agent_skills (
  agent_id text not null references agents (id) on delete cascade,
  -- The name of the skill, which is the name of its folder in the machine.
  name text collate "C" not null,
  -- A skill that is used is not deleted.
  skill_id text not null references skills (id),
  -- Null: the latest.
  version integer,
  enabled boolean not null,
  -- Names of members that have it, and null for the agent itself. Null: all of them.
  members text[],
  -- The state as the runtime was last seen to have it; null: not since it was changed.
  state text check (state in ('loaded', 'shadowed', 'not_loaded')),
  missing_programs text[] not null default '{}',
  missing_variables text[] not null default '{}',
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (agent_id, name)
);
create index agent_skills_by_skill on agent_skills (skill_id);

alter table agents
  -- A digest of the skills that are wanted in the machine. An agent that never had one has none.
  add column skills_wanted text not null default 'none',
  -- A digest of the skills and members that are in the machine; null: unknown. What exists already has none.
  add column skills_applied text default 'none',
  add column skills_error text;
