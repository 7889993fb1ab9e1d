import { Type } from 'typebox';
import type { Static } from 'typebox';
import { errorCodes, errorTypeOf, errorTypes } from '@lodge/domain';
import type { ErrorCode, SkillFinding as Finding } from '@lodge/domain';
import { SkillFinding } from './skills/skills.ts';
import { oneOf } from './text.ts';

/** The exact body of every error reply. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        type: oneOf(errorTypes),
        code: oneOf(Object.keys(errorCodes) as ErrorCode[]),
        message: Type.String({ description: 'For a person; not stable.' }),
        findings: Type.Optional(
          Type.Array(SkillFinding, { description: 'With `skill_refused` alone: what the review found.' }),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { title: 'Error', additionalProperties: false },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** The body of an error reply. */
export function errorBody(code: ErrorCode, message: string, findings?: readonly Finding[]): ErrorBody {
  const facts = findings === undefined ? {} : { findings: [...findings] };
  return { error: { type: errorTypeOf(errorCodes[code].status), code, message, ...facts } };
}
