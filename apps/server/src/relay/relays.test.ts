import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import { usualRelayTimings } from '@lodge/channels/relay';
import { defaultAccess, defaultLifecycle, makeAgentId } from '@lodge/domain';
import { ChannelFailure } from '@lodge/ports';
import { testDatabase } from '@lodge/testkit/postgres';
import { startTelegramStub } from '@lodge/testkit/telegram';
import { readConfig } from '../config/config.ts';
import type { RelaysOptions } from './relays.ts';
import { relaySettings } from './settings.ts';
import { relaysHere } from './testing/relays-here.ts';
import type { RelaysHere } from './testing/relays-here.ts';
import type { RunRelays } from './testing/run-relays.ts';
import { firstAccount } from '../../../../packages/store/src/testing/fixture.ts';
import { openTestStore } from '../../../../packages/store/src/testing/agents-fixture.ts';

const database = await testDatabase();
const log = { debug() {}, info() {}, warn() {}, error() {} };
const store = await openTestStore({ ...database, log });
const telegram = await startTelegramStub();
const { signal } = new AbortController();
const opened: RelaysHere[] = [];
after(async () => {
  await Promise.all(opened.map((relays) => relays.close()));
  await telegram.close();
  await store.close();
  await database.drop();
});

const masterKey = randomBytes(32);
const secrets = await openSecretBox(store.secrets, masterKey);
const settings = relaySettings(
  readConfig({ LODGE_TELEGRAM_API: telegram.apiRoot, LODGE_INSTANCE: 'test', LODGE_LOG_LEVEL: 'error' }),
);

async function start(errors: string[] = [], given: Partial<RelaysOptions> = {}): Promise<RelaysHere> {
  const relays = await relaysHere({
    ...settings,
    ...given,
    store: store.relay,
    notices: store.mailboxNotices,
    secrets,
    files: createChannelFiles('/nonexistent/channel-files'),
    log: { ...log, error: (_: object, message: string) => errors.push(message) },
  });
  opened.push(relays);
  return relays;
}

const until = async (is: () => boolean): Promise<void> => {
  for (let n = 0; n < 6_000 && !is(); n += 1) await sleep(10);
  assert.ok(is());
};
const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('no process runs until somebody asks, or there is a channel; one that dies is started again', async () => {
  const errors: string[] = [];
  const relays = await start(errors);
  await sleep(100);
  assert.deepEqual(relays.pids, []);
  const bot = telegram.bot();
  const verified = await relays.check.verify('telegram', { botToken: bot.token }, signal);
  assert.equal(verified!.identity.id, String(bot.id));
  const [pid] = relays.pids;
  process.kill(pid!, 'SIGKILL');
  await until(() => relays.pids.length === 1 && relays.pids[0] !== pid);
  assert.deepEqual(errors, ['a relay process ended, and is started again']);
  assert.equal((await relays.check.verify('telegram', { botToken: bot.token }, signal))!.accountKey, String(bot.id));
});

test('a process that hangs is killed and followed by another; one that answers is left alone', async () => {
  const errors: string[] = [];
  // A start may take long on a busy machine.
  const heartbeat = { pingEveryMs: 500, silentMs: 60_000 };
  const relays = await start(errors, { heartbeat });
  const bot = telegram.bot();
  await relays.check.verify('telegram', { botToken: bot.token }, signal);
  const [pid] = relays.pids;
  heartbeat.silentMs = 4_000;
  await sleep(5_000);
  assert.deepEqual([relays.pids, errors], [[pid], []]);
  process.kill(pid!, 'SIGSTOP');
  await until(() => errors.length > 0);
  heartbeat.silentMs = 60_000;
  await until(() => relays.pids.length === 1 && relays.pids[0] !== pid);
  assert.deepEqual(errors, [
    'a relay process answers nothing, and is killed',
    'a relay process ended, and is started again',
  ]);
  assert.ok(!isThere(pid!));
  assert.equal((await relays.check.verify('telegram', { botToken: bot.token }, signal))!.accountKey, String(bot.id));
});

test('a process that cannot be started is tried again, and what there was of it ends', async () => {
  const errors: string[] = [];
  let starts = 0;
  const timings = {
    ...usualRelayTimings,
    /** Read once it is sent to the process. */
    get leaseMs(): number {
      starts += 1;
      if (starts === 1) throw new Error('not yet');
      return usualRelayTimings.leaseMs;
    },
  };
  const relays = await start(errors, { timings });
  const { token: botToken } = telegram.bot();
  await assert.rejects(relays.check.verify('telegram', { botToken }, signal), ChannelFailure);
  await until(() => starts > 1 && relays.pids.length === 1);
  assert.deepEqual(errors, ['a relay process ended, and is started again']);
  assert.ok(await relays.check.verify('telegram', { botToken }, signal));
});

test('a platform that refuses, one that hangs, and a process that dies meanwhile are sentences', async () => {
  const relays = await start();
  const refused = relays.check.verify('telegram', { botToken: `1:${'x'.repeat(35)}` }, signal);
  await assert.rejects(
    refused,
    (error) => error instanceof ChannelFailure && error.reason.code === 'invalid_credentials',
  );
  const bot = telegram.bot();
  bot.misbehave('slow');
  const aborted = relays.check.verify('telegram', { botToken: bot.token }, AbortSignal.timeout(100));
  await assert.rejects(aborted, ChannelFailure);
  const dying = relays.check.verify('telegram', { botToken: bot.token }, signal);
  process.kill(relays.pids[0]!, 'SIGKILL');
  await assert.rejects(dying, ChannelFailure);
  assert.equal(await relays.check.pairByNumber('nobody', 'whatsapp', '+4912345'), false);
});

test('neither arguments nor the environment of a process have a secret', async () => {
  const relays = await start();
  await relays.check.verify('telegram', { botToken: telegram.bot().token }, signal);
  const [pid] = relays.pids;
  const shown = (await readFile(`/proc/${pid}/cmdline`, 'utf8')) + (await readFile(`/proc/${pid}/environ`, 'utf8'));
  for (const secret of [database.connectionString, masterKey.toString('base64'), masterKey.toString('hex')]) {
    assert.ok(!shown.includes(secret));
  }
  await relays.close();
  assert.ok(!isThere(pid!));
});

test('relays do not outlive a server that is killed', async () => {
  const script = fileURLToPath(new URL('./testing/run-relays.ts', import.meta.url));
  const server = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const given: RunRelays = {
    platforms: settings.platforms,
    connectionString: database.connectionString,
    masterKey: masterKey.toString('base64'),
  };
  server.stdin.end(JSON.stringify(given));
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  const pids = JSON.parse(line.toString()) as number[];
  assert.ok(pids.length > 0 && pids.every(isThere));
  server.kill('SIGKILL');
  await until(() => !pids.some(isThere));
});

test('a channel that is put starts the process of its platform', async () => {
  const relays = await start();
  const accountId = await firstAccount(store.database);
  const agentId = makeAgentId(randomInt);
  await store.agents.create(
    {
      id: agentId,
      accountId,
      name: 'bot',
      description: null,
      runtimeKind: 'runtime_a',
      model: 'm/m',
      size: 'small',
      lifecycle: defaultLifecycle,
      metadata: {},
      llmKeys: [],
    },
    () => undefined,
  );
  assert.deepEqual(relays.pids, []);
  const put = {
    accountId,
    agentId,
    channel: 'telegram',
    enabled: true,
    access: defaultAccess,
    credentials: [],
  } as const;
  await store.channels.put(put);
  await until(() => relays.pids.length === 1);
});
