-- The names of channels and of runtimes are rows of the domain's tables. A check here was a second list of each.

alter table channels drop constraint channels_channel_check;
alter table agents drop constraint agents_runtime_kind_check;
