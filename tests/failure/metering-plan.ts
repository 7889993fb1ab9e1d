/** The calls of tests/failure/metering.test.ts: what each asks for, what the provider does, and what it costs. */
import { maskModel } from '@lodge/domain';
import type { Random } from '@lodge/domain/testing';
import type { LlmApi } from '@lodge/ports';
import type { Reply, Usage } from '@lodge/testkit/llm';

export interface ServerSettings {
  readonly connectionString: string;
  /** As LODGE_PROVIDERS. */
  readonly providers: string;
  /** How many models have prices. */
  readonly calls: number;
}

/** Name of the control plane that the agents belong to. */
export const host = 'metering';

/** Each call asks for a model of its own: that is how its row and the provider's entry are found. */
export const modelOf = (n: number): string => `m${n}`;

export const prices = { input: '1.25', output: '10', cacheRead: '0.125', cacheWrite: '2.5' };

/** Trillionths of a dollar. */
export function costOf({ input, output, cacheRead = 0, cacheWrite = 0 }: Usage): bigint {
  return (
    BigInt(input) * 1_250_000n +
    BigInt(output) * 10_000_000n +
    BigInt(cacheRead) * 125_000n +
    BigInt(cacheWrite) * 2_500_000n
  );
}

const apis = ['openai-completions', 'openai-responses', 'anthropic-messages', 'google-generative-ai'] as const;

export interface PlannedCall {
  readonly path: string;
  readonly body: object;
  /** The stub's answer. */
  readonly reply: Reply;
  /** The guest goes away after so many milliseconds. */
  readonly leavesAfterMs: number | null;
}

export function planCall(n: number, pick: Random): PlannedCall {
  const api = apis[pick(4)]!;
  const stream = pick(3) > 0;
  const model = `p-${api}/${modelOf(n)}`;
  const chunks = Array.from({ length: 2 + pick(8) }, (_, i) => `piece ${i} of call ${n}; `);
  const usage = {
    input: 1 + pick(5000),
    output: 1 + pick(900),
    cacheRead: pick(2) === 0 ? 0 : pick(20_000),
    ...(api === 'anthropic-messages' && { cacheWrite: pick(2) === 0 ? 0 : pick(3000) }),
  };
  const mishap = [
    { noUsage: true },
    { cutAtByte: 1 + pick(1500) },
    { status: [429, 500, 503][pick(3)]! },
    ...Array.from({ length: 7 }, () => ({})),
  ][pick(10)]!;
  const leavesAfterMs = pick(10) === 0 ? 1 + pick(80) : null;
  return {
    ...requestOf(api, model, stream, n),
    reply: { chunks, usage, intervalMs: pick(12), ...mishap },
    leavesAfterMs,
  };
}

function requestOf(api: LlmApi, model: string, stream: boolean, n: number): Pick<PlannedCall, 'path' | 'body'> {
  const text = `call ${n} `.repeat(1 + (n % 50));
  const messages = [{ role: 'user', content: text }];
  switch (api) {
    case 'openai-completions':
      return { path: '/openai/v1/chat/completions', body: { model, messages, stream } };
    case 'openai-responses':
      return { path: '/openai/v1/responses', body: { model, input: text, stream } };
    case 'anthropic-messages':
      return { path: '/anthropic/v1/messages', body: { model, messages, stream, max_tokens: 1000 } };
    case 'google-generative-ai': {
      const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const path = `/google/v1beta/models/${maskModel(model)}:${method}`;
      return { path, body: { contents: [{ role: 'user', parts: [{ text }] }] } };
    }
  }
}

export const providersAt = (urls: Readonly<Record<LlmApi, string>>): string =>
  JSON.stringify(apis.map((api) => ({ id: `p-${api}`, base_url: urls[api], api })));
