-- Where people were asked about a confirmation, and the code by which they answer in words.
create table confirmation_messages (
  confirmation_id text not null references confirmations (id) on delete cascade,
  agent_id text not null,
  channel text not null,
  -- The platform's id.
  conversation_id text not null,
  answer_id text references channel_answers (id) on delete set null,
  -- Null where buttons are enough.
  code text,
  primary key (confirmation_id, channel, conversation_id)
);
create index confirmation_messages_by_code on confirmation_messages (agent_id, code) where code is not null;
create index confirmation_messages_by_answer on confirmation_messages (answer_id) where answer_id is not null;
