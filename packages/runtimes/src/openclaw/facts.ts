import type { LlmApi, RuntimeFacts } from '@lodge/ports';

/** What the host keeps of an OpenClaw template. */
export interface OpenclawFacts {
  /** The gateway's token, 64 hexadecimal digits from the host's random source. Full power over the guest. */
  readonly token: string;
  /** Names the suspension every clone wakes up in. */
  readonly suspensionId: string;
  /** What its guests are configured to speak to providers. */
  readonly apis: readonly LlmApi[];
  /** Whether they know models that take pictures. */
  readonly pictures: boolean;
}

/** Of templates that do not say. */
const firstApis: readonly LlmApi[] = ['openai-completions', 'anthropic-messages'];

export function readFacts(facts: RuntimeFacts): OpenclawFacts {
  const { token, suspensionId, apis = firstApis, pictures = false } = facts;
  if (typeof token !== 'string' || typeof suspensionId !== 'string') {
    throw new TypeError('the facts of this template are not those of an OpenClaw template');
  }
  return { token, suspensionId, apis: apis as readonly LlmApi[], pictures: pictures === true };
}
