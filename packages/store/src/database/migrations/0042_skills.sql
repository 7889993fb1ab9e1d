-- The skills library of an account. A version is written once and never changed.

create table skills (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  name text collate "C" not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  constraint skills_name_unique unique (account_id, name)
);

create table skill_versions (
  id text primary key,
  skill_id text not null references skills (id) on delete cascade,
  version integer not null,
  description text not null,
  -- SHA-256 over the paths, the modes and the digests of all files, in hex.
  digest text not null,
  source jsonb not null,
  programs text[] not null,
  variables text[] not null,
  findings jsonb not null,
  files jsonb not null,
  bytes integer not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  constraint skill_versions_number unique (skill_id, version)
);

-- Contents of files, in pieces: a backup holds some hundred rows of text at once. `file` counts the version's list from 0.
create table skill_pieces (
  version_id text not null references skill_versions (id) on delete cascade,
  file integer not null,
  piece integer not null,
  content bytea not null,
  primary key (version_id, file, piece)
);
