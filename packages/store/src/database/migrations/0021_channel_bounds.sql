-- Bounds of channels, and what is read to keep them.

-- A connection that failed by a fault of its own is opened again no sooner; so many faults came one after another.
alter table channels add column not_before timestamptz(3);
alter table channels add column faults integer not null default 0;

-- When its messages beyond the bound were last deleted: only what has had messages since is looked at again.
alter table channels add column pruned_at timestamptz(3);
create index channel_messages_ended on channel_messages (agent_id, channel, seq) where state <> 'received';
-- Of strangers: conversations that never had a turn.
create index channel_conversations_by_age on channel_conversations (last_at) where claim = 0;

-- What waits too long to be sent.
create index channel_parts_by_due on channel_parts (due_at) where state = 'waiting';

-- The code by which a sender was decided about: a request that is repeated finds what it did.
alter table channel_senders add column decided_code text;
create index channel_senders_by_decided_code on channel_senders (agent_id, channel, decided_code) where decided_code is not null;
