/**
 * A server of the storm, to be killed at any moment: the engine with its own answering, and the relays that a server starts. Its
 * machines are in memory and its gateway says the words that it was told; all else is as in the product.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import type { AgentRow } from '@lodge/store/agents';
import { startPlane } from '@lodge/testkit/plane';
import { survivingHost } from '@lodge/testkit/surviving-host';
import type { FakeHost } from '@lodge/vm/fake';
import type { RelaysOptions } from '../../../apps/server/src/relay/relays.ts';
import { relaysHere } from '../../../apps/server/src/relay/testing/relays-here.ts';
import { FakeGateway } from '../../../packages/testkit/src/plane/fake-gateway.ts';
import type { Step } from '../../../packages/testkit/src/plane/fake-gateway.ts';
import { createToyRuntime } from '../../../packages/testkit/src/plane/toy-runtime/toy-runtime.ts';
import { openTestStore } from '../../../packages/store/src/testing/agents-fixture.ts';

export interface ServerJob extends Pick<RelaysOptions, 'platforms' | 'timings'> {
  readonly of: 'channels';
  readonly connectionString: string;
  readonly filesDir: string;
  /** In base64. */
  readonly masterKey: string;
  readonly accountId: string;
  /** Ms that a turn takes at most. */
  readonly turnMs: number;
  /** The provider postpones every turn of this number. */
  readonly putOffEvery: number;
}

/** The server sends such a report again and again. */
export interface StormReport {
  /** Process ids of its relays. */
  readonly relays: readonly number[];
}

const holder = 'storm';
const reportEveryMs = 50;
/** A claim of a server that was killed ends soon; a message may meet many kills before it is given up. */
const bounds = { leaseMs: 3_000, lookEveryMs: 200, waitsMs: Array.from({ length: 20 }, () => 200) };
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (fields: object, message: string) => console.error(message, fields),
};

/** When its process ends, so do its relays, which it is connected with. */
export async function serve(job: ServerJob, report: (told: StormReport) => void): Promise<void> {
  const { masterKey, accountId, turnMs, putOffEvery, ...start } = job;
  const { connectionString } = start;
  const database = { connectionString, drop: () => Promise.resolve() };
  const store = await openTestStore({ connectionString, log });
  const gateway = new FakeGateway();
  gateway.steps = ({ body }) => stepsOf(body, turnMs, gateway.turns.length % putOffEvery === 0);
  await startPlane(
    { database, store, accountId, planes: new Set(), ending: new Set() },
    hostOf(await store.agents.all()),
    {
      gateway,
      holder,
      runtimes: new Map([['runtime_a', createToyRuntime(1)]]),
      channels: { files: createChannelFiles(start.filesDir), bounds },
    },
  );
  const { platforms, timings } = start;
  const relays = await relaysHere({
    platforms,
    ...(timings && { timings }),
    store: store.relay,
    notices: store.mailboxNotices,
    secrets: await openSecretBox(store.secrets, Buffer.from(masterKey, 'base64')),
    files: createChannelFiles(start.filesDir),
    instance: holder,
    logLevel: 'error',
    // A relay that was killed is what the storm is about.
    log: { ...log, error() {} },
  });
  setInterval(() => report({ relays: relays.pids }), reportEveryMs);
}

function hostOf(agents: readonly AgentRow[]): FakeHost {
  const host = survivingHost(agents);
  host.memory = { totalMib: 1_048_576, availableMib: 1_000_000 };
  return host;
}

/** The words of all messages of the turn, after a while. */
function stepsOf(body: Readonly<Record<string, unknown>>, turnMs: number, isPutOff: boolean): readonly Step[] {
  const after = { after: sleep(randomInt(turnMs)) };
  if (isPutOff) return [after, { failure: { kind: 'provider_rate_limit', retryAfterSeconds: 0 } }];
  const [{ content }] = body['messages'] as readonly [{ readonly content: string }];
  return [after, { text: (content.match(/^w\d+$/gm) ?? []).join(' ') }];
}
