import type { LlmApi, Provider, ProviderEndpoint } from '@lodge/ports';

/** Where each API wants its key, as its makers have it. */
export const keyHeaders: Readonly<Record<LlmApi, string>> = {
  'openai-completions': 'authorization',
  'openai-responses': 'authorization',
  'anthropic-messages': 'x-api-key',
  'google-generative-ai': 'x-goog-api-key',
};

/** Base URL of an API, with the header its key goes in where that is not the API's usual one. */
type Speaks = Readonly<Partial<Record<LlmApi, string | readonly [baseUrl: string, keyHeader: string]>>>;

interface Row {
  readonly id: string;
  readonly name: string;
  /** The first is the one that runtimes are to use. */
  readonly speaks: Speaks;
  /** Asked with the key as the first API carries it: that API's list of models, unless another address is given. */
  readonly check?: string | null;
  readonly docs: string;
}

const bearer = 'authorization';

/**
 * The providers every deployment knows, as in each one's API reference. A check is a request that costs nothing and is
 * refused without a good key; some list their models to anybody, and have another or none.
 */
const rows: readonly Row[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    speaks: { 'openai-responses': 'https://api.openai.com/v1', 'openai-completions': 'https://api.openai.com/v1' },
    docs: 'https://platform.openai.com/docs',
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    speaks: { 'anthropic-messages': 'https://api.anthropic.com/v1' },
    docs: 'https://docs.anthropic.com',
  },
  {
    id: 'google',
    name: 'Google Gemini',
    speaks: {
      'google-generative-ai': 'https://generativelanguage.googleapis.com/v1beta',
      'openai-completions': 'https://generativelanguage.googleapis.com/v1beta/openai',
    },
    check: 'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1',
    docs: 'https://ai.google.dev/gemini-api/docs',
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    speaks: {
      'openai-completions': 'https://openrouter.ai/api/v1',
      'openai-responses': 'https://openrouter.ai/api/v1',
      'anthropic-messages': ['https://openrouter.ai/api/v1', bearer],
    },
    check: 'https://openrouter.ai/api/v1/key',
    docs: 'https://openrouter.ai/docs',
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    speaks: {
      'openai-completions': 'https://api.deepseek.com/v1',
      'anthropic-messages': 'https://api.deepseek.com/anthropic/v1',
    },
    check: 'https://api.deepseek.com/models',
    docs: 'https://api-docs.deepseek.com',
  },
  {
    id: 'groq',
    name: 'Groq',
    speaks: {
      'openai-completions': 'https://api.groq.com/openai/v1',
      'openai-responses': 'https://api.groq.com/openai/v1',
    },
    docs: 'https://console.groq.com/docs',
  },
  {
    id: 'mistral',
    name: 'Mistral',
    speaks: { 'openai-completions': 'https://api.mistral.ai/v1' },
    docs: 'https://docs.mistral.ai',
  },
  {
    id: 'xai',
    name: 'xAI',
    speaks: { 'openai-completions': 'https://api.x.ai/v1', 'openai-responses': 'https://api.x.ai/v1' },
    check: 'https://api.x.ai/v1/api-key',
    docs: 'https://docs.x.ai',
  },
  {
    id: 'together',
    name: 'Together AI',
    speaks: { 'openai-completions': 'https://api.together.xyz/v1' },
    docs: 'https://docs.together.ai',
  },
  {
    id: 'fireworks',
    name: 'Fireworks AI',
    speaks: { 'openai-completions': 'https://api.fireworks.ai/inference/v1' },
    docs: 'https://docs.fireworks.ai',
  },
  {
    id: 'cerebras',
    name: 'Cerebras',
    speaks: { 'openai-completions': 'https://api.cerebras.ai/v1' },
    docs: 'https://inference-docs.cerebras.ai',
  },
  {
    id: 'cohere',
    name: 'Cohere',
    speaks: { 'openai-completions': 'https://api.cohere.ai/compatibility/v1' },
    check: 'https://api.cohere.com/v1/models',
    docs: 'https://docs.cohere.com',
  },
  {
    id: 'perplexity',
    name: 'Perplexity',
    speaks: { 'openai-completions': 'https://api.perplexity.ai' },
    check: 'https://api.perplexity.ai/async/chat/completions',
    docs: 'https://docs.perplexity.ai',
  },
  {
    id: 'moonshot',
    name: 'Moonshot AI (Kimi)',
    speaks: {
      'openai-completions': 'https://api.moonshot.ai/v1',
      'anthropic-messages': ['https://api.moonshot.ai/anthropic/v1', bearer],
    },
    docs: 'https://platform.moonshot.ai/docs',
  },
  {
    id: 'zai',
    name: 'Z.AI (GLM)',
    speaks: {
      'openai-completions': 'https://api.z.ai/api/paas/v4',
      'anthropic-messages': ['https://api.z.ai/api/anthropic/v1', bearer],
    },
    docs: 'https://docs.z.ai',
  },
  {
    id: 'minimax',
    name: 'MiniMax',
    speaks: {
      'anthropic-messages': ['https://api.minimax.io/anthropic/v1', bearer],
      'openai-completions': 'https://api.minimax.io/v1',
      'openai-responses': 'https://api.minimax.io/v1',
    },
    check: 'https://api.minimax.io/v1/models',
    docs: 'https://platform.minimax.io/docs',
  },
  {
    id: 'nvidia',
    name: 'NVIDIA',
    speaks: { 'openai-completions': 'https://integrate.api.nvidia.com/v1' },
    check: null,
    docs: 'https://docs.api.nvidia.com',
  },
  {
    id: 'huggingface',
    name: 'Hugging Face',
    speaks: { 'openai-completions': 'https://router.huggingface.co/v1' },
    check: 'https://huggingface.co/api/whoami-v2',
    docs: 'https://huggingface.co/docs/inference-providers',
  },
  {
    id: 'qwen',
    name: 'Alibaba Qwen',
    speaks: { 'openai-completions': 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1' },
    docs: 'https://www.alibabacloud.com/help/en/model-studio',
  },
];

export const builtinProviders: readonly Provider[] = rows.map(builtin);

function builtin({ id, name, speaks, check, docs }: Row): Provider {
  const endpoints: Partial<Record<LlmApi, ProviderEndpoint>> = {};
  for (const [api, where] of Object.entries(speaks) as [LlmApi, NonNullable<Speaks[LlmApi]>][]) {
    const [address, header] = typeof where === 'string' ? [where, keyHeaders[api]] : where;
    endpoints[api] = { baseUrl: address, keyHeader: header };
  }
  const api = Object.keys(endpoints)[0] as LlmApi;
  const { baseUrl, keyHeader } = endpoints[api]!;
  const url = check === undefined ? `${baseUrl}/models` : check;
  return {
    id,
    name,
    api,
    endpoints,
    needsKey: true,
    keyCheck: url === null ? null : { url, keyHeader },
    docsUrl: docs,
    headers: {},
    models: [],
    operatorAdded: false,
    onlyModels: false,
    privateAddresses: false,
    contextWindow: null,
  };
}
