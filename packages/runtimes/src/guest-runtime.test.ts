import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialTo } from '@lodge/guest';
import { guestRuntime, until } from './guest-runtime.ts';

test('an attempt at a gateway has longer on a slow host, and never longer than the whole wait has left', async () => {
  const { signal } = new AbortController();
  const gateway = { failing: async () => null } as never;
  const address = '192.0.2.7';
  const guest = { address, dial: dialTo(address), credential: async () => null };
  const boundAt = async (pace: number): Promise<number> => {
    const wait = { what: 'answer', timeoutMs: 60_000, pauseMs: 1, attemptMs: 5_000, signal };
    const runtime = guestRuntime('Test', { ...guest, pace }, 'token', gateway);
    return (await until(runtime, wait, async ({ timeoutMs }) => ({ timeoutMs }))).timeoutMs;
  };
  assert.equal(await boundAt(1), 5_000);
  assert.equal(await boundAt(6), 30_000);
  assert.ok((await boundAt(20)) <= 60_000);
});
