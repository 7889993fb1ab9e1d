import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, beforeEach, test } from 'node:test';
import { llmKeyContext, totpContext } from '@lodge/ports';
import type { SealedValue } from '@lodge/ports';
import { openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { masterKeyId } from './data-key.ts';
import { silent } from '../../testkit/src/plane/accounts.ts';
import { MasterKeyError } from './master-key.ts';
import { rotateMasterKey } from './rotate.ts';
import { createSecretBox, openSecretBox } from './secret-box.ts';

const keeper = await testDatabase();
const ends: (() => Promise<void>)[] = [];
after(async () => {
  for (const end of ends) await end();
  await keeper.drop();
});

const agents = 300;
const agentId = (n: number): string => `a${String(n).padStart(11, '0')}`;
let database: TestDatabase;
let store: Store;
let oldKey: Buffer;
let newKey: Buffer;

/** Returns the connection string of a command, which is no control plane. */
const asCommand = (connectionString: string): string => `${connectionString}?application_name=lodge-command`;

beforeEach(async () => {
  [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  database = await testDatabase();
  const connectionString = asCommand(database.connectionString);
  store = await openStore({ connectionString, log: silent });
  const own = { database, store };
  ends.push(async () => {
    await own.store.close();
    await own.database.drop();
  });
  await fill();
});

/** Creates agents with provider keys, and an account with a second factor. */
async function fill(): Promise<void> {
  const box = await openSecretBox(store.secrets, oldKey);
  const { connectionString } = database;
  await execute(
    connectionString,
    `insert into accounts (id, name, role, totp_sealed) values ('acc', 'x', 'owner', '${box.seal('TOTP', totpContext('acc'))}')`,
  );
  await execute(
    connectionString,
    `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
       auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at)
     select 'a' || lpad(n::text, 11, '0'), 'acc', 'n', 'runtime_a', 'm/m', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now()
     from generate_series(0, ${agents - 1}) n`,
  );
  const values = Array.from({ length: agents }, (_, n) => {
    const sealed = box.seal(`sk-${n}`, llmKeyContext(agentId(n), 'openai'));
    return `('${agentId(n)}', 'openai', '${sealed}', 'last')`;
  });
  await execute(
    connectionString,
    `insert into llm_keys (agent_id, provider, sealed, last4) values ${values.join(',')}`,
  );
}

const everything = (): Promise<readonly SealedValue[]> => store.secrets.notUnder('nothing', 10_000);

async function checkAllUnder(masterKey: Buffer): Promise<void> {
  const box = await openSecretBox(store.secrets, masterKey);
  const values = await everything();
  assert.equal(values.length, agents + 1);
  for (const { place, id, sealed, context } of values) {
    assert.equal(box.open(sealed, context), place === 'llm_keys.sealed' ? `sk-${Number(id[0]!.slice(1))}` : 'TOTP');
  }
}

const rotate = (onProgress?: (moved: number) => void): Promise<number> =>
  rotateMasterKey({
    store: store.secrets,
    oldMasterKey: oldKey,
    newMasterKey: newKey,
    ...(onProgress && { onProgress }),
  });

test('every secret is sealed anew under the new master key, and the old one opens nothing', async () => {
  const before = (await everything()).map(({ sealed }) => sealed);
  const [oldDataKey] = await store.secrets.all();
  assert.equal(await rotate(), agents + 1);
  await checkAllUnder(newKey);
  const rows = await store.secrets.all();
  assert.deepEqual(
    rows.map((row) => row.masterKeyId),
    [masterKeyId(newKey)],
  );
  assert.notEqual(rows[0]!.id, oldDataKey!.id);
  const values = await everything();
  for (const { sealed, context } of values) {
    assert.ok(!before.includes(sealed) && !sealed.includes(oldDataKey!.id));
    assert.throws(() => createSecretBox(oldKey).open(sealed, context));
  }
  await assert.rejects(openSecretBox(store.secrets, oldKey), MasterKeyError);
});

test('repeating it moves nothing, and keys that are none of the two change nothing', async () => {
  await rotate();
  assert.equal(await rotate(), 0);
  const third = { store: store.secrets, oldMasterKey: randomBytes(32), newMasterKey: randomBytes(32) };
  await assert.rejects(rotateMasterKey(third), /neither the old one/);
  await assert.rejects(rotateMasterKey({ ...third, newMasterKey: third.oldMasterKey }), /is the one in use/);
  await checkAllUnder(newKey);
});

test('it is refused while a control plane is connected', async () => {
  const server = await openStore({ ...database, log: silent });
  await assert.rejects(rotate(), /control plane is connected/);
  await server.close();
  await checkAllUnder(oldKey);
});

test('a start in the middle of it is refused with what to do, and does not make another data key', async () => {
  const cutOff = (): never => {
    throw new Error('cut off');
  };
  await assert.rejects(rotate(cutOff), /cut off/);
  for (const key of [oldKey, newKey]) await assert.rejects(openSecretBox(store.secrets, key), /cut off/);
  assert.equal((await store.secrets.all()).length, 2);
  await rotate();
  await checkAllUnder(newKey);
});

test('killed at any moment, again and again, it goes on and ends with every secret under the new key', async (t) => {
  const code = `
    const { openStore } = await import('@lodge/store');
    const { rotateMasterKey } = await import(${JSON.stringify(new URL('./rotate.ts', import.meta.url).href)});
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const store = await openStore({ connectionString: ${JSON.stringify(asCommand(database.connectionString))}, log });
    process.stdout.write('up');
    await rotateMasterKey({
      store: store.secrets,
      oldMasterKey: Buffer.from(${JSON.stringify(oldKey.toString('hex'))}, 'hex'),
      newMasterKey: Buffer.from(${JSON.stringify(newKey.toString('hex'))}, 'hex'),
    });
    process.exit(0);`;
  let kills = 0;
  for (let ended = false; !ended;) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    // Each round lives a little longer than the one before, so the kills fall into every step.
    const timer = setTimeout(() => child.kill('SIGKILL'), 5 + kills * 15);
    const [status] = (await exited) as [number | null];
    clearTimeout(timer);
    ended = status === 0;
    if (!ended) kills += 1;
    assert.ok(kills < 100, 'it makes no headway');
  }
  t.diagnostic(`killed ${kills} times`);
  assert.ok(kills > 2);
  await checkAllUnder(newKey);
});

test('of processes that open the box of a new deployment at once all seal with the same data key', async () => {
  const fresh = await testDatabase();
  const other = await openStore({ ...fresh, log: silent });
  const boxes = await Promise.all(Array.from({ length: 8 }, () => openSecretBox(other.secrets, oldKey)));
  for (const [n, box] of boxes.entries()) {
    assert.equal(boxes[(n + 1) % boxes.length]!.open(box.seal('s', 'c'), 'c'), 's');
  }
  assert.equal((await other.secrets.all()).length, 1);
  await other.close();
  await fresh.drop();
});
