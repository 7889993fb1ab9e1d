/** A connection as its owner puts it: checked, with its secrets sealed. */
import { Refusal, checkedTerms, connectionBounds, isConnectionName, mayBeSet } from '@lodge/domain';
import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import { connectionHeaderContext } from '@lodge/ports';
import type { ConnectionHeader, SecretBox } from '@lodge/ports';
import type { ConnectionPlace } from '@lodge/store/connections';
import { checkedAuth, lastOf } from './auth.ts';
import type { ConnectionAuthInput, SealedAuth } from './auth.ts';

/** A connection as its owner puts it. */
export interface ConnectionInput {
  readonly name: string;
  readonly kind: ConnectionKind;
  readonly url: string;
  /** Values by name; undefined keeps the stored ones. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly allow: readonly ConnectionAllow[] | undefined;
  readonly tools: readonly string[] | null | undefined;
  readonly enabled: boolean;
  /** Null: none. Undefined keeps the stored one. */
  readonly auth: ConnectionAuthInput | null | undefined;
}

/** A checked input. Undefined keeps what is stored. */
export interface ConnectionChange extends ConnectionPlace {
  readonly kind: ConnectionKind;
  readonly url: string;
  readonly allow: readonly ConnectionAllow[];
  readonly tools: readonly string[] | null;
  readonly enabled: boolean;
  readonly headers: readonly Pick<ConnectionHeader, 'name' | 'sealed' | 'last4'>[] | undefined;
  readonly auth: SealedAuth | null | undefined;
}

export interface InputDeps {
  readonly secrets: SecretBox;
  /** Whether connections may lead to any address, and so without TLS. */
  readonly anyAddress: boolean;
}

/** Refuses with `invalid_request` and the field. */
export function checkedChange(
  { secrets, anyAddress }: InputDeps,
  accountId: string,
  agentId: string,
  input: ConnectionInput,
): ConnectionChange {
  const { name, enabled, headers, auth } = input;
  if (!isConnectionName(name)) {
    const rule = 'must be 1 to 32 lower case letters, digits and hyphens, a letter first and no hyphen last.';
    throw new Refusal('invalid_request', `name ${rule}`);
  }
  const terms = checkedTerms(input, anyAddress);
  return {
    accountId,
    agentId,
    name,
    enabled,
    ...terms,
    headers: headers && sealedHeaders(secrets, agentId, name, headers),
    auth: auth && checkedAuth({ secrets, anyAddress }, { agentId, connection: name, kind: terms.kind }, auth),
  };
}

function sealedHeaders(
  secrets: SecretBox,
  agentId: string,
  connection: string,
  headers: Readonly<Record<string, string>>,
): NonNullable<ConnectionChange['headers']> {
  const names = new Set<string>();
  const { headerChars } = connectionBounds;
  if (Object.values(headers).reduce((sum, { length }) => sum + length, 0) > headerChars) {
    throw new Refusal('invalid_request', `headers may have at most ${headerChars} characters in all values together.`);
  }
  return Object.entries(headers).map(([name, value]) => {
    const lower = name.toLowerCase();
    if (!mayBeSet(lower))
      throw new Refusal('invalid_request', `headers.${name} is a header that Lodge sets by itself.`);
    if (names.has(lower)) throw new Refusal('invalid_request', `headers.${name} is given twice.`);
    names.add(lower);
    const sealed = secrets.seal(value, connectionHeaderContext(agentId, connection, name));
    return { name, sealed, last4: lastOf(value) };
  });
}
