-- Where the answers of a hook go: of those that there are, into the log alone. And what of an account waits.

alter table hooks
  add column deliver_to text not null default 'none' check (deliver_to in ('none', 'channel', 'webhook')),
  add column deliver_channel text,
  -- The platform's.
  add column deliver_conversation text,
  add constraint hooks_delivery_whole check (
    (deliver_to = 'channel') = (deliver_channel is not null) and (deliver_to = 'channel') = (deliver_conversation is not null)
  );

create index hook_messages_waiting_of_account on hook_messages (account_id) where status is null;
