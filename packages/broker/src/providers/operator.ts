import { isIP } from 'node:net';
import type { Json } from '@lodge/domain';
import { llmApis } from '@lodge/ports';
import type { LlmApi, OfferedModel, Provider } from '@lodge/ports';
import { isPublicAddress } from '@lodge/egress';
import { Type } from 'typebox';
import { parseModelPrices } from '../prices/overrides.ts';
import { checked, objectAt, parsed } from '../settings.ts';
import { builtinProviders, keyHeaders } from './builtin.ts';

/** Fields that an operator may omit for common servers: an entry of this id, or with this `preset`, has them. */
const presets: Readonly<Record<string, Json>> = {
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

const maxProviders = 100;
const maxModels = 1000;
/** The broker's own, or the connection's. */
const ownHeaders =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|accept.*|expect|keep-alive|proxy-.*)$/;

const isUrl = (given: string): boolean => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
const isHeaderName = (name: string): boolean => /^[a-z0-9-]{1,64}$/.test(name) && !ownHeaders.test(name);
const isPreset = (name: string): boolean => Object.hasOwn(presets, name);

const text = (must: string, is: (text: string) => boolean) => Type.Refine(Type.String({ must }), is);
const flag = Type.Optional(Type.Boolean({ must: 'true or false' }));
const tokens = Type.Optional(
  Type.Refine(Type.Integer({ minimum: 1, must: 'a positive whole number' }), Number.isSafeInteger),
);
const api = Type.Enum(llmApis, { must: llmApis.join(' or ') });
const headers = Type.Refine(
  Type.Record(Type.String(), Type.String({ pattern: /^[\x20-\x7e]{1,4096}$/ }), {
    must: 'an object of texts by header name, in lower case, none of them about the connection or the body',
  }),
  (texts) => Object.keys(texts).every(isHeaderName),
);

const entryForm = Type.Object({
  // The shape of the provider half of a model name; see parseProviderModel.
  id: text('1 to 40 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit', (id) =>
    /^[a-z0-9][a-z0-9._-]{0,39}$/.test(id),
  ),
  preset: Type.Optional(text(`one of ${Object.keys(presets).join(', ')}`, isPreset)),
  base_url: text('an http or https URL, such as http://127.0.0.1:11434/v1', isUrl),
  name: Type.Optional(text('a text of 1 to 100 characters', (name) => name.trim() !== '' && name.length <= 100)),
  api: Type.Optional(api),
  apis: Type.Optional(Type.Array(api, { minItems: 1, must: `an array of ${llmApis.join(', ')}` })),
  key_header: Type.Optional(text('the name of a header, in lower case', isHeaderName)),
  needs_key: flag,
  key_check: flag,
  docs_url: Type.Optional(text('an http or https URL', isUrl)),
  context_window: tokens,
  headers: Type.Optional(headers),
  models: Type.Optional(Type.Array(Type.Unknown(), { maxItems: maxModels, must: `an array of up to ${maxModels}` })),
  only_models: flag,
  private_addresses: flag,
});

const modelForm = Type.Object({
  name: text("the provider's name of a model", (name) => /^[\x21-\x7e]{1,200}$/.test(name)),
  context_window: tokens,
  prices: Type.Optional(Type.Unknown()),
});

/**
 * The providers of the setting LODGE_PROVIDERS: a JSON array of entries, for example
 * `[{"id":"ollama","base_url":"http://127.0.0.1:11434/v1","context_window":32768}]`; docs/guides/operating.md has the fields.
 *
 * Throws an Error whose message names the setting and the field, and repeats no value: a URL or a header may hold a secret.
 */
export function parseOperatorProviders(json: string): Provider[] {
  const value = parsed(json, 'LODGE_PROVIDERS');
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
  const own = objectAt(given, at);
  const { id, preset = id } = own;
  const usual = typeof preset === 'string' && isPreset(preset) ? presets[preset] : {};
  const entry = checked(entryForm, { ...usual, ...own }, at);
  const {
    apis = [],
    api: first = apis[0] ?? 'openai-completions',
    key_header: keyHeader,
    needs_key: needsKey = false,
  } = entry;
  const url = plainUrl(entry.base_url, `${at}.base_url`);
  const baseUrl = url.href.replace(/\/+$/, '');
  const headerOf = (spoken: LlmApi): string => keyHeader ?? keyHeaders[spoken];
  const endpoints = Object.fromEntries(
    [first, ...apis].map((spoken) => [spoken, { baseUrl, keyHeader: headerOf(spoken) }]),
  );
  const models = (entry.models ?? []).map((model, index) => parseModel(model, `${at}.models[${index}]`));
  const { only_models: onlyModels = false, key_check: isChecked = needsKey } = entry;
  if (onlyModels && models.length === 0) throw new Error(`${at}.only_models needs at least one model in models.`);
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    api: first,
    endpoints,
    needsKey,
    keyCheck: isChecked ? { url: `${baseUrl}/models`, keyHeader: headerOf(first) } : null,
    docsUrl: entry.docs_url ?? null,
    headers: entry.headers ?? {},
    models,
    onlyModels,
    operatorAdded: true,
    // An address that is written out says for itself that it is meant.
    privateAddresses: entry.private_addresses ?? isPlainlyPrivate(url),
    contextWindow: entry.context_window ?? null,
  };
}

function parseModel(given: unknown, at: string): OfferedModel {
  const { name, context_window: contextWindow = null, prices } = checked(modelForm, given, at);
  return { name, contextWindow, prices: prices === undefined ? null : parseModelPrices(prices, `${at}.prices`) };
}

function plainUrl(text: string, at: string): URL {
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new Error(`${at} must not hold a user name or password.`);
  if (url.search !== '' || url.hash !== '') throw new Error(`${at} must have no query and no fragment.`);
  return url;
}

function isPlainlyPrivate({ hostname }: URL): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return literal === 'localhost' || (isIP(literal) !== 0 && !isPublicAddress(literal));
}
