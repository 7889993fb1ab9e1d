/**
 * A test that does the same thing many times has two forms: a short one for every run, and a long one for `npm run test:long`.
 * Both promise the same; the long one looks for what is rare.
 */
export const isLongRun = process.env['TESTS_LONG'] === '1';

export function formOf<T>({ short, long }: { readonly short: T; readonly long: T }): T {
  return isLongRun ? long : short;
}
