import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RefusedConnection } from '@lodge/ports';
import { refusedEntries } from './refused.ts';

const at = new Date('2026-01-31T12:00:00Z');
const toAddress = (address: string, port: number | null = 443, protocol: 'tcp' | 'udp' | 'icmp' = 'tcp') =>
  ({ at, protocol, address, port, name: null }) satisfies RefusedConnection;
const forName = (name: string) =>
  ({ at, protocol: 'dns', address: null, port: null, name }) satisfies RefusedConnection;
const linesOf = (refused: readonly RefusedConnection[], more = 0, mode: 'allowlist' | 'none' = 'allowlist') =>
  refusedEntries({ refused, more }, mode).map(({ message }) => message);

test('a refusal says what was tried, and by which rule it came to nothing', () => {
  const refused = [toAddress('203.0.113.7'), toAddress('203.0.113.7', null, 'icmp'), forName('x.example')];
  assert.deepEqual(linesOf(refused), [
    "Refused: tcp 203.0.113.7:443 is not on the agent's allow list.",
    "Refused: icmp 203.0.113.7 is not on the agent's allow list.",
    "Refused: the name x.example is not on the agent's allow list.",
  ]);
  assert.deepEqual(linesOf([toAddress('203.0.113.7', 53, 'udp')], 0, 'none'), [
    'Refused: udp 203.0.113.7:53, for the agent may reach nothing but its model broker.',
  ]);
  assert.deepEqual(refusedEntries({ refused: [forName('x.example')], more: 0 }, 'allowlist'), [
    { level: 'warn', source: 'egress', at, message: "Refused: the name x.example is not on the agent's allow list." },
  ]);
});

test('what is refused alike is one line; a round has twenty at most, and says how many are missing', () => {
  const many = Array.from({ length: 300 }, (_, n) => toAddress(`203.0.113.${n % 30}`));
  const lines = linesOf([...many, toAddress('203.0.113.0')], 5);
  assert.equal(lines.length, 21);
  assert.equal(lines[0], "Refused: tcp 203.0.113.0:443 is not on the agent's allow list. (11 times)");
  assert.equal(lines[20], 'Refused: 105 more.');
  assert.deepEqual(linesOf([], 3), ['Refused: 3 more.']);
  assert.deepEqual(linesOf([]), []);
});

test('names that a guest chose hide no line that follows, and no secret is kept', () => {
  const secret = `sk-${'a1B2'.repeat(10)}`;
  const lines = linesOf([forName('-----BEGIN RSA PRIVATE KEY-----'), forName(secret), forName('after.example')]);
  assert.equal(lines.at(-1), "Refused: the name after.example is not on the agent's allow list.");
  assert.ok(!lines.join('\n').includes(secret));
});
