import type { LlmApi, Provider } from '@lodge/engine/ports';
import { builtinProviders, keyHeaders } from './providers.ts';

const fields = new Set(['id', 'base_url', 'name', 'api', 'needs_key', 'context_window']);
const apis: readonly LlmApi[] = ['openai-completions', 'anthropic-messages'];
const mostProviders = 100;

/**
 * The providers of the setting LODGE_PROVIDERS: a JSON array of
 * `{ id, base_url, name?, api?, needs_key?, context_window? }`, for example
 * `[{"id":"ollama","base_url":"http://127.0.0.1:11434/v1","context_window":32768}]`.
 *
 * Throws an Error whose message names the setting and the field, and repeats no value: a base URL may hold a secret.
 */
export function parseOperatorProviders(json: string): Provider[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('LODGE_PROVIDERS must be valid JSON.');
  }
  if (!Array.isArray(value)) throw new Error('LODGE_PROVIDERS must be a JSON array.');
  if (value.length > mostProviders) throw new Error(`LODGE_PROVIDERS can hold up to ${mostProviders} providers.`);
  const taken = new Set(builtinProviders.map(({ id }) => id));
  return value.map((entry: unknown, index) => {
    const provider = parseProvider(entry, `LODGE_PROVIDERS[${index}]`);
    if (taken.has(provider.id)) {
      throw new Error(`LODGE_PROVIDERS[${index}].id is the id of another provider, built in or earlier in the list.`);
    }
    taken.add(provider.id);
    return provider;
  });
}

function parseProvider(entry: unknown, at: string): Provider {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) throw new Error(`${at} must be an object.`);
  for (const field of Object.keys(entry)) {
    if (!fields.has(field)) throw new Error(`${at}.${field} is not a field; known are: ${[...fields].join(', ')}.`);
  }
  const { id, base_url, name, api, needs_key, context_window } = entry as Record<string, unknown>;
  // The shape of the provider half of a model name; see parseProviderModel.
  if (typeof id !== 'string' || !/^[a-z0-9][a-z0-9._-]{0,39}$/.test(id)) {
    throw new Error(`${at}.id must be 1 to 40 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit.`);
  }
  const spoken = optional(api, apis[0]!, isApi, `${at}.api must be ${apis.join(' or ')}.`);
  const endpoint = { baseUrl: parseBaseUrl(base_url, `${at}.base_url`), keyHeader: keyHeaders[spoken] };
  return {
    id,
    name: optional(name, id, isName, `${at}.name must be a text of 1 to 100 characters.`),
    api: spoken,
    endpoints: { [spoken]: endpoint },
    needsKey: optional(needs_key, false, isBoolean, `${at}.needs_key must be true or false.`),
    keyCheck: null,
    docsUrl: null,
    headers: {},
    models: [],
    operatorAdded: true,
    privateAddresses: true,
    contextWindow: optional(context_window, null, isTokens, `${at}.context_window must be a positive whole number.`),
  };
}

function parseBaseUrl(value: unknown, at: string): string {
  const wanted = `${at} must be an http or https URL, such as http://127.0.0.1:11434/v1.`;
  if (typeof value !== 'string' || !URL.canParse(value)) throw new Error(wanted);
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error(wanted);
  if (url.username !== '' || url.password !== '') throw new Error(`${at} must not hold a user name or password.`);
  if (url.search !== '' || url.hash !== '') throw new Error(`${at} must have no query and no fragment.`);
  return url.href.replace(/\/+$/, '');
}

function optional<T, F>(value: unknown, fallback: F, is: (value: unknown) => value is T, wanted: string): T | F {
  if (value === undefined) return fallback;
  if (!is(value)) throw new Error(wanted);
  return value;
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 100;
const isApi = (value: unknown): value is LlmApi => apis.some((api) => api === value);
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isTokens = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
