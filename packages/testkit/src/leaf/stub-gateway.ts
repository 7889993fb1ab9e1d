/** For tests of chat: a stub of the gateway in a guest, and what it says. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A gateway on a real socket that answers as the test says. */
export class StubGateway {
  answer: (res: ServerResponse) => void | Promise<void> = () => undefined;
  // eslint-disable-next-line typescript/no-explicit-any -- a test looks into any request
  requests: { headers: IncomingHttpHeaders; body: any; closed: Promise<unknown> }[] = [];
  readonly server: Server = createServer((req, res) => {
    void json(req).then((body) => {
      this.requests.push({ headers: req.headers, body, closed: once(res, 'close') });
      return this.answer(res);
    });
  });

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }
}

export const gatewayToken = 'gateway-token';
export const whole = { id: 'chatcmpl_1', object: 'chat.completion', created: 1, model: 'openclaw' };
export const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
export const chunk = (content: string) => ({
  id: 'chatcmpl_1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'openclaw',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
export const done = 'data: [DONE]\n\n';

export function answerJson(status: number, body: unknown, headers: Record<string, string> = {}) {
  return (res: ServerResponse): void => {
    res.writeHead(status, { 'content-type': 'application/json', 'x-gateway': 'inside', ...headers });
    res.end(JSON.stringify(body));
  };
}

export function answerEvents(...texts: string[]) {
  return (res: ServerResponse): void => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-gateway': 'inside' });
    for (const text of texts) res.write(text);
    res.end();
  };
}

export const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { type: string; code: string; message: string } };
  return { status: response.status, ...error };
};
