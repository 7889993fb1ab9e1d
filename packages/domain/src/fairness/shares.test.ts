import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shares } from './shares.ts';

const holder = (accountId: string, agent: number) => ({ accountId, agentId: `${accountId}-${agent}` });

test('whatever few accounts take with many agents, a quarter is left for those that hold little', () => {
  const shares = new Shares({ perAgent: 8, perAccount: 128, inAll: 256, few: 8 });
  for (const account of ['a', 'b']) {
    for (let agent = 0; agent < 16; agent++) while (shares.take(holder(account, agent), 1));
  }
  assert.equal(shares.total, 192);
  for (let n = 0; n < 8; n++) assert.ok(shares.take(holder('c', n % 2), 1), `${n}`);
  assert.equal(shares.take(holder('c', 3), 1), false, 'it holds more than a few by now');
  for (let account = 0; account < 7; account++) {
    for (let n = 0; n < 8; n++) assert.ok(shares.take(holder(`d${account}`, 0), 1));
  }
  assert.equal(shares.total, 256);
  assert.equal(shares.take(holder('e', 0), 1), false, 'there is no more');
});

test('an agent and an account have bounds of their own, and what is given back can be taken again', () => {
  const shares = new Shares({ perAgent: 10, perAccount: 15, inAll: 1000, few: 1 });
  assert.equal(shares.take(holder('a', 1), 11), false);
  assert.ok(shares.take(holder('a', 1), 10));
  assert.equal(shares.take(holder('a', 1), 1), false);
  assert.ok(shares.take(holder('a', 2), 5));
  assert.equal(shares.take(holder('a', 2), 1), false);
  shares.giveBack(holder('a', 1), 10);
  assert.ok(shares.take(holder('a', 2), 5));
  shares.giveBack(holder('a', 2), 10);
  assert.equal(shares.total, 0);
  assert.ok(shares.take(holder('a', 1), 10));
});

test('what is held from before counts beyond the bounds, and nothing taken and given back is nothing', () => {
  const shares = new Shares({ perAgent: 10, perAccount: 15, inAll: 1000, few: 1 });
  shares.count(holder('a', 1), 12);
  assert.equal(shares.take(holder('a', 1), 1), false);
  shares.giveBack(holder('a', 1), 12);
  for (let times = 0; times < 2; times++) assert.ok(shares.take(holder('a', 1), 0));
  for (let times = 0; times < 2; times++) shares.giveBack(holder('a', 1), 0);
  assert.ok(shares.take(holder('a', 1), 10));
  assert.equal(shares.take(holder('a', 1), 1), false);
});

test('one piece of work gives back what it holds, once', () => {
  const shares = new Shares({ perAgent: 10, perAccount: 15, inAll: 1000, few: 1 });
  const held = shares.heldBy(holder('a', 1));
  assert.ok(held.take(6));
  assert.equal(held.take(5), false);
  assert.ok(held.take(4));
  held.giveBack(3);
  assert.equal(shares.total, 7);
  held.giveBack();
  held.giveBack();
  assert.equal(shares.total, 0);
});
