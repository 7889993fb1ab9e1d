/** A server that receives events: it keeps them, and answers as a test says. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  /** `webhook-id`. */
  readonly id: string;
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly agent_id: string | null;
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly at: number;
}

type Answer = (received: Received, req: IncomingMessage, res: ServerResponse) => void;

export const taken: Answer = (_received, _req, res) => void res.writeHead(204).end();

export class WebhookReceiver {
  /** Requests whose signature was good, in the order in which they came. */
  readonly received: Received[] = [];
  /** Requests whose signature was not, or that were none. */
  readonly refused: string[] = [];
  answer: Answer = taken;
  /** One of these has made the signature; empty: nobody looks. */
  secrets: readonly string[] = [];
  private readonly server = createServer((req, res) => this.take(req, res));

  static async start(port = 0): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.server.listen(port, '127.0.0.1');
    await once(receiver.server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    if (this.server.listening) await once(this.server, 'close');
  }

  private take(req: IncomingMessage, res: ServerResponse): void {
    let body = '';
    req.setEncoding('utf8');
    req.on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      const headers = req.headers as Record<string, string>;
      if (this.secrets.length > 0 && !this.secrets.some((secret) => isSignedBy(secret, body, headers))) {
        this.refused.push(body);
        return void res.writeHead(401).end();
      }
      const event = JSON.parse(body) as Received['event'];
      const received = { id: headers['webhook-id']!, event, at: Date.now() };
      this.received.push(received);
      this.answer(received, req, res);
    });
  }
}

/** The check of the official library. */
function isSignedBy(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
