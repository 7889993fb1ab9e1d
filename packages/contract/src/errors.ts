import { Type } from 'typebox';
import type { Static } from 'typebox';
import { errorCodes, errorTypeOf, errorTypes } from '@lodge/domain';
import type { ErrorCode } from '@lodge/domain';
import { oneOf } from './text.ts';

/** The exact body of every error reply. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        type: oneOf(errorTypes),
        code: oneOf(Object.keys(errorCodes) as ErrorCode[]),
        message: Type.String({ description: 'For a person; not stable.' }),
      },
      { additionalProperties: false },
    ),
  },
  { title: 'Error', additionalProperties: false },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** The body of an error reply. */
export function errorBody(code: ErrorCode, message: string): ErrorBody {
  return { error: { type: errorTypeOf(errorCodes[code].status), code, message } };
}
