import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

export async function until(what: string, timeoutMs: number, look: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await look())) {
    if (performance.now() > deadline) assert.fail(`not within ${timeoutMs} ms: ${what}`);
    await sleep(100);
  }
}
