import { once } from 'node:events';
import { dialTo } from '@lodge/guest';
import type { AgentRuntime, ChatEndpoint, ChatTurn } from '@lodge/ports';
import { createHermesRuntime, createOpenclawRuntime } from '@lodge/runtimes';
import { FakeHost } from '@lodge/vm/fake';
import { StubGateway, gatewayToken } from '../../leaf/stub-gateway.ts';
import { guestRuntime, noTroubles } from '../guest-runtime.ts';
import type { OpenLodgeOptions } from '../open-lodge.ts';
import { openApp } from './open-app.ts';
import type { OpenedApp } from './open-app.ts';

export interface OpenedChat extends OpenedApp {
  readonly gateway: StubGateway;
  /** Where turns go; by default to the stub. */
  endpoint: ChatEndpoint;
  /** Turns that were begun. */
  readonly turns: ChatTurn[];
  /** Calls of guests' runtimes: a turn that has ended has its disk flushed. */
  readonly calls: string[];
  /** A running agent. */
  readonly id: string;
  /** A key with every scope. */
  readonly apiKey: string;
  readonly post: (body: object, options?: PostOptions) => Promise<Response>;
}

interface PostOptions {
  /** By default the agent's chat. */
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/**
 * For tests of turns: `openApp` with one running agent. A stub answers for the gateway of every guest; OpenClaw's and Hermes'
 * words for its errors and tools are the real ones.
 */
export async function openChat({ api, ...options }: OpenLodgeOptions = {}): Promise<OpenedChat> {
  const gateway = new StubGateway();
  await once(gateway.server.listen(0, '127.0.0.1'), 'listening');
  const host = new FakeHost();
  const turns: ChatTurn[] = [];
  const calls: string[] = [];
  const runtimeOf = ({ name, turnFailure, toolStep }: AgentRuntime): AgentRuntime => ({
    ...guestRuntime(host, noTroubles(), calls),
    name,
    turnFailure,
    ...(toolStep && { toolStep }),
    chatEndpoint(_guest, _facts, _settings, turn) {
      turns.push(turn);
      return chat.endpoint;
    },
  });
  const lodge = await openApp({
    machines: true,
    host,
    runtimes: new Map([
      ['runtime_a', runtimeOf(createOpenclawRuntime())],
      ['runtime_b', runtimeOf(createHermesRuntime())],
    ]),
    ...options,
    api: (usual) => ({ ...usual, chatSilenceMs: 100, chatTimeoutMs: 2000, drainMs: 0, ...api?.(usual) }),
  });
  const apiKey = await lodge.key('all');
  const id = await lodge.running();
  const chat: OpenedChat = {
    ...lodge,
    gateway,
    endpoint: {
      dial: dialTo('127.0.0.1'),
      baseUrl: gateway.url,
      headers: { authorization: `Bearer ${gatewayToken}` },
      model: 'openclaw',
      takesPictures: false,
    },
    turns,
    calls,
    id,
    apiKey,
    post: (body, { path = `/agents/${id}/chat/completions`, headers = {}, signal } = {}) =>
      fetch(`${lodge.baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    async close() {
      await lodge.close();
      gateway.server.closeAllConnections();
      gateway.server.close();
    },
  };
  return chat;
}
