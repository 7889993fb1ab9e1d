import { abilitiesOf } from './runtime-kinds.ts';
import type { RuntimeKind } from './runtime-kinds.ts';

/** A runtime_a model in its two halves: the first slash divides them, the name may hold more. */
export interface ProviderModel {
  readonly provider: string;
  readonly name: string;
}

export const maxModelLength = 200;

/** Splits `<provider>/<model_name>`; null when it is not of that shape. */
export function parseProviderModel(model: string): ProviderModel | null {
  if (model.length > maxModelLength) return null;
  const match = /^([a-z0-9][a-z0-9._-]*)\/([\x21-\x7e]+)$/.exec(model);
  return match ? { provider: match[1]!, name: match[2]! } : null;
}

/** Models that a refusal names: more help nobody. */
const maxNamed = 20;

/** Models that may be used, in words, each once. */
export function namedModels(models: readonly string[]): string {
  const named = [...new Set(models)];
  const more = named.length > maxNamed ? ` and ${named.length - maxNamed} more` : '';
  return named.length === 0 ? 'no model' : named.slice(0, maxNamed).join(', ') + more;
}

/** Providers that serve models of many houses under `<house>/<model>` names, in order of preference. */
const aggregators = ['openrouter', 'together', 'fireworks', 'huggingface', 'nvidia', 'groq'] as const;

export const servesManyHouses = (provider: string): boolean => (aggregators as readonly string[]).includes(provider);

/**
 * Why a runtime_b agent cannot have a model of this name; null when it can. It is bare: the provider is that of the agent's
 * keys. `prefixes` are providers that must not stand before it.
 */
export function bareModelFault(name: string, prefixes: readonly string[]): string | null {
  if (name.length > maxModelLength || !/^[\x21-\x7e]+$/.test(name)) {
    return `model must be a bare <model_name> of up to ${maxModelLength} printable characters without spaces.`;
  }
  const parsed = parseProviderModel(name);
  if (!parsed || !prefixes.includes(parsed.provider)) return null;
  return `model of a runtime_b agent is a bare <model_name>, without the provider ${parsed.provider}: ${parsed.name}.`;
}

/** Whose models' names begin so. */
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
 * Provider and model of an agent. A runtime_a model names both. A runtime_b model is bare and belongs to the provider its
 * owner gave a key for; of several the one whose own it is by name, else the deployment's, else the first by name; and to
 * the deployment's where no key was given. Null when there is none.
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
 * `<provider>/<model_name>` as one plain word, for a runtime that rewrites names it takes for a known model's, or cannot
 * have a slash in one.
 */
export function maskModel(model: string): string {
  return maskedPrefix + Buffer.from(model).toString('hex');
}

/** What was masked; any other name as it is. */
export function unmaskModel(name: string): string {
  const hex = name.startsWith(maskedPrefix) ? name.slice(maskedPrefix.length) : '';
  return /^(?:[0-9a-f]{2})+$/.test(hex) ? Buffer.from(hex, 'hex').toString() : name;
}
