import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legacyChainsOf } from './legacy-iptables.ts';

/** Output of `iptables-legacy -S` 1.8.9 after ufw, and after a firewall that rejects at its end. */
const ufw = `-P INPUT DROP
-P FORWARD DROP
-P OUTPUT ACCEPT
-N ufw-before-forward
-A INPUT -j ufw-before-input
-A FORWARD -j ufw-before-forward
-A ufw-before-forward -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
`;
const missing = (listing: string) =>
  Object.fromEntries(legacyChainsOf(listing, 'a-').map((chain) => [chain.name, chain.missing]));

test('chains of the older iptables that drop by default need an accept for the guests’ links', () => {
  assert.deepEqual(missing(ufw), {
    INPUT: ['-i a-+ -j ACCEPT'],
    FORWARD: ['-i a-+ -j ACCEPT', '-o a-+ -j ACCEPT'],
    OUTPUT: [],
  });
  assert.deepEqual(missing(`${ufw}-A FORWARD -o a-+ -j ACCEPT\n-A INPUT -i a-+ -j ACCEPT\n`), {
    INPUT: [],
    FORWARD: ['-i a-+ -j ACCEPT'],
    OUTPUT: [],
  });
});

test('a chain whose last rule rejects everything counts as closed, one that names packets does not', () => {
  const open = '-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n';
  assert.deepEqual(missing(open), { INPUT: [], FORWARD: [], OUTPUT: [] });
  assert.deepEqual(missing(`${open}-A INPUT -s 10.0.0.0/8 -j DROP\n`)['INPUT'], []);
  assert.deepEqual(missing(`${open}-A OUTPUT -j REJECT --reject-with icmp-port-unreachable\n`)['OUTPUT'], [
    '-o a-+ -j ACCEPT',
  ]);
});

test('rules of this instance are told from those of others', () => {
  const listing = `${ufw}-A FORWARD -i a-+ -j ACCEPT\n-A FORWARD -i b-+ -j ACCEPT\n`;
  const forward = legacyChainsOf(listing, 'a-').find(({ name }) => name === 'FORWARD');
  assert.deepEqual(forward?.ours, ['-i a-+ -j ACCEPT']);
});
