/** OAuth of a connection as its owner puts it: checked, with its client's secret sealed. */
import { Refusal, authorizationFault, endpointFault, isScope } from '@lodge/domain';
import type { ClientAuthMethod, ConnectionKind, OAuthEndpoints } from '@lodge/domain';
import { connectionClientSecretContext } from '@lodge/ports';
import type { SecretBox } from '@lodge/ports';

export interface ConnectionAuthInput {
  readonly clientId: string | null;
  /** Null: none. Undefined keeps the one that is stored for this client. */
  readonly clientSecret: string | null | undefined;
  readonly scope: string | null;
  /** The authorization server; null for `mcp`, whose servers name it. */
  readonly authorizationUrl: string | null;
  readonly tokenUrl: string | null;
  readonly clientAuth: ClientAuthMethod | null;
}

export interface SealedAuth extends Pick<ConnectionAuthInput, 'clientId' | 'scope'> {
  readonly clientSecret: { readonly sealed: string; readonly last4: string } | null | undefined;
  readonly endpoints: OAuthEndpoints | null;
}

interface AuthDeps {
  readonly secrets: SecretBox;
  /** Whether connections may lead to any address, and so without TLS. */
  readonly anyAddress: boolean;
}

interface Of {
  readonly agentId: string;
  readonly connection: string;
  readonly kind: ConnectionKind;
}

/** Refuses with `invalid_request` and the field. */
export function checkedAuth(
  { secrets, anyAddress }: AuthDeps,
  { agentId, connection, kind }: Of,
  auth: ConnectionAuthInput,
): SealedAuth {
  const { clientId, clientSecret: secret, scope } = auth;
  if (scope !== null && !isScope(scope)) throw fault(`scope ${scopeRule}`);
  if (clientId === null && secret != null) throw fault('client_secret is of a client: give auth.client_id too.');
  const endpoints = kind === 'mcp' ? noEndpoints(auth) : checkedEndpoints(auth, kind, anyAddress);
  if (secret == null) return { clientId, clientSecret: secret, scope, endpoints };
  const sealed = secrets.seal(secret, connectionClientSecretContext(agentId, connection));
  return { clientId, clientSecret: { sealed, last4: lastOf(secret) }, scope, endpoints };
}

function noEndpoints({ authorizationUrl, tokenUrl, clientAuth }: ConnectionAuthInput): null {
  for (const [field, given] of Object.entries({
    authorization_url: authorizationUrl,
    token_url: tokenUrl,
    client_auth: clientAuth,
  })) {
    if (given !== null) throw fault(`${field} is not for kind mcp: its server names its authorization server itself.`);
  }
  return null;
}

function checkedEndpoints(
  { clientId, authorizationUrl, tokenUrl, clientAuth }: ConnectionAuthInput,
  kind: ConnectionKind,
  anyAddress: boolean,
): OAuthEndpoints {
  if (clientId === null) {
    throw fault(`client_id is required with kind ${kind}: make a client at the authorization server.`);
  }
  if (authorizationUrl === null) throw fault(`authorization_url is required with kind ${kind}.`);
  if (tokenUrl === null) throw fault(`token_url is required with kind ${kind}.`);
  const ofPage = authorizationFault(authorizationUrl, anyAddress);
  if (ofPage !== null) throw fault(`authorization_url ${ofPage}.`);
  const ofTokens = endpointFault(tokenUrl, anyAddress);
  if (ofTokens !== null) throw fault(`token_url ${ofTokens}.`);
  return { authorizationUrl, tokenUrl, clientAuth };
}

const fault = (message: string): Refusal => new Refusal('invalid_request', `auth.${message}`);

export const scopeRule = 'must be words of printable ASCII without quotes and backslashes, one space between two.';

export const lastOf = (secret: string): string => (secret.length >= 16 ? secret.slice(-4) : '');
