-- Further agents in an agent's machine, and which settings its guest has taken over.
alter table agents
  -- [{"name": text, "model": text or null, "instructions": text or null, "createdAt": RFC 3339}], oldest first
  add column members jsonb not null default '[]' check (jsonb_typeof(members) = 'array'),
  -- Digest of the settings in effect in the guest; null: not known. What exists already has nothing beside its template.
  add column settings_applied text default 'template';
