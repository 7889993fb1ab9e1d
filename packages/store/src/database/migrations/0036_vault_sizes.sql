-- What a channel's connection keeps is counted on the channel's row, which each writer of it has locked.

alter table channels add column vault_values integer not null default 0, add column vault_bytes bigint not null default 0;
update channels c set vault_values = v.items, vault_bytes = v.bytes from (
  select agent_id, channel, count(*) as items, sum(octet_length(sealed)) as bytes from channel_vault group by 1, 2
) v where v.agent_id = c.agent_id and v.channel = c.channel;
