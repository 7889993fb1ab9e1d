-- Agents of the account that an agent may ask: their ids, or '*' for all.

alter table agents add column peers text[] not null default '{}';
