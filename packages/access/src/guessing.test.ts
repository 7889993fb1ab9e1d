import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { openStore } from '@lodge/store';
import { createAccounts } from './accounts.ts';
import { caller, password, refusalOf, silent, testAccounts } from './fixture.ts';
import { createSecretBox } from './secret-box.ts';

const world = await testAccounts();
after(() => world.close());
const { accounts } = world;
const forget = () => execute(world.database.connectionString, 'delete from attempts');
const wrong = 'not the password';

test('at one account five guesses are free, then each waits twice as long, up to 15 minutes, over all addresses', async () => {
  await forget();
  const email = 'victim@example.com';
  for (let i = 0; i < 5; i++) {
    assert.equal(await refusalOf(accounts.signIn({ email, password: wrong }, caller())), 'invalid_credentials');
  }
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    const error = (await accounts.signIn({ email, password: wrong }, caller()).catch((error: unknown) => error)) as {
      code: string;
      retryAfterSeconds: number;
    };
    assert.equal(error.code, 'rate_limit_exceeded');
    waits.push(error.retryAfterSeconds);
    // The wait passes.
    await execute(world.database.connectionString, 'update attempts set blocked_until = now()');
    assert.equal(await refusalOf(accounts.signIn({ email, password: wrong }, caller())), 'invalid_credentials');
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

test('200 guesses made at once, over two processes, get no more tries than one after another', async () => {
  await forget();
  const store = await openStore({ ...world.database, log: silent });
  const second = createAccounts({
    store: store.accounts,
    secrets: createSecretBox(Buffer.alloc(32)),
    log: silent,
    registrationOpen: false,
  });
  const email = world.owner.account.email!;
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      refusalOf((n % 2 ? second : accounts).signIn({ email, password: wrong }, caller(`203.0.113.${n}`))),
    ),
  );
  await second.close();
  await store.close();
  const tried = outcomes.filter((outcome) => outcome === 'invalid_credentials').length;
  assert.ok(tried >= 5 && tried <= 8, `${tried} were tried`);
  assert.equal(outcomes.filter((outcome) => outcome === 'rate_limit_exceeded').length, 200 - tried);
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

/** Student's t of the difference of two means (Welch). */
function welch(a: readonly number[], b: readonly number[]): number {
  const mean = (x: readonly number[]): number => x.reduce((sum, v) => sum + v, 0) / x.length;
  const variance = (x: readonly number[]): number => x.reduce((sum, v) => sum + (v - mean(x)) ** 2, 0) / (x.length - 1);
  return (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length);
}

/** Without the slowest tenth: the machine's, not ours. */
const trimmed = (times: readonly number[]): number[] =>
  times.toSorted((a, b) => a - b).slice(0, Math.floor(times.length * 0.9));

test('the time of an answer does not tell whether an e-mail has an account', async (t) => {
  const known = (await world.member()).account.email!;
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let i = 0; i < 250; i++) {
    const kinds = i % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const kind of kinds) {
      await forget();
      const began = performance.now();
      await refusalOf(
        accounts.signIn({ email: kind === 'known' ? known : `u${i}@example.com`, password: wrong }, caller()),
      );
      times[kind].push(performance.now() - began);
    }
  }
  const t_ = welch(trimmed(times.known), trimmed(times.unknown));
  const medians = [times.known, times.unknown].map((list) => trimmed(list)[Math.floor(list.length * 0.45)]!.toFixed(2));
  t.diagnostic(`medians ${medians.join(' and ')} ms over 250 each, t = ${t_.toFixed(2)}`);
  assert.ok(Math.abs(t_) < 4.5, `t = ${t_}`);
});
