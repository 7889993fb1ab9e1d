/** A connection takes the place of one with its name. Stored credentials never go where they were not given for. */
import { Refusal, connectionBounds } from '@lodge/domain';
import type { ActorNote, ConnectionRow } from '@lodge/ports';
import {
  connectionsOf,
  deleteOAuth,
  findConnection,
  lockOAuth,
  replaceHeaders,
  upsertConnection,
  upsertOAuth,
} from '@lodge/store/connections';
import type { Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { lockOwnAgent } from '../agents/lock.ts';
import type { ConnectionChange } from './input.ts';

export async function putConnection(
  trx: Transaction,
  change: ConnectionChange,
  note: ActorNote | undefined,
): Promise<ConnectionRow> {
  const { accountId, agentId, name, kind, url, allow, tools, enabled, headers } = change;
  await lockOwnAgent(trx, change);
  const all = await connectionsOf(trx, accountId, agentId);
  const before = all.find((each) => each.name === name);
  if (before === undefined && all.length >= connectionBounds.perAgent) {
    throw new Refusal('quota_exceeded', `An agent may have ${connectionBounds.perAgent} connections.`);
  }
  const isOtherKind = before !== undefined && before.kind !== kind;
  const goesElsewhere = before !== undefined && (before.url !== url || isOtherKind);
  checkCredentials(change, before, goesElsewhere);
  await upsertConnection(trx, {
    accountId,
    agentId,
    name,
    kind,
    url,
    allow: JSON.stringify(allow),
    tools: tools && JSON.stringify(tools),
    enabled,
    asksOauth: false,
    // The owner who puts it has seen why it was disabled.
    statusReason: null,
    echoedAt: [],
  });
  if (headers !== undefined) await replaceHeaders(trx, { agentId, connection: name }, headers);
  await putAuth(trx, change, { goesElsewhere, isOtherKind });
  const row = await findConnection(trx, change);
  await writeNote(trx, change, { type: 'connection.put', data: { connection: name, kind, enabled } }, note);
  return row!;
}

/** Whoever may change a URL must not send a stored credential elsewhere. */
function checkCredentials(
  { kind, auth, headers }: ConnectionChange,
  before: ConnectionRow | undefined,
  goesElsewhere: boolean,
): void {
  if (goesElsewhere && headers === undefined && before !== undefined && before.headers.length > 0) {
    throw new Refusal(
      'invalid_request',
      'headers must be given again with another url or kind: what is stored was given for where it leads now.',
    );
  }
  const isKept = auth === undefined && before?.oauth != null && before.kind === kind;
  if (isKept && goesElsewhere && before.oauth.clientSecret !== null) {
    throw new Refusal(
      'invalid_request',
      'auth must be given again with another url: the client secret that is stored was given for where it leads now.',
    );
  }
  const hasHeader = (headers ?? before?.headers ?? []).some(({ name }) => name.toLowerCase() === 'authorization');
  if (hasHeader && (isKept || auth != null)) {
    throw new Refusal('invalid_request', 'auth and a header Authorization cannot be together: leave one out.');
  }
}

/**
 * The grant stays only while URL, client, authorization server and scope stay the same, because the person consented to these.
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
