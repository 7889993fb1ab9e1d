import { Refusal, scopes } from '@lodge/domain';
import type { Scope } from '@lodge/domain';

/** Those that a program gets only if it asks for them by name. */
const onlyByName: ReadonlySet<Scope> = new Set(['keys:write']);

/** Reads the scopes of a request, in the table's order. Refuses one that is unknown. */
export function readScopes(text: string | null, offered: readonly Scope[] = scopes): readonly Scope[] {
  const words = new Set((text ?? '').split(' ').filter((word) => word !== ''));
  if (words.size === 0) return offered.filter((scope) => !onlyByName.has(scope));
  const wanted = offered.filter((scope) => words.has(scope));
  if (wanted.length < words.size) {
    throw new Refusal('invalid_scope', `scope must be words of ${offered.join(', ')}, one space between two.`);
  }
  return wanted;
}

/** Returns what a person gives of what was asked: all of it, or what they name. Refuses more than that. */
export function chosenScopes(chosen: readonly Scope[], grantable: readonly Scope[]): readonly Scope[] {
  const given = grantable.filter((scope) => chosen.includes(scope));
  const beyond = chosen.filter((scope) => !grantable.includes(scope));
  if (beyond.length > 0) {
    throw new Refusal('invalid_request', `scopes must be among those that were asked for: ${grantable.join(', ')}.`);
  }
  if (given.length === 0) throw new Refusal('invalid_request', 'scopes must not be empty.');
  return given;
}
