import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchEventLoop } from './event-loop.ts';
import { createMetrics } from './metrics.ts';

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('what holds the loop up is measured, and said at most so often with the worst of it', async (t) => {
  const lines: { readonly delay_ms: number }[] = [];
  const log = { warn: (fields: object) => void lines.push(fields as { readonly delay_ms: number }) };
  const seen: number[] = [];
  const watch = watchEventLoop({ log, observe: (seconds) => seen.push(seconds), everyMs: 20, quietMs: 1_500 });
  t.after(() => watch.stop());
  const begun = performance.now();
  await sleep(100);
  block(300);
  await sleep(100);
  block(800);
  await sleep(2_500);
  const longest = Math.max(...seen);
  assert.ok(longest >= 0.7, `${longest} s`);
  assert.equal(lines[0]!.delay_ms > 200, true, JSON.stringify(lines));
  const tookMs = performance.now() - begun;
  assert.ok(lines.length >= 2 && lines.length <= 1 + tookMs / 1_500, JSON.stringify(lines));
  assert.ok(
    lines.some(({ delay_ms: ms }) => ms >= 700),
    JSON.stringify(lines),
  );
  watch.stop();
  const count = seen.length;
  await sleep(100);
  assert.equal(seen.length, count);
});

test('the figures have each span’s longest delay', async () => {
  const metrics = createMetrics('1.2.3');
  metrics.loopDelay(0.003);
  metrics.loopDelay(0.3);
  const text = await metrics.text();
  assert.match(text, /^lodge_event_loop_delay_seconds_bucket\{le="0\.1"\} 1$/m);
  assert.match(text, /^lodge_event_loop_delay_seconds_count 2$/m);
});
