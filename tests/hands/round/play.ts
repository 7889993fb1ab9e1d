/**
 * README's round, as its readers go it: by the command line, by JavaScript and by Python. An agent is made, talks, takes a
 * file, runs a command, is stopped and started, remembers, gives files back, and is gone.
 */
import { readFile } from 'node:fs/promises';
import { Runner } from '../snippets/runner.ts';

export const hands = { 'the command line': 'round.sh', JavaScript: 'round.mjs', Python: 'round.py' } as const;
export type Hand = keyof typeof hands;

/** Values in which a Lodge of fake machines differs from one of real ones. */
export interface Round {
  /** Origin of the API. */
  readonly url: string;
  readonly key: string;
  readonly name: string;
  readonly model: string;
  readonly provider: string;
  readonly providerKey: string;
  /** The first message, and one of the same conversation after a stop and a start. */
  readonly question: string;
  readonly again: string;
  /** Path in the workspace of a file that is there after the first message. */
  readonly written: string;
}

/** Plays the round and gives everything that it printed. It rejects where a step fails. */
export async function playHand(hand: Hand, round: Round, limitMs?: number): Promise<string> {
  const variables = {
    LODGE_URL: round.url,
    LODGE_API_KEY: round.key,
    LODGE_KEYRING: 'off',
    NAME: round.name,
    MODEL: round.model,
    PROVIDER: round.provider,
    PROVIDER_KEY: round.providerKey,
    QUESTION: round.question,
    AGAIN: round.again,
    WRITTEN: round.written,
  };
  const runner = await Runner.open(variables, limitMs);
  try {
    const text = await readFile(new URL(hands[hand], import.meta.url), 'utf8');
    if (hand === 'the command line') return await runner.shell(text);
    return await (hand === 'Python' ? runner.python([text]) : runner.javascript([text]));
  } finally {
    await runner.close();
  }
}
