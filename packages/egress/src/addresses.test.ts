import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress } from './addresses.ts';
import type { Find } from './names.ts';
import { PrivateAddressError, createOutbound } from './outbound.ts';
import { ownAddresses } from './own-addresses.ts';

test('no address of a host, a private network, a cloud or a guest is taken for a public one', () => {
  const inside = [
    '0.0.0.0',
    '10.201.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.5',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '2002:7f00:1::',
    'localhost',
    '',
    '127.1',
    '0x7f.1',
  ];
  for (const address of inside) assert.ok(!isPublicAddress(address), address);
});

test('public addresses are', () => {
  for (const address of [
    '8.8.8.8',
    '104.18.7.192',
    '172.15.0.1',
    '172.32.0.1',
    '2606:4700::6812:7c0',
    '2a00:1450::1',
  ]) {
    assert.ok(isPublicAddress(address), address);
  }
});

test('a public address that the host has itself is refused, as a literal and behind a name, and the host alone is', async () => {
  const own = ['8.8.8.8', '2606:4700::1', 'fe80::1%eth0'];
  const isOwn = ownAddresses(() => own);
  assert.deepEqual(['8.8.8.8', '2606:4700:0::1', '8.8.4.4', '2606:4700::2', 'x'].map(isOwn), [
    true,
    true,
    false,
    false,
    false,
  ]);
  const find: Find = (_name, _options, callback) => callback(null, [{ address: '8.8.8.8', family: 4 }]);
  const outbound = createOutbound(1_000, null, find, isOwn);
  const signal = AbortSignal.timeout(10_000);
  for (const url of ['https://8.8.8.8/', 'https://[2606:4700::1]/', 'https://name.example/']) {
    const sent = outbound.send({ privateAddresses: false }, { method: 'GET', url, headers: {}, signal });
    await assert.rejects(
      sent,
      (error: Error) => error instanceof PrivateAddressError || error.cause instanceof PrivateAddressError,
      url,
    );
  }
  await outbound.close();
});
