import { Type } from 'typebox';
import type { Static } from 'typebox';
import { secretKinds } from '@lodge/domain';
import { nullable, oneOf, patterns, wholeList } from './text.ts';

const fingerprint = Type.String({
  pattern: '^[0-9a-f]{32}$',
  description: 'Of this kind and value, in this account, by a key of the server.',
  examples: ['5f2a9c01d4e86b7730a1c2f4985be6d0'],
});

/** A stored secret's fingerprint, in records that show that it is set. */
export const SecretFingerprint = nullable({
  ...fingerprint,
  description:
    'Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened.',
});

/** Most values of one request. */
export const maxFingerprints = 100;

export const FingerprintSecrets = Type.Object(
  {
    values: Type.Array(
      Type.Object(
        {
          for: oneOf(secretKinds, { description: 'The kind of the secret. Another kind has another fingerprint.' }),
          value: Type.String({
            minLength: 1,
            maxLength: 4096,
            pattern: patterns.text,
            writeOnly: true,
            description: 'The secret. It is neither kept nor logged.',
            examples: ['<PROVIDER_API_KEY>'],
          }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: maxFingerprints },
    ),
  },
  {
    title: 'FingerprintSecrets',
    additionalProperties: false,
    examples: [{ values: [{ for: 'llm_key', value: '<PROVIDER_API_KEY>' }] }],
  },
);

export const FingerprintList = wholeList(
  Type.Object(
    { object: Type.Literal('fingerprint'), for: oneOf(secretKinds), fingerprint },
    { title: 'Fingerprint', additionalProperties: false },
  ),
  'FingerprintList',
);
export type FingerprintList = Static<typeof FingerprintList>;
