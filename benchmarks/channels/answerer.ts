/** Answers each turn at once with its question, in a separate process, with a server engine's claims and answers. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '@lodge/store';
import { createTurns } from '../../packages/engine/src/channels/answering/turns.ts';

const silent = { debug() {}, info() {}, warn() {}, error: console.error };
const [connectionString] = (await once(process, 'message')) as [string];
process.on('disconnect', () => process.exit(0));

const store = await openStore({ connectionString, log: silent });
const turns = createTurns(store);
let wake = (): void => undefined;
let hasWork = false;
turns.onWork(() => {
  hasWork = true;
  wake();
});
process.send!('ready');
for (;;) {
  hasWork = false;
  const claims = await turns.claim({ holder: 'answerer', limit: 50, perAgent: 4, leaseMs: 30_000 });
  for (const claim of claims) {
    const text = claim.messages.map((message) => message.text).join(' ');
    void turns.answer(claim, { outcome: 'answered', reason: null, answer: { text, files: [] } });
  }
  const woken = new Promise<void>((resolve) => (wake = resolve));
  if (claims.length === 0 && !hasWork) await Promise.race([woken, sleep(1_000)]);
}
