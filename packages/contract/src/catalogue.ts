import { Type } from 'typebox';
import { Machine, sizeNames } from './agent.ts';
import { nullable, oneOf, wholeList } from './text.ts';

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
      needs_key: Type.Boolean({ description: 'False for servers that take no key.' }),
      built_in: Type.Boolean({ description: 'False for those the operator added.' }),
    },
    { title: 'Provider', additionalProperties: false },
  ),
  'ProviderList',
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
