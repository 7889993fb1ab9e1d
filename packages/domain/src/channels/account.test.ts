import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountOfToken, isUnverifiedAccount, namedBy, unverifiedAccount } from './account.ts';

test('tokens of Telegram and Discord name their bot; what is none names nobody', () => {
  const part = Buffer.from('800000000000123').toString('base64');
  const of = (channel: 'telegram' | 'discord' | 'slack', botToken: string) => accountOfToken(channel, { botToken });
  assert.equal(of('telegram', '123456:AAbb-cc_dd'), '123456');
  assert.equal(of('discord', `${part}.Gabcde.${'z'.repeat(38)}`), '800000000000123');
  assert.equal(of('discord', `Bot ${part}.Gabcde.${'z'.repeat(38)}`), '800000000000123');
  for (const bad of ['', '123456', ':', 'x:y', `${'1'.repeat(21)}:y`, '１２:x'])
    assert.equal(of('telegram', bad), null);
  for (const bad of ['', '.', '123.4.5', `${Buffer.from('no id').toString('base64')}.x.y`]) {
    assert.equal(of('discord', bad), null);
  }
  assert.equal(of('slack', 'xoxb-1-2-3'), null);
  assert.equal(accountOfToken('telegram', {}), null);
});

test('an unverified key is told from every account, and keeps what the token says of itself', () => {
  for (const named of [null, '123456']) {
    const key = unverifiedAccount('d1-_', named);
    assert.deepEqual([isUnverifiedAccount(key), namedBy(key)], [true, named]);
  }
  for (const account of ['123456', 'T1/B1', 'ada@example.com']) assert.equal(namedBy(account), null);
});
