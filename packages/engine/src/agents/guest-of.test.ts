import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guestOf, guestOfRow } from './guest-of.ts';

test('an agent’s guest is called with what its host says of it: its credential, and the host’s pace', async () => {
  const driver = { pace: 6, guestCredential: async (agentId: string, address: string) => `${agentId} at ${address}` };
  for (const guest of [
    guestOf(driver, { agentId: 'a1', address: '192.0.2.7' }),
    guestOfRow(driver, { id: 'a1', vmAddress: '192.0.2.7' }),
  ]) {
    assert.equal(guest.address, '192.0.2.7');
    assert.equal(guest.pace, 6);
    assert.equal(await guest.credential(), 'a1 at 192.0.2.7');
  }
});
