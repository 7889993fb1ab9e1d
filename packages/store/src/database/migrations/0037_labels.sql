-- Labels select agents in lists, by the index. A column with a constant default rewrites no row.

alter table agents add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');

create index agents_labels on agents using gin (labels jsonb_path_ops) where deleted_at is null;
