import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { guestOf, guestOfRow } from './guest-of.ts';

test('an agent’s guest is called with what its host says of it: its credential, the way to it, and the host’s pace', async () => {
  const dialled: unknown[] = [];
  const socket = new Socket();
  const driver = {
    pace: 6,
    dial: async (...at: unknown[]) => (dialled.push(at), socket),
    guestCredential: async (agentId: string, address: string) => `${agentId} at ${address}`,
  };
  const { signal } = new AbortController();
  for (const guest of [
    guestOf(driver, { agentId: 'a1', address: '192.0.2.7' }),
    guestOfRow(driver, { id: 'a1', vmAddress: '192.0.2.7' }),
  ]) {
    assert.equal(guest.address, '192.0.2.7');
    assert.equal(guest.pace, 6);
    assert.equal(await guest.dial(80, signal), socket);
    assert.deepEqual(dialled.pop(), ['a1', 80, signal]);
    assert.equal(await guest.credential(), 'a1 at 192.0.2.7');
  }
});
