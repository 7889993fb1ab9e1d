/* oxlint-disable no-restricted-imports -- only tests import this file */
/** Services under any name: real TLS with an authority of their own, and the way to them. */
import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Agent, request, upgrade } from 'undici';
import type { Outbound } from '@lodge/egress';
import { HostCertificates, authorityMaker } from '../host/certificates.ts';

/** Takes a request that would switch protocols. */
type UpgradeListener = (req: IncomingMessage, socket: Duplex) => void;

export async function startTlsServices(listener: RequestListener, onUpgrade?: UpgradeListener) {
  const authority = await authorityMaker.make();
  const certificates = new HostCertificates(async () => authority);
  const server = createServer({
    SNICallback: (name, done) => void certificates.of(name).then((made) => done(null, made), done),
  });
  server.on('request', listener);
  if (onUpgrade) server.on('upgrade', onUpgrade);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dispatcher = new Agent({
    connect: {
      ca: authority.certificate,
      lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    },
  });
  const outbound: Outbound = {
    async send(_to, { url, ...rest }) {
      const to = new URL(url);
      const { host } = to;
      to.port = String(port);
      return request(to, { ...rest, headers: { ...rest.headers, host }, dispatcher });
    },
    async upgrade(_to, { url, ...rest }) {
      const to = new URL(url);
      const { host } = to;
      to.port = String(port);
      return upgrade(to, { ...rest, headers: { ...rest.headers, host }, protocol: 'websocket', dispatcher });
    },
    connect: () => Promise.reject(new Error('nothing is tunnelled here')),
    close: () => dispatcher.destroy(),
  };
  return {
    outbound,
    async close() {
      await dispatcher.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}
