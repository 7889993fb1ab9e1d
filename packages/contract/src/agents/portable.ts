import { Type } from 'typebox';
import type { Static } from 'typebox';
import { beforeLastTurn, missingKinds } from '@lodge/domain';
import { Agent } from './agent.ts';
import { CreateAgent } from './agent-requests.ts';
import { WaitQuery } from './agent-requests.ts';
import { oneOf, patterns } from '../text.ts';

const passphrase = {
  minLength: 8,
  maxLength: 1024,
  pattern: patterns.headerValue,
};

export const ExportAgent = Type.Object(
  {
    snapshot: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: patterns.text,
        description: `A snapshot of this agent, by its id or by \`${beforeLastTurn}\`. Without it the agent is exported as it is.`,
        examples: ['s4k8m2q9t1ab'],
      }),
    ),
    passphrase: Type.Optional(
      Type.String({
        ...passphrase,
        writeOnly: true,
        description:
          'Seals the file: nobody opens it without. Printable ASCII, 8 to 1,024 characters. Nobody keeps it.',
        examples: ['correct horse battery staple'],
      }),
    ),
  },
  { title: 'ExportAgent', additionalProperties: false, examples: [{ passphrase: 'correct horse battery staple' }] },
);
export type ExportAgent = Static<typeof ExportAgent>;

export const ImportHeaders = Type.Object({
  prefer: Type.Optional(Type.String({ description: '`respond-async`: do not wait.', examples: ['respond-async'] })),
  'x-passphrase': Type.Optional(
    Type.String({ ...passphrase, description: 'Opens a sealed file.', examples: ['correct horse battery staple'] }),
  ),
});

export const ImportQuery = Type.Object(
  {
    ...WaitQuery.properties,
    name: Type.Optional({ ...CreateAgent.properties.name, description: "By default the exported agent's name." }),
  },
  { additionalProperties: false },
);
export type ImportQuery = Static<typeof ImportQuery>;

const Missing = Type.Object(
  {
    kind: oneOf(missingKinds),
    name: Type.String({ description: 'Its name, provider, channel or path.', examples: ['anthropic'] }),
  },
  { additionalProperties: false },
);

export const ImportedAgent = Type.Object(
  {
    ...Agent.properties,
    import: Type.Object(
      {
        missing: Type.Array(Missing, {
          description:
            'Things that the exported agent had and that no export has: keys, tokens and grants, and what needs them.',
        }),
      },
      { additionalProperties: false },
    ),
  },
  { title: 'ImportedAgent', additionalProperties: false },
);
export type ImportedAgent = Static<typeof ImportedAgent>;
