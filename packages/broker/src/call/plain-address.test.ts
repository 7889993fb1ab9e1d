import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainAddress } from './plain-address.ts';

test('a peer has one spelling, whichever socket it came by', () => {
  assert.equal(plainAddress('::ffff:10.201.0.2'), '10.201.0.2');
  assert.equal(plainAddress('::FFFF:10.201.0.2'), '10.201.0.2');
  assert.equal(plainAddress('10.201.0.2'), '10.201.0.2');
  assert.equal(plainAddress('fd00::1'), 'fd00::1');
  assert.equal(plainAddress(undefined), '');
});
