import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf, siteOf } from './networks.ts';

test('an IPv6 machine counts as its /64 and its site as the /48, however the address is written', () => {
  const same = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:0:0:9', '2001:0db8:0001:0002::', '2001:DB8:1:2:3:4:5:6'];
  assert.deepEqual(new Set(same.map(networkOf)), new Set(['2001:db8:1:2::/64']));
  assert.deepEqual(new Set(same.map(siteOf)), new Set(['2001:db8:1::/48']));
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(networkOf('2001:db8::1:0:0:1'), '2001:db8:0:0::/64');
  assert.equal(networkOf('1:2::5:6:7:192.0.2.1'), '1:2:0:5::/64');
});

test('an IPv4 address is itself and its site the /24, also when it is written as IPv6', () => {
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:192.0.2.7']) {
    assert.equal(networkOf(address), '192.0.2.7');
    assert.equal(siteOf(address), '192.0.2.0/24');
  }
});

test('what is no address stays as it is', () => {
  for (const text of ['', 'unix', 'a.b']) assert.deepEqual([networkOf(text), siteOf(text)], [text, text]);
});
