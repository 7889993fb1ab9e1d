/** A program of whoever controls a guest, which answers in the place of Chromium's debugging port. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { DialCdp } from '../cdp/http.ts';

/** The smallest picture as the screencast makes them: a grey square. */
export const plainJpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APn+v//Z',
  'base64',
);

export const pictureOf = (jpeg: Uint8Array, sessionId: unknown = 1, size: unknown = 780): string =>
  JSON.stringify({
    method: 'Page.screencastFrame',
    params: {
      data: Buffer.from(jpeg).toString('base64'),
      metadata: { deviceWidth: size, deviceHeight: 437 },
      sessionId,
    },
  });

export class FalseChromium {
  /** Commands that came, by all tabs. */
  readonly heard: { readonly method: string; readonly params: Record<string, unknown>; readonly id: number }[] = [];
  /** Called once a tab is open. */
  onTab: (socket: WebSocket) => void = () => undefined;
  onCommand: (socket: WebSocket, command: FalseChromium['heard'][number]) => void = () => undefined;
  answer: RequestListener = (_, response) => response.end('[]');
  private readonly server = createServer((request, response) => this.answer(request, response));
  private readonly sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024 });

  async listen(): Promise<number> {
    this.server.on('upgrade', (request, socket, head) => {
      this.sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.on('error', () => undefined);
        opened.on('message', (data) => {
          const command = JSON.parse((data as Buffer).toString());
          this.heard.push(command);
          this.onCommand(opened, command);
        });
        this.onTab(opened);
      });
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this.port;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  readonly dial: DialCdp = async (signal) => {
    const socket = connect(this.port, '127.0.0.1');
    await once(socket, 'connect', { signal });
    return socket;
  };

  close(): void {
    for (const socket of this.sockets.clients) socket.terminate();
    this.server.closeAllConnections();
    this.server.close();
  }
}
