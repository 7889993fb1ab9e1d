/** Stands for the daemon of a guest as far as its browser goes. Another program answers as Chromium at `cdpPort`. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { BrowserState } from '@lodge/guest';

export class BrowserGuest {
  status: BrowserState['status'] = 'running';
  message: string | null = null;
  /** Whether the daemon is one from before browsers. */
  isOld = false;
  /** The TCP port of the program that stands for Chromium's debugging port. */
  cdpPort = 1;
  private heldUntil = 0;
  private readonly sockets = new Set<Duplex>();
  private readonly server = createServer((request, response) => void this.answer(request, response));

  async listen(): Promise<number> {
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex) => this.upgrade(request, socket));
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  get isHeld(): boolean {
    return this.heldUntil > Date.now();
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-guestd-protocol', '1');
    const say = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body));
    const { method = '', url = '' } = request;
    if (this.isOld) return say(404, { error: 'no such route' });
    if (url === '/v1/browser' && method === 'GET') {
      const left = Math.ceil((this.heldUntil - Date.now()) / 1000);
      const { status, message } = this;
      return say(200, { status, message, heldForSeconds: this.isHeld ? left : null });
    }
    if (url !== '/v1/browser/hold') return say(404, { error: 'no such route' });
    const { seconds } = (await json(request)) as { seconds: number };
    if (this.status !== 'running') return say(409, { error: 'no browser runs' });
    this.heldUntil = seconds === 0 ? 0 : Date.now() + seconds * 1000;
    return say(200, {});
  }

  private upgrade({ url = '' }: IncomingMessage, socket: Duplex): void {
    const head = 'x-guestd-protocol: 1\r\n';
    socket.on('error', () => socket.destroy());
    if (url.endsWith('start=true') && this.status === 'idle') this.status = 'running';
    if (this.status !== 'running') {
      const body = JSON.stringify({ error: 'no browser runs' });
      socket.end(`HTTP/1.1 409 Conflict\r\n${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
      return;
    }
    const chromium = connect(this.cdpPort, '127.0.0.1');
    chromium.on('error', () => socket.destroy());
    chromium.once('close', () => socket.destroy());
    socket.once('close', () => chromium.destroy());
    chromium.once('connect', () => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${head}connection: upgrade\r\nupgrade: lodge-cdp\r\n\r\n`);
      socket.pipe(chromium).pipe(socket);
    });
  }
}
