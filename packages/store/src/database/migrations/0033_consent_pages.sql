-- A consent begins at a page of ours, and belongs to the browser that agreed there. Those under way have no page; they last ten minutes.
delete from channel_oauth_sessions;
alter table channel_oauth_sessions
  add column page_hash bytea not null unique check (octet_length(page_hash) = 32),
  add column browser_hash bytea check (octet_length(browser_hash) = 32);
