/** One turn of an agent over the API, and what it cost. */
import type { LlmCall } from '@lodge/sdk';
import { ApiError, change, list, lodge } from '../../../api.ts';
import { explain } from '../../../messages.ts';
import type { Problem, SentFile, Turn, TurnCost } from './conversation.ts';

/** An agent that sleeps is woken before the reply begins. */
const firstByteMs = 150_000;
const maxCountedCalls = 100;

export interface Asked {
  readonly agentId: string;
  readonly conversationId: string;
  readonly turn: Pick<Turn, 'said' | 'files' | 'member'>;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
  readonly onStep: (step: unknown) => void;
}

/** Returns the text that the agent reads: the words, and the paths of the files that came with them. */
export function messageOf(said: string, files: readonly SentFile[]): string {
  if (files.length === 0) return said;
  const paths = files.map(({ path }) => `/workspace/${path}`).join('\n');
  return said.trim() === '' ? `I have put these files into your workspace:\n${paths}` : `${said}\n\nFiles:\n${paths}`;
}

/** Resolves at the end of the answer. Throws what ended it before; `begun` says whether some of it had come. */
export async function ask({ agentId, conversationId, turn, signal, onText, onStep }: Asked): Promise<void> {
  const body = {
    messages: [{ role: 'user', content: messageOf(turn.said, turn.files) }],
    user: conversationId,
    stream_options: { include_steps: true },
    ...(turn.member !== null && { model: `${agentId}/${turn.member}` }),
  };
  const options = { signal, timeoutMs: firstByteMs, query: { wake: true } };
  // The first chunk comes within `change`, so that a CSRF token of an older session is renewed.
  const { stream, first } = await change(async () => {
    const stream = lodge.chat.stream(agentId, body, options);
    return { stream, first: await stream.next() };
  });
  try {
    for (let next = first; next.done !== true; next = await stream.next()) {
      const { choices, step } = next.value;
      const delta = (choices?.[0]?.['delta'] ?? {}) as { readonly content?: unknown };
      if (step !== undefined) onStep(step);
      if (typeof delta.content === 'string' && delta.content !== '') onText(delta.content);
    }
  } catch (error) {
    throw error instanceof ApiError || signal.aborted ? error : new Cut();
  }
}

/** The connection ended in the midst of an answer. */
export class Cut extends Error {}

export function problemOf(error: unknown): Problem {
  const known = error instanceof ApiError ? error : undefined;
  return { words: explain(error), code: known?.code ?? 'unexpected', requestId: known?.requestId };
}

/** Returns a function that tells what the agent asked its models since now. A call is listed once it is over. */
export function countCost(agentId: string): () => Promise<TurnCost | undefined> {
  const before = list(lodge.llmCalls.list(agentId, { limit: 1 })).then(
    ([newest]) => ({ newest: newest?.id }),
    () => undefined,
  );
  return async () => {
    const known = await before;
    if (known === undefined) return undefined;
    try {
      const calls = await list(lodge.llmCalls.list(agentId, { limit: maxCountedCalls }));
      const end = calls.findIndex(({ id }) => id === known.newest);
      const fresh = end === -1 ? calls : calls.slice(0, end);
      return { ...sumOf(fresh), more: end === -1 && calls.length === maxCountedCalls };
    } catch {
      return undefined;
    }
  };
}

export function sumOf(calls: readonly LlmCall[]): Omit<TurnCost, 'more'> {
  const priced = calls.flatMap(({ cost }) => (cost === null ? [] : [Number(cost)]));
  return {
    calls: calls.length,
    tokens: calls.reduce((sum, call) => sum + tokensOf(call), 0),
    usd: priced.length === 0 ? null : priced.reduce((sum, cost) => sum + cost, 0),
    estimated: calls.some(({ estimated }) => estimated),
  };
}

export const tokensOf = (call: LlmCall): number =>
  (call.input_tokens ?? 0) + (call.output_tokens ?? 0) + (call.cache_read_tokens ?? 0) + (call.cache_write_tokens ?? 0);
