/**
 * Finds a mail's sender, as far as Google has proved it. Anybody can write anything into `From`, so an address counts for
 * access only when Google's server found at delivery that its domain stands behind the mail.
 *
 * Google's word is the field `Authentication-Results` (RFC 8601). A sender can write such a field too, and can put words
 * into Google's own: the address of the envelope is repeated there. So
 * - only the first field of the mail counts, and only directly below Google's own `Received`: servers put theirs on top;
 * - a field that is not of the form that Google writes proves nothing;
 * - what is said twice proves nothing.
 */
import { decodeWords } from 'postal-mime';
import { plainName } from '../../shared/plain.ts';

export interface Header {
  /** Lower-cased. */
  readonly key: string;
  /** On one line. */
  readonly value: string;
}

export interface Sender {
  /** Lower-cased. */
  readonly address: string;
  readonly name: string;
}

/** An address and a thread's id together are the id of a conversation, of at most 200 characters. */
export const maxAddressChars = 160;
const maxFieldChars = 4_096;

/** The one mailbox in `From`. Null where there is none, more than one, or a form that two readers may read in two ways. */
export function writtenSender(headers: readonly Header[]): Sender | null {
  const fields = headers.filter(({ key }) => key === 'from');
  const value = fields[0]?.value.trim() ?? '';
  if (fields.length !== 1 || value.length > maxFieldChars) return null;
  const angle = angleOf(value);
  if (angle === null) return null;
  const address = (angle.at === -1 ? value : value.slice(angle.at + 1, -1)).trim().toLowerCase();
  if (!isAddress(address)) return null;
  const name = angle.at === -1 ? '' : value.slice(0, angle.at).trim();
  return { address, name: plainName(decodeWords(unquoted(name)), address) };
}

/** Whether Google proved that the domain of the address sent the mail. */
export function isProved(headers: readonly Header[], { address }: Sender): boolean {
  const results = googleResults(headers);
  if (results === null) return false;
  const domain = domainOf(address);
  const ofMethod = (method: string): Result[] => results.filter((each) => each.method === method);
  const dmarc = ofMethod('dmarc');
  const spf = ofMethod('spf');
  if (dmarc.length > 1 || spf.length > 1) return false;
  // Google writes them in this order: what stands behind was put there.
  const behind = results.slice(results.findIndex(({ method }) => method === 'dmarc') + 1);
  if (dmarc[0] && behind.some(({ method }) => method === 'dkim' || method === 'spf')) return false;
  if (dmarc[0] && dmarc[0].result !== 'none')
    return dmarc[0].result === 'pass' && dmarc[0].properties.get('header.from') === domain;
  // A domain without a policy: its own signature, or its own server.
  const isOfDomain = (value: string | undefined): boolean => value !== undefined && exactDomainOf(value) === domain;
  const isSigned = ofMethod('dkim').some(
    ({ result, properties }) =>
      result === 'pass' && isOfDomain(properties.get('header.i') ?? properties.get('header.d')),
  );
  return isSigned || (spf[0]?.result === 'pass' && isOfDomain(spf[0].properties.get('smtp.mailfrom')));
}

/** Where the angle of an address opens; -1: there is none. Null: the field has another form. */
function angleOf(value: string): { readonly at: number } | null {
  let isQuoted = false;
  for (let at = 0; at < value.length; at += 1) {
    const character = value[at]!;
    if (isQuoted) {
      if (character === '\\') at += 1;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === '<')
      return value.endsWith('>') && value.indexOf('>', at) === value.length - 1 ? { at } : null;
    else if (',;()>'.includes(character)) return null;
  }
  return isQuoted ? null : { at: -1 };
}

function unquoted(name: string): string {
  if (name.length < 2 || !name.startsWith('"') || !name.endsWith('"')) return name;
  return name.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}

export function isAddress(address: string): boolean {
  const at = address.indexOf('@');
  return (
    address.length <= maxAddressChars &&
    at > 0 &&
    /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]+$/.test(address.slice(0, at)) &&
    isDomain(address.slice(at + 1))
  );
}

const isDomain = (domain: string): boolean =>
  /^[a-z0-9.-]+$/.test(domain) && domain.includes('.') && !domain.startsWith('.') && !domain.endsWith('.');

const domainOf = (address: string): string => address.slice(address.indexOf('@') + 1);

/** The domain of an address, `@domain` or a domain; null if it has more than one `@`. */
function exactDomainOf(value: string): string | null {
  const parts = value.split('@', 3);
  return parts.length > 2 ? null : parts.at(-1)!;
}

interface Result {
  readonly method: string;
  readonly result: string;
  readonly properties: ReadonlyMap<string, string>;
}

const googleServer = 'mx.google.com';
const maxResults = 32;

/** Google's results at delivery. Null: nothing that is surely Google's. */
function googleResults(headers: readonly Header[]): readonly Result[] | null {
  const delivery = headers.findIndex(({ key, value }) => key === 'received' && isGoogleHop(value));
  const field = headers.findIndex(({ key }) => key === 'authentication-results');
  if (delivery === -1 || field < delivery) return null;
  const isBetween = headers.slice(delivery + 1, field).every(({ key }) => key === 'received-spf');
  return isBetween ? resultsIn(headers[field]!.value) : null;
}

const isGoogleHop = (value: string): boolean =>
  value.slice(0, maxFieldChars).replaceAll(/\s+/g, ' ').includes(` by ${googleServer} with `);

function resultsIn(value: string): readonly Result[] | null {
  if (value.length > maxFieldChars || !/^[\t\u0020-\u007e]*$/.test(value)) return null;
  const parts = partsOf(value);
  if (parts === null || parts[0]?.join(' ') !== googleServer || parts.length > maxResults) return null;
  const results = parts
    .slice(1)
    .filter((words) => words.length > 0 && words.join(' ') !== 'none')
    .map(resultOf);
  return results.every((result) => result !== null) ? results : null;
}

const plainEnd = /^[\s;]?$/;

/**
 * Words between semicolons, without comments; what stands in quotes is the end of a word. Null for anything that two readers may
 * read in two ways. The address of the envelope stands in a comment as it is, and as a value within quotes where it needs them.
 */
function partsOf(value: string): readonly (readonly string[])[] | null {
  const parts: string[][] = [[]];
  let word = '';
  const endWord = (): void => {
    if (word !== '') parts.at(-1)!.push(word.toLowerCase());
    word = '';
  };
  for (let at = 0; at < value.length; at += 1) {
    const character = value[at]!;
    if (character === ')' || character === '\\') return null;
    if (character === '(' || character === '"') {
      const isComment = character === '(';
      const end = value.indexOf(isComment ? ')' : '"', at + 1);
      const inside = value.slice(at + 1, end);
      const isInPlace = isComment ? word === '' : word.endsWith('=') && word.indexOf('=') === word.length - 1;
      if (end === -1 || !isInPlace || !plainEnd.test(value.slice(end + 1, end + 2))) return null;
      if (/[("\\]/.test(inside) || (isComment && inside.includes(';'))) return null;
      if (!isComment) word += inside;
      at = end;
    } else if (character === ';') {
      endWord();
      parts.push([]);
    } else if (character === ' ' || character === '\t') endWord();
    else word += character;
  }
  endWord();
  return parts;
}

/**
 * The properties that Google reports for each method. Properties that a stranger may invent are excluded: nothing of the
 * envelope counts.
 */
const properties: Readonly<Record<string, readonly string[]>> = {
  dkim: ['header.i', 'header.d', 'header.s', 'header.b', 'header.a'],
  spf: ['smtp.mailfrom', 'smtp.helo'],
  dmarc: ['header.from'],
  arc: [],
};

/** `method=result property=value ...`; null for any other form. */
function resultOf(words: readonly string[]): Result | null {
  const pairs = words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] as const);
  const [method, result] = pairs[0]!;
  const given = new Map(pairs.slice(1));
  const known = Object.hasOwn(properties, method) ? properties[method]! : null;
  const isPlain =
    words.every((word) => word.indexOf('=') > 0) &&
    given.size === pairs.length - 1 &&
    /^[a-z0-9-]+$/.test(method) &&
    /^[a-z]+$/.test(result) &&
    [...given.keys()].every((name) =>
      known ? known.includes(name) : /^(?:header|policy|body)\.[a-z0-9-]+$/.test(name),
    );
  const isWhole = method !== 'spf' || given.size > 0;
  return isPlain && isWhole ? { method, result, properties: given } : null;
}
