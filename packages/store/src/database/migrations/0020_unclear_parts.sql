-- When a part may first have been sent without anybody knowing: a platform knows a key for a while only.

alter table channel_parts add column sending_at timestamptz(3);
alter table channel_parts add column unclear_since timestamptz(3);
