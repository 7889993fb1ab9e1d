import { randomUUID } from 'node:crypto';

/** Id of one request, in the X-Request-Id of its reply and in the log. */
export function makeRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}
