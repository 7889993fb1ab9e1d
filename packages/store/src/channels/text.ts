/** Returns the text without NUL and half surrogate pairs, which strangers send and Postgres does not store. */
export const storable = (text: string, maxChars = Infinity): string =>
  text.slice(0, maxChars).replaceAll('\0', '').toWellFormed();

/** Returns the value as JSON with storable texts. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? storable(each) : each));
