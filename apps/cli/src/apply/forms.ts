/**
 * Brings what a file says and what the API answers into one form, in which equal things are equal: the API keeps some values in
 * other words than it was given.
 */
import { domainToASCII } from 'node:url';
import { isMap } from './diff.ts';
import type { Values } from './file/wanted.ts';

/** `10.50` and `10.5` are the same amount. */
function decimal(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\d{1,12}\.\d{1,12}$/.test(value)) return value ?? null;
  let end = value.length;
  while (value[end - 1] === '0') end -= 1;
  return value.slice(0, value[end - 1] === '.' ? end - 1 : end);
}

export const spendForm = (limit: unknown): unknown =>
  isMap(limit)
    ? { daily_usd: decimal(limit['daily_usd']), monthly_usd: decimal(limit['monthly_usd']), action: limit['action'] }
    : null;

export const egressForm = (egress: unknown): Values => {
  const { mode = 'public', allow = [] } = isMap(egress) ? egress : {};
  return { mode, allow: (allow as readonly string[]).map(addressForm) };
};

/** A list that is left out is empty. */
export const packagesForm = (packages: unknown): Values => {
  const { apt = [], pip = [], npm = [] } = isMap(packages) ? packages : {};
  return { apt, pip, npm };
};

/** Rules as the API answers them, with the defaults of all that is left out. */
export function confirmationsForm(confirmations: unknown): Values | null {
  if (!isMap(confirmations)) return null;
  const { rules, default: otherwise = 'allow', deliver = [], deciders = [], expires = '24h' } = confirmations;
  const all = (rules as readonly Values[]).map(({ on, match = '*', policy }) => ({ on, match, policy }));
  return { rules: all, default: otherwise, deliver, deciders, expires };
}

/** Null is none. */
export const variablesForm = (env: unknown): unknown => env ?? {};

/** A name in lower case and ASCII; an address is a block of one. */
function addressForm(entry: string): string {
  const lower = entry.trim().toLowerCase();
  if (/^[\d.]{7,15}$/.test(lower)) return `${lower}/32`;
  if (lower.includes('/')) return lower;
  const [star, name] = lower.startsWith('*.') ? ['*.', lower.slice(2)] : ['', lower];
  return `${star}${domainToASCII(name) || name}`;
}

/** Nothing but white space is none. */
export const textForm = (text: unknown): unknown => (typeof text === 'string' && text.trim() !== '' ? text : null);

export function urlForm(url: unknown): unknown {
  try {
    return new URL(String(url)).href;
  } catch {
    return url;
  }
}

export const timeForm = (time: unknown): unknown => {
  const at = typeof time === 'string' ? new Date(time) : null;
  return at === null || Number.isNaN(at.getTime()) ? time : at.toISOString();
};

/** Returns the map with some of its fields in other forms. */
export function inForm(values: Values, forms: Readonly<Record<string, (value: unknown) => unknown>>): Values {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      value === undefined || forms[key] === undefined ? value : forms[key](value),
    ]),
  );
}
