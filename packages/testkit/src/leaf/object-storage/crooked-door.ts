/** A door before a real storage: what it lets through is the storage's own, and what it is told to spoil is not. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** True: the door has answered, or ended the connection. */
export type Spoil = (req: IncomingMessage, res: ServerResponse) => boolean;
/** What becomes of an answer's body. */
export type Rewrite = (req: IncomingMessage, body: Buffer) => Buffer;

const straight: Spoil = () => false;

export class CrookedDoor {
  spoil: Spoil = straight;
  rewrite: Rewrite | null = null;
  /** Method and path of what came. */
  readonly asked: string[] = [];
  private readonly storage: URL;
  private readonly server = createServer((req, res) => this.take(req, res));

  private constructor(storage: string) {
    this.storage = new URL(storage);
  }

  static async open(storage: string): Promise<CrookedDoor> {
    const door = new CrookedDoor(storage);
    door.server.listen(0, '127.0.0.1');
    await once(door.server, 'listening');
    return door;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  straighten(): void {
    this.spoil = straight;
    this.rewrite = null;
    this.asked.length = 0;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await once(this.server.close(), 'close');
  }

  private take(req: IncomingMessage, res: ServerResponse): void {
    this.asked.push(`${req.method} ${req.url}`);
    if (this.spoil(req, res)) return;
    const { method, url, headers } = req;
    // The signature is over the name that was asked for.
    const to = { host: this.storage.hostname, port: this.storage.port, method, path: url, headers };
    const forwarded = request(to, (answer) => void this.giveBack(req, res, answer));
    forwarded.once('error', () => res.destroy());
    req.once('close', () => req.complete || forwarded.destroy());
    req.pipe(forwarded);
  }

  private async giveBack(req: IncomingMessage, res: ServerResponse, answer: IncomingMessage): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const given = this.rewrite === null ? body : this.rewrite(req, body);
    const { 'transfer-encoding': _, ...headers } = answer.headers;
    const length = req.method === 'HEAD' ? headers['content-length'] : given.length;
    res.writeHead(answer.statusCode ?? 500, { ...headers, ...(length !== undefined && { 'content-length': length }) });
    res.end(given);
  }
}
