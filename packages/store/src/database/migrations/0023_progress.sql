-- What a turn under way shows in its conversation: decoration, taken away once the answer is sent.

-- The end of what the agent has said so far, written by the holder of the claim; null while there is none.
alter table channel_conversations add column said text;
-- The message on the platform that shows it, by the platform's id, and the claim that it was posted for.
alter table channel_conversations add column progress_id text;
alter table channel_conversations add column progress_claim integer;
alter table channel_conversations add constraint channel_conversations_progress_whole
  check ((progress_id is null) = (progress_claim is null));
-- Few at a time: relays look for those that are to go.
create index channel_conversations_progress on channel_conversations (agent_id, channel) where progress_id is not null;
