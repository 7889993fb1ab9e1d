/** For tests: agents whose models are scripts of the test, by the name of the agent's model. */
import type { Gateway, GatewayAnswer, GatewayEvent, GatewayTurn } from '@lodge/ports';

/** Returns the answer to a message. */
export type Script = (said: string, signal: AbortSignal) => Promise<string>;

export class ScriptedGateway implements Gateway {
  readonly scripts = new Map<string, Script>();
  readonly turns: GatewayTurn[] = [];

  async open(turn: GatewayTurn): Promise<GatewayAnswer> {
    this.turns.push(turn);
    const name = String(turn.body['model']).split('/').at(-1)!;
    const messages = turn.body['messages'] as readonly { readonly content: string }[];
    const script = this.scripts.get(name) ?? (async () => 'pong');
    const answer = () => script(messages.at(-1)!.content, turn.signal);
    return {
      events: () => eventsOf(answer, turn.signal),
      async whole() {
        const text = await answer();
        return { body: { choices: [{ message: { content: text } }] }, text };
      },
    };
  }
}

async function* eventsOf(answer: () => Promise<string>, signal: AbortSignal): AsyncGenerator<GatewayEvent> {
  const cut = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  cut.catch(() => undefined);
  yield eventOf(await Promise.race([answer(), cut]), false);
  yield eventOf('', true);
}

const eventOf = (text: string, isLast: boolean): GatewayEvent => ({
  block: `data: ${isLast ? '[DONE]' : text}`,
  data: null,
  otherLines: [],
  text,
  isLast,
});
