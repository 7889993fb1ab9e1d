import { Type } from 'typebox';
import { Timestamp } from './text.ts';

const recordLlmCalls = Type.Boolean({
  description:
    'Whether what is said in model calls of its agents is kept for some days, for every key with the scope `usage:read`. False by default.',
});

export const Account = Type.Object(
  {
    object: Type.Literal('account'),
    id: Type.String(),
    name: Type.String({ examples: ['Ada'] }),
    record_llm_calls: recordLlmCalls,
    created_at: Timestamp,
  },
  { title: 'Account', additionalProperties: false },
);

export const UpdateAccount = Type.Object(
  { record_llm_calls: recordLlmCalls },
  { title: 'UpdateAccount', additionalProperties: false },
);
