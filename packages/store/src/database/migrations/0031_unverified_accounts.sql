-- A token that no platform was asked about names an account and proves nothing: it keeps nobody else out.
drop index channels_account;
create unique index channels_account on channels (channel, account_key) where account_key not like 'unverified/%';
-- Where the prune looks.
create index channels_unverified on channels (agent_id, channel) where account_key like 'unverified/%';
-- Of channels that never connected nobody knows whether their tokens were verified. Their next connection tells.
update channels set account_key = 'unverified/earlier/' || account_key
where channel in ('telegram', 'discord') and identity is null and cursor is null and account_key not like 'unverified/%';
