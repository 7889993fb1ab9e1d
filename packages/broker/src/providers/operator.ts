import { isIP } from 'node:net';
import { llmApis } from '@lodge/ports';
import type { LlmApi, OfferedModel, Provider } from '@lodge/ports';
import { isPublicAddress } from '@lodge/egress';
import { parseModelPrices } from '../prices/overrides.ts';
import { builtinProviders, keyHeaders } from './builtin.ts';

type Entry = Readonly<Record<string, unknown>>;

/** What an operator need not say of servers that many run: an entry of this id, or with this `preset`, has these fields. */
const presets: Readonly<Record<string, Entry>> = {
  'azure-openai': {
    name: 'Azure OpenAI',
    apis: ['openai-responses', 'openai-completions'],
    key_header: 'api-key',
    needs_key: true,
    docs_url: 'https://learn.microsoft.com/azure/ai-foundry/openai',
  },
  bedrock: {
    name: 'Amazon Bedrock',
    needs_key: true,
    docs_url: 'https://docs.aws.amazon.com/bedrock',
  },
  ollama: { name: 'Ollama', base_url: 'http://127.0.0.1:11434/v1', docs_url: 'https://docs.ollama.com' },
  vllm: { name: 'vLLM', base_url: 'http://127.0.0.1:8000/v1', docs_url: 'https://docs.vllm.ai' },
};

const fields = new Set(
  'id preset base_url name api apis key_header needs_key key_check docs_url context_window headers models only_models private_addresses'.split(
    ' ',
  ),
);
const modelFields = new Set(['name', 'context_window', 'prices']);
const maxProviders = 100;
const maxModels = 1000;
/** The broker's own, or the connection's. */
const ownHeaders =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|accept.*|expect|keep-alive|proxy-.*)$/;

/**
 * The providers of the setting LODGE_PROVIDERS: a JSON array of entries, for example
 * `[{"id":"ollama","base_url":"http://127.0.0.1:11434/v1","context_window":32768}]`; docs/guides/operating.md has the fields.
 *
 * Throws an Error whose message names the setting and the field, and repeats no value: a URL or a header may hold a secret.
 */
export function parseOperatorProviders(json: string): Provider[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('LODGE_PROVIDERS must be valid JSON.');
  }
  if (!Array.isArray(value)) throw new Error('LODGE_PROVIDERS must be a JSON array.');
  if (value.length > maxProviders) throw new Error(`LODGE_PROVIDERS can hold up to ${maxProviders} providers.`);
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

function parseProvider(given: unknown, at: string): Provider {
  const own = parseObject(given, at, fields);
  const { id, preset = id } = own;
  // The shape of the provider half of a model name; see parseProviderModel.
  if (typeof id !== 'string' || !/^[a-z0-9][a-z0-9._-]{0,39}$/.test(id)) {
    throw new Error(`${at}.id must be 1 to 40 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit.`);
  }
  if (own.preset !== undefined && !isPreset(preset)) {
    throw new Error(`${at}.preset must be one of ${Object.keys(presets).join(', ')}.`);
  }
  const entry: Entry = { ...(isPreset(preset) ? presets[preset] : {}), ...own };
  const read = reader(entry, at);
  const apis = read('apis', [], isApis, `an array of ${llmApis.join(', ')}`);
  const api = read('api', apis[0] ?? 'openai-completions', isApi, llmApis.join(' or '));
  const url = parseUrl(entry.base_url, `${at}.base_url`);
  const baseUrl = url.href.replace(/\/+$/, '');
  const needsKey = read('needs_key', false, isBoolean, 'true or false');
  const keyHeader = read('key_header', null, isHeaderName, 'the name of a header, in lower case');
  const endpoints = Object.fromEntries(
    [api, ...apis].map((spoken) => [spoken, { baseUrl, keyHeader: keyHeader ?? keyHeaders[spoken] }]),
  );
  const checked = read('key_check', needsKey, isBoolean, 'true or false');
  const models = parseModels(entry.models, `${at}.models`);
  const onlyModels = read('only_models', false, isBoolean, 'true or false');
  if (onlyModels && models.length === 0) throw new Error(`${at}.only_models needs at least one model in models.`);
  return {
    id,
    name: read('name', id, isName, 'a text of 1 to 100 characters'),
    api,
    endpoints,
    needsKey,
    keyCheck: checked ? { url: `${baseUrl}/models`, keyHeader: keyHeader ?? keyHeaders[api] } : null,
    docsUrl: read('docs_url', null, isUrl, 'an http or https URL'),
    headers: read(
      'headers',
      {},
      isHeaders,
      'an object of texts by header name, in lower case, none of them about the connection or the body',
    ),
    models,
    onlyModels,
    operatorAdded: true,
    // An address that is written out says for itself that it is meant.
    privateAddresses: read('private_addresses', isPlainlyPrivate(url), isBoolean, 'true or false'),
    contextWindow: read('context_window', null, isTokens, 'a positive whole number'),
  };
}

function parseModels(value: unknown, at: string): OfferedModel[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > maxModels)
    throw new Error(`${at} must be an array of up to ${maxModels}.`);
  return value.map((entry: unknown, index) => {
    const place = `${at}[${index}]`;
    const model = parseObject(entry, place, modelFields);
    const read = reader(model, place);
    if (!isModelName(model.name)) throw new Error(`${place}.name must be the provider's name of a model.`);
    return {
      name: model.name,
      contextWindow: read('context_window', null, isTokens, 'a positive whole number'),
      prices: model.prices === undefined ? null : parseModelPrices(model.prices, `${place}.prices`),
    };
  });
}

function parseUrl(value: unknown, at: string): URL {
  if (!isUrl(value)) throw new Error(`${at} must be an http or https URL, such as http://127.0.0.1:11434/v1.`);
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') throw new Error(`${at} must not hold a user name or password.`);
  if (url.search !== '' || url.hash !== '') throw new Error(`${at} must have no query and no fragment.`);
  return url;
}

function isPlainlyPrivate({ hostname }: URL): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return literal === 'localhost' || (isIP(literal) !== 0 && !isPublicAddress(literal));
}

function parseObject(value: unknown, at: string, known: ReadonlySet<string>): Entry {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${at} must be an object.`);
  for (const field of Object.keys(value)) {
    if (!known.has(field)) throw new Error(`${at}.${field} is not a field; known are: ${[...known].join(', ')}.`);
  }
  return value as Entry;
}

/** Reads fields of an object that may be left out. */
function reader(entry: Entry, at: string) {
  return <T, F>(field: string, fallback: F, is: (value: unknown) => value is T, wanted: string): T | F => {
    const value = entry[field];
    if (value === undefined) return fallback;
    if (!is(value)) throw new Error(`${at}.${field} must be ${wanted}.`);
    return value;
  };
}

const isPreset = (value: unknown): value is string => typeof value === 'string' && Object.hasOwn(presets, value);
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 100;
const isApi = (value: unknown): value is LlmApi => llmApis.some((api) => api === value);
const isApis = (value: unknown): value is LlmApi[] => Array.isArray(value) && value.length > 0 && value.every(isApi);
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isTokens = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
const isModelName = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value);
const isHeaderName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9-]{1,64}$/.test(value) && !ownHeaders.test(value);
const isHeaders = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(
    ([name, text]) => isHeaderName(name) && typeof text === 'string' && /^[\x20-\x7e]{1,4096}$/.test(text),
  );
const isUrl = (value: unknown): value is string =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
