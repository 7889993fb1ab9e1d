-- A browser in the agent's machine, for those that want one.
alter table agents add column browser boolean not null default false;

-- Zero is the view of the agent's browser, at an address of its own.
alter table agent_visits drop constraint agent_visits_port_check;
alter table agent_visits add constraint agent_visits_port_check check (port between 0 and 65535);
