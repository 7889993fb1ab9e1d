/** Attacks of a hostile account: in its guests, as root, and by its own key together with them. */
import { again, runInGuest } from './attack.ts';
import type { Attack } from './attack.ts';
import { findingAttacks } from './findings.ts';
import type { World } from './world.ts';

/** By what they are on, those of guest.mjs. */
const inGuest: Readonly<Record<Attack['on'], readonly string[]>> = {
  time: [
    'base64 runs',
    'empty lists',
    'empty objects',
    'deep lists',
    'deep objects',
    'numbers',
    'escapes',
    'backslashes',
    'quotes',
    'an open string',
    'many fields',
    'a field twice at the end',
    'spaces',
    'bytes that are no text',
    'a long model',
    'terminal sequences in the log',
    'half tokens in the log',
    'carriage returns in the log',
    'a log without lines',
    'a log of short lines',
    'a log of key-like words',
    'a log of bytes that are no text',
    'a console that never stops',
    'requests for nothing',
    'the list of models',
    'processes without end',
    'every core',
  ],
  memory: [
    'bodies that never come',
    'bodies a byte at a time',
    'a body without end',
    'headers without end',
    'a thousand connections',
    'answers that nobody reads',
    'large bodies at once',
    'all of the memory',
  ],
  disk: [
    'a full disk',
    'writes that are synced',
    'small files',
    'writes and sync by many',
    'drivers that are taken away and put back',
  ],
  network: [
    'connections to everywhere',
    'datagrams',
    'small datagrams',
    'names without end',
    'datagrams at the host',
    'every port of the host',
    'pings',
  ],
  money: [
    'a model without a price',
    'models without end',
    'fields spelled otherwise',
    'answers at the hundredfold',
    'a dearer tier',
    'calls that are left',
  ],
};

/** Modes of gateway.mjs: answers to chats that the hostile account itself asks for. */
const byGateway = [
  'empty lists',
  'deep objects',
  'an answer of quotes',
  'a stream without lines',
  'a stream of commas',
  'a stream of nothing',
  'headers without end',
  'another protocol',
  'silence',
] as const;

export const attacks: readonly Attack[] = [
  ...(Object.entries(inGuest) as [Attack['on'], readonly string[]][]).flatMap(([on, names]) =>
    names.map((name) => ({ name, on, run: (world: World, ms: number) => runInGuest(world, world.ids.one, name, ms) })),
  ),
  ...byGateway.map((mode): Attack => ({
    name: `a gateway: ${mode}`,
    on: 'time',
    run: (world, ms) => runGateway(world, mode, ms),
  })),
  { name: 'long lists of files', on: 'time', run: listFiles },
  { name: 'commands that say much', on: 'time', run: execMuch },
  ...findingAttacks,
  { name: 'a daemon of its own', on: 'time', isForGood: true, run: replaceDaemon },
];

/** Several at once, in both guests. */
export const mixed: Attack = {
  name: 'mixed',
  on: 'time',
  async run(world, ms) {
    const { one, two } = world.ids;
    await Promise.all([
      runInGuest(world, one, 'empty lists', ms),
      runInGuest(world, two, 'base64 runs', ms),
      runInGuest(world, one, 'half tokens in the log', ms),
      runInGuest(world, two, 'terminal sequences in the log', ms),
      runInGuest(world, one, 'bodies that never come', ms),
      runInGuest(world, two, 'connections to everywhere', ms),
      runInGuest(world, one, 'writes that are synced', ms),
    ]);
    return '';
  },
};

async function runGateway({ guest, hostile, ids }: World, mode: string, ms: number): Promise<string> {
  const client = await guest(ids.two);
  await client.writeFile('/srv/mode', mode, { mode: 0o600, owner: 'root' });
  const stream = mode.startsWith('a stream');
  const body = { messages: [{ role: 'user', content: 'x' }], ...(stream && { stream }) };
  try {
    return await again(
      ms,
      4,
      async (signal) => (await hostile.call('POST', `/agents/${ids.two}/chat/completions`, body, signal)).status,
    );
  } finally {
    await client.writeFile('/srv/mode', 'honest', { mode: 0o600, owner: 'root' });
  }
}

async function listFiles({ guest, hostile, ids }: World, ms: number): Promise<string> {
  const client = await guest(ids.two);
  const make =
    'mkdir -p /workspace/many && cd /workspace/many && seq -f "%06g-a-name-that-is-rather-long" 20000 | xargs touch';
  await client.exec({ argv: ['/bin/sh', '-c', make], user: 'root', timeoutMs: 120_000 });
  return again(
    ms,
    8,
    async (signal) => (await hostile.call('GET', `/agents/${ids.two}/files/many?list=1`, undefined, signal)).status,
  );
}

function execMuch({ hostile, ids }: World, ms: number): Promise<string> {
  const body = { command: `node -e 'process.stdout.write("\\u0000\\"\\\\".repeat(1300000))'`, timeout_seconds: 30 };
  return again(ms, 4, async (signal) => (await hostile.call('POST', `/agents/${ids.two}/exec`, body, signal)).status);
}

/** A hostile daemon answers the calls of the guest's owner and of the host itself. */
async function replaceDaemon({ guest, hostile, ids }: World, ms: number): Promise<string> {
  const client = await guest(ids.two);
  const command = 'cp /srv/daemon.mjs /opt/lodge/guestd.mjs; (sleep 1; pkill -f guestd.mjs) >/dev/null 2>&1 &';
  await client.exec({ argv: ['/bin/sh', '-c', `setsid sh -c '${command}'`], user: 'root', timeoutMs: 20_000 });
  const asks = [
    () => hostile.call('GET', `/agents/${ids.two}/files/?list=1`),
    () => hostile.call('POST', `/agents/${ids.two}/exec`, { command: 'true' }),
  ];
  let i = 0;
  return again(ms, 4, async () => (await asks[(i += 1) % asks.length]!()).status);
}
