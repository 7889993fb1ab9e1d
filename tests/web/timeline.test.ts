/** The order of an agent's activity, the turn that a model call is shown with, and the bounds of Markdown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LlmCall, LodgeEvent } from '@lodge/sdk';
import { canBeParsed } from '../../apps/web/src/components/markdown/bounds.ts';
import { workspacePath } from '../../apps/web/src/components/markdown/workspace-path.ts';
import { horizonOf, isOfKind, timelineOf } from '../../apps/web/src/pages/agent/activity/timeline.ts';
import { bombs, hostileMarkdown } from './talk-hostile.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 10, 27) + second * 1000).toISOString();
const event = (id: string, type: string, second: number, data: object = {}): LodgeEvent => ({
  object: 'event',
  id,
  type,
  created_at: at(second),
  agent_id: 'a',
  data: { ...data },
});
const call = (id: string, second: number, seconds = 2) =>
  ({ object: 'llm_call', id, started_at: at(second), duration_ms: seconds * 1000 }) as LlmCall;

test('a call is shown with the answer during which it began, the shorter one first; others make pieces of work', () => {
  const events = [
    event('3', 'schedule.ran', 100, { name: 'Report', duration_ms: 60_000 }),
    event('2', 'message.answered', 80, { channel: 'telegram', duration_ms: 10_000 }),
    event('1', 'agent.paused', 20, { cause: 'idle' }),
  ];
  const calls = [
    call('late', 500),
    call('run', 95),
    call('answer', 75),
    call('run-early', 45),
    call('b', 12),
    call('a', 5),
  ];
  const items = timelineOf(events, calls).map((item) => [
    item.type === 'event' ? item.event.id : 'work',
    item.calls.map(({ id }) => id),
  ]);
  assert.deepEqual(items, [
    ['work', ['late']],
    ['3', ['run-early', 'run']],
    ['2', ['answer']],
    ['1', []],
    ['work', ['a', 'b']],
  ]);
});

test('work is a kind of its own, and so is an answer with its calls', () => {
  const [answer] = timelineOf([event('2', 'hook.answered', 80, { duration_ms: 9000 })], [call('x', 75)]);
  assert.deepEqual(
    [isOfKind(answer!, 'turns'), isOfKind(answer!, 'hooks'), isOfKind(answer!, 'machine')],
    [true, true, false],
  );
  const [work] = timelineOf([], [call('x', 75)]);
  assert.deepEqual(
    [isOfKind(work!, 'turns'), isOfKind(work!, 'hooks'), isOfKind(work!, undefined)],
    [true, false, true],
  );
});

test('two lists are shown as far back as both are known', () => {
  assert.equal(
    horizonOf([
      { oldest: at(5), hasMore: true },
      { oldest: at(9), hasMore: true },
    ]),
    at(9),
  );
  assert.equal(
    horizonOf([
      { oldest: at(5), hasMore: true },
      { oldest: at(9), hasMore: false },
    ]),
    at(5),
  );
  assert.equal(horizonOf([{ oldest: undefined, hasMore: false }]), undefined);
});

test('what would take the parser long is told at once', () => {
  for (const bomb of bombs) {
    const begun = performance.now();
    canBeParsed(bomb);
    assert.ok(performance.now() - begun < 5_000);
  }
  assert.deepEqual(
    bombs.map((bomb) => canBeParsed(bomb)),
    bombs.map(() => false),
  );
  assert.ok(canBeParsed(hostileMarkdown.join('\n\n')), 'a hostile text of usual size is parsed');
  assert.ok(canBeParsed('- a **b**\n'.repeat(2000)), 'a long list is parsed');
});

test('a link to a file leads into the workspace alone', () => {
  const paths = {
    'report.md': 'report.md',
    './a/b.txt': 'a/b.txt',
    '/workspace/a%20b.txt': 'a b.txt',
    'sandbox:/workspace/a.txt': 'a.txt',
    'file:///workspace/a.txt#top': 'a.txt',
    '/account/keys': undefined,
    '../a': undefined,
    'a/../../b': undefined,
    '%2e%2e/b': undefined,
    '//evil.example/x': undefined,
    'javascript:alert(1)': undefined,
    '%01javascript:alert(1)': undefined,
    '%E0%A4%A': undefined,
    '#top': undefined,
    '': undefined,
  };
  for (const [href, path] of Object.entries(paths)) assert.equal(workspacePath(href), path, href);
});
