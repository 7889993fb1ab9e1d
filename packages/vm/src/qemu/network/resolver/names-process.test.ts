/** The process that looks names up has no privileges, and root trusts few of its messages. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import dnsPacket from 'dns-packet';
import type { AllowedName } from '../egress-rules.ts';
import { NamesProcess } from './names-process.ts';
import type { NamesProcessOptions } from './names-process.ts';

/** An address of this file alone: on others any connection may take a port that was free a moment ago. */
const guest = `127.${[...randomBytes(3)].map((byte) => 1 + (byte % 254)).join('.')}`;
const shop: AllowedName = { name: 'shop.example', below: false, mark: 7 };

/** A name server: every name has 23.1.1.1 and 10.0.0.1, for ten seconds. */
async function nameServer(t: TestContext): Promise<string> {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.on('message', (packet, { address, port }) => {
    const { id, questions } = dnsPacket.decode(packet);
    const { name } = questions![0]!;
    const answers = ['23.1.1.1', '10.0.0.1'].map((data) => ({ type: 'A', name, data, ttl: 10 }) as const);
    const reply = { type: 'response', id: id!, questions: questions!, answers } as const;
    socket.send(dnsPacket.encode(reply), port, address);
  });
  socket.bind(0, guest);
  await once(socket, 'listening');
  return `${guest}:${socket.address().port}`;
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, guest);
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

async function started(t: TestContext, changes: Partial<NamesProcessOptions> = {}) {
  const pins: unknown[] = [];
  const refused: string[] = [];
  const log: string[] = [];
  const port = await freePort();
  const names = new NamesProcess({
    serve: {
      address: guest,
      port,
      nameServers: [await nameServer(t)],
      pinBounds: { leastSeconds: 60, mostSeconds: 600 },
      closedBlocks: ['10.0.0.0/8'],
    },
    guests: 1,
    pin: async (of, { addresses, mark, until }) =>
      void pins.push({ of, addresses, mark, s: (until - Date.now()) / 1000 }),
    refuse: (_, name) => void refused.push(name),
    isClosed: (address) => address.startsWith('10.'),
    log: (message) => void log.push(message),
    ...changes,
  });
  t.after(() => names.stop());
  await names.start();
  const ask = async (name: string): Promise<dnsPacket.DecodedPacket> => {
    const socket = createSocket('udp4').bind(0, guest);
    const query = dnsPacket.encode({ type: 'query', id: 1, questions: [{ type: 'A', name }] });
    // A datagram may reach a process that is only about to listen.
    const again = setInterval(() => socket.send(query, port, guest), 200);
    socket.send(query, port, guest);
    const [reply] = (await once(socket, 'message')) as [Buffer];
    clearInterval(again);
    socket.close();
    return dnsPacket.decode(reply);
  };
  return { names, pins, refused, log, ask };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('names are read by a process without privileges, root pins what it finds, and one that is killed is followed by another', async (t) => {
  const { names, pins, refused, ask } = await started(t);
  names.allow(guest, [shop]);
  const status = await readFile(`/proc/${names.pid}/status`, 'utf8');
  const field = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)![1]!;
  assert.deepEqual([...new Set(field('Uid').split('\t'))], ['2000100001']);
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.equal(Number(`0x${field(set)}`), 0, set);
  assert.deepEqual([field('NoNewPrivs'), field('Groups').trim()], ['1', '']);
  const { answers } = await ask('shop.example');
  assert.deepEqual(
    answers?.map((answer) => 'data' in answer && answer.data),
    ['23.1.1.1'],
  );
  const [{ s, ...pin }] = pins as [{ readonly s: number }];
  assert.deepEqual(pin, { of: guest, addresses: ['23.1.1.1'], mark: 7 });
  assert.ok(s > 50 && s <= 60, `${s} s`);
  await ask('other.example');
  assert.deepEqual(refused, ['other.example']);
  const first = names.pid!;
  process.kill(first, 'SIGKILL');
  await until(() => names.pid !== null && names.pid !== first);
  assert.equal((await ask('shop.example')).answers?.length, 1, 'the next one knows its guests');
});

test('one that hangs is killed and followed by another, and one that answers is left alone', async (t) => {
  // A start may take long on a busy machine.
  const heartbeat = { pingEveryMs: 100, silentMs: 60_000 };
  const { names, log, ask } = await started(t, { heartbeat });
  names.allow(guest, [shop]);
  await ask('shop.example');
  const first = names.pid!;
  heartbeat.silentMs = 3_000;
  await sleep(4_000);
  assert.deepEqual([names.pid, log], [first, []]);
  process.kill(first, 'SIGSTOP');
  await until(() => log.length > 0);
  heartbeat.silentMs = 60_000;
  await until(() => names.pid !== null && names.pid !== first);
  assert.match(log[0]!, /answers nothing, and is killed/);
  assert.equal((await ask('shop.example')).answers?.length, 1, 'the next one knows its guests');
});

/** A hostile process of the same protocol: it sends these messages, then those of `more`. */
async function takenOver(
  t: TestContext,
  messages: readonly unknown[],
  more = '',
): Promise<NamesProcessOptions['unprivileged']> {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-names-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'taken-over.mjs');
  const script = `
    import { Socket } from 'node:net';
    const stream = new Socket({ fd: 3 });
    const send = (message) => {
      const body = Buffer.from(JSON.stringify(message));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(body.length);
      stream.write(Buffer.concat([length, body]));
    };
    send({ kind: 'serving' });
    setTimeout(() => { for (const message of ${JSON.stringify(messages)}) send(message); ${more} }, 300);
    stream.on('error', () => process.exit()).on('close', () => process.exit()).resume();`;
  await writeFile(file, script);
  return async () => [process.execPath, file];
}

test('of a process that was taken over root pins public addresses for known guests alone, within bounds', async (t) => {
  const pin = { kind: 'pin', id: 1, guest, addresses: ['23.1.1.1'], mark: 7, seconds: 60 };
  const messages = [
    { ...pin, addresses: ['23.1.1.1', '10.0.0.1'] },
    { ...pin, guest: '10.201.0.6' },
    { kind: 'refuse', guest: '10.201.0.6', name: 'x' },
    { ...pin, seconds: 1e12 },
    { kind: 'refuse', guest, name: 'last' },
  ];
  const { names, pins, refused, log } = await started(t, { unprivileged: await takenOver(t, messages) });
  names.allow(guest, [shop]);
  await until(() => refused.length > 0);
  assert.deepEqual(refused, ['last']);
  assert.equal(pins.length, 1);
  assert.ok((pins as [{ readonly s: number }])[0].s <= 600, 'its lifetime is bounded');
  assert.deepEqual(log, []);
});

test('pins of many guests at once end nothing, and those of one beyond its lookups do', async (t) => {
  const addresses = Array.from({ length: 60 }, (_, at) => `10.201.0.${at + 1}`);
  const pinsOf = (of: string, most: number) =>
    Array.from({ length: most }, () => ({
      kind: 'pin',
      id: 1,
      guest: of,
      addresses: ['23.1.1.1'],
      mark: 7,
      seconds: 60,
    }));
  const held: string[] = [];
  const { names, log } = await started(t, {
    guests: addresses.length,
    unprivileged: await takenOver(t, [...addresses.flatMap((of) => pinsOf(of, 8)), ...pinsOf(addresses[0]!, 1)]),
    pin: (of) => {
      held.push(of);
      return new Promise(() => undefined);
    },
  });
  for (const address of addresses) names.allow(address, [shop]);
  await until(() => log.length > 0);
  assert.equal(held.length, 480);
  assert.match(log[0]!, /too many pins of a guest at once/);
});

for (const [what, messages, more] of [
  [
    'a pin of another shape',
    [{ kind: 'pin', id: 1, guest, addresses: ['23.1.1.1; flush ruleset'], mark: 7, seconds: 60 }],
    '',
  ],
  ['what is no message', [{ kind: 'exec', command: 'id' }], ''],
  ['a message that is too long', [{ kind: 'refuse', guest, name: 'x'.repeat(20_000) }], ''],
  [
    'a flood',
    [],
    `setInterval(() => { for (let i = 0; i < 500; i++) send({ kind: 'refuse', guest: '${guest}', name: 'x' }); }, 1)`,
  ],
] as const) {
  test(`${what} ends the process, and another is started`, async (t) => {
    const { names, pins, log } = await started(t, { unprivileged: await takenOver(t, messages, more) });
    names.allow(guest, [shop]);
    const first = names.pid;
    await until(() => log.length > 0 && names.pid !== first);
    assert.match(log[0]!, /is started again/);
    assert.deepEqual(pins, []);
  });
}
