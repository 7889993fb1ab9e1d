/** On a private host: namespaces, links and rules are the kernel's own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './commands.ts';
import { checkNetwork, createHostNetwork } from './index.ts';
import { enterPrivateHost } from './testing/private-host.ts';

enterPrivateHost(import.meta.filename);

const tapOwner = 65534;
const usual = { tapOwner, brokerPort: 4000 };
const options = (instance: string, range: string) => ({ instance, range, brokerPort: 4000, resolver: null });
const messages: string[] = [];
const make = (instance = 'a', range = '10.201.0.0/16') =>
  createHostNetwork({ ...options(instance, range), log: (message) => messages.push(message) });
const a = make();
const b = make('b', '10.202.0.0/24');

/** Everything that this package could change on a host. */
async function host(): Promise<string> {
  const parts = await Promise.all([
    run('ip', ['-brief', 'link']),
    run('ip', ['-brief', 'address']),
    run('ip', ['route', 'show', 'table', 'all']),
    run('ip', ['netns', 'list']),
    run('nft', ['--stateless', 'list', 'ruleset']),
    readFile('/proc/sys/net/ipv4/ip_forward', 'utf8'),
  ]);
  // The kernel lists a link's own IPv6 address here only once it has found no other holder, a second or two later.
  return parts.join('\n').replace(/^local fe80::.*\n/gm, '');
}

afterEach(async () => {
  await a.teardown();
  await b.teardown();
});
after(() =>
  assert.deepEqual([...new Set(messages)], ['network: switched IPv4 forwarding on, it was off on this host']),
);

test('a teardown leaves the host as it was, from any state, and may be repeated', async () => {
  const before = await host();
  await a.teardown();
  assert.equal(await host(), before, 'nothing there yet');
  await a.start();
  await a.createNamespace(0, usual);
  await a.createNamespace(7, { tapOwner, brokerPort: 4100 });
  await a.teardown();
  assert.equal(await host(), before);
  await a.teardown();
  assert.equal(await host(), before);
});

test('start, create and remove may be repeated', async () => {
  await a.start();
  const started = await host();
  await a.start();
  assert.equal(await host(), started);
  const namespace = await a.createNamespace(3, usual);
  assert.deepEqual(namespace, {
    slot: 3,
    name: 'a-3',
    path: '/run/netns/a-3',
    tap: 'tap0',
    guestAddress: '10.201.0.14',
  });
  assert.deepEqual(await a.createNamespace(3, { tapOwner, brokerPort: 4100 }), namespace);
  assert.deepEqual(await a.createNamespace(3, usual), namespace);
  assert.deepEqual(await a.slots(), [3]);
  await a.start();
  assert.deepEqual(await a.slots(), [3], 'a start leaves namespaces alone');
  await a.removeNamespace(3);
  await a.removeNamespace(3);
  assert.deepEqual(await a.slots(), []);
  assert.equal(await host(), started);
});

test('no address of the host comes or goes with a slot', async () => {
  await a.start();
  const monitor = spawn('ip', ['monitor', 'address'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const heard: string[] = [];
  monitor.stdout.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
  const tell = async (): Promise<void> => {
    const before = heard.length;
    while (heard.length === before) {
      await run('ip', ['address', 'replace', '127.0.0.9/32', 'dev', 'lo']);
      await sleep(50);
    }
  };
  await tell();
  await a.createNamespace(0, usual);
  // A link gets its own IPv6 address a while after it is up.
  await sleep(2500);
  await a.removeNamespace(0);
  await tell();
  monitor.kill();
  await once(monitor, 'exit');
  await run('ip', ['address', 'del', '127.0.0.9/32', 'dev', 'lo']);
  assert.deepEqual(
    heard
      .join('')
      .split('\n')
      .filter((line) => /\ba-0\b/.test(line)),
    [],
  );
});

test('the tap belongs to the emulator’s user', async () => {
  await a.start();
  await a.createNamespace(0, usual);
  const taps = await run('ip', ['-n', 'a-0', '-details', '-json', 'link', 'show', 'dev', 'tap0']);
  const [tap] = JSON.parse(taps) as { linkinfo: { info_data: { type: string; user: string } } }[];
  assert.deepEqual([tap!.linkinfo.info_data.type, tap!.linkinfo.info_data.user], ['tap', 'nobody']);
});

test('halves of a slot are found, replaced and removed', async () => {
  await a.start();
  const started = await host();
  const leaveHalves = async (): Promise<void> => {
    await run('ip', ['netns', 'add', 'a-1']);
    await run('ip', ['link', 'add', 'a-2', 'type', 'veth', 'peer', 'name', 'a2-peer']);
    // The state that a killed process leaves between making the name and mounting the namespace on it.
    await writeFile('/run/netns/a-4', '');
    // These are no slots of this instance.
    await run('ip', ['netns', 'add', 'ab-5']);
  };
  await leaveHalves();
  assert.deepEqual(await a.slots(), [1, 2, 4]);
  for (const slot of [1, 2, 4]) await a.removeNamespace(slot);
  assert.deepEqual(await a.slots(), []);
  await run('ip', ['netns', 'del', 'ab-5']);
  assert.equal(await host(), started);
  await leaveHalves();
  for (const slot of [1, 2, 4]) await a.createNamespace(slot, usual);
  assert.deepEqual(await a.slots(), [1, 2, 4]);
  await a.teardown();
  assert.deepEqual((await run('ip', ['netns', 'list'])).trim(), 'ab-5');
  await run('ip', ['netns', 'del', 'ab-5']);
});

test(
  'kill -9 at any moment of a create leaves nothing that the next process does not find',
  { timeout: 300_000 },
  async () => {
    await a.start();
    const started = await host();
    const script = `
    const { createHostNetwork } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
    const network = createHostNetwork({ ...${JSON.stringify(options('a', '10.201.0.0/16'))}, log() {} });
    console.log('go');
    for (let i = 0; ; i++) {
      await network.createNamespace(i % 3, { tapOwner: 65534, brokerPort: 4000 + (i % 2) });
      if (i % 5 === 4) await network.removeNamespace(i % 3);
    }`;
    for (let round = 0; round < 8; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      await once(child.stdout, 'data');
      await sleep(15 + round * 23);
      // The tools that it has started die with it, whatever they are doing.
      process.kill(-child.pid!, 'SIGKILL');
      await once(child, 'exit');
      for (const slot of await a.slots()) await a.createNamespace(slot, usual);
      for (const slot of await a.slots()) await a.removeNamespace(slot);
      assert.equal(await host(), started);
    }
  },
);

test('two instances live side by side, and one’s teardown leaves the other whole', async () => {
  await b.start();
  const withB = await host();
  await a.start();
  await a.createNamespace(0, usual);
  await b.createNamespace(0, usual);
  await b.createNamespace(62, usual);
  assert.deepEqual([await a.slots(), await b.slots()], [[0], [0, 62]]);
  await a.teardown();
  assert.deepEqual(await b.slots(), [0, 62]);
  await b.removeNamespace(0);
  await b.removeNamespace(62);
  assert.equal(await host(), withB);
});

test('many namespaces made at the same time do not disturb one another', async () => {
  await a.start();
  const slots = [10, 11, 12, 13, 14, 15];
  const made = await Promise.all(slots.map((slot) => a.createNamespace(slot, usual)));
  assert.equal(new Set(made.map(({ guestAddress }) => guestAddress)).size, slots.length);
  assert.deepEqual(await a.slots(), slots);
  await Promise.all(slots.map((slot) => a.removeNamespace(slot)));
  assert.deepEqual(await a.slots(), []);
});

test('what another program flushed, a start restores', async () => {
  await a.start();
  const started = await host();
  await run('nft', ['flush', 'ruleset']);
  await run('ip', ['link', 'del', 'a-broker']);
  await writeFile('/proc/sys/net/ipv4/ip_forward', '0');
  await a.start();
  assert.equal(await host(), started);
});

test('what another program takes away is noticed and restored, and while it is whole nothing is written', async () => {
  await a.start();
  await a.createNamespace(3, { tapOwner, brokerPort: 4100 });
  // Tables are listed in the order of their creation.
  const lines = async (): Promise<string[]> => (await host()).split('\n').sort();
  const started = await lines();
  const messagesBefore = messages.length;
  assert.equal(await a.heal(), false);
  for (const harm of [
    () => run('nft', ['flush', 'ruleset']),
    () => run('nft', ['delete', 'table', 'inet', 'lodge_a']),
    () => run('nft', ['flush', 'chain', 'inet', 'lodge_a', 'from_guest']),
    () => run('nft', ['insert', 'rule', 'inet', 'lodge_a', 'from_guest', 'accept']),
    () => run('ip', ['link', 'del', 'a-broker']),
  ]) {
    await harm();
    assert.equal(await a.heal(), true, String(harm));
    assert.deepEqual(await lines(), started, String(harm));
    assert.equal(await a.heal(), false);
  }
  await writeFile('/proc/sys/net/ipv4/ip_forward', '0');
  assert.equal(await a.heal(), true);
  assert.equal((await readFile('/proc/sys/net/ipv4/ip_forward', 'utf8')).trim(), '1');
  await run('nft', [
    'add table ip theirs; add chain ip theirs f { type filter hook forward priority 0; policy drop; }',
  ]);
  assert.equal(await a.heal(), true, 'a firewall that comes later is opened to the guests');
  assert.equal(await a.heal(), false);
  await run('nft', ['delete table ip theirs']);
  await a.createNamespace(4, usual);
  await a.createNamespace(5, { tapOwner, brokerPort: 4200 });
  assert.equal(await a.heal(), false, 'slots come and go');
  messages.length = messagesBefore;
});

test('a range that is in use is refused, in words that name the route', async () => {
  await run('ip', ['tuntap', 'add', 'dev', 'vpn', 'mode', 'tun']);
  await run('ip', ['link', 'set', 'vpn', 'up']);
  for (const route of ['10.201.7.0/24', '10.0.0.0/8', '10.201.0.0/16']) {
    await run('ip', ['route', 'add', route, 'dev', 'vpn']);
    const before = await host();
    await assert.rejects(a.start(), {
      message: `The range 10.201.0.0/16 of the VMs' network is used on this host already (route ${route} on vpn): set LODGE_NETWORK_RANGE to another`,
    });
    assert.equal(await host(), before, 'a refused start changes nothing');
    const range = (await checkNetwork(options('a', '10.201.0.0/16'))).find(({ name }) => name === 'address range');
    assert.equal(range?.ok, false);
    await run('ip', ['route', 'del', route]);
  }
  for (const half of ['0.0.0.0/1', 'default']) {
    await run('ip', ['route', 'add', half, 'dev', 'vpn']);
    await a.start();
  }
  await assert.rejects(make('c').start(), /used on this host already \(route 10\.201\.\S+ on a-broker\)/);
  await run('ip', ['link', 'del', 'vpn']);
});

test('the range changes only when no VM is left in the old one', async () => {
  await a.start();
  await a.createNamespace(1, usual);
  const moved = make('a', '10.210.0.0/20');
  await assert.rejects(moved.start(), /still use another range than 10\.210\.0\.0\/20/);
  await a.removeNamespace(1);
  await moved.start();
  assert.doesNotMatch(await run('ip', ['route', 'show', 'table', 'all']), /10\.201\./);
  await moved.teardown();
});

test('forwarding stays on when somebody else counts on it', async () => {
  await a.start();
  await run('nft', ['add table ip theirs; add chain ip theirs f { type filter hook forward priority 0; }']);
  await a.teardown();
  assert.equal((await readFile('/proc/sys/net/ipv4/ip_forward', 'utf8')).trim(), '1');
  await run('nft', ['delete table ip theirs']);
  await writeFile('/proc/sys/net/ipv4/ip_forward', '0');
});

test('the facts for the operator are all good on a host like this one', async () => {
  const facts = await checkNetwork(options('a', '10.201.0.0/16'));
  assert.deepEqual(
    facts.filter(({ ok }) => !ok),
    [],
  );
  assert.ok(facts.length >= 7);
});

test('an nft that crashes at tables of a newer one is told in a sentence that says what to do, and guests have a network', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-nft-'));
  t.after(() => rm(folder, { recursive: true }));
  const [real, nft] = [join(folder, 'real'), (await run('sh', ['-c', 'command -v nft'])).trim()];
  await copyFile(nft, real);
  const stub = `#!/bin/sh\ncase "$*" in *"list ruleset"*|*"list tables"*) kill -SEGV $$ ;; esac\nexec ${real} "$@"\n`;
  await writeFile(join(folder, 'stub'), stub, { mode: 0o755 });
  // This host has its own file system.
  await run('mount', ['--bind', join(folder, 'stub'), nft]);
  const before = messages.splice(0);
  try {
    await a.start();
    await a.createNamespace(1, usual);
    assert.deepEqual(await a.slots(), [1]);
    assert.equal(await a.heal(), false, 'what is whole is not made anew');
    const warnings = messages.filter((message) => message.includes('nft'));
    assert.equal(warnings.length, 1, messages.join('\n'));
    assert.match(warnings[0]!, /nft crashes where it lists tables that a newer nft has made: install nftables/);
    const fact = (await checkNetwork(options('a', '10.201.0.0/16'))).find(({ name }) => name === 'other firewalls');
    assert.deepEqual([fact?.ok, fact?.advice?.startsWith('install nftables 1.0.9')], [false, true]);
    await a.teardown();
    assert.deepEqual(await a.slots(), []);
  } finally {
    await run('umount', [nft]);
  }
  messages.splice(0, Infinity, ...before, ...messages.filter((message) => !message.includes('nft')));
});
