/** The platform itself: a server with one account, which keeps letters until they are taken. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Letter {
  readonly id: string;
  readonly from: string;
  readonly text: string;
}

export class Loft {
  readonly token = 'coo-abcdefgh';
  readonly sent: { readonly to: string; readonly text: string }[] = [];
  private letters: Letter[] = [];
  private written = 0;
  private readonly server = createServer((request, response) => {
    const isKnown = request.headers['x-token'] === this.token;
    response.statusCode = isKnown ? 200 : 401;
    const answering = isKnown ? this.answer(request.url!, request) : Promise.resolve('');
    void answering.then((answer) => response.end(answer));
  });

  async open(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  write(from: string, text: string): void {
    this.written += 1;
    this.letters.push({ id: String(this.written), from, text });
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(path: string, request: NodeJS.ReadableStream): Promise<string> {
    if (path === '/letters') return JSON.stringify(this.letters);
    if (path === '/taken') {
      const { id: taken } = (await json(request)) as Letter;
      this.letters = this.letters.filter(({ id }) => id !== taken);
    }
    if (path === '/sent') this.sent.push((await json(request)) as { to: string; text: string });
    return String(this.sent.length);
  }
}
