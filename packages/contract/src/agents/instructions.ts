import { Type } from 'typebox';
import { nullable, patterns } from '../text.ts';

/** Most UTF-8 bytes of an agent's instructions. */
export const maxInstructionBytes = 32 * 1024;

export const Instructions = nullable(
  Type.String({
    maxLength: maxInstructionBytes,
    pattern: patterns.text,
    description:
      'Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its identity. Null, or nothing but white space: none.',
    examples: ['You are a librarian. Answer in one sentence.'],
  }),
);
