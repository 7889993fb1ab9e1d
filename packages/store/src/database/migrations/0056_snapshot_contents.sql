-- A snapshot has the digests of what its machine had in effect when it was saved, as its agent's row said then. So an agent
-- that begins from it is not given again what is there. Null where unknown, as in snapshots from before.
alter table snapshots
  add column settings_applied text,
  add column packages_applied text,
  add column skills_applied text;
