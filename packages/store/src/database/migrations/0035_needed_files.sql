-- Files of channels that nobody needs any more are found by their keys.

create index channel_files_by_key on channel_files (file_key) where file_key is not null;
create index channel_parts_by_key on channel_parts (file_key) where file_key is not null;
