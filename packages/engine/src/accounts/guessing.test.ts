import { cryptography } from '@lodge/access';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { BusyError } from '@lodge/ports';
import { openStore } from '@lodge/store';
import { clearAttempts } from '@lodge/store/accounts';
import { createAccounts } from './accounts.ts';
import { accountLimit } from './attempt-limits.ts';
import { caller, password, refusalOf, silent, testAccounts } from '../../../testkit/src/plane/accounts.ts';
import { createSecretBox } from '../../../access/src/secret-box.ts';

const world = await testAccounts();
after(() => world.close());
const { accounts } = world;
const forget = () => execute(world.database.connectionString, 'delete from attempts');
const wrong = 'not the password';

test('at one account five guesses are free, then each waits twice as long, up to 15 minutes, over all addresses', async () => {
  await forget();
  const email = 'victim@example.com';
  const guess = () => refusalOf(accounts.signIn({ email, password: wrong }, caller()));
  for (let i = 0; i < 4; i++) assert.equal(await guess(), 'invalid_credentials');
  for (let wait = 1; wait < 3600; wait *= 2) {
    const guessedAt = performance.now();
    assert.equal(await guess(), 'invalid_credentials');
    const error = (await accounts.signIn({ email, password: wrong }, caller()).catch((error: unknown) => error)) as {
      code: string;
      retryAfterSeconds: number;
    };
    const wanted = Math.min(wait, 900);
    const passed = (performance.now() - guessedAt) / 1000;
    if (error.code === 'invalid_credentials') {
      // A slow machine used up the wait, so one more guess was let through.
      assert.ok(passed >= wanted, `after ${passed} s of ${wanted}`);
      wait *= 2;
    } else {
      assert.equal(error.code, 'rate_limit_exceeded');
      const waitSeconds = error.retryAfterSeconds;
      assert.ok(
        waitSeconds <= wanted && waitSeconds >= wanted - passed,
        `${waitSeconds} s, ${passed} s after the guess; ${wanted} wanted`,
      );
    }
    // The wait passes.
    await execute(world.database.connectionString, 'update attempts set blocked_until = now()');
  }
});

test('80 guesses made at once, over two processes, get no more tries than one after another', async () => {
  await forget();
  const store = await openStore({ ...world.database, log: silent });
  const second = createAccounts({
    crypto: cryptography,
    database: store.database,
    secrets: createSecretBox(Buffer.alloc(32)),
    log: silent,
    registrationOpen: false,
    origin: () => 'http://localhost',
  });
  const email = world.owner.account.email!;
  const began = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: 80 }, (_, n) =>
      refusalOf((n % 2 ? second : accounts).signIn({ email, password: wrong }, caller(`203.0.113.${n}`))),
    ),
  );
  // Each wait of 1, 2, 4 and more seconds that has passed meanwhile lets one more attempt through.
  const most = 8 + Math.ceil(Math.log2((performance.now() - began) / 1000 + 1));
  await second.close();
  await store.close();
  const tried = outcomes.filter((outcome) => outcome === 'invalid_credentials').length;
  assert.ok(tried >= 5 && tried <= most, `${tried} were tried, at most ${most} may be`);
  assert.equal(outcomes.filter((outcome) => outcome === 'rate_limit_exceeded').length, 80 - tried);
});

test('from one address twenty guesses are free, whatever the accounts, and a /64 is one address', async () => {
  await forget();
  const outcomes: string[] = [];
  for (let i = 0; i < 25; i++) {
    const from = caller(`2001:db8::${i}`);
    outcomes.push(await refusalOf(accounts.signIn({ email: `a${i}@example.com`, password: wrong }, from)));
  }
  assert.deepEqual(new Set(outcomes.slice(0, 20)), new Set(['invalid_credentials']));
  assert.ok(outcomes.slice(20).includes('rate_limit_exceeded'));
});

test('an attacker elsewhere does not keep the owner out at an address that was used before', async () => {
  await forget();
  const me = await world.member();
  const email = me.account.email!;
  const home = '192.0.2.44';
  await accounts.signIn({ email, password }, caller(home));
  for (let i = 0; i < 12; i++) await refusalOf(accounts.signIn({ email, password: wrong }, caller()));
  assert.equal(await refusalOf(accounts.signIn({ email, password }, caller())), 'rate_limit_exceeded');
  assert.equal(await refusalOf(accounts.signIn({ email, password }, caller(home))), 'nothing');
});

test('a right password begins the count anew, and one without its code does not count', async () => {
  await forget();
  const me = await world.member();
  const email = me.account.email!;
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 4; i++) await refusalOf(accounts.signIn({ email, password: wrong }, caller('192.0.2.50')));
    assert.equal(await refusalOf(accounts.signIn({ email, password }, caller('192.0.2.51'))), 'nothing');
    await forget();
  }
});

test('whoever is turned away because too many sign in at once has not guessed', async () => {
  await forget();
  const me = await world.member();
  const email = me.account.email!;
  const full = createAccounts({
    crypto: {
      ...cryptography,
      passwords: { ...cryptography.passwords, verify: () => Promise.reject(new BusyError()) },
    },
    database: world.store.database,
    secrets: createSecretBox(Buffer.alloc(32)),
    log: silent,
    registrationOpen: false,
    origin: () => 'http://localhost',
  });
  for (let i = 0; i < 25; i++) {
    const outcome = await refusalOf(full.signIn({ email, password }, caller('192.0.2.71')));
    assert.equal(outcome, 'rate_limit_exceeded');
  }
  await full.close();
  assert.equal(await refusalOf(accounts.signIn({ email, password }, caller('192.0.2.71'))), 'nothing');
});

/** Student's t of the mean of differences, without the tenth at either end, which shows the machine and not Lodge. */
function pairedT(differences: readonly number[]): number {
  const cut = Math.floor(differences.length / 10);
  const kept = differences.toSorted((a, b) => a - b).slice(cut, -cut);
  const mean = kept.reduce((sum, each) => sum + each, 0) / kept.length;
  const variance = kept.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (kept.length - 1);
  return mean / Math.sqrt(variance / kept.length);
}

/** A t far beyond chance on a quiet machine. A busy machine reaches it once in a while, in either direction. */
const tells = 4.5;

test('the time of an answer does not tell whether an e-mail has an account', async (t) => {
  await forget();
  const known = (await world.member()).account.email!;
  let unknowns = 0;
  const answerTime = async (email: string): Promise<number> => {
    const began = performance.now();
    assert.equal(await refusalOf(accounts.signIn({ email, password: wrong }, caller())), 'invalid_credentials');
    const ms = performance.now() - began;
    const { subject } = accountLimit(email, '', false);
    await world.store.database.transaction((trx) => clearAttempts(trx, [subject]));
    return ms;
  };
  const pairs = 120;
  const measured = async (): Promise<number> => {
    const differences: number[] = [];
    for (let n = 0; n < pairs; n++) {
      const unknown = `u${(unknowns += 1)}@example.com`;
      // Each goes first equally often, so that caches warmed by the first make no difference between them.
      const order = n % 2 ? [known, unknown] : [unknown, known];
      const [first, second] = [await answerTime(order[0]!), await answerTime(order[1]!)];
      differences.push(n % 2 ? first - second : second - first);
    }
    const value = pairedT(differences);
    const median = differences.toSorted((a, b) => a - b)[pairs / 2]!;
    t.diagnostic(`${pairs} pairs, median difference ${median.toFixed(2)} ms, t = ${value.toFixed(2)}`);
    return value;
  };
  const value = await measured();
  if (Math.abs(value) < tells) return;
  const again = await measured();
  assert.ok(Math.abs(again) < tells || Math.sign(again) !== Math.sign(value), `t = ${value}, and again ${again}`);
});
