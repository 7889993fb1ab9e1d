/**
 * The smallest runtime: shows what a runtime brings along, its own session header and its own words for errors among it. It loads
 * no module of the product, because a test edits those before they are loaded.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AgentRuntime, Dial, ReportedError } from '@lodge/ports';

const dial: Dial = async (port, signal) => {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect', { signal });
  return socket;
};

/** Its gateway is on loopback, whichever guest it is asked for. */
export function createToyRuntime(gatewayPort: number): AgentRuntime {
  return {
    name: 'toy',
    version: '1',
    source: { registry: 'npm', package: 'toy' },
    templateVariant: 'toy-1',
    gatewayPort,
    data: { folders: ['/workspace'], except: [] },
    startWarmupLlm: async () => ({ port: 1, close: async () => undefined }),
    prepareTemplate: async () => ({}),
    resume: async () => undefined,
    quiesce: async (_guest, facts) => facts,
    flush: async () => undefined,
    forget: async () => undefined,
    shutdown: async () => undefined,
    health: async () => ({ gateway: null, oomKills: 0, diskFreeMib: 1_000 }),
    readLog: async (_guest, offset) => ({ lines: [], nextOffset: offset }),
    awaitBoot: async () => undefined,
    inGuest: () => null,
    apply: async () => undefined,
    skills: { place: async () => undefined, look: async () => [] },
    chatEndpoint: (_guest, _facts, { model }, { conversation }) => ({
      dial,
      baseUrl: `http://127.0.0.1:${gatewayPort}/v1`,
      headers: { 'x-toy-session': conversation ?? '' },
      model: `toy:${model}`,
      takesPictures: true,
    }),
    turnFailure,
    web: (_guest, _facts, _settings, page) => (page === 'gateway' ? { port: gatewayPort, headers: {} } : null),
  };
}

/** It says `BUSY <seconds>` where the provider asked it to wait. */
function turnFailure({ message }: ReportedError) {
  const seconds = /^BUSY (\d{1,6})$/.exec(message)?.[1];
  if (seconds === undefined) return { kind: 'turn_failed' } as const;
  return { kind: 'provider_rate_limit', retryAfterSeconds: Number(seconds) } as const;
}
