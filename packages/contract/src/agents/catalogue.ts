import { Type } from 'typebox';
import { sizeNames } from '@lodge/domain';
import { Machine } from './agent.ts';
import { nullable, oneOf, wholeList } from '../text.ts';

const llmApis = ['openai-completions', 'openai-responses', 'anthropic-messages', 'google-generative-ai'] as const;

const price = (what: string) =>
  Type.String({ description: `US dollars for a million tokens ${what}.`, examples: ['0.25'] });

const OfferedModel = Type.Object(
  {
    id: Type.String({ description: "The provider's own name of it.", examples: ['qwen3'] }),
    context_window: nullable(Type.Integer({ description: 'Tokens it takes in.', examples: [32768] })),
    prices: nullable(
      Type.Object(
        {
          input: price('in'),
          output: price('out'),
          cache_read: nullable(price('read from a cache')),
          cache_write: nullable(price('written to a cache')),
        },
        { additionalProperties: false, description: "The operator's own; they go before the known ones." },
      ),
    ),
  },
  { title: 'OfferedModel', additionalProperties: false },
);

export const SizeList = wholeList(
  Type.Object(
    {
      object: Type.Literal('size'),
      id: oneOf(sizeNames),
      ...Machine.properties,
      default: Type.Boolean({ description: 'Taken when a create names none.' }),
    },
    { title: 'Size', additionalProperties: false },
  ),
  'SizeList',
);

export const ProviderList = wholeList(
  Type.Object(
    {
      object: Type.Literal('provider'),
      id: Type.String({ examples: ['anthropic'] }),
      name: Type.String({ examples: ['Anthropic'] }),
      base_url: nullable(
        Type.String({
          description: 'Where its first API is; null for those the operator added.',
          examples: ['https://api.anthropic.com/v1'],
        }),
      ),
      apis: Type.Array(oneOf(llmApis), {
        description: 'The APIs it speaks; runtimes use the first where they can.',
        examples: [['anthropic-messages']],
      }),
      key_header: Type.String({ description: 'Request header that carries its key.', examples: ['x-api-key'] }),
      needs_key: Type.Boolean({ description: 'False for servers that take no key.' }),
      key_check: Type.Boolean({ description: 'Whether its keys can be checked without being used.' }),
      docs_url: nullable(Type.String({ description: 'Where its models and keys are explained.' })),
      models: Type.Array(OfferedModel, {
        description: 'Models the operator has described; others can be used too.',
      }),
      built_in: Type.Boolean({ description: 'False for those the operator added.' }),
    },
    { title: 'Provider', additionalProperties: false },
  ),
  'ProviderList',
);

export const LlmKeyChecks = wholeList(
  Type.Object(
    {
      object: Type.Literal('llm_key_check'),
      provider: Type.String({ examples: ['anthropic'] }),
      last4: Type.String({ description: "The key's last characters; empty for a short one.", examples: ['h3Qw'] }),
      works: nullable(Type.Boolean({ description: 'Null where that could not be told.' })),
      message: Type.String({ description: 'One sentence.', examples: ['The key works: Anthropic accepts it.'] }),
    },
    { title: 'LlmKeyCheck', additionalProperties: false },
  ),
  'LlmKeyChecks',
);

export const Health = Type.Object(
  {
    status: oneOf(['ok', 'starting'], {
      description: '`starting`: the API answers, but agents cannot be started yet.',
    }),
    step: nullable(Type.String({ description: 'What the start is doing.', examples: ['building the image'] })),
    version: Type.String({ description: 'Version of the service.' }),
  },
  { title: 'Health', additionalProperties: false },
);
