import { once } from 'node:events';
import { after, afterEach, before, beforeEach } from 'node:test';
import { agentRow, testApp } from './test-app.ts';
import type { TestApp } from './test-app.ts';
import { StubGateway, gatewayToken } from '../../leaf/stub-gateway.ts';

/** A server with one agent whose gateway is a stub, for the tests of a file; each test has a server of its own. */
export class ChatWorld {
  readonly gateway = new StubGateway();
  readonly row = agentRow();
  lodge!: TestApp;
  baseUrl!: string;

  constructor() {
    const { gateway } = this;
    before(async () => {
      gateway.server.listen(0, '127.0.0.1');
      await once(gateway.server, 'listening');
    });
    after(() => gateway.server.close());
    beforeEach(async () => {
      gateway.requests = [];
      await this.open({ chatSilenceMs: 100, chatTimeoutMs: 2000 });
    });
    afterEach(() => this.lodge.app.close());
  }

  async open(options: Parameters<typeof testApp>[0]): Promise<void> {
    this.lodge = testApp(options);
    this.lodge.agents.rows = [this.row];
    this.lodge.agents.endpoint = {
      baseUrl: this.gateway.url,
      headers: { authorization: `Bearer ${gatewayToken}` },
      model: 'openclaw',
      takesPictures: false,
    };
    this.baseUrl = `${await this.lodge.app.listen({ port: 0, host: '127.0.0.1' })}/v1`;
  }

  post(body: object, options: { path?: string; headers?: Record<string, string>; signal?: AbortSignal } = {}) {
    return fetch(`${this.baseUrl}${options.path ?? `/agents/${this.row.id}/chat/completions`}`, {
      method: 'POST',
      headers: { authorization: 'Bearer all', 'content-type': 'application/json', ...options.headers },
      body: JSON.stringify(body),
      ...(options.signal && { signal: options.signal }),
    });
  }
}
