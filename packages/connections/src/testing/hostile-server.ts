/* oxlint-disable no-restricted-imports -- only tests import this file */
/** A service whose path selects its misbehaviour. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

export type Answer = (req: IncomingMessage, res: ServerResponse, token: string) => unknown;

const answers: Readonly<Record<string, Answer>> = {
  ok: (_req, res) => res.end('fine'),
  'echo-headers': (req, res) => res.setHeader('content-type', 'application/json').end(JSON.stringify(req.headers)),
  'echo-base64': (_req, res, token) => res.end(`before ${Buffer.from(`user:${token}!`).toString('base64')} after`),
  'echo-base64url': (_req, res, token) => res.end(Buffer.from(`xx${token}`).toString('base64url')),
  'echo-percent': (_req, res, token) => res.end(`https://x/?t=${encodeURIComponent(token)}`),
  'echo-hex': (_req, res, token) => res.end(Buffer.from(token).toString('hex')),
  'echo-html': (_req, res, token) => res.end(`<p>${token.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`),
  'echo-json': (_req, res, token) => res.end(JSON.stringify({ token }).replaceAll('/', '\\/')),
  'echo-utf16': (_req, res, token) => res.end(Buffer.from(`token ${token}`, 'utf16le')),
  'echo-half': (_req, res, token) => res.end(`invalid token ${token.slice(0, 20)}...`),
  'echo-header': (req, res) => res.setHeader('x-debug', req.headers.authorization!).end('see the header'),
  'echo-header-base64': (_req, res, token) => res.setHeader('x-debug', Buffer.from(token).toString('base64')).end(),
  'echo-header-name': (_req, res, token) => res.setHeader(token.replaceAll(/[^a-z0-9-]/gi, ''), '1').end(),
  'odd-header': (_req, res) =>
    res.setHeader('x-odd', Buffer.from('\u65e5\u010a\u00e4').toString('latin1')).end(Buffer.from('fine')),
  'echo-reason': (_req, res, token) => {
    res.statusMessage = token.replaceAll(/[^ -~]/g, '');
    res.end('see the reason');
  },
  'echo-error': (req, res) => res.writeHead(401).end(`bad credential: ${req.headers.authorization}`),
  'echo-cookie': (_req, res, token) => res.setHeader('set-cookie', `t=${token}`).end('see the cookie'),
  'echo-location': (_req, res, token) => res.writeHead(201, { location: `/${token}` }).end('see the location'),
  'echo-trailer': (_req, res, token) => {
    res.setHeader('trailer', 'x-end');
    res.write('see the trailer');
    res.addTrailers({ 'x-end': token });
    res.end();
  },
  'echo-gzip': (_req, res, token) => res.setHeader('content-encoding', 'gzip').end(gzipSync(token)),
  'echo-bytes': async (_req, res, token) => {
    for (const byte of Buffer.from(`a${token}b`)) {
      res.write(Buffer.from([byte]));
      await sleep(1);
    }
    res.end();
  },
  'echo-range': (req, res, token) => {
    const [, from = '0', to = '999'] = /bytes=(\d+)-(\d+)/.exec(req.headers.range ?? '') ?? [];
    res.end(token.slice(Number(from), Number(to) + 1));
  },
  'to-other-host': (_req, res) => res.writeHead(302, { location: 'http://127.0.0.77:1/allowed/ok' }).end(),
  'to-other-port': (_req, res) => res.writeHead(302, { location: 'http://127.0.0.1:1/allowed/ok' }).end(),
  'to-metadata': (_req, res) => res.writeHead(307, { location: 'http://169.254.169.254/latest' }).end(),
  'to-forbidden': (_req, res) => res.writeHead(302, { location: '/v1/forbidden' }).end(),
  'to-outside': (_req, res) => res.writeHead(302, { location: '/allowed/ok' }).end(),
  'to-dots': (_req, res) => res.writeHead(302, { location: '/v1/allowed/%2e%2e/forbidden' }).end(),
  'to-user': (req, res) => res.writeHead(302, { location: `http://u:p@${req.headers.host}/v1/allowed/ok` }).end(),
  'to-itself': (req, res) => res.writeHead(302, { location: req.url }).end(),
  'to-ok': (_req, res) => res.writeHead(302, { location: '/v1/allowed/ok' }).end(),
  endless: (_req, res) => {
    const more = (): void => {
      while (res.write(Buffer.alloc(65_536, 'x')));
    };
    res.on('drain', more);
    more();
  },
  silent: () => undefined,
  stalls: (_req, res) => void res.write('begun'),
  'stalls-in-lines': (_req, res) =>
    void res.setHeader('content-type', 'text/event-stream; charset=utf-8').write('data: begun\n\ndata: half'),
  'breaks-off': (_req, res) => {
    res.writeHead(200, { 'content-length': '100' });
    res.write('half');
    setTimeout(() => res.destroy(), 50);
  },
};

export type HostileServer = Awaited<ReturnType<typeof startHostileServer>>;

/** Starts the service. Its paths are `/v1/allowed/<how>`; `requests` are all that it received. */
export async function startHostileServer(token: string, more: Readonly<Record<string, Answer>> = {}) {
  const requests: IncomingMessage[] = [];
  const bodies: string[] = [];
  const server = createServer((req, res) => {
    requests.push(req);
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => bodies.push(Buffer.concat(chunks).toString()));
    const how = /^\/v1\/allowed\/([a-z0-9-]+)/.exec(req.url ?? '')?.[1] ?? 'ok';
    void Promise.resolve((more[how] ?? answers[how] ?? answers['ok'])!(req, res, token)).catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/v1`,
    requests,
    bodies,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
