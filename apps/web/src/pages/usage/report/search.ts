import { periods } from './period.ts';
import type { Period } from './period.ts';

export const shows = { cost: 'Cost', tokens: 'Tokens', calls: 'Model calls' } as const;
export type Show = keyof typeof shows;

export const groupings = { model: 'Model', agent: 'Agent', provider: 'Provider', kind: 'Kind' } as const;
export type Grouping = keyof typeof groupings;

/** The choices of a report, in the address. A usual one is left out. */
export interface ReportSearch {
  readonly period?: Period;
  readonly by?: Grouping;
  readonly show?: Show;
}

export function reportSearchOf(search: Readonly<Record<string, unknown>>): ReportSearch {
  return {
    ...known('period', periods, search),
    ...known('by', groupings, search),
    ...known('show', shows, search),
  };
}

function known<Name extends string, Value extends string>(
  name: Name,
  values: Readonly<Record<Value, string>>,
  search: Readonly<Record<string, unknown>>,
): { readonly [Key in Name]?: Value } {
  const value = search[name];
  const isKnown = typeof value === 'string' && Object.hasOwn(values, value);
  return (isKnown ? { [name]: value } : {}) as { readonly [Key in Name]?: Value };
}
