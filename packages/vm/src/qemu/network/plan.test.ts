import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowanceOf, allowedBy } from './egress-rules.ts';
import { blockTest, disjointBlocks, overlaps, parseRange, planNetwork } from './plan.ts';

const options = { instance: 'lodge', range: '10.201.0.0/16', brokerPort: 4000, resolver: '9.9.9.9' };

test('every slot has four addresses of its own, and the last four are the broker’s', () => {
  for (const [range, maxSlots, brokerHost] of [
    ['10.201.0.0/16', 16_383, '10.201.255.253'],
    ['192.168.40.0/24', 63, '192.168.40.253'],
    ['100.64.16.0/20', 1023, '100.64.31.253'],
  ] as const) {
    const plan = planNetwork({ ...options, range });
    assert.equal(plan.maxSlots, maxSlots);
    assert.equal(plan.brokerHost, brokerHost);
    assert.throws(() => plan.slotAddresses(maxSlots), /No slot/);
  }
  const plan = planNetwork(options);
  assert.deepEqual(plan.slotAddresses(0), { guestSide: '10.201.0.2', formerHostSide: '10.201.0.1' });
  assert.deepEqual(plan.slotAddresses(64), { guestSide: '10.201.1.2', formerHostSide: '10.201.1.1' });
});

test('names fit the kernel and tell instances apart', () => {
  const plan = planNetwork({ ...options, instance: 'abcdefgh' });
  assert.ok(plan.slotName(plan.maxSlots - 1).length <= 15);
  assert.ok(plan.brokerLink.length <= 15);
  const [a, ab] = ['a', 'ab'].map((instance) => planNetwork({ ...options, instance }));
  assert.equal(a!.slotOf('a-7'), 7);
  for (const name of ['ab-7', 'a-07', 'a--7', 'a-broker', 'a-', 'a-99999', 'b-7']) assert.equal(a!.slotOf(name), null);
  assert.equal(ab!.slotOf('a-7'), null);
});

test('options that would break out of their place are refused', () => {
  for (const instance of ['', 'Lodge', 'a-b', 'a"', 'a b', 'abcdefghi', '../a', 'a\n']) {
    assert.throws(() => planNetwork({ ...options, instance }), /instance/);
  }
  for (const range of [
    '10.201.0.0',
    '10.201.0.0/15',
    '10.201.0.0/25',
    '10.201.0.1/16',
    '10.0.0.0/16',
    '8.8.0.0/16',
    '10.201.0.0/16; flush ruleset',
    '10.201.0.0/016',
    'fd00::/16',
    '',
  ]) {
    assert.throws(() => planNetwork({ ...options, range }), /range/);
  }
  for (const resolver of ['127.0.0.53', '0.0.0.0', '::1', 'dns.example', '9.9.9.9:53', '']) {
    assert.throws(() => planNetwork({ ...options, resolver }), /name server/);
  }
  for (const brokerPort of [0, -1, 65_536, 4000.5, Number.NaN]) {
    assert.throws(() => planNetwork({ ...options, brokerPort }), /port/);
  }
});

test('blocks overlap when one holds the other', () => {
  const [outer, inner, beside] = ['10.0.0.0/8', '10.201.4.0/24', '11.0.0.0/8'].map((text) => parseRange(text)!);
  assert.ok(overlaps(outer!, inner!) && overlaps(inner!, outer!) && !overlaps(outer!, beside!));
  assert.equal(parseRange('default'), null);
  assert.equal(parseRange('10.0.0.1/8'), null);
  assert.deepEqual(parseRange('255.255.255.255'), { base: 0xff_ff_ff_ff, prefix: 32 });
});

test('blocks that lie in one another are one', () => {
  assert.deepEqual(disjointBlocks(['10.2.0.0/16', '10.0.0.0/8', '9.9.9.9', '10.0.0.0/8', '11.0.0.0/24']), [
    '9.9.9.9/32',
    '10.0.0.0/8',
    '11.0.0.0/24',
  ]);
  for (const text of ['10.0.0.1/8', 'a.example', '1.2.3.4; flush ruleset', '::/0']) {
    assert.throws(() => disjointBlocks([text]), /Not an IPv4 block/);
    assert.throws(() => planNetwork({ ...options, blocked: [text] }), /Not an IPv4 block/);
  }
  const isClosed = blockTest(planNetwork({ ...options, blocked: ['8.8.0.0/16'] }).closedBlocks);
  const tried = [
    '8.8.4.4',
    '8.9.0.1',
    '168.63.129.16',
    '168.63.129.17',
    '169.254.169.254',
    '100.100.100.200',
    '192.0.0.192',
  ];
  assert.deepEqual(tried.filter(isClosed), [
    '8.8.4.4',
    '168.63.129.16',
    '169.254.169.254',
    '100.100.100.200',
    '192.0.0.192',
  ]);
});

test('a name is allowed by itself or by what it lies below, whole labels only', () => {
  const allowance = allowanceOf({ mode: 'allowlist', allow: ['a.example', '*.b.example', '192.0.2.0/24'] })!;
  const tried = [
    'a.example',
    'x.a.example',
    'b.example',
    'x.b.example',
    'x.y.b.example',
    'xb.example',
    '.b.example',
    'b.example.x',
  ];
  assert.deepEqual(
    tried.filter((name) => allowedBy(allowance, name)),
    ['a.example', 'x.b.example', 'x.y.b.example'],
  );
  assert.deepEqual(allowance.blocks, ['192.0.2.0/24']);
  assert.equal(allowanceOf({ mode: 'public', allow: ['a.example'] }), null);
  assert.deepEqual(allowanceOf({ mode: 'none', allow: ['a.example', '192.0.2.0/24'] }), { names: [], blocks: [] });
});
