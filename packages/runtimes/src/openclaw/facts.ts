import type { LlmApi, RuntimeFacts } from '@lodge/ports';

/** The facts of an OpenClaw template that the host stores. */
export interface OpenclawFacts {
  /** The gateway's token, 64 hexadecimal digits from the host's random source. It gives full power over the guest. */
  readonly token: string;
  /** The suspension in which every clone wakes up. */
  readonly suspensionId: string;
  /** The provider APIs that its guests are configured for. */
  readonly apis: readonly LlmApi[];
  /** Whether its guests have models that take pictures. */
  readonly pictures: boolean;
}

/** The APIs of templates whose facts name none. */
const firstApis: readonly LlmApi[] = ['openai-completions', 'anthropic-messages'];

export function readFacts(facts: RuntimeFacts): OpenclawFacts {
  const { token, suspensionId, apis = firstApis, pictures = false } = facts;
  if (typeof token !== 'string' || typeof suspensionId !== 'string') {
    throw new TypeError('the facts of this template are not those of an OpenClaw template');
  }
  return { token, suspensionId, apis: apis as readonly LlmApi[], pictures: pictures === true };
}
