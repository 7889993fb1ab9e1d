import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseBusyError } from '@lodge/ports';
import { ClaimTurns } from './turns.ts';

test('accounts that wait take turns, and of one account so many wait', async () => {
  const turns = new ClaimTurns();
  const done: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (account: string): Promise<void> =>
    turns.begin(account, () => {
      done.push(account);
      return new Promise((resolve) => ends.push(resolve));
    });
  const asked: Promise<unknown>[] = [];
  for (let n = 0; n < 502; n++) asked.push(ask('a'));
  await assert.rejects(ask('a'), DatabaseBusyError);
  for (const account of ['b', 'b', 'c', 'c', 'd', 'd']) asked.push(ask(account));
  await new Promise(setImmediate);
  assert.equal(done.join(''), 'aabbcd', 'two of an account, and no more than six');
  for (let end = ends.shift(); end; end = ends.shift()) {
    end();
    await new Promise(setImmediate);
  }
  await Promise.all(asked);
  assert.equal(done.length, 508);
  assert.ok(done.lastIndexOf('d') < 12, done.slice(0, 20).join(''));
});
