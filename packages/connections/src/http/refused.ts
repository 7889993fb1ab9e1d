import type { ServerResponse } from 'node:http';
import { NamedError } from '@lodge/domain';

/** A refused request, with the words for the guest and for its agent's log. */
export class Refused extends NamedError {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | null;
  constructor(status: number, code: string, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const types: Readonly<Record<number, string>> = {
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  502: 'upstream_error',
  504: 'upstream_error',
};

/** A program that still sends would not read a refusal whose connection ends under it. So much of its body is dropped before. */
const lingerBytes = 2 ** 26;
const lingerMs = 3_000;

/** Sends a refusal in the form of the API's own errors. The request's body may be unread, so its connection ends. */
export function sendRefusal(res: ServerResponse, refused: Refused): void {
  const { status, code, message, retryAfterSeconds } = refused;
  const type = types[status] ?? 'invalid_request_error';
  const body = JSON.stringify({ error: { message, type, param: null, code } });
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...(retryAfterSeconds !== null && { 'retry-after': String(retryAfterSeconds) }),
  });
  if (res.req.complete) return void res.end(body);
  res.write(body);
  linger(res);
}

/** Ends the reply once its request is over, or has been waited for long enough. */
function linger(res: ServerResponse): void {
  const { req } = res;
  let left = lingerBytes;
  const end = (): void => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, lingerMs);
  for (const over of ['end', 'close', 'error']) req.once(over, end);
  req.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) end();
  });
}
