import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endStalledReply } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import type { Metrics } from './metrics.ts';

/** A scrape of which nothing is taken for so long is cut off. */
const stalledMs = 30_000;

export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics`, away from the API's port: the figures are the operator's, and need no key where only the operator
 * comes. Rejects when the address cannot be taken.
 */
export async function listenForScrapes(
  metrics: Metrics,
  at: { readonly host: string; readonly port: number },
  log: Log,
): Promise<MetricsListener> {
  let asked: Promise<string> | null = null;
  /** Scrapes that come at once are answered with one look. */
  const text = (): Promise<string> => {
    asked ??= metrics.text().finally(() => (asked = null));
    return asked;
  };
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (req.url?.split('?', 1)[0] !== '/metrics') return void res.writeHead(404).end();
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { allow: 'GET, HEAD' }).end();
    try {
      const body = await text();
      res.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' });
      res.end(req.method === 'HEAD' ? undefined : body);
    } catch (error) {
      log.error({ err: error }, 'the figures could not be made');
      res.writeHead(500).end();
    }
  };
  const server = createServer({ requestTimeout: 10_000, keepAliveTimeout: 60_000 }, (req, res) => {
    endStalledReply(res, stalledMs);
    void answer(req, res);
  });
  server.maxConnections = 32;
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
