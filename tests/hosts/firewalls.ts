/**
 * Lodge's network beside ufw, firewalld and Docker as their packages bring them, with nft and with the older iptables: guests have their broker and the internet, after
 * a reload too, and nothing more; what the firewall keeps from the host stays kept; a teardown leaves no rule for guests there.
 * Runs in a distribution's file system (firewalls-run.ts), for it changes what is in /etc.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { type IncomingMessage, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { checkNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { type StubAgent, startAgent } from '../security/agent.ts';
import { tcp } from '../security/places.ts';
import { askFrom } from '../security/prober.ts';
import * as at from '../security/world.ts';

enterPrivateHost(import.meta.filename);

const execute = promisify(execFile);
const sh = async (command: string): Promise<string> => (await execute('sh', ['-ec', command])).stdout;
const daemons: ChildProcess[] = [];

/** Starts a program that stays, and waits until it is ready. */
async function startDaemon(program: string, args: readonly string[], ready: () => Promise<unknown>): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore' });
  daemons.push(child);
  for (const deadline = Date.now() + 120_000; ; await sleep(500)) {
    if (await ready().catch(() => false)) return;
    assert.ok(Date.now() < deadline && child.exitCode === null, `${program} does not run`);
  }
}

/** Its programs for the command line are a package of their own in some releases. */
const isDockerUp = async (): Promise<boolean> => {
  const [answer] = (await once(get({ socketPath: '/run/docker.sock', path: '/_ping' }), 'response')) as [
    IncomingMessage,
  ];
  answer.resume();
  return answer.statusCode === 200;
};

async function stopDaemons(): Promise<void> {
  for (const child of daemons.splice(0)) {
    const gone = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await gone;
  }
}

interface Firewall {
  readonly up: () => Promise<unknown>;
  readonly reload: () => Promise<unknown>;
  readonly down: () => Promise<unknown>;
  /** Whether it keeps others from the host's own ports. */
  readonly guardsHost: boolean;
}

const ufw: Firewall = {
  up: () => sh('ufw default deny incoming; ufw default deny routed; ufw --force enable'),
  reload: () => sh('ufw reload'),
  down: () => sh('ufw --force reset'),
  guardsHost: true,
};
const firewalld: Firewall = {
  up: () => startDaemon('firewalld', ['--nofork', '--nopid'], () => sh('firewall-cmd --state')),
  reload: () => sh('firewall-cmd --reload'),
  down: stopDaemons,
  guardsHost: true,
};
const docker: Firewall = {
  // It drops what is forwarded where it finds forwarding off, as it does when a host starts.
  up: async () => {
    await writeFile('/proc/sys/net/ipv4/ip_forward', '0');
    await startDaemon('dockerd', ['--data-root', '/tmp/docker', '--storage-driver', 'vfs'], isDockerUp);
  },
  // Forwarded traffic is refused again only after its start.
  reload: async () => {
    await stopDaemons();
    await docker.up();
  },
  down: stopDaemons,
  guardsHost: false,
};

let world: at.World;
const messages: string[] = [];

before(async () => {
  await sh('mkdir -p /run/dbus && dbus-daemon --system --fork');
  world = await at.buildWorld((message) => messages.push(message));
});

after(stopDaemons);

/** The rules of other programs. */
async function theirs(): Promise<string> {
  const rules = await sh('nft list ruleset');
  const tables = rules.split(/^(?=table )/m).filter((table) => !/^table \w+ lodge_/.test(table));
  const legacy = await sh('! grep -qs filter /proc/net/ip_tables_names || iptables-legacy -S');
  return tables.join('') + legacy;
}

const fact = async () => {
  const options = { instance: 'a', range: '10.201.0.0/16', brokerPort: at.brokerPort, resolver: at.resolver };
  return (await checkNetwork(options)).find(({ name }) => name === 'other firewalls')!;
};

/** Empty, where there were any. */
async function flushLegacy(): Promise<void> {
  const empty = '*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\nCOMMIT\n*nat\nCOMMIT\n';
  if ((await readFile('/proc/net/ip_tables_names', 'utf8').catch(() => '')) !== '')
    await sh(`printf '${empty}' | iptables-legacy-restore`);
}

/** Reach of a guest, of the host and of others, as the firewall is now. */
async function look(agent: StubAgent): Promise<Record<'broker' | 'world' | 'private' | 'guest' | 'host', boolean>> {
  const answered = ({ answer }: { readonly answer: string | null }): boolean => answer !== null;
  const targets = [tcp('10.0.2.2', at.brokerPort), tcp(at.publicAddress, 80), tcp('10.9.9.9', 80)];
  const [fromGuest, fromHost, fromWorld] = await Promise.all([
    agent.guest.ask(targets),
    askFrom(null, [tcp(agent.vm.guestAddress, 8080)]),
    askFrom('internet', [tcp('5.9.10.2', 8080)]),
  ]);
  const [broker = false, beyond = false, secret = false] = fromGuest.map(answered);
  return { broker, world: beyond, private: secret, guest: answered(fromHost[0]!), host: answered(fromWorld[0]!) };
}

async function standBeside(firewall: Firewall): Promise<void> {
  const well = { broker: true, world: true, private: false, guest: true, host: true };
  const agent = await startAgent(world, world.a, 1);
  try {
    assert.deepEqual(await look(agent), well);
    await firewall.up();
    assert.equal((await look(agent)).world, false, 'it does drop what guests send to the world');
    const shut = await fact();
    assert.equal(shut.ok, false, JSON.stringify(shut));

    for (const round of ['at first', 'after a reload']) {
      // ufw and Docker leave what Lodge added where it is, firewalld does not.
      const wasShut = await world.a.heal();
      if (round === 'at first') assert.equal(wasShut, true);
      const context = `${round}: ${messages.join('; ')}`;
      assert.deepEqual(await look(agent), { ...well, host: !firewall.guardsHost }, context);
      const open = await fact();
      assert.equal(open.ok, true, JSON.stringify(open));
      assert.equal(await world.a.heal(), false, 'nothing more to do');
      if (round === 'at first') await firewall.reload();
    }
    await world.a.teardown();
    assert.doesNotMatch(await theirs(), /a-[*+]/, 'no rule of others names the guests any more');
  } finally {
    await agent.guest.stop();
    await firewall.down();
    await sh('nft flush ruleset').then(flushLegacy);
    await world.a.start();
    await world.b.start();
    await world.a.removeNamespace(1);
  }
}

/** Both forms of iptables, of which ufw and Docker take the one that the host's operator chose. */
const choose = (form: 'nft' | 'legacy'): Promise<string> =>
  sh(`for name in iptables ip6tables; do update-alternatives --set $name /usr/sbin/$name-${form}; done`);

test('ufw', () => standBeside(ufw));
test('firewalld', () => standBeside(firewalld));
test('Docker', () => standBeside(docker));
test('the older iptables', async (t) => {
  const known = await sh('iptables-legacy -S').catch(() => null);
  if (known === null) return t.skip('this kernel has none');
  await choose('legacy');
  await t.test('ufw', () => standBeside(ufw));
  await t.test('Docker', () => standBeside(docker));
  await choose('nft');
});
