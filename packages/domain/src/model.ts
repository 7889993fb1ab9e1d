import { abilitiesOf } from './runtime-kinds.ts';
import type { RuntimeKind } from './runtime-kinds.ts';

/** A model with its provider, in two halves. The first slash divides them, and the name may contain more. */
export interface ProviderModel {
  readonly provider: string;
  readonly name: string;
}

export const maxModelLength = 200;

/** Splits `<provider>/<model_name>`; null when the text has another form. */
export function parseProviderModel(model: string): ProviderModel | null {
  if (model.length > maxModelLength) return null;
  const match = /^([a-z0-9][a-z0-9._-]*)\/([\x21-\x7e]+)$/.exec(model);
  return match ? { provider: match[1]!, name: match[2]! } : null;
}

/** Most models that a refusal names; more would help nobody. */
const maxNamed = 20;

/** Returns the usable models in words, each once. */
export function namedModels(models: readonly string[]): string {
  const named = [...new Set(models)];
  const more = named.length > maxNamed ? ` and ${named.length - maxNamed} more` : '';
  return named.length === 0 ? 'no model' : named.slice(0, maxNamed).join(', ') + more;
}

/** Providers that serve models of many vendors under `<vendor>/<model>` names, in order of preference. */
const aggregators = ['openrouter', 'together', 'fireworks', 'huggingface', 'nvidia', 'groq'] as const;

export const servesManyHouses = (provider: string): boolean => (aggregators as readonly string[]).includes(provider);

/**
 * Returns the reason why an agent of a runtime with bare models cannot have this one, or null. The name is bare, because the provider
 * is that of the agent's keys. `prefixes` are providers that must not stand before it.
 */
export function bareModelFault(kind: RuntimeKind, name: string, prefixes: readonly string[]): string | null {
  if (name.length > maxModelLength || !/^[\x21-\x7e]+$/.test(name)) {
    return `model must be a bare <model_name> of up to ${maxModelLength} printable characters without spaces.`;
  }
  const parsed = parseProviderModel(name);
  if (!parsed || !prefixes.includes(parsed.provider)) return null;
  return `model of a ${kind} agent is a bare <model_name>, without the provider ${parsed.provider}: ${parsed.name}.`;
}

/** Beginnings of model names, by their provider. */
const families: readonly (readonly [prefix: RegExp, provider: string])[] = [
  [/^claude/, 'anthropic'],
  [/^(gpt|chatgpt|codex|o\d)/, 'openai'],
  [/^(gemini|gemma)/, 'google'],
  [/^grok/, 'xai'],
  [/^deepseek/, 'deepseek'],
  [/^(mistral|codestral|devstral|magistral|ministral|pixtral)/, 'mistral'],
  [/^(kimi|moonshot)/, 'moonshot'],
  [/^glm/, 'zai'],
  [/^minimax/, 'minimax'],
  [/^command/, 'cohere'],
  [/^sonar/, 'perplexity'],
  [/^(qwen|qwq)/, 'qwen'],
];

/**
 * Returns the provider and model of an agent, or null when there is none. A model with its provider names both. A bare
 * one belongs to the provider of its owner's key. With several keys it is the provider whose own model it is by name,
 * else the deployment's, else the first by name. Without a key it is the deployment's.
 */
export function agentModel(
  agent: { readonly runtimeKind: RuntimeKind; readonly model: string; readonly keyProviders: readonly string[] },
  defaultProvider: string | null,
): ProviderModel | null {
  const { runtimeKind, model: name, keyProviders: keys } = agent;
  if (!abilitiesOf(runtimeKind).hasBareModels) return parseProviderModel(name);
  if (keys.length < 2) {
    const provider = keys[0] ?? defaultProvider;
    return provider === null ? null : { provider, name };
  }
  const candidates = name.includes('/')
    ? aggregators
    : families.filter(([prefix]) => prefix.test(name.toLowerCase())).map(([, provider]) => provider);
  const own = candidates.find((id) => keys.includes(id));
  const usual = defaultProvider !== null && keys.includes(defaultProvider) ? defaultProvider : keys.toSorted()[0]!;
  return { provider: own ?? usual, name };
}

const maskedPrefix = 'named-';

/**
 * Returns `<provider>/<model_name>` as one plain word, for a runtime that rewrites names of models it knows, or allows no
 * slash in one.
 */
export function maskModel(model: string): string {
  return maskedPrefix + Buffer.from(model).toString('hex');
}

/** Returns the masked name; any other name unchanged. */
export function unmaskModel(name: string): string {
  const hex = name.startsWith(maskedPrefix) ? name.slice(maskedPrefix.length) : '';
  return /^(?:[0-9a-f]{2})+$/.test(hex) ? Buffer.from(hex, 'hex').toString() : name;
}
