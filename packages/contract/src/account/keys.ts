import { scopes } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable, oneOf, patterns, Timestamp } from '../text.ts';

export const CreateKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: patterns.text }),
    scopes: Type.Array(oneOf(scopes), {
      minItems: 1,
      maxItems: scopes.length,
      description: 'None that the role of its person, or the key that makes it, lacks.',
    }),
    expires_at: Type.Optional(
      nullable(
        Type.String({
          format: 'date-time',
          maxLength: 40,
          pattern: patterns.timestamp,
          description: 'Null: never. A key that a key makes expires with it at the latest, and by default.',
        }),
      ),
    ),
  },
  {
    title: 'CreateApiKey',
    additionalProperties: false,
    examples: [{ name: 'CI', scopes: ['agents:read', 'agents:chat'], expires_at: '2031-01-31T12:00:00Z' }],
  },
);

const keyFields = {
  id: Type.String(),
  name: Type.String({ examples: ['CI'] }),
  last4: Type.String({ examples: ['9f2c'] }),
  scopes: Type.Array(oneOf(scopes)),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
  made_by: nullable(
    Type.String({ description: 'The id of the key that made it and with which it ends; null: a person did.' }),
  ),
};
export const KeyRecord = Type.Object(keyFields, { title: 'ApiKey' });
export type KeyRecord = Static<typeof KeyRecord>;
export const CreatedKey = Type.Object(
  { ...keyFields, key: Type.String({ description: 'The whole key.' }) },
  { title: 'CreatedApiKey' },
);
export const KeyList = Type.Object({ data: Type.Array(KeyRecord) }, { title: 'ApiKeyList' });
