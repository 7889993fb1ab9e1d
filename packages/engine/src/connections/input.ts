/** A connection as its owner puts it: checked, with its secrets sealed. */
import { Refusal, checkedTerms, connectionBounds, isConnectionName, isScope, mayBeSet } from '@lodge/domain';
import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import { connectionClientSecretContext, connectionHeaderContext } from '@lodge/ports';
import type { ConnectionHeader, SecretBox } from '@lodge/ports';
import type { ConnectionPlace } from '@lodge/store/connections';

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

export interface ConnectionAuthInput {
  readonly clientId: string | null;
  /** Null: none. Undefined keeps the one that is stored for this client. */
  readonly clientSecret: string | null | undefined;
  readonly scope: string | null;
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

interface SealedAuth extends Omit<ConnectionAuthInput, 'clientSecret'> {
  readonly clientSecret: { readonly sealed: string; readonly last4: string } | null | undefined;
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
  if (auth != null && terms.kind === 'http') {
    throw new Refusal('invalid_request', 'auth is for kind mcp: with kind http, give headers.');
  }
  return {
    accountId,
    agentId,
    name,
    enabled,
    ...terms,
    headers: headers && sealedHeaders(secrets, agentId, name, headers),
    auth: auth && sealedAuth(secrets, agentId, name, auth),
  };
}

function sealedAuth(
  secrets: SecretBox,
  agentId: string,
  connection: string,
  { clientId, clientSecret: secret, scope }: ConnectionAuthInput,
): SealedAuth {
  if (scope !== null && !isScope(scope)) throw new Refusal('invalid_request', `auth.scope ${scopeRule}`);
  if (clientId === null && secret != null) {
    throw new Refusal('invalid_request', 'auth.client_secret is of a client: give auth.client_id too.');
  }
  if (secret == null) return { clientId, clientSecret: secret, scope };
  const sealed = secrets.seal(secret, connectionClientSecretContext(agentId, connection));
  return { clientId, clientSecret: { sealed, last4: lastOf(secret) }, scope };
}

export const scopeRule = 'must be words of printable ASCII without quotes and backslashes, one space between two.';

const lastOf = (secret: string): string => (secret.length >= 16 ? secret.slice(-4) : '');

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
