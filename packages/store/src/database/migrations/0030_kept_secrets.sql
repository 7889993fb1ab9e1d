-- Replies that told a webhook's secret were kept for a day, in the clear. The request stays known as carried out; its reply does not.
update idempotency_keys set status = null, headers = null, body = null
where body like '%"secret":"whsec\_%';
