import { roles } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable, oneOf, Timestamp } from '../text.ts';

const recordLlmCalls = Type.Boolean({
  description:
    'Whether what is said in model calls of its agents is kept for some days, for every key with the scope `usage:read`. False by default.',
});

export const Role = oneOf(roles);
export type Role = Static<typeof Role>;

const fields = {
  object: Type.Literal('account'),
  id: Type.String(),
  name: Type.String({ examples: ['Ada'] }),
  record_llm_calls: recordLlmCalls,
  created_at: Timestamp,
};
const ofPerson = {
  email: nullable(Type.String({ description: 'Null until somebody has made the account theirs.' })),
  role: Role,
  totp_enabled: Type.Boolean({ description: 'Whether signing in takes a second factor.' }),
};

export const Account = Type.Object(
  {
    ...fields,
    email: Type.Optional({ ...ofPerson.email, description: 'For its person signed in; an API key is not told.' }),
    role: Type.Optional({ ...ofPerson.role, description: 'The same.' }),
    totp_enabled: Type.Optional({ ...ofPerson.totp_enabled, description: 'The same.' }),
  },
  { title: 'Account', additionalProperties: false },
);

/** The account as its person sees it. */
export const PersonalAccount = Type.Object(
  { ...fields, ...ofPerson },
  { title: 'PersonalAccount', additionalProperties: false },
);
export type PersonalAccount = Static<typeof PersonalAccount>;

export const UpdateAccount = Type.Object(
  { record_llm_calls: recordLlmCalls },
  { title: 'UpdateAccount', additionalProperties: false, examples: [{ record_llm_calls: true }] },
);
