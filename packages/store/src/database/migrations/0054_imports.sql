-- The file of an import that the agent's first machine gets its folders from; null once it runs with them.
alter table agents add column next_import text check (next_import ~ '^[a-z][a-z0-9]{11}$');
create index agents_next_import on agents (next_import) where next_import is not null;
