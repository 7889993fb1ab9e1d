/** The reach of somebody who runs code in a relay process that is started exactly as a machine host starts it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import { defaultAccess, defaultLifecycle, makeAgentId } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import { channelCredentialContext } from '@lodge/ports';
import { testDatabase } from '@lodge/testkit/postgres';
import { findChannel } from '@lodge/store/channels';
import { closeAll } from '../../closing.ts';
import type { Closing } from '../../closing.ts';
import { readConfig } from '../../config/config.ts';
import { startRelays } from '../../relay/relays.ts';
import type { Relays } from '../../relay/relays.ts';
import { relaySettings } from '../../relay/settings.ts';
import { findUser } from '../control-user.ts';
import type { User } from '../control-user.ts';
import { boxedCommand } from './command.ts';
import { launchRelay, openRelayDoor, relayDoorOf } from './door.ts';
import type { RelayDoor } from './door.ts';
import { openRelays } from './open.ts';
import { firstAccount } from '../../../../../packages/store/src/testing/fixture.ts';
import { openTestStore } from '../../../../../packages/store/src/testing/agents-fixture.ts';

const skip = process.geteuid!() === 0 ? false : 'only root starts a process as another user';
const entry = fileURLToPath(new URL('../../relay/testing/probed-relay.ts', import.meta.url));
const log = { debug() {}, info() {}, warn() {}, error() {} };
const masterKey = randomBytes(32);
/** Secrets of a channel that the process holds, and of one that another process would hold. */
const [held, another] = [`held-${randomBytes(16).toString('hex')}`, `another-${randomBytes(16).toString('hex')}`];
const closing: Closing = [];

let dataDir: string;
let connectionString: string;
let user: User;
let door: RelayDoor;
let relays: Relays;

before(async () => {
  if (skip) return;
  const database = await testDatabase();
  closing.push(() => database.drop());
  ({ connectionString } = database);
  dataDir = await mkdtemp(join(tmpdir(), 'lodge-takeover-'));
  closing.push(() => rm(dataDir, { recursive: true }));
  await writeFile(join(dataDir, 'master.key'), masterKey, { mode: 0o644 });
  const store = await openTestStore({ ...database, log });
  closing.push(() => store.close());
  const secrets = await openSecretBox(store.secrets, masterKey);
  const accountId = await firstAccount(store.database);
  const channelOf = async (channel: ChannelName, name: string, secret: string): Promise<string> => {
    const id = makeAgentId(randomInt);
    const made = { id, accountId, name: 'bot', description: null, runtimeKind: 'runtime_a', model: 'm/m' } as const;
    const rest = { size: 'small', lifecycle: defaultLifecycle, metadata: {}, llmKeys: [] } as const;
    await store.agents.create({ ...made, ...rest }, () => undefined);
    const sealed = secrets.seal(secret, channelCredentialContext(id, channel, name));
    const put = { accountId, agentId: id, channel, enabled: true, access: defaultAccess } as const;
    await store.channels.put({ ...put, credentials: [{ name, sealed, last4: '' }] });
    return id;
  };
  const agentId = await channelOf('telegram', 'botToken', held);
  await channelOf('whatsapp', 'session', another);
  const config = readConfig({ LODGE_DATA_DIR: dataDir, LODGE_LOG_LEVEL: 'error' });
  user = (await findUser(config.relayUser))!;
  door = await openRelays(config, { control: null, log, entry }, closing);
  relays = startRelays({
    ...relaySettings(config),
    store: store.relay,
    notices: store.mailboxNotices,
    secrets,
    files: createChannelFiles(join(dataDir, 'files')),
    launch: (group) => launchRelay(relayDoorOf(config), group),
    log,
  });
  closing.push(() => relays.close());
  for (
    let n = 0;
    (await store.database.repeatable((db) => findChannel(db, { accountId, agentId, channel: 'telegram' })))?.status !==
    'connected';
    n += 1
  ) {
    assert.ok(n < 1_200, 'the relay did not connect within 60 s');
    await sleep(50);
  }
});
after(() => closeAll(closing, log));

/** Runs code in the relay. `attempt` returns the code of a failure, or `reached` with the result. */
async function inside(code: string): Promise<unknown> {
  const attempt = `const attempt = async (run) => {
    try { return ['reached', await run()]; } catch (error) { return error.code ?? error.name; }
  };`;
  const botToken = `${attempt}\n${code}`;
  const verified = await relays.check.verify('telegram', { botToken }, AbortSignal.timeout(20_000));
  return JSON.parse(verified!.identity.name);
}

/** The relay itself: the one process of the box, below its wrappers. */
async function pidInBox(of = door): Promise<number> {
  const isFirst = async (pid: number): Promise<boolean> =>
    /^NSpid:.*\t1$/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
  for (let pid = of.pids[0]!; ;) {
    if (await isFirst(pid)) return pid;
    pid = Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ')[0]);
  }
}

/** The secrets that are in the memory of a process. */
async function inMemory(pid: number, needles: Readonly<Record<string, Buffer>>): Promise<readonly string[]> {
  const found = new Set<string>();
  const memory = await open(`/proc/${pid}/mem`);
  try {
    const bytes = Buffer.allocUnsafe(2 ** 24 + 128);
    for (const region of (await readFile(`/proc/${pid}/smaps`, 'utf8')).split(/^(?=[0-9a-f]+-)/m)) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(region) ?? [];
      if (from === undefined || to === undefined || /^Rss: +0 kB$/m.test(region)) continue;
      const end = parseInt(to, 16);
      for (let at = parseInt(from, 16); at < end; at += 2 ** 24) {
        const length = Math.min(bytes.length, end - at);
        const { bytesRead } = await memory.read(bytes, 0, length, at).catch(() => ({ bytesRead: 0 }));
        const read = bytes.subarray(0, bytesRead);
        for (const [name, needle] of Object.entries(needles)) if (read.includes(needle)) found.add(name);
      }
    }
  } finally {
    await memory.close();
  }
  return [...found];
}

test(
  'its memory has no key, no way into the database, and no credential but those that it holds',
  { skip },
  async () => {
    const text = (value: string): Buffer => Buffer.from(value);
    const needles = {
      held: text(held),
      another: text(another),
      'another in UTF-16': Buffer.from(another, 'utf16le'),
      'the master key': masterKey,
      'the master key in base64': text(masterKey.toString('base64')),
      'the master key in hex': text(masterKey.toString('hex')),
      'the database': text(connectionString),
    };
    assert.deepEqual(await inMemory(await pidInBox(), needles), ['held']);
  },
);

test('it is a user of its own without privileges, sees no other process, and starts none', { skip }, async () => {
  const status = await inside(`
    const { readFileSync, readdirSync } = await import('node:fs');
    const status = readFileSync('/proc/self/status', 'utf8');
    return {
      ids: [process.getuid(), process.getgid(), ...process.getgroups()],
      capabilities: status.match(/^Cap.*:\\t(?!0{16}$).*/gm),
      noNewPrivileges: /^NoNewPrivs:\\t1$/m.test(status),
      filtered: /^Seccomp:\\t2$/m.test(status),
      processes: readdirSync('/proc').filter((name) => /^\\d+$/.test(name)),
      environment: Object.keys(process.env).filter((name) => !/^(PATH|PWD|TZ|LANG|LC_CTYPE|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|MALLOC_MMAP_THRESHOLD_)$/.test(name)),
      child: await attempt(async () => (await import('node:child_process')).spawnSync(process.execPath, ['-v']).status),
      native: await attempt(() => process.dlopen({ exports: {} }, '/usr/lib/x.node')),
      root: await attempt(() => process.setuid(0)),
    };`);
  assert.deepEqual(status, {
    ids: [user.uid, user.gid, user.gid],
    capabilities: null,
    noNewPrivileges: true,
    filtered: true,
    processes: ['1'],
    environment: [],
    child: 'ERR_ACCESS_DENIED',
    native: 'ERR_DLOPEN_DISABLED',
    root: 'EPERM',
  });
});

test(
  'it reads nothing of the data folder, writes nowhere, and connects to no socket of the host',
  { skip },
  async () => {
    const sockets = [join(relayDoorOf({ dataDir }), 'messages'), '/run/dbus/system_bus_socket', '\0lodge'];
    const reached = await inside(`
    const { readdirSync, readFileSync, writeFileSync } = await import('node:fs');
    const { connect } = await import('node:net');
    const connected = (path) => new Promise((resolve) =>
      connect({ path }).on('connect', () => resolve('reached')).on('error', ({ code }) => resolve(code)));
    return {
      dataDir: await attempt(() => readdirSync(${JSON.stringify(dataDir)})),
      key: await attempt(() => readFileSync(${JSON.stringify(join(dataDir, 'master.key'))})),
      users: await attempt(() => readFileSync('/etc/passwd')),
      written: await attempt(() => writeFileSync('/dev/shm/x', 'x')),
      sockets: await Promise.all(${JSON.stringify(sockets)}.map(connected)),
    };`);
    assert.deepEqual(reached, {
      dataDir: 'ENOENT',
      key: 'ENOENT',
      users: 'ENOENT',
      written: 'ERR_ACCESS_DENIED',
      sockets: sockets.map(() => 'EAFNOSUPPORT'),
    });
  },
);

test('the box holds whoever gets past Node’s own permissions', { skip }, () => {
  const script = `
    const { readdirSync, writeFileSync } = require('node:fs');
    const { spawnSync } = require('node:child_process');
    const code = (run) => { try { run(); return 'reached'; } catch (error) { return error.code; } };
    const places = ['/', '/dev', '/proc/sys', '/usr/lib', __dirname, ${JSON.stringify(join(entry, '..'))}];
    console.log(JSON.stringify({
      top: readdirSync('/').filter((name) => !['dev', 'etc', 'lib', 'lib64', 'proc', 'usr'].includes(name)).length < 2,
      child: spawnSync(process.execPath, ['-v']).error.code,
      written: [...new Set(places.map((place) => code(() => writeFileSync(place + '/x', 'x'))))].filter((each) => !['EROFS', 'EACCES', 'ENOENT'].includes(each)),
      kill: code(() => process.kill(${process.pid}, 0)),
    }));`;
  const { argv, env } = boxedCommand({
    env: {},
    user,
    group: { through: [] },
    root: join(relayDoorOf({ dataDir }), 'box'),
  });
  const box = JSON.parse(argv.at(-1)!) as { command: string[] };
  box.command = [process.execPath, '-e', script];
  const { stdout, stderr } = spawnSync(argv[0], [...argv.slice(1, -1), JSON.stringify(box)], { env, encoding: 'utf8' });
  // Above the checkout are folders that lead to it, and nothing else.
  assert.deepEqual(JSON.parse(stdout || stderr), { top: true, child: 'EPERM', written: [], kill: 'ESRCH' });
});

test('one that does not end is gone when it is killed, and with what started it', { skip }, async () => {
  const root = join(relayDoorOf({ dataDir }), 'box');
  const command = () => {
    const { argv, env } = boxedCommand({ env: {}, user, group: { through: [] }, root });
    const box = JSON.parse(argv.at(-1)!) as { command: string[] };
    box.command = [process.execPath, '-e', 'require("node:fs").writeSync(3, "x"); setInterval(() => undefined, 1_000)'];
    return { argv: [argv[0], ...argv.slice(1, -1), JSON.stringify(box)] as const, env };
  };
  const folder = join(dataDir, 'stubborn');
  const own = await openRelayDoor({ folder, control: null, command, log });
  closing.push(() => own.close());
  for (const end of ['kill', 'of its parent'] as const) {
    const launched = await launchRelay(folder, 'messages');
    await once(launched.stream, 'data');
    const pid = await pidInBox(own);
    assert.notEqual(
      await readlink(`/proc/${pid}/fd/2`),
      await readlink('/proc/self/fd/2'),
      'it shares no file of ours',
    );
    if (end === 'kill') await launched.kill();
    else process.kill(own.pids[0]!, 'SIGKILL');
    // A zombie waits until this host lets it be reaped.
    const state = () => readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State:\tZ');
    for (let n = 0; !/^State:\tZ/m.test(await state()); n += 1) {
      assert.ok(n < 200, `${end}: the process lives on`);
      await sleep(50);
    }
  }
});
