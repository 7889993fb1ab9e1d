import { noSpendDefaults, ofEachRuntime } from '@lodge/domain';
import type { Agents } from '@lodge/engine';
import { createHttpApp } from '../app.ts';
import { openResources } from '../../resources/index.ts';
import type { AppOptions } from '../app.ts';

/** Stands for use-cases of which only the names are asked while routes are declared. A call of one throws. */
function uncalled<T extends object>(values: Partial<T> = {}): T {
  const call = (): never => {
    throw new Error('only the document is made');
  };
  return new Proxy(call as unknown as T, { get: (_, name) => Reflect.get(values, name) ?? uncalled() });
}

/** docs/reference/openapi.json: what `GET /v1/openapi.json` answers, set for reading. No deployment's settings are in it. */
export async function openApiJson(): Promise<string> {
  const spend = uncalled<AppOptions['spend']>({ defaults: noSpendDefaults });
  const app = createHttpApp({
    agents: uncalled<Agents>({ providers: [] }),
    runTurn: uncalled(),
    decideInTurn: uncalled(),
    verifier: uncalled(),
    events: uncalled(),
    accounts: uncalled(),
    ...openResources(uncalled()),
    origin: () => 'http://localhost',
    spend,
    pages: null,
    host: uncalled(),
    usage: uncalled(),
    limits: {
      store: uncalled(),
      rates: { reads: 0, writes: 0, creates: 0, calls: 0, address: 0, createsAtOnce: 0 },
      quotas: { agents: 0, running: 0 },
      spend,
    },
    ready: uncalled(),
    agentUrl: { scheme: 'http', domain: '', port: null, prefixes: ofEachRuntime(() => '') },
    createWaitMs: 0,
    lifecycleWaitMs: 0,
    chatTimeoutMs: 0,
    version: '',
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  await app.ready();
  const document = JSON.stringify(app.swagger(), null, 2);
  await app.close();
  return `${document}\n`;
}
