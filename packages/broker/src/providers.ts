import type { LlmApi, Provider } from '@lodge/engine/ports';

/** Where each API wants its key, as its makers have it. */
export const keyHeaders: Readonly<Record<LlmApi, string>> = {
  'openai-completions': 'authorization',
  'openai-responses': 'authorization',
  'anthropic-messages': 'x-api-key',
  'google-generative-ai': 'x-goog-api-key',
};

/**
 * The providers every deployment knows. Base URLs as in each provider's API reference; all but Anthropic by their
 * OpenAI-compatible endpoint.
 */
export const builtinProviders: readonly Provider[] = [
  builtin('openai', 'OpenAI', 'https://api.openai.com/v1'),
  builtin('anthropic', 'Anthropic', 'https://api.anthropic.com/v1', 'anthropic-messages'),
  builtin('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1'),
  builtin('google', 'Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai'),
  builtin('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1'),
  builtin('groq', 'Groq', 'https://api.groq.com/openai/v1'),
  builtin('mistral', 'Mistral', 'https://api.mistral.ai/v1'),
  builtin('xai', 'xAI', 'https://api.x.ai/v1'),
  builtin('together', 'Together AI', 'https://api.together.xyz/v1'),
  builtin('fireworks', 'Fireworks AI', 'https://api.fireworks.ai/inference/v1'),
  builtin('moonshot', 'Moonshot AI (Kimi)', 'https://api.moonshot.ai/v1'),
  builtin('zai', 'Z.AI (GLM)', 'https://api.z.ai/api/paas/v4'),
  builtin('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1'),
  builtin('nvidia', 'NVIDIA', 'https://integrate.api.nvidia.com/v1'),
  builtin('huggingface', 'Hugging Face', 'https://router.huggingface.co/v1'),
  builtin('qwen', 'Alibaba Qwen', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1'),
];

function builtin(id: string, name: string, baseUrl: string, api: LlmApi = 'openai-completions'): Provider {
  return {
    id,
    name,
    api,
    endpoints: { [api]: { baseUrl, keyHeader: keyHeaders[api] } },
    needsKey: true,
    keyCheck: null,
    docsUrl: null,
    headers: {},
    models: [],
    operatorAdded: false,
    privateAddresses: false,
    contextWindow: null,
  };
}
