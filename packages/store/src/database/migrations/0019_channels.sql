-- Messaging channels: connections that a relay holds, and what passes through them.

create table channels (
  agent_id text not null references agents (id),
  channel text not null check (channel in ('slack', 'discord', 'telegram', 'whatsapp', 'gmail')),
  account_id text not null,
  enabled boolean not null,
  access jsonb not null check (jsonb_typeof(access) = 'object'),
  -- Rises with each change that wants the connection opened anew.
  revision integer not null default 1,
  -- What one connection alone may use on the platform.
  account_key text,
  status text not null check (status in ('pending_pairing', 'connecting', 'connected', 'disconnected', 'error', 'disabled')),
  status_code text,
  status_message text,
  status_at timestamptz(3),
  note text,
  identity jsonb,
  pairing_sealed text,
  pairing_expires_at timestamptz(3),
  pairing_attempt integer,
  -- Where the connection has got to, as its adapter gave it.
  cursor jsonb,
  -- One relay at a time. The number rises with each holder; what an earlier one writes is refused by it.
  lease_holder text,
  lease_number integer not null default 0,
  lease_until timestamptz(3),
  -- The revision that the holder has.
  lease_revision integer,
  last_inbound_at timestamptz(3),
  last_outbound_at timestamptz(3),
  -- Messages that were refused and not kept.
  refused_count bigint not null default 0,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (agent_id, channel),
  constraint channels_reason_whole check ((status_code is null) = (status_message is null) and (status_code is null) = (status_at is null)),
  constraint channels_pairing_whole check ((pairing_sealed is null) = (pairing_expires_at is null) and (pairing_sealed is null) = (pairing_attempt is null)),
  constraint channels_lease_whole check ((lease_holder is null) = (lease_until is null))
);
-- The same account of a platform on two agents: each would take the other's messages.
create unique index channels_account on channels (channel, account_key) where account_key is not null;

create table channel_credentials (
  agent_id text not null,
  channel text not null,
  name text not null,
  sealed text not null,
  -- Empty for those that a connection keeps by itself.
  last4 text not null check (length(last4) <= 4),
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (agent_id, channel, name),
  foreign key (agent_id, channel) references channels (agent_id, channel) on delete cascade
);

-- Keys of a connection, such as those of WhatsApp's sessions.
create table channel_vault (
  agent_id text not null,
  channel text not null,
  type text not null,
  id text not null,
  sealed text not null,
  primary key (agent_id, channel, type, id),
  foreign key (agent_id, channel) references channels (agent_id, channel) on delete cascade
);

-- Who asked to talk to the agent, and what its owner decided.
create table channel_senders (
  agent_id text not null,
  channel text not null,
  sender_id text not null,
  name text not null,
  state text not null check (state in ('pending', 'approved', 'denied')),
  code text,
  -- When the sender was last told the code.
  asked_at timestamptz(3) not null default clock_timestamp(),
  decided_at timestamptz(3),
  -- Messages that were refused and not kept.
  refused_count bigint not null default 0,
  primary key (agent_id, channel, sender_id),
  foreign key (agent_id, channel) references channels (agent_id, channel) on delete cascade,
  constraint channel_senders_decided check ((state = 'pending') = (code is not null) and (state = 'pending') = (decided_at is null))
);
create unique index channel_senders_by_code on channel_senders (agent_id, channel, code) where code is not null;
create index channel_senders_pending on channel_senders (agent_id, channel, asked_at) where state = 'pending';

create table channel_conversations (
  id text primary key default gen_random_uuid()::text,
  agent_id text not null,
  channel text not null,
  account_id text not null,
  -- The platform's.
  conversation_id text not null,
  kind text not null check (kind in ('direct', 'group')),
  title text,
  -- Rises with `/new`.
  session integer not null default 1,
  -- What an answer to the last message that was taken up must name.
  reply_to jsonb,
  -- Since when a message waits for a turn; null when none does.
  waiting_since timestamptz(3),
  not_before timestamptz(3),
  -- One turn at a time. The number rises with each claim, and fences what it may write.
  claim integer not null default 0,
  claim_holder text,
  claim_until timestamptz(3),
  last_at timestamptz(3) not null default clock_timestamp(),
  unique (agent_id, channel, conversation_id),
  foreign key (agent_id, channel) references channels (agent_id, channel) on delete cascade,
  constraint channel_conversations_claim_whole check ((claim_holder is null) = (claim_until is null))
);
create index channel_conversations_waiting on channel_conversations (waiting_since) where waiting_since is not null;
create index channel_conversations_claimed on channel_conversations (claim_until) where claim_until is not null;

-- What is said into a conversation: an answer, or a word of ours.
create table channel_answers (
  id text primary key default gen_random_uuid()::text,
  -- The order in which they are sent.
  seq bigint generated always as identity,
  conversation text not null references channel_conversations (id) on delete cascade,
  reply_to jsonb,
  text text not null,
  state text not null default 'queued' check (state in ('queued', 'sent', 'failed', 'unknown')),
  created_at timestamptz(3) not null default clock_timestamp(),
  ended_at timestamptz(3),
  constraint channel_answers_ended check ((state = 'queued') = (ended_at is null))
);
create index channel_answers_of_conversation on channel_answers (conversation);
create index channel_answers_by_end on channel_answers (ended_at) where ended_at is not null;

create table channel_parts (
  -- The same for every try, and what a platform knows the part by where it knows any.
  id text primary key default gen_random_uuid()::text,
  answer_id text not null references channel_answers (id) on delete cascade,
  agent_id text not null,
  channel text not null,
  conversation text not null,
  -- Of the answer.
  seq bigint not null,
  position integer not null,
  -- `markdown` is a whole answer that is not yet in parts.
  kind text not null check (kind in ('markdown', 'text', 'file')),
  text text,
  format text,
  file_name text,
  media_type text,
  bytes bigint,
  file_key text,
  -- `sending` by an earlier holder of the channel may have been sent.
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'sent', 'failed', 'unknown', 'dropped')),
  sending_lease integer,
  attempts integer not null default 0,
  due_at timestamptz(3) not null default clock_timestamp(),
  reason text,
  platform_id text,
  unique (answer_id, position)
);
create index channel_parts_to_send on channel_parts (agent_id, channel, conversation, seq, position) where state in ('waiting', 'sending');

create table channel_messages (
  id text primary key default gen_random_uuid()::text,
  -- The order of receipt: a channel's messages are written one transaction after another.
  seq bigint generated always as identity,
  agent_id text not null,
  channel text not null,
  account_id text not null,
  conversation text not null references channel_conversations (id) on delete cascade,
  sender_id text not null,
  sender_name text not null,
  text text not null,
  command text,
  reply_to jsonb,
  state text not null check (state in ('received', 'answered', 'failed', 'unknown', 'refused')),
  reason text,
  sent_at timestamptz(3) not null,
  received_at timestamptz(3) not null default clock_timestamp(),
  answered_at timestamptz(3),
  attempts integer not null default 0,
  -- The claim of its conversation in whose turn it is.
  claim integer,
  answer_id text references channel_answers (id) on delete set null
);
create index channel_messages_waiting on channel_messages (conversation, seq) where state = 'received' and answer_id is null;
-- How many wait is bounded, and counted with each receipt.
create index channel_messages_waiting_of_channel on channel_messages (agent_id, channel) where state = 'received' and answer_id is null;
create index channel_messages_of_conversation on channel_messages (conversation, seq);
create index channel_messages_of_agent on channel_messages (agent_id, seq);
create index channel_messages_of_sender on channel_messages (agent_id, channel, sender_id, received_at);
create index channel_messages_refused on channel_messages (agent_id, channel, received_at) where state = 'refused';
create index channel_messages_of_answer on channel_messages (answer_id) where answer_id is not null;
create index channel_messages_by_age on channel_messages (received_at) where state <> 'received';

-- Ids of the platform's messages that were taken up. They outlive the messages, so that none is taken up twice.
create table channel_seen (
  agent_id text not null,
  channel text not null,
  platform_id text not null,
  at timestamptz(3) not null default clock_timestamp(),
  primary key (agent_id, channel, platform_id),
  foreign key (agent_id, channel) references channels (agent_id, channel) on delete cascade
);
create index channel_seen_by_age on channel_seen (at);

create table channel_files (
  id text primary key default gen_random_uuid()::text,
  message_id text not null references channel_messages (id) on delete cascade,
  agent_id text not null,
  channel text not null,
  position integer not null,
  -- What the connection needs to get it; no secret.
  ref text not null,
  name text not null,
  media_type text not null,
  kind text not null check (kind in ('file', 'image', 'voice')),
  bytes bigint,
  -- Where its bytes lie on the host, or why they do not; neither while it waits.
  file_key text,
  reason text,
  attempts integer not null default 0,
  due_at timestamptz(3) not null default clock_timestamp()
);
create index channel_files_of_message on channel_files (message_id);
create index channel_files_to_fetch on channel_files (agent_id, channel, due_at) where file_key is null and reason is null;

-- Consents to read a mailbox that a person has been sent to give.
create table channel_oauth_sessions (
  agent_id text not null references agents (id),
  id text not null,
  account_id text not null,
  -- SHA-256 of what goes through the browser.
  state_hash bytea not null unique check (octet_length(state_hash) = 32),
  verifier_sealed text not null,
  redirect_uri text not null,
  return_url text,
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  primary key (agent_id, id)
);
create index channel_oauth_sessions_by_end on channel_oauth_sessions (expires_at);
