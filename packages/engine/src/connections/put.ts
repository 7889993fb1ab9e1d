/** A connection takes the place of one with its name. Stored credentials never go where they were not given for. */
import { Refusal, connectionBounds, placeholderOf } from '@lodge/domain';
import type { ActorNote, ConnectionRow } from '@lodge/ports';
import {
  connectionsOf,
  deleteOAuth,
  findConnection,
  lockOAuth,
  replaceHeaders,
  replaceSecrets,
  upsertConnection,
  upsertOAuth,
  writeHostAccess,
} from '@lodge/store/connections';
import type { Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { lockOwnAgent } from '../agents/lock.ts';
import type { ConnectionChange } from './input.ts';

export interface PutParts {
  readonly note: ActorNote | undefined;
  /** The certificate of the authority for hosts; null where no connection needs it. */
  readonly authority: string | null;
  /** Makes letters and digits that nobody guesses. */
  readonly random: () => string;
}

export async function putConnection(
  trx: Transaction,
  change: ConnectionChange,
  { note, authority, random }: PutParts,
): Promise<ConnectionRow> {
  const { accountId, agentId, name, kind, url, hosts, allow, tools, enabled, headers } = change;
  await lockOwnAgent(trx, change);
  const all = await connectionsOf(trx, accountId, agentId);
  const before = all.find((each) => each.name === name);
  if (before === undefined && all.length >= connectionBounds.perAgent) {
    throw new Refusal('quota_exceeded', `An agent may have ${connectionBounds.perAgent} connections.`);
  }
  const isOtherKind = before !== undefined && before.kind !== kind;
  const isFurther = hosts.some((host) => !before?.hosts.includes(host));
  const goesElsewhere = before !== undefined && (before.url !== url || isOtherKind || isFurther);
  checkCredentials(change, before, goesElsewhere);
  checkHosts(change, before, all);
  await upsertConnection(trx, {
    accountId,
    agentId,
    name,
    kind,
    url,
    hosts: JSON.stringify(hosts),
    allow: JSON.stringify(allow),
    tools: tools && JSON.stringify(tools),
    enabled,
    asksOauth: false,
    // The owner who puts it has seen why it was disabled.
    statusReason: null,
    echoedAt: [],
  });
  const of = { agentId, connection: name };
  if (kind === 'host') await replaceHeaders(trx, of, []);
  else if (headers !== undefined) await replaceHeaders(trx, of, headers);
  await putSecrets(trx, change, before, random);
  await putAuth(trx, change, { goesElsewhere, isOtherKind });
  if (kind === 'host' || before?.kind === 'host') await renewHostAccess(trx, change, authority);
  const row = await findConnection(trx, change);
  await writeNote(trx, change, { type: 'connection.put', data: { connection: name, kind, enabled } }, note);
  return row!;
}

/** Whoever may change a URL must not send a stored credential elsewhere. */
function checkCredentials(
  { kind, auth, headers, secrets }: ConnectionChange,
  before: ConnectionRow | undefined,
  goesElsewhere: boolean,
): void {
  if (kind !== 'host' && goesElsewhere && headers === undefined && before !== undefined && before.headers.length > 0) {
    throw new Refusal(
      'invalid_request',
      'headers must be given again with another url or kind: what is stored was given for where it leads now.',
    );
  }
  const isKept = auth === undefined && before?.oauth != null && before.kind === kind;
  if (isKept && goesElsewhere && before.oauth.clientSecret !== null) {
    throw new Refusal(
      'invalid_request',
      `auth must be given again with ${kind === 'host' ? 'further hosts' : 'another url'}: the client secret that is stored was given for where it leads now.`,
    );
  }
  const hasHeader = (headers ?? before?.headers ?? []).some(({ name }) => name.toLowerCase() === 'authorization');
  if (hasHeader && (isKept || auth != null)) {
    throw new Refusal('invalid_request', 'auth and a header Authorization cannot be together: leave one out.');
  }
  const own = kind === 'host' ? (secrets ?? before?.secrets ?? []) : [];
  const place = own.find((secret) => secret.headers.includes('authorization'));
  if (place !== undefined && (isKept || auth != null)) {
    const message = `auth and secrets.${place.name} cannot both be in the header authorization: leave one out.`;
    throw new Refusal('invalid_request', message);
  }
}

/** Whoever may add a host must not send a stored secret there, and no name leads to two connections. */
function checkHosts(
  { name, kind, hosts, secrets }: ConnectionChange,
  before: ConnectionRow | undefined,
  all: readonly ConnectionRow[],
): void {
  if (kind !== 'host') return;
  const others = all.filter((each) => each.name !== name && each.kind === 'host');
  const taken = hosts.findIndex((host) => others.some((other) => other.hosts.includes(host)));
  if (taken >= 0) {
    const other = others.find((each) => each.hosts.includes(hosts[taken]!))!;
    throw new Refusal('invalid_request', `hosts[${taken}] is a host of the connection ${other.name} already.`);
  }
  const known = new Set(others.flatMap((other) => other.secrets.map((secret) => secret.name)));
  const twice = secrets?.find((secret) => known.has(secret.name));
  if (twice !== undefined)
    throw new Refusal('invalid_request', `secrets.${twice.name} is a variable of another connection already.`);
  const keeps = secrets === undefined && before !== undefined && before.secrets.length > 0;
  if (keeps && hosts.some((host) => !before.hosts.includes(host))) {
    throw new Refusal(
      'invalid_request',
      'secrets must be given again with further hosts: what is stored was given for where it leads now.',
    );
  }
}

/** A secret of the same name keeps its placeholder, which running programs may have. */
async function putSecrets(
  trx: Transaction,
  { agentId, name: connection, kind, secrets }: ConnectionChange,
  before: ConnectionRow | undefined,
  random: () => string,
): Promise<void> {
  if (kind === 'host' && secrets === undefined) return;
  const placeholders = new Map(before?.secrets.map(({ name, placeholder }) => [name, placeholder]));
  const placed = (secrets ?? []).map(({ headers, ...secret }) => ({
    ...secret,
    headers: JSON.stringify(headers),
    placeholder: placeholders.get(secret.name) ?? placeholderOf(secret.name, random()),
  }));
  await replaceSecrets(trx, { agentId, connection }, placed);
}

/** Writes what the agent's machine has of its host connections, in the transaction that changes them. */
export async function renewHostAccess(
  trx: Transaction,
  { accountId, agentId }: Pick<ConnectionChange, 'accountId' | 'agentId'>,
  authority: string | null,
): Promise<void> {
  const rows = (await connectionsOf(trx, accountId, agentId)).filter(({ kind }) => kind === 'host');
  if (rows.length === 0 || authority === null) return writeHostAccess(trx, agentId, null);
  const variables = rows.flatMap(({ secrets }) => secrets.map(({ name, placeholder }) => [name, placeholder] as const));
  await writeHostAccess(trx, agentId, {
    hosts: rows.flatMap(({ hosts }) => hosts),
    variables: Object.fromEntries(variables),
    authority,
  });
}

/**
 * The grant stays only while URL, client, authorization server and scope stay the same and no host is added, because the person
 * consented to these.
 * The client's secret and its authorization server stay with URL, client and token endpoint. Nothing of another kind stays.
 */
async function putAuth(
  trx: Transaction,
  { agentId, name: connection, auth }: ConnectionChange,
  { goesElsewhere, isOtherKind }: { readonly goesElsewhere: boolean; readonly isOtherKind: boolean },
): Promise<void> {
  const of = { agentId, connection };
  const before = await lockOAuth(trx, of);
  if (auth === null || (auth === undefined && isOtherKind)) return deleteOAuth(trx, of);
  const wanted = auth ?? before;
  if (wanted === undefined) return;
  const { clientId, scope } = wanted;
  const { authorizationUrl, tokenUrl, clientAuth } = (auth === undefined ? before : auth.endpoints) ?? noEndpoints;
  const isSame = before?.clientId === clientId && before.tokenUrl === tokenUrl && !goesElsewhere;
  const same = isSame ? before : null;
  const isSecretKept = auth?.clientSecret === undefined;
  const own = {
    clientId,
    scope,
    authorizationUrl,
    tokenUrl,
    clientAuth,
    clientSecretSealed: (isSecretKept ? same?.clientSecretSealed : auth.clientSecret?.sealed) ?? null,
    clientSecretLast4: (isSecretKept ? same?.clientSecretLast4 : auth.clientSecret?.last4) ?? '',
    clientIssuer: (isSecretKept && same?.clientIssuer) || null,
  };
  const keepsGrant =
    same?.scope === scope && same.authorizationUrl === authorizationUrl && same.clientAuth === clientAuth;
  await upsertOAuth(trx, of, own, { keepsGrant });
}

const noEndpoints = { authorizationUrl: null, tokenUrl: null, clientAuth: null };
