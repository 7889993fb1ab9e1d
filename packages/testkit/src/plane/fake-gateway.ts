/** For tests: gateways that answer as the test says, in this process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayFailure } from '@lodge/ports';
import type { FailureFacts, Gateway, GatewayAnswer, GatewayEvent, GatewayTurn } from '@lodge/ports';

/** The steps of an answer, in order. */
export type Step =
  | { readonly text: string }
  | { readonly failure: FailureFacts }
  /** Goes on once this has come. */
  | { readonly after: Promise<unknown> }
  /** Nothing more comes until the turn is cut. */
  | 'silence';

export class FakeGateway implements Gateway {
  readonly turns: GatewayTurn[] = [];
  /** Answers that come to their end end by themselves. A function is asked for each turn. */
  steps: readonly Step[] | ((turn: GatewayTurn) => readonly Step[]) = [{ text: 'pong' }];
  /** The turn is not taken up. */
  refusal: FailureFacts | null = null;

  async open(turn: GatewayTurn): Promise<GatewayAnswer> {
    turn.signal.throwIfAborted();
    this.turns.push(turn);
    if (this.refusal) throw new GatewayFailure(this.refusal, new Error('told to refuse'));
    const steps = typeof this.steps === 'function' ? this.steps(turn) : this.steps;
    return {
      events: () => eventsOf(steps, turn.signal),
      async whole() {
        const texts = await Array.fromAsync(eventsOf(steps, turn.signal), ({ text }) => text);
        return { body: { choices: [{ message: { content: texts.join('') } }] }, text: texts.join('') };
      },
    };
  }
}

async function* eventsOf(steps: readonly Step[], signal: AbortSignal): AsyncGenerator<GatewayEvent> {
  for (const step of steps) {
    if (step === 'silence') await cut(signal);
    else if ('after' in step) await step.after;
    else if ('failure' in step) throw new GatewayFailure(step.failure, new Error('told to fail'));
    else yield eventOf(step.text, false);
  }
  yield eventOf('', true);
}

async function cut(signal: AbortSignal): Promise<void> {
  await sleep(60_000, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

const eventOf = (text: string, isLast: boolean): GatewayEvent => ({
  block: `data: ${isLast ? '[DONE]' : text}`,
  data: null,
  otherLines: [],
  text,
  isLast,
});
