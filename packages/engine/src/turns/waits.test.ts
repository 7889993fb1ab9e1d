import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import type { GatewayEvent } from '@lodge/ports';
import { TurnWaits, withWaits } from './waits.ts';
import type { TurnEvent, TurnWait, WaitsOfTurn } from './waits.ts';

const wait = (id: string): TurnWait => ({ id, on: 'tool:x', target: 'x', action: 'Use x.', quoted: null });
const never = new AbortController().signal;
const said = (text: string, isLast = false): GatewayEvent => ({
  block: text,
  data: null,
  otherLines: [],
  text,
  isLast,
});

/** A gateway whose events come when the test says so. */
class Said {
  private readonly queue: (() => IteratorResult<GatewayEvent>)[] = [];
  private wake = Promise.withResolvers<void>();
  closed = false;

  put(next: () => IteratorResult<GatewayEvent>): void {
    this.queue.push(next);
    this.wake.resolve();
  }

  async *events(): AsyncGenerator<GatewayEvent> {
    try {
      for (;;) {
        while (this.queue.length === 0) {
          await this.wake.promise;
          this.wake = Promise.withResolvers();
        }
        const { done, value } = this.queue.shift()!();
        if (done) return;
        yield value;
      }
    } finally {
      this.closed = true;
    }
  }
}

const wordOf = ({ wait: waits, text }: TurnEvent): string => (waits ? `waits ${waits.id}` : text);

/** Reads in the background. */
function reading(gateway: Said, waits: WaitsOfTurn) {
  const words: string[] = [];
  const done = (async () => {
    for await (const event of withWaits(gateway.events(), waits)) words.push(wordOf(event));
  })();
  done.catch(() => undefined);
  return { words, done };
}

test('a call that waits is told at once, between events, and events keep their order', async () => {
  const waits = new TurnWaits();
  const gateway = new Said();
  const { words, done } = reading(gateway, waits.watch('a', 'c', never));
  gateway.put(() => ({ value: said('one') }));
  await setImmediate();
  const ended = waits.begin('a', 'c', wait('w1'));
  await setImmediate();
  assert.deepEqual(words, ['one', 'waits w1'], 'while the gateway is silent');
  ended(true);
  waits.begin('a', 'c', wait('w2'));
  gateway.put(() => ({ value: said('two', true) }));
  gateway.put(() => ({ done: true, value: undefined }));
  await done;
  assert.deepEqual(words.toSorted(), ['one', 'two', 'waits w1', 'waits w2']);
  assert.ok(words.indexOf('waits w2') > words.indexOf('waits w1'));
});

test('the turns of another conversation, agent, or of before are told nothing; an unknown conversation is told to all', () => {
  const waits = new TurnWaits();
  const over = new AbortController();
  const [mine, alone, other] = [
    waits.watch('a', 'c', never),
    waits.watch('a', null, never),
    waits.watch('b', 'c', never),
  ];
  const past = waits.watch('a', 'c', over.signal);
  over.abort();
  waits.begin('a', 'c', wait('w1'));
  waits.begin('a', null, wait('w2'));
  const idsOf = (watch: WaitsOfTurn) => watch.undecided().map(({ id }) => id);
  assert.deepEqual([mine, alone, other, past].map(idsOf), [['w1', 'w2'], ['w2'], [], []]);
});

test('what was decided is not undecided any more', () => {
  const waits = new TurnWaits();
  const watch = waits.watch('a', 'c', never);
  const [one, two] = [waits.begin('a', 'c', wait('w1')), waits.begin('a', 'c', wait('w2'))];
  one(true);
  two(false);
  assert.deepEqual(watch.undecided(), [wait('w2')]);
  assert.deepEqual([watch.take()?.id, watch.take()?.id, watch.take()], ['w1', 'w2', null]);
});

test('an error of the gateway passes, and a reader that leaves ends the events', async () => {
  const waits = new TurnWaits();
  const failing = new Said();
  const { done } = reading(failing, waits.watch('a', 'c', never));
  failing.put(() => {
    throw new Error('broken off');
  });
  await assert.rejects(done, /broken off/);
  const left = new Said();
  left.put(() => ({ value: said('one') }));
  for await (const event of withWaits(left.events(), waits.watch('a', 'c', never))) {
    assert.equal(event.text, 'one');
    break;
  }
  assert.equal(left.closed, true);
});
