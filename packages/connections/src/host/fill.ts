/** Fills placeholders in headers, and refuses those that stand anywhere else. */
import type { IncomingHttpHeaders } from 'node:http';
import { Refused } from '../http/refused.ts';
import type { Sought } from '../secret/echo-search.ts';

/** A secret in the clear, which is never logged. */
export interface OpenSecret {
  readonly value: string;
  readonly headers: readonly string[];
  readonly placeholder: string;
}

/** Most places in one header in which a secret is filled in. */
const mostPlaces = 4;

export const misplaced = (where: string): Refused =>
  new Refused(
    400,
    'placeholder_misplaced',
    `The placeholder of a secret is in ${where}, where this connection does not fill it in.`,
  );

/**
 * Returns the headers in which a secret was filled in, and `authorization` in any case. `placeholders` are all of the agent.
 * Throws a `Refused` where one stands elsewhere, in any encoding.
 */
export function filledHeaders(
  guest: IncomingHttpHeaders,
  secrets: readonly OpenSecret[],
  placeholders: Sought,
): Readonly<Record<string, string>> {
  const filled: Record<string, string> = {};
  const rests: (readonly [string, string])[] = [];
  for (const [name, given] of Object.entries(guest)) {
    if (given === undefined) continue;
    const value = [given].flat().join(', ');
    const here = secrets.filter(({ headers }) => headers.includes(name));
    const { text, rest } = inHeader(name, value, here);
    rests.push([name, rest]);
    if (text !== value || name === 'authorization') filled[name] = text;
  }
  const isMisplaced = (some: typeof rests): boolean => placeholders.isIn(some.flat().join('\n'));
  if (isMisplaced(rests)) {
    const [name] = rests.find((each) => isMisplaced([each])) ?? ['of several'];
    throw misplaced(`the header ${name.slice(0, 100)}`);
  }
  return filled;
}

interface Filled {
  readonly text: string;
  /** The guest's own text around the placeholders. */
  readonly rest: string;
}

/** Git and curl send a user and a password in base64 (RFC 7617). */
function inHeader(name: string, value: string, secrets: readonly OpenSecret[]): Filled {
  const basic = name === 'authorization' ? /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(value)?.[1] : undefined;
  if (basic === undefined) return inText(value, secrets);
  const { text, rest } = inText(Buffer.from(basic, 'base64').toString('latin1'), secrets);
  return { text: `Basic ${Buffer.from(text, 'latin1').toString('base64')}`, rest };
}

function inText(given: string, secrets: readonly OpenSecret[]): Filled {
  let [text, rest] = [given, given];
  for (const { placeholder, value } of secrets) {
    const parts = rest.split(placeholder);
    if (parts.length - 1 > mostPlaces) throw misplaced('a header too often');
    rest = parts.join(' ');
    text = text.split(placeholder).join(value);
  }
  return { text, rest };
}
