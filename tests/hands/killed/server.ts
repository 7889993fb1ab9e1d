/**
 * A server in a process of its own, to be killed at any moment: the real API and loops. Its argument is its job, and it prints
 * its address and its first key as a line of JSON. It ends with whoever started it.
 */
import { randomInt } from 'node:crypto';
import { dialTo } from '@lodge/guest';
import { survivingHost } from '@lodge/testkit/surviving-host';
import { silent } from '../../../packages/testkit/src/plane/wired-accounts.ts';
import { startServer } from '../../e2e/api/world.ts';
import { openTestStore } from '../../../packages/store/src/testing/agents-fixture.ts';

export interface Job {
  readonly connectionString: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Port on loopback of the daemon that answers for every guest. */
  readonly guestPort: number;
  /** Port on loopback of the runtimes' gateway. */
  readonly gatewayPort: number;
}

const { port, gatewayPort, ...given } = JSON.parse(process.argv[2]!) as Job;
process.stdin.once('end', () => process.exit()).resume();
const store = await openTestStore({ ...given, log: silent });
// Its tables are not there before the first start.
const agents = await store.agents.all().catch(() => []);
await store.close();
// All of 127/8 leads to this machine, so that its servers are an agent's.
const server = await startServer({
  ...given,
  host: survivingHost(agents, () => `127.9.${randomInt(256)}.${randomInt(1, 255)}`),
  settings: {
    LODGE_PORT: String(port),
    LODGE_INSTANCE: 'killed',
    LODGE_WEBHOOK_ADDRESSES: 'any',
    LODGE_REGISTRATION: 'open',
  },
  runtime: {
    data: { folders: ['/workspace'], except: [] },
    chatEndpoint: () => ({
      dial: dialTo('127.0.0.1'),
      baseUrl: `http://127.0.0.1:${gatewayPort}/v1`,
      headers: {},
      model: 'openclaw',
      takesPictures: false,
    }),
  },
  onError: (fields, message) => console.error(message, fields),
});
console.log(JSON.stringify({ url: server.url, key: server.firstKey }));
