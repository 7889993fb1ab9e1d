import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { isPublicAddress } from './addresses.ts';
import type { Find } from './names.ts';
import { PrivateAddressError } from './connectors.ts';
import { createOutbound } from './outbound.ts';
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

const skip = process.geteuid!() === 0 ? false : 'only root makes a network';

test(
  'links without a carrier and local routes are the host’s own too; routes for marked packets are not',
  { skip },
  () => {
    const network = [
      'ip link set lo up',
      'ip link add bridge type bridge && ip address add 8.8.8.1/24 dev bridge',
      'ip address add 2606:4700::1/64 dev bridge && ip link set bridge up',
      'ip route add local 9.9.9.0/24 dev lo && ip -6 route add local 2606:4701::/64 dev lo',
      'ip rule add fwmark 1 lookup 100 && ip route add local default dev lo table 100',
      'ip -6 rule add fwmark 1 lookup 100 && ip -6 route add local default dev lo table 100',
      'exec "$@"',
    ].join('\n');
    const own = ['8.8.8.1', '9.9.9.77', '2606:4700::1', '2606:4701::77', '127.0.0.2'];
    const others = ['8.8.8.2', '9.9.8.1', '2606:4700::2', '2606:4702::1'];
    const program = `
    import { ownAddresses } from '${new URL('own-addresses.ts', import.meta.url).href}';
    process.stdout.write(JSON.stringify(${JSON.stringify([...own, ...others])}.filter(ownAddresses())));`;
    const node = [process.execPath, '--input-type=module', '-e', program];
    const output = execFileSync('unshare', ['--net', 'sh', '-ec', network, 'sh', ...node], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(output), own);
  },
);
