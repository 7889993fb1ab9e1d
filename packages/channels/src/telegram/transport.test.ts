import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { inspect } from 'node:util';
import { BotApi, serverAt, TelegramError } from './api.ts';

const token = `123456789:${'S'.repeat(35)}`;
const { signal } = new AbortController();

describe('HTTP to the Bot API', { timeout: 20_000 }, () => {
  test('a redirect is not followed', async (t) => {
    let asked = 0;
    const elsewhere = await serve(t, (_req, res) => {
      asked += 1;
      res.end('{"ok":true,"result":{}}');
    });
    const root = await serve(t, (_req, res) => res.writeHead(307, { location: `${elsewhere}/x` }).end());
    await failure(getMe(root));
    assert.equal(asked, 0);
  });

  const replies: readonly [string, RequestListener][] = [
    ['a body without end', (_req, res) => endless(res)],
    ['JSON that is too deep', (_req, res) => res.end('['.repeat(100_000))],
    ['JSON of too many values', (_req, res) => res.end(`[${'1,'.repeat(100_000)}1]`)],
    ['a page of an HTTP proxy', (_req, res) => res.writeHead(502).end('<html>Bad Gateway</html>')],
    ['JSON that is no reply', (_req, res) => res.end('null')],
    ['JSON without a result', (_req, res) => res.end('{"ok":false}')],
    ['nothing at all', (_req, res) => res.destroy()],
    ['a body that stalls', (_req, res) => void res.writeHead(200).write('{"ok":')],
    ['no head', () => undefined],
  ];
  for (const [name, listener] of replies) {
    test(`${name} is an error without the token`, async (t) => {
      const root = await serve(t, listener);
      const error = await failure(getMe(root));
      assert.equal(error.hasLeft, true);
    });
  }

  test('a time to wait is taken from the reply within reason', async (t) => {
    const root = await serve(t, (_req, res) => {
      res.end('{"ok":false,"error_code":429,"description":"x","parameters":{"retry_after":1e12}}');
    });
    const error = await failure(getMe(root));
    assert.equal(error.retryAfterMs, 24 * 3600 * 1_000);
  });

  test('a connection that was kept open and is gone is made anew for calls that may be repeated', async (t) => {
    const sockets = new Set<unknown>();
    const root = await serve(t, (req: IncomingMessage, res) => {
      const isNew = !sockets.has(req.socket);
      sockets.add(req.socket);
      if (!isNew) return req.socket.destroy();
      res.end('{"ok":true,"result":{"id":1}}');
    });
    const bot = new BotApi(serverAt(root), token);
    const call = () => bot.call<unknown>(1_000, signal, (api, ending) => api.getMe(ending));
    await call();
    await call();
    assert.equal(sockets.size, 2);
  });

  test('a send has a connection of its own', async (t) => {
    const sockets = new Set<unknown>();
    const root = await serve(t, (req, res) => {
      sockets.add(req.socket);
      res.end('{"ok":true,"result":{"message_id":1}}');
    });
    const bot = new BotApi(serverAt(root), token);
    for (let at = 0; at < 3; at += 1)
      await bot.call<unknown>(1_000, signal, (api, ending) => api.sendMessage(1, 'x', {}, ending));
    assert.equal(sockets.size, 3);
  });
});

const getMe = (apiRoot: string): Promise<unknown> =>
  new BotApi(serverAt(apiRoot), token).call<unknown>(1_000, signal, (api, ending) => api.getMe(ending));

async function failure(call: Promise<unknown>): Promise<TelegramError> {
  let caught: TelegramError | null = null;
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof TelegramError, inspect(error));
    assert.ok(!inspect(error, { depth: 9 }).includes(token.slice(-35)));
    caught = error;
    return true;
  });
  return caught!;
}

function endless(res: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const write = (): void => {
    if (!res.destroyed) res.write(chunk, () => setImmediate(write));
  };
  write();
}

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
