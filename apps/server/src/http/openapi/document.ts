import { noSpendDefaults } from '@lodge/domain';
import type { Agents, Channels, Schedules, Webhooks, Hooks, Connections } from '@lodge/engine';
import type { Accounts } from '@lodge/ports';
import { createHttpApp } from '../app.ts';
import type { AccountArea } from '../context.ts';

const never = (): never => {
  throw new Error('only the document is made');
};

/** An account area whose routes exist and do nothing. */
export const noAccountArea: AccountArea = {
  accounts: new Proxy({} as Accounts, { get: () => never }),
  spend: { defaults: noSpendDefaults, asleep: never, note: never, ofAgent: never, ofAccount: never },
  origin: () => 'http://localhost',
  pages: null,
};

/** docs/reference/openapi.json: what `GET /v1/openapi.json` answers, set for reading. No deployment's settings are in it. */
export async function openApiJson(): Promise<string> {
  const agents = new Proxy({} as Agents, { get: (_agents, name) => (name === 'providers' ? [] : never) });
  const app = createHttpApp({
    agents,
    runTurn: never,
    verifier: { verify: never },
    audit: { page: never },
    events: { page: never, onAppend: never },
    accounts: { account: never, update: never },
    places: {
      ports: { ofAgent: never, find: never, publish: never, unpublish: never },
      visits: { createLink: never, openLink: never, visit: never },
    },
    channels: { channels: new Proxy({} as Channels, { get: () => never }), origin: noAccountArea.origin },
    webhooks: new Proxy({} as Webhooks, { get: () => never }),
    schedules: new Proxy({} as Schedules, { get: () => never }),
    hooks: { hooks: new Proxy({} as Hooks, { get: () => never }), origin: noAccountArea.origin },
    connections: { connections: new Proxy({} as Connections, { get: () => never }), origin: noAccountArea.origin },
    account: noAccountArea,
    usage: { report: never, knows: never, calls: never, call: never },
    limits: {
      store: { lease: never, enter: never, leave: never, prune: never },
      rates: { reads: 0, writes: 0, creates: 0, calls: 0, address: 0, createsAtOnce: 0 },
      quotas: { agents: 0, running: 0 },
      spend: noAccountArea.spend,
    },
    ready: never,
    agentUrl: { scheme: 'http', domain: '', port: null, prefixes: { runtime_a: '', runtime_b: '' } },
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
