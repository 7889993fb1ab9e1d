/** The answer at an agent's address in place of the agent's own: JSON for clients, a small page for people. */
import { errorCodes } from '@lodge/domain';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { errorBody } from '@lodge/contract';
import type { Log } from '@lodge/ports';
import { policy } from '../pages.ts';
import { refusalHeaders, toRefusal } from '../pipeline/errors.ts';
import { smallPage, wantsPage } from '../reply/small-page.ts';

const titles: Readonly<Record<number, string>> = {
  401: 'This address opens with a link',
  403: 'This is not allowed',
  404: 'There is nothing here',
  409: 'The agent is not running',
  429: 'Too many requests',
};

export interface Refused {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

/** Says why to the client. After a reply has begun that is impossible, so its connection ends. */
export function refuse(log: Log, error: unknown, { request, response, requestId }: Refused): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const known = toRefusal(error);
  const { status } = errorCodes[known.code];
  if (known.cause !== undefined) log[status === 500 ? 'error' : 'info']({ err: known.cause }, known.message);
  const asPage = wantsPage(request.headers);
  const body = asPage
    ? smallPage(titles[status] ?? 'This did not work', known.message)
    : JSON.stringify(errorBody(known.code, known.message));
  const headers: OutgoingHttpHeaders = {
    'content-type': `${asPage ? 'text/html' : 'application/json'}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    ...refusalHeaders(known),
    // Nobody reads the rest of the body.
    ...(!request.complete && { connection: 'close' }),
  };
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}
