/** A connection as its owner puts it: checked, with its secrets sealed. */
import { Refusal, checkedSecrets, checkedTerms, connectionBounds, isConnectionName, mayBeSet } from '@lodge/domain';
import type { ConnectionAllow, ConnectionKind, HostSecretInput } from '@lodge/domain';
import { connectionHeaderContext, connectionSecretContext } from '@lodge/ports';
import type { ConnectionHeader, ConnectionSecret, SecretBox } from '@lodge/ports';
import type { ConnectionPlace } from '@lodge/store/connections';
import { checkedAuth, lastOf } from './auth.ts';
import type { ConnectionAuthInput, SealedAuth } from './auth.ts';

/** A connection as its owner puts it. */
export interface ConnectionInput {
  readonly name: string;
  readonly kind: ConnectionKind;
  readonly url: string | undefined;
  /** Hosts and secrets are for kind `host`. Undefined secrets keep the stored ones. */
  readonly hosts?: readonly string[] | undefined;
  readonly secrets?: Readonly<Record<string, HostSecretInput>> | undefined;
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
  readonly hosts: readonly string[];
  readonly secrets: readonly SealedSecret[] | undefined;
  readonly allow: readonly ConnectionAllow[];
  readonly tools: readonly string[] | null;
  readonly enabled: boolean;
  readonly headers: readonly Pick<ConnectionHeader, 'name' | 'sealed' | 'last4'>[] | undefined;
  readonly auth: SealedAuth | null | undefined;
}

type SealedSecret = Pick<ConnectionSecret, 'name' | 'sealed' | 'last4' | 'headers'>;

export interface InputDeps {
  readonly secrets: SecretBox;
  /** Whether connections may lead to any address, and so without TLS. */
  readonly anyAddress: boolean;
  /** Whether a host is a name of this Lodge. */
  readonly isOwnHost: (host: string) => boolean;
}

/** Refuses with `invalid_request` and the field. */
export function checkedChange(
  { secrets, anyAddress, isOwnHost }: InputDeps,
  accountId: string,
  agentId: string,
  input: ConnectionInput,
): ConnectionChange {
  const { name, enabled, headers, auth } = input;
  if (!isConnectionName(name)) {
    const rule = 'must be 1 to 32 lower case letters, digits and hyphens, a letter first and no hyphen last.';
    throw new Refusal('invalid_request', `name ${rule}`);
  }
  const terms = checkedTerms(input, { insecure: anyAddress, isOwn: isOwnHost });
  if (terms.kind === 'host' && Object.keys(headers ?? {}).length > 0)
    throw new Refusal('invalid_request', 'headers is for kinds mcp and http: with kind host, give secrets.');
  if (terms.kind !== 'host' && Object.keys(input.secrets ?? {}).length > 0)
    throw new Refusal('invalid_request', `secrets is for kind host: with kind ${terms.kind}, give headers.`);
  return {
    accountId,
    agentId,
    name,
    enabled,
    ...terms,
    secrets: input.secrets && sealedSecrets(secrets, agentId, name, input.secrets),
    headers: headers && sealedHeaders(secrets, agentId, name, headers),
    auth: auth && checkedAuth({ secrets, anyAddress }, { agentId, connection: name, kind: terms.kind }, auth),
  };
}

function sealedSecrets(
  secrets: SecretBox,
  agentId: string,
  connection: string,
  given: Readonly<Record<string, HostSecretInput>>,
): readonly SealedSecret[] {
  return [...checkedSecrets(given)].map(([name, { value, in: headers }]) => {
    const sealed = secrets.seal(value, connectionSecretContext(agentId, connection, name));
    return { name, sealed, last4: lastOf(value), headers };
  });
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
