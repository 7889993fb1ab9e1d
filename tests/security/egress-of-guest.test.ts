/**
 * An agent's egress rules from the API to a real virtual machine: what egress.test.ts shows of a network holds for an agent of a whole Lodge, and a change of rules
 * that was acknowledged holds whenever the control plane is killed.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createImageBuilder } from '@lodge/images';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { serveEcho } from './conversation.ts';
import { type Names, serveNames } from './names.ts';
import { each, reached, tcp, words } from './places.ts';
import { type Prober, type Target, probe } from './prober.ts';
import { ip } from './shell.ts';
import * as at from './world.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const cacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
// Outside this builds the image if there is none, which needs the internet; inside it is found.
await createImageBuilder({ cacheDir, log: quiet }).ensure('base', () => {}, new AbortController().signal);
enterPrivateHost(import.meta.filename);

const run = promisify(execFile);
const nameServer = '9.9.9.10';
const shop = '23.1.1.1';
const other = '23.1.1.4';
const echoPort = 7;
const record = (data: string) => [{ type: 'A' as const, data, ttl: 0 }];

let service: Service;
let names: Names;
let id: string;

before(
  async () => {
    await at.buildInternet();
    for (const address of [nameServer, shop, other]) await ip('internet', `address add ${address}/32 dev lo`);
    await at.listenApart('internet', { name: 'internet', tcp: [{ address: '::', port: 80 }], udp: [] }, () => {});
    await serveEcho('internet', echoPort);
    names = await serveNames(nameServer, {
      'shop.example': record(shop),
      'other.example': record(other),
      'rebound.example': record(shop),
    });
    const entry = new URL('../failure/lodge-with-bare-guests.ts', import.meta.url);
    service = await Service.start({ entry, env: { LODGE_DNS: nameServer } });
    await service.awaitTemplate(10 * 60_000);
    const reply = await service.call('POST', '/agents', {
      name: 'Kept in',
      size: 'small',
      lifecycle: { idle_timeout_seconds: 0 },
      egress: { mode: 'allowlist', allow: ['shop.example', 'rebound.example'] },
    });
    assert.equal(reply.status, 201, JSON.stringify(reply.body));
    id = reply.body.id as string;
    // The guest's root user switches IPv6 on.
    await inGuest(['sh', '-c', 'echo 0 | tee /proc/sys/net/ipv6/conf/*/disable_ipv6']);
  },
  { timeout: 15 * 60_000 },
);
after(() => service?.destroy());

async function inGuest(argv: readonly string[], env = {}): Promise<string> {
  const guest = await guestClientOf(service.dataDir, id);
  const { exitCode, stdout, stderr } = await guest.exec({ argv, env, user: 'root', timeoutMs: 240_000 });
  assert.equal(exitCode, 0, `${argv[0]}: ${stderr}`);
  return stdout;
}

const prober: Prober = {
  ask: async (targets) => {
    const { args, env } = await probe(targets, 8_000);
    return JSON.parse(await inGuest(['node', ...args], env)) as Awaited<ReturnType<Prober['ask']>>;
  },
};

/** A connection to the shop's echo that stays open: what ended it, and whether it has ended. */
async function converse(): Promise<{ readonly hasEnded: () => boolean; readonly end: Promise<unknown> }> {
  const talk = `
    const socket = require('node:net').connect(${echoPort}, '${shop}');
    socket.on('data', () => require('node:fs').writeFileSync('/run/talks', ''));
    socket.on('error', () => {});
    socket.on('close', () => process.exit(0));
    setInterval(() => socket.write('hello'), 100);`;
  await inGuest(['rm', '-f', '/run/talks']);
  let ended = false;
  const end = inGuest(['node', '--input-type=commonjs', '--eval', talk]).finally(() => (ended = true));
  await inGuest(['sh', '-c', 'while [ ! -e /run/talks ]; do sleep 0.1; done']);
  return { hasEnded: () => ended, end };
}

async function setEgress(mode: string, ...allow: string[]): Promise<void> {
  const { status, body } = await service.call('PATCH', `/agents/${id}`, {
    egress: { mode, ...(mode === 'allowlist' && { allow }) },
  });
  assert.equal(status, 200, JSON.stringify(body));
}

const web = (...hosts: string[]): Target[] => each(hosts, [80]);

test('a guest reaches the host that its list names: no address, no other name, no IPv6, no rebinding name', async () => {
  const closed = web(other, 'other.example', ...at.addresses6, ...at.privateAddresses.slice(0, 3), ...at.hostAddresses);
  const open = web('shop.example', 'rebound.example');
  assert.deepEqual(await reached(prober, [...closed, ...open]), open.map(words));
  names.add({ 'rebound.example': record('10.9.9.9') });
  // New rules forget what was answered, so the name is asked again.
  await setEgress('allowlist', 'shop.example', 'rebound.example', '23.2.0.0/24');
  const asked = names.asked.length;
  assert.deepEqual(await reached(prober, web('shop.example', 'rebound.example', '10.9.9.9')), ['tcp shop.example 80']);
  assert.ok(names.asked.slice(asked).includes('rebound.example'));
});

test('what was refused is in the log of the agent', async () => {
  const wanted = [`tcp ${other}:80`, 'the name other.example', 'tcp 10.9.9.9:80', 'the name rebound.example'];
  let found: string[] = [];
  // Refusals are read when the links' counters say so, and once a minute whatever they say.
  for (let n = 0; n < 600 && !wanted.every((what) => found.some((line) => line.includes(what))); n += 1) {
    await sleep(200);
    const { body } = await service.call('GET', `/agents/${id}/logs?source=egress&limit=100`);
    found = (body.data as { message: string }[]).map(({ message }) => message);
  }
  for (const what of wanted)
    assert.ok(
      found.some((line) => line.includes(`Refused: ${what} is not on`)),
      found.join('\n'),
    );
});

test('a change to none ends at once what is open', async () => {
  // Its address is open to the guest for a while after it was asked for.
  await reached(prober, web('shop.example'));
  const conversation = await converse();
  await setEgress('none');
  await conversation.end;
  assert.deepEqual(await reached(prober, [tcp(shop, 80), tcp('shop.example', 80)]), []);
});

test('a change that was written and not yet in effect at kill -9 is in effect after the next start', async () => {
  await setEgress('allowlist', 'shop.example');
  await reached(prober, web('shop.example'));
  const conversation = await converse();
  const { stdout } = await run('sh', ['-c', `ls /run/netns | grep '^${service.instance}-[0-9]*$'`]);
  const [slot, ...more] = stdout.trim().split('\n');
  assert.deepEqual(more, [], 'one machine');
  // Nobody can change its rules while its name leads nowhere.
  const [name, kept] = [`/run/netns/${slot}`, '/run/netns/kept-by-test'];
  await run('touch', [kept]);
  await run('mount', ['--bind', name, kept]);
  await run('umount', [name]);
  const change = setEgress('none').catch(() => undefined);
  for (let mode = ''; mode !== 'none'; await sleep(50)) {
    mode = (await service.call('GET', `/agents/${id}`)).body.egress.mode as string;
  }
  await service.end('SIGKILL');
  await change;
  await run('mount', ['--bind', kept, name]);
  await run('umount', [kept]);
  await run('rm', [kept]);
  await sleep(500);
  assert.equal(conversation.hasEnded(), false, 'it is not in effect yet');
  await service.up();
  await conversation.end;
  assert.deepEqual(await reached(prober, [tcp(shop, 80), tcp('shop.example', 80)]), []);
});
