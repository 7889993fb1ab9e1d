import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkedEgress,
  egressModes,
  longestEgressEntry,
  mostEgressEntries,
  publicEgress,
  specialIpv4Blocks,
} from './egress.ts';
import type { EgressMode } from './egress.ts';
import { randomFrom } from './testing/index.ts';

const allowing = (...allow: string[]) => checkedEgress({ mode: 'allowlist', allow }).allow;
const refusal = (allow: readonly string[], mode: EgressMode = 'allowlist'): string => {
  try {
    checkedEgress({ mode, allow });
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail(`taken: ${allow.join(' ')}`);
};

test('nothing given is every public address', () => {
  assert.deepEqual(checkedEgress({}), publicEgress);
  for (const mode of egressModes) assert.deepEqual(checkedEgress({ mode }), { mode, allow: [] });
});

test('a list without the mode that reads it is refused: it would be believed to hold', () => {
  for (const mode of ['public', 'none'] as const) {
    assert.match(
      refusal(['example.com'], mode),
      new RegExp(`^egress\\.allow is for mode allowlist: with mode ${mode}`),
    );
  }
});

test('names, wildcards, addresses and blocks are kept in one form each', () => {
  const taken: [given: string, kept: string][] = [
    ['api.example.com', 'api.example.com'],
    ['API.Example.COM.', 'api.example.com'],
    ['*.Example.com', '*.example.com'],
    ['*.example.com.', '*.example.com'],
    ['*.co.uk', '*.co.uk'],
    ['xn--r8jz45g.xn--zckzah', 'xn--r8jz45g.xn--zckzah'],
    ['1password.com', '1password.com'],
    ['3.example', '3.example'],
    ['a--b.example', 'a--b.example'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
    [`*.${'a.'.repeat(126)}b.`, `*.${'a.'.repeat(126)}b`],
    ['9.9.9.9', '9.9.9.9/32'],
    ['9.9.9.9/24', '9.9.9.0/24'],
    ['9.255.255.255/8', '9.0.0.0/8'],
    ['223.255.255.255/32', '223.255.255.255/32'],
    ['172.15.255.255', '172.15.255.255/32'],
    ['172.32.0.0/11', '172.32.0.0/11'],
  ];
  for (const [given, kept] of taken) {
    assert.ok(given.length <= longestEgressEntry);
    assert.deepEqual(allowing(given), [kept]);
    assert.deepEqual(allowing(kept), [kept], 'what is kept is kept as it is');
  }
  assert.deepEqual(allowing('b.example', 'A.example', 'a.example.', 'b.example'), ['b.example', 'a.example']);
  assert.equal(allowing(...Array.from({ length: mostEgressEntries }, (_, n) => `h${n}.example`)).length, 100);
});

test('what is no name and no address is refused by its place', () => {
  const wrong: [entry: string, message: RegExp][] = [
    ['localhost', /must be a whole name, with a dot/],
    ['com', /must be a whole name/],
    ['*.com', /is too wide/],
    ['*.com.', /is too wide/],
    ['*', /must be a host name/],
    ['*.', /must be a host name/],
    ['*.*.example.com', /must be a host name/],
    ['a.*.example.com', /must be a host name/],
    ['*example.com', /must be a host name/],
    ['.example.com', /must be a host name/],
    ['example..com', /must be a host name/],
    ['example.com..', /must be a host name/],
    ['-a.example', /must be a host name/],
    ['a-.example', /must be a host name/],
    ['_dmarc.example.com', /must be a host name/],
    ['a b.example', /must be a host name/],
    ['example.com\n', /must be a host name/],
    ['bücher.example', /must be a host name/],
    ['https://example.com', /must be a host name/],
    ['example.com:443', /must be a host name/],
    ['example.com/path', /must be a host name/],
    [`${'a'.repeat(64)}.example`, /must be a host name/],
    [`${'a.'.repeat(126)}bc`, /must be a host name/],
    ['example.1', /must be a host name/],
    ['1.2.3.0x1', /must be a host name/],
    ['0x7f.0.0.0x1', /must be a host name/],
    ['2001:db8::1', /is an IPv6 address/],
    ['::', /is an IPv6 address/],
    ['[2606:4700::1111]', /is an IPv6 address/],
    ['2606:4700::/32', /is an IPv6 address/],
    ['9.9.9', /must be an IPv4 address/],
    ['9.9.9.256', /must be an IPv4 address/],
    ['9.9.9.09', /must be an IPv4 address/],
    ['9.9.9.9.', /must be an IPv4 address/],
    ['9.9.9.0/33', /must be an IPv4 address/],
    ['9.9.9.0/', /must be an IPv4 address/],
    ['9.9.9.0/08', /must be an IPv4 address/],
    ['9.0.0.0/7', /is too wide/],
    ['0.0.0.0/0', /is too wide/],
    ['127.0.0.1', /is of 127\.0\.0\.0\/8, .* only public addresses/],
    ['10.1.2.3/24', /only public addresses/],
    ['169.254.169.254', /is of 169\.254\.0\.0\/16, .* only public addresses/],
    ['192.0.0.0/8', /only public addresses/],
    ['100.0.0.0/8', /only public addresses/],
    ['224.0.0.1', /only public addresses/],
    ['255.255.255.255', /only public addresses/],
  ];
  for (const [entry, message] of wrong) {
    const said = refusal(['a.example', '8.8.8.8', entry]);
    assert.match(said, message, entry);
    assert.match(said, /^egress\.allow\[2\] /, entry);
  }
});

test('no block that is taken holds an address that is not public, whatever is asked', () => {
  const seed = Date.now() % 1_000_000;
  const random = randomFrom(seed);
  const number = (address: string) => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  const special = specialIpv4Blocks.map((block) => {
    const [first, prefix] = block.split('/');
    return { first: number(first!), last: number(first!) + 2 ** (32 - Number(prefix)) - 1 };
  });
  let taken = 0;
  for (let count = 0; count < 5_000; count += 1) {
    const given = `${[random(256), random(256), random(256), random(256)].join('.')}/${random(33)}`;
    let kept: string;
    try {
      kept = allowing(given)[0]!;
    } catch {
      continue;
    }
    taken += 1;
    const [address, prefix] = kept.split('/');
    const first = number(address!);
    const last = first + 2 ** (32 - Number(prefix)) - 1;
    const asked = number(given.split('/')[0]!);
    assert.ok(first <= asked && asked <= last, `seed ${seed}: ${given} became ${kept}`);
    for (const block of special) assert.ok(last < block.first || first > block.last, `seed ${seed}: ${kept}`);
  }
  assert.ok(taken > 1_000, `seed ${seed}: ${taken}`);
});
