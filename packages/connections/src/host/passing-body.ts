/** Bodies of programs, searched for placeholders: while they pass, or whole where they wait for a yes. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Refused } from '../http/refused.ts';
import { Sought } from '../secret/echo-search.ts';
import { BodySearch } from './body-search.ts';
import { misplaced } from './fill.ts';
import { placeholdersOf } from './forward.ts';
import type { HostRequest, HostWay, PassingBody } from './forward.ts';

export const searchOf = ({ budget }: HostWay, { rows, row }: HostRequest): BodySearch => {
  const all = placeholdersOf(rows);
  return new BodySearch(all, new Sought(all), row, budget);
};

/** Rejects with a `Refused` where a placeholder is in the body. */
export async function checkWholeBody(
  way: HostWay,
  request: HostRequest,
  body: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const search = searchOf(way, request);
  if ((await search.push(body, signal)) || search.end()) throw misplaced('the body');
}

/** Git's own service for pushes, whose bodies are packs. */
const isPush = (req: IncomingMessage, path: string): boolean =>
  req.method === 'POST' &&
  path.endsWith('/git-receive-pack') &&
  req.headers['content-type'] === 'application/x-git-receive-pack-request';

/** The body of a program's request. Null for a request without one. */
export function passingBody(
  way: HostWay,
  request: HostRequest,
  req: IncomingMessage,
  signal: AbortSignal,
): PassingBody | null {
  const length = req.headers['content-length'];
  if (req.headers['transfer-encoding'] === undefined && Number(length ?? 0) === 0) {
    return req.method === 'GET' || req.method === 'HEAD' || length === undefined ? null : empty;
  }
  if (req.method === 'GET' || req.method === 'HEAD')
    throw new Refused(400, 'invalid_request', `A ${req.method} has no body here.`);
  const most = isPush(req, request.path) ? way.bounds.pushBytes : way.bounds.requestBytes;
  const tooLarge = new Refused(413, 'request_too_large', `A request may have at most ${most} bytes.`);
  if (Number(length ?? 0) > most) throw tooLarge;
  const search = searchOf(way, request);
  let refused: Refused | null = null;
  const refuse = (why: Refused): Refused => (refused = why);
  async function* searched(): AsyncGenerator<Buffer> {
    let bytes = 0;
    // A refusal must still be sent on the same socket.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > most) throw refuse(tooLarge);
      if (await search.push(chunk, signal)) throw refuse(misplaced('the body'));
      yield chunk;
    }
    if (search.end()) throw refuse(misplaced('the body'));
  }
  const stream = Readable.from(searched(), { objectMode: false });
  stream.on('error', () => undefined);
  return { stream, headers: length === undefined ? {} : { 'content-length': length }, refused: () => refused };
}

const empty: PassingBody = {
  get stream() {
    return Readable.from([], { objectMode: false });
  },
  headers: { 'content-length': '0' },
  refused: () => null,
};
