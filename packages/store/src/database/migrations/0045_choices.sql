-- Choices that people press below a message, and the edits that end them.
alter table channel_answers
  -- [{"token": text, "label": text}]
  add column choices jsonb check ((jsonb_typeof(choices) = 'array') is not false),
  -- The answer whose last text is replaced by this one's, without its choices.
  add column edits text references channel_answers on delete cascade;
create index channel_answers_edits on channel_answers (edits) where edits is not null;
create index channel_answers_choices on channel_answers (conversation) where choices is not null;

alter table channel_parts drop constraint channel_parts_kind_check;
alter table channel_parts add constraint channel_parts_kind_check
  check (kind = any (array['markdown', 'text', 'file', 'edit']));
