import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountLimit, networkOf } from './attempt-limits.ts';

test('an IPv6 machine counts as its /64, however the address is written', () => {
  const same = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:0:0:9', '2001:0db8:0001:0002::'];
  assert.deepEqual(new Set(same.map(networkOf)), new Set(['2001:db8:1:2::/64']));
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(networkOf('2001:db8::1:0:0:1'), '2001:db8:0:0::/64');
});

test('an IPv4 address is itself, also when it is written as IPv6', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7');
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7');
});

test('an address that the account knows has a count of its own, and no e-mail stands in a count', () => {
  const [strange, known] = [false, true].map((is) => accountLimit('a@example.com', '192.0.2.7', is).subject);
  assert.notEqual(strange, known);
  assert.equal(accountLimit('a@example.com', '192.0.2.8', false).subject, strange);
  assert.doesNotMatch(strange! + known!, /a@example/);
});
