import type { Problems } from './use-form.ts';
import { text } from './use-form.ts';

type Check = (value: string) => string | undefined;

const blank = (value: string): boolean => value.trim() === '';

const email: Check = (value) => {
  if (blank(value)) return 'Enter an e-mail address.';
  return /^[^\s@]+@[^\s@]+$/.test(value.trim()) ? undefined : 'This does not look like an e-mail address.';
};

/** Checks an amount as the API does: more than nothing, at most six decimals. */
const optionalUsd: Check = (value) =>
  blank(value) || (/^(0|[1-9]\d{0,8})(\.\d{1,6})?$/.test(value.trim()) && Number(value) > 0)
    ? undefined
    : 'Enter an amount such as 12.50.';

export const checks = {
  email,
  optionalEmail: (value: string) => (blank(value) ? undefined : email(value)),
  optionalUsd,
  name: (value: string) => (blank(value) ? 'Enter a name.' : undefined),
  password: (value: string) => (value === '' ? 'Enter your password.' : undefined),
  newPassword: (value: string) => (value.length < 12 ? 'Use at least 12 characters.' : undefined),
  code: (value: string) => (blank(value) ? 'Enter the code.' : undefined),
};

/** The meaning of a refusal when a signed-in person gives the password again. */
export const againInWords = { invalid_credentials: 'That password is not right.' };

/** Returns the problems of a form from the checks of its fields. */
export const checkAll =
  <Name extends string>(fields: Readonly<Record<Name, Check>>) =>
  (data: FormData): Problems<Name> => {
    const problems: Problems<Name> = {};
    for (const [name, check] of Object.entries(fields) as [Name, Check][]) {
      const problem = check(text(data, name));
      if (problem !== undefined) problems[name] = problem;
    }
    return problems;
  };
