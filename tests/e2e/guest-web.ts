/** A web server as a guest may have one: it tells what it was asked, streams, takes uploads and speaks WebSocket. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { WebSocketServer } from 'ws';

export const gatewayToken = 'token-of-the-gateway';
const mebibyte = Buffer.alloc(1024 * 1024, 'x');
/** Opens a WebSocket, and shows what it says. */
const page = `<!doctype html><title>Guest</title><h1>Page of the guest</h1><p id="said"></p><script>
  const socket = new WebSocket(location.href.replace('http', 'ws'));
  socket.onopen = () => socket.send('plum');
  socket.onmessage = ({ data }) => (document.querySelector('#said').textContent = data);
</script>`;

export class GuestWeb {
  readonly server: Server = createServer((request, response) => void this.answer(request, response));
  /** Every request's head. */
  readonly seen: IncomingMessage[] = [];
  /** Bytes that went out in the last long answer. */
  sent = 0;
  private readonly sockets = new WebSocketServer({ noServer: true });

  async listen(): Promise<void> {
    this.server.on('upgrade', (request: IncomingMessage, socket, head) => {
      this.seen.push(request);
      if (request.url === '/refused') return socket.end('HTTP/1.1 418 No\r\nContent-Length: 4\r\n\r\nno: ');
      this.sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.on('message', (data, binary) => opened.send(data, { binary }));
      });
    });
    this.server.listen(0, '0.0.0.0');
    await once(this.server, 'listening');
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get last(): IncomingMessage {
    return this.seen.at(-1)!;
  }

  close(): void {
    for (const socket of this.sockets.clients) socket.terminate();
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.seen.push(request);
    response.on('error', () => undefined);
    const path = request.url!.replace(/\?.*/, '');
    switch (path) {
      case '/page':
        return void response.setHeader('content-type', 'text/html').end(page);
      case '/cookies':
        response.setHeader('set-cookie', [
          'own=1; Domain=agents.localhost; Path=/; HttpOnly',
          'lodge_visit=forged; Path=/',
          'of_gateway=renewed; Path=/',
          '__Host-lodge_session=forged; Path=/; Secure',
          'other=2; domain = .localhost; SameSite=Lax',
        ]);
        response.setHeader('clear-site-data', '"cookies"');
        response.setHeader('alt-svc', 'h3=":1"');
        return void response.end();
      case '/events':
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: first\n\n');
        await Promise.race([once(response, 'close'), setTimeout(2_000, null, { ref: false })]);
        return void response.end('data: last\n\n');
      case '/long':
        return this.long(response);
      case '/broken':
        response.writeHead(200, { 'content-length': 100 }).write('half');
        await setTimeout(50);
        return void response.destroy();
      case '/many-headers':
        response.setHeader('x-long', 'x'.repeat(200_000));
        return void response.end();
      case '/deaf':
        return;
      case '/switched':
        return void request.socket.write('HTTP/1.1 101 Unasked\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n');
      case '/early':
        return void response.writeHead(413).end('too much');
      default:
        return this.tell(request, response);
    }
  }

  private async long(response: ServerResponse): Promise<void> {
    this.sent = 0;
    const count = (bytes: number): void => void (this.sent += bytes);
    const parts = function* (): Generator<Buffer> {
      for (let part = 0; part < 256; part += 1) {
        count(mebibyte.length);
        yield mebibyte;
      }
    };
    await pipeline(parts, response).catch(() => undefined);
  }

  private async tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      hash.update(chunk as Buffer);
    }
    const { method, url, headers } = request;
    response.setHeader('content-type', 'application/json');
    response.setHeader('x-of-guest', 'yes');
    response.end(JSON.stringify({ method, url, headers, bytes, sha256: hash.digest('hex') }));
  }
}
